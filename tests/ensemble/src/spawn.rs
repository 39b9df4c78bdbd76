//! Starts child processes that die with this one.
//!
//! `PR_SET_PDEATHSIG` counts the death of the *thread* that forked, so one thread that lives as long as the process does
//! all the forking.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::thread;

use crate::error::{Context, Error, Result};

type Job = (Command, Sender<io::Result<Child>>);

pub(crate) fn spawn(mut command: Command) -> Result<Child> {
    static SPAWNER: OnceLock<Mutex<Sender<Job>>> = OnceLock::new();
    // SAFETY: the closure makes only async-signal-safe calls.
    unsafe {
        command.pre_exec(|| {
            // `ensemble run` blocks signals, and a server has to be stoppable.
            let mut none = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        });
    }
    // A group of its own: Ctrl-C in a terminal is for us, and we end our servers in order.
    command.process_group(0);
    let name = command.get_program().to_string_lossy().into_owned();
    let spawner = SPAWNER.get_or_init(|| {
        let (jobs, inbox) = channel::<Job>();
        thread::spawn(move || {
            for (mut command, answer) in inbox {
                let _ = answer.send(command.spawn());
            }
        });
        Mutex::new(jobs)
    });
    let (answer, outcome) = channel();
    let gone = || Error::new("the thread that starts servers is gone");
    spawner
        .lock()
        .map_err(|_| gone())?
        .send((command, answer))
        .map_err(|_| gone())?;
    outcome
        .recv()
        .map_err(|_| gone())?
        .context(|| format!("cannot start {name}"))
}
