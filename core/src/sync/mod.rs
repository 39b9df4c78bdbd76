//! Hand-offs between the network thread and callers. Everything that crosses threads goes through
//! here, so that a model checker can swap the primitives underneath.

mod completion;
mod latch;
mod mailbox;

pub(crate) use completion::{Completer, Receiver, completion};
pub(crate) use latch::Latch;
pub(crate) use mailbox::Mailbox;

pub(crate) mod primitive {
    //! The primitives that the rest of this module is built on.
    pub(crate) use std::sync::Condvar;
    use std::sync::{Mutex as StdMutex, MutexGuard, PoisonError};

    /// A mutex whose data stays usable after a panic: every critical section here leaves it valid.
    #[derive(Default)]
    pub(crate) struct Mutex<T>(StdMutex<T>);

    impl<T> Mutex<T> {
        pub(crate) const fn new(value: T) -> Mutex<T> {
            Mutex(StdMutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }
}
