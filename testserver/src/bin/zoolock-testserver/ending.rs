//! When the program is to end.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc;
use std::{mem, ptr, thread};

/// The signals that end the program. They are blocked, and waited for.
pub(crate) struct Signals(libc::sigset_t);

impl Signals {
    pub(crate) fn block() -> io::Result<Self> {
        let mut set = mem::MaybeUninit::uninit();
        // SAFETY: initialises the set.
        unsafe { libc::sigemptyset(set.as_mut_ptr()) };
        for signal in [libc::SIGINT, libc::SIGTERM] {
            // Who starts a program in the background may want Ctrl-C not to reach it.
            if !is_ignored(signal)? {
                // SAFETY: initialised above.
                unsafe { libc::sigaddset(set.as_mut_ptr(), signal) };
            }
        }
        // SAFETY: as above.
        let set = unsafe { set.assume_init() };
        // SAFETY: changes nothing but this thread's mask.
        match unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut()) } {
            0 => Ok(Signals(set)),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    /// Blocks until one of the signals comes or, if so wished, standard input ends.
    pub(crate) fn wait(self, until_stdin_ends: bool) -> io::Result<()> {
        let (ends, end) = mpsc::channel();
        if until_stdin_ends {
            let ends = ends.clone();
            thread::Builder::new()
                .name("stdin".into())
                .spawn(move || ends.send(read_to_end()))?;
        }
        thread::Builder::new()
            .name("signals".into())
            .spawn(move || ends.send(self.wait_for_one()))?;
        end.recv().unwrap_or(Ok(()))
    }

    fn wait_for_one(&self) -> io::Result<()> {
        let mut signal = 0;
        // SAFETY: the set is initialised; `signal` is written.
        match unsafe { libc::sigwait(&raw const self.0, &raw mut signal) } {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

fn is_ignored(signal: libc::c_int) -> io::Result<bool> {
    let mut action = mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: asks, and changes nothing.
    match unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) } {
        // SAFETY: written by the call.
        0 => Ok(unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN),
        _ => Err(io::Error::last_os_error()),
    }
}

fn read_to_end() -> io::Result<()> {
    let mut buffer = [0; 1024];
    let mut stdin = io::stdin();
    loop {
        match stdin.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
