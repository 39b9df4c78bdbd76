//! The two background threads of a process: one for the network, one for users' callbacks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::manager::Registry;
use crate::process::PerProcess;
use crate::sync::completion;
use crate::sync::primitive::process_wide;

/// What a process that exits spends at most on closing its sessions (R17).
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
/// Only name resolution runs there, one call an attempt.
const RESOLVER_THREADS: usize = 4;
const RESOLVER_KEEP_ALIVE: Duration = Duration::from_secs(1);

process_wide!(RUNTIME: PerProcess<Runtime> = PerProcess::new());

/// See the module.
pub(crate) struct Runtime {
    pub(crate) network: tokio::runtime::Handle,
    pub(crate) callbacks: Callbacks,
    pub(crate) registry: Registry,
}

pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// Brings users' callbacks to their own thread, so that a slow one delays no ping and no lock.
#[derive(Clone)]
pub(crate) struct Callbacks(mpsc::Sender<Job>);

/// The present process's runtime, started on first use.
pub(crate) fn get() -> Result<&'static Runtime> {
    RUNTIME.get_or_try_init(|| {
        Runtime::start().map_err(|source| {
            Error::new(
                ErrorKind::Internal,
                "connect",
                format!("the background threads cannot be started: {source}"),
            )
            .with_source(source)
        })
    })
}

/// Runs `job` on the callback thread, if there can be one.
pub(crate) fn post(job: Job) {
    match get() {
        Ok(runtime) => runtime.callbacks.post(job),
        Err(error) => tracing::error!(%error, "a callback is lost"),
    }
}

impl Runtime {
    fn start() -> std::io::Result<Runtime> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(RESOLVER_THREADS)
            .thread_keep_alive(RESOLVER_KEEP_ALIVE)
            .build()?;
        let network = runtime.handle().clone();
        spawn("zoolock-network", move || {
            runtime.block_on(std::future::pending::<()>());
        })?;
        let callbacks = Callbacks::start()?;
        close_sessions_at_exit();
        Ok(Runtime {
            network,
            callbacks,
            registry: Registry::default(),
        })
    }
}

impl Callbacks {
    pub(crate) fn start() -> std::io::Result<Callbacks> {
        let (sender, jobs) = mpsc::channel::<Job>();
        spawn("zoolock-callback", move || {
            let process = crate::process::id();
            for job in jobs {
                if std::panic::catch_unwind(std::panic::AssertUnwindSafe(job)).is_err() {
                    tracing::error!("a user's callback panicked");
                }
                if crate::process::id() != process {
                    // The callback forked, and the child came back from it: nobody there will ever
                    // send another job. Its last thread ends, and it with that.
                    break;
                }
            }
        })?;
        Ok(Callbacks(sender))
    }

    /// Callbacks that a test runs itself.
    #[cfg(any(test, zoolock_loom, zoolock_fuzz))]
    pub(crate) fn collected() -> (Callbacks, mpsc::Receiver<Job>) {
        let (sender, jobs) = mpsc::channel();
        (Callbacks(sender), jobs)
    }

    pub(crate) fn post(&self, job: Job) {
        // The thread ends only with its last sender.
        let _sent = self.0.send(job);
    }
}

/// Spawns a thread that no signal interrupts: signals are the application's affair.
pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            crate::signals::block();
            body();
        })
        .map(|_detached| ())
}

fn close_sessions_at_exit() {
    // Registered once: a forked child inherits the registration with the process image.
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    if !REGISTERED.swap(true, Ordering::SeqCst) {
        // SAFETY: `at_exit` is a plain function that does not unwind.
        unsafe { libc::atexit(at_exit) };
    }
}

extern "C" fn at_exit() {
    let unwound = std::panic::catch_unwind(close_all_sessions);
    drop(unwound);
}

/// Closes every session that this process has open, waiting no longer than an exit may.
pub(crate) fn close_all_sessions() {
    // A forked child that never used zoolock has no runtime, hence nothing to close (R18).
    let Some(runtime) = RUNTIME.get() else { return };
    if std::thread::current().name() == Some("zoolock-network") {
        return;
    }
    let (all_closed, closed) = completion::<()>();
    runtime.registry.shut_down(all_closed);
    let _either = closed.wait(Some(EXIT_TIMEOUT));
}
