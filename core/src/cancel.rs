//! Cancelling a blocked call from another thread.

use std::sync::{Arc, Weak};

use crate::command::{AttemptId, Command};
use crate::link::Link;
use crate::process::PerProcess;
use crate::sync::primitive::Mutex;
use crate::sync::primitive::atomic::{AtomicBool, AtomicU64, Ordering};

/// Cancels the calls that it was given to: they fail with `Cancelled` and leave no contender (R5).
/// One handle may serve many calls; once fired, it stays fired, and a later call given it fails at
/// once. Clones are the same handle. For futures, dropping them does the same.
///
/// # Examples
/// ```
/// use zoolock::blocking::Session;
/// use zoolock::{Cancel, ErrorKind, Wait};
///
/// # fn main() -> zoolock::Result<()> {
/// # let server = zoolock::testing::Server::start()?;
/// # let session = Session::connect(&server.hosts())?;
/// let mutex = session.mutex("/locks/report")?;
/// let held = mutex.lock()?;
/// let cancel = Cancel::new();
/// std::thread::scope(|scope| {
///     let waiting = scope.spawn(|| mutex.acquire(Wait::Forever, Some(&cancel)));
///     cancel.cancel();
///     let error = waiting.join().unwrap().unwrap_err();
///     assert_eq!(error.kind(), ErrorKind::Cancelled);
/// });
/// held.release()?;
/// # session.close()
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Cancel(Arc<Inner>);

#[derive(Default)]
struct Inner {
    fired: AtomicBool,
    // A forked child must not take its parent's lock, and has none of its parent's calls (R18).
    targets: PerProcess<Mutex<Vec<Target>>>,
    next: AtomicU64,
}

struct Target {
    key: u64,
    link: Weak<Link>,
    attempt: AttemptId,
}

/// Keeps a call registered with its cancel handle.
pub(crate) struct Registration {
    cancel: Cancel,
    key: u64,
}

impl Cancel {
    /// A handle that has not fired.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Cancels every call that waits with this handle, and every later one (R5). A call that was
    /// granted already keeps its guard. Never blocks; from any thread.
    pub fn cancel(&self) {
        self.0.fired.store(true, Ordering::SeqCst);
        let targets = std::mem::take(&mut *self.targets().lock());
        for target in targets {
            if let Some(link) = target.link.upgrade() {
                link.send(Command::Cancel {
                    attempt: target.attempt,
                });
            }
        }
    }

    /// Whether it has fired.
    pub fn is_cancelled(&self) -> bool {
        self.0.fired.load(Ordering::SeqCst)
    }

    fn targets(&self) -> &Mutex<Vec<Target>> {
        match self
            .0
            .targets
            .get_or_try_init(|| Ok::<_, std::convert::Infallible>(Mutex::new(Vec::new())))
        {
            Ok(targets) => targets,
            Err(never) => match never {},
        }
    }

    /// Registers an attempt, after it was sent; cancels it here if the handle has fired meanwhile.
    pub(crate) fn register(&self, link: &Arc<Link>, attempt: AttemptId) -> Registration {
        let key = self.0.next.fetch_add(1, Ordering::Relaxed);
        let mut targets = self.targets().lock();
        if targets.is_empty() {
            // Thousands of calls may each have a handle of their own.
            targets.reserve_exact(1);
        }
        targets.push(Target {
            key,
            link: Arc::downgrade(link),
            attempt,
        });
        drop(targets);
        if self.is_cancelled() {
            self.cancel();
        }
        Registration {
            cancel: self.clone(),
            key,
        }
    }
}

impl std::fmt::Debug for Cancel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cancel")
            .field("cancelled", &self.is_cancelled())
            .finish()
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.cancel
            .targets()
            .lock()
            .retain(|target| target.key != self.key);
    }
}
