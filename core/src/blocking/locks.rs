//! The lock objects.

use std::time::Duration;

use super::Guard;
use crate::cancel::Cancel;
use crate::config::Wait;
use crate::contender::Contender;
use crate::error::Result;
use crate::owner::Owner;
use crate::stats::LockStatistics;

/// The blocking form of [`crate::Mutex`]: one guard at a time among all processes and languages (R1).
/// **Not re-entrant.** Clones are the same object.
#[derive(Clone, Debug)]
pub struct Mutex(crate::Mutex);

impl From<crate::Mutex> for Mutex {
    fn from(mutex: crate::Mutex) -> Mutex {
        Mutex(mutex)
    }
}

impl Mutex {
    /// Waits for the lock as long as it takes, through outages and session changes (R6, R9).
    ///
    /// # Errors
    /// See [`crate::Mutex::lock`].
    pub fn lock(&self) -> Result<Guard> {
        self.0.lock().wait().map(Guard::from)
    }

    /// Waits for the lock at most `timeout`, plus 50 ms (R6); zero is a try.
    ///
    /// # Errors
    /// See [`crate::Mutex::lock_timeout`].
    pub fn lock_timeout(&self, timeout: Duration) -> Result<Guard> {
        self.0.lock_timeout(timeout).wait().map(Guard::from)
    }

    /// Takes the lock if nobody is before us; `None` if somebody is. Waits for servers' answers only,
    /// at most `connect_timeout`.
    ///
    /// # Errors
    /// See [`crate::Mutex::try_lock`].
    pub fn try_lock(&self) -> Result<Option<Guard>> {
        self.acquire(Wait::Try, None)
    }

    /// The general form of `lock`, `lock_timeout` and `try_lock`; `cancel` ends the wait from another
    /// thread. `None` only for a busy [`Wait::Try`].
    ///
    /// # Errors
    /// See [`crate::Mutex::acquire`].
    pub fn acquire(&self, wait: Wait, cancel: Option<&Cancel>) -> Result<Option<Guard>> {
        Ok(self.0.acquire(wait, cancel).wait()?.map(Guard::from))
    }

    /// Who queues on the path, in order; see [`crate::Mutex::contenders`].
    ///
    /// # Errors
    /// `Unavailable`, `NoAuth`, `Closed`.
    pub fn contenders(&self) -> Result<Vec<Contender>> {
        self.0.contenders().wait()
    }

    /// The lock path, as it was given.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// What this object and its clones have counted. Never blocks.
    pub fn statistics(&self) -> LockStatistics {
        self.0.statistics()
    }
}

macro_rules! owned_by_thread {
    ($(#[$doc:meta])* $name:ident, $inner:ty) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name($inner);

        impl From<$inner> for $name {
            fn from(lock: $inner) -> $name {
                $name(lock)
            }
        }

        impl $name {
            /// Waits for the lock as long as it takes, through outages and session changes (R6, R9).
            /// The calling thread becomes its owner.
            ///
            /// # Errors
            #[doc = concat!("As [`lock`](", stringify!($inner), "::lock) of the asynchronous form.")]
            pub fn lock(&self) -> Result<Guard> {
                self.0.lock(&Owner::current_thread()).wait().map(Guard::from)
            }

            /// Waits for the lock at most `timeout`, plus 50 ms (R6); zero is a try. The calling thread
            /// becomes its owner.
            ///
            /// # Errors
            #[doc = concat!("As [`lock_timeout`](", stringify!($inner), "::lock_timeout) of the asynchronous form.")]
            pub fn lock_timeout(&self, timeout: Duration) -> Result<Guard> {
                self.0
                    .lock_timeout(&Owner::current_thread(), timeout)
                    .wait()
                    .map(Guard::from)
            }

            /// Takes the lock if nobody who excludes it is before us, for the calling thread; `None` if
            /// somebody is. Waits for servers' answers only, at most `connect_timeout`.
            ///
            /// # Errors
            #[doc = concat!("As [`try_lock`](", stringify!($inner), "::try_lock) of the asynchronous form.")]
            pub fn try_lock(&self) -> Result<Option<Guard>> {
                self.acquire(&Owner::current_thread(), Wait::Try, None)
            }

            /// The general form of the three, with an owner of the caller's choice; `cancel` ends the
            /// wait from another thread. `None` only for a busy [`Wait::Try`].
            ///
            /// # Errors
            #[doc = concat!("As [`acquire`](", stringify!($inner), "::acquire) of the asynchronous form.")]
            pub fn acquire(
                &self,
                owner: &Owner,
                wait: Wait,
                cancel: Option<&Cancel>,
            ) -> Result<Option<Guard>> {
                Ok(self.0.acquire(owner, wait, cancel).wait()?.map(Guard::from))
            }

            /// Who queues on the path, in order; see [`crate::Mutex::contenders`].
            ///
            /// # Errors
            /// `Unavailable`, `NoAuth`, `Closed`.
            pub fn contenders(&self) -> Result<Vec<Contender>> {
                self.0.contenders().wait()
            }

            /// The lock path, as it was given.
            pub fn path(&self) -> &str {
                self.0.path()
            }

            /// What this object and its clones have counted. Never blocks.
            pub fn statistics(&self) -> LockStatistics {
                self.0.statistics()
            }
        }
    };
}

owned_by_thread!(
    /// The blocking form of [`crate::ReentrantMutex`]: the thread that holds it may lock it again, at no
    /// request (R11). A guard may be released on any thread.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> zoolock::Result<()> {
    /// # let server = zoolock::testing::Server::start()?;
    /// # let session = zoolock::blocking::Session::connect(&server.hosts())?;
    /// let mutex = session.reentrant_mutex("/locks/account-7")?;
    /// let outer = mutex.lock()?;
    /// let inner = mutex.lock()?;
    /// assert_eq!(inner.fencing_token(), outer.fencing_token());
    /// inner.release()?;
    /// outer.release()?;
    /// # session.close()
    /// # }
    /// ```
    ReentrantMutex,
    crate::ReentrantMutex
);
owned_by_thread!(
    /// The blocking form of [`crate::RwLockSide`]: one side of a [`RwLock`].
    RwLockSide,
    crate::RwLockSide
);

/// The blocking form of [`crate::RwLock`]: many readers or one writer (R12), re-entrant per side for the
/// calling thread.
///
/// # Examples
/// ```
/// # fn main() -> zoolock::Result<()> {
/// # let server = zoolock::testing::Server::start()?;
/// # let session = zoolock::blocking::Session::connect(&server.hosts())?;
/// let lock = session.rwlock("/locks/catalogue")?;
/// let writing = lock.write().lock()?;
/// let reading = lock.read().lock()?;
/// writing.release()?;                         // a downgrade: no other writer comes in between
/// reading.release()?;
/// # session.close()
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RwLock(crate::RwLock);

impl From<crate::RwLock> for RwLock {
    fn from(lock: crate::RwLock) -> RwLock {
        RwLock(lock)
    }
}

impl RwLock {
    /// The side that is shared among readers.
    pub fn read(&self) -> RwLockSide {
        RwLockSide::from(self.0.read())
    }

    /// The side that is exclusive, to other writers and to readers.
    pub fn write(&self) -> RwLockSide {
        RwLockSide::from(self.0.write())
    }

    /// Who queues on the path, in order; see [`crate::Mutex::contenders`].
    ///
    /// # Errors
    /// `Unavailable`, `NoAuth`, `Closed`.
    pub fn contenders(&self) -> Result<Vec<Contender>> {
        self.0.contenders().wait()
    }

    /// The lock path, as it was given.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// What this object and its clones have counted. Never blocks.
    pub fn statistics(&self) -> LockStatistics {
        self.0.statistics()
    }
}
