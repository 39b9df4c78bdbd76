//! Who re-entrancy counts for (R11).

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// An owner of re-entrant and read-write locks. Every [`Owner::new`] is somebody else; clones are
/// the same owner, for whichever task or thread has them. Owners are never reused within a process.
///
/// Futures have no identity of their own that survives being moved between tasks, so asynchronous
/// calls are told for whom they are. The calls of [`blocking`](crate::blocking) use
/// [`Owner::current_thread`].
///
/// ```
/// use zoolock::Owner;
///
/// let owner = Owner::new();
/// assert_eq!(owner, owner.clone());
/// assert_ne!(owner, Owner::new());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner(pub(crate) u64);

static NEXT: AtomicU64 = AtomicU64::new(1);

impl Owner {
    /// A new owner, different from every other.
    #[expect(clippy::new_without_default, reason = "each one is different")]
    pub fn new() -> Owner {
        Owner(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The owner that stands for the calling thread. Operating systems reuse thread ids; this does
    /// not, and in a forked child a thread is a new owner (R18).
    pub fn current_thread() -> Owner {
        thread_local! {
            static OWNER: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
        }
        let process = crate::process::id();
        OWNER.with(|owner| {
            if owner.get().0 != process {
                owner.set((process, Owner::new().0));
            }
            Owner(owner.get().1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r11_a_thread_keeps_its_owner_and_another_has_another() {
        assert_eq!(Owner::current_thread(), Owner::current_thread());
        let other = std::thread::spawn(Owner::current_thread).join().unwrap();
        assert_ne!(Owner::current_thread(), other);
    }
}
