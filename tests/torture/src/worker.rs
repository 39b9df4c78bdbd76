//! A worker process: started, signalled, waited for.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::Duration;

use zoolock_ensemble::eventually;

use crate::language::Language;

/// Until the kernel has done what a signal says.
const SIGNALLED: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) process: usize,
    pub(crate) name: String,
    pub(crate) language: Language,
    child: Child,
    stdin: Option<ChildStdin>,
}

impl Worker {
    pub(crate) fn start(
        process: usize,
        name: &str,
        language: Language,
        command: &[PathBuf],
        args: &[&str],
    ) -> Result<Worker, String> {
        let (program, first) = command.split_first().ok_or("no command")?;
        let mut command = Command::new(program);
        command.args(first).args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        // SAFETY: prctl is async-signal-safe, and the closure touches nothing else.
        unsafe {
            command.pre_exec(|| {
                // Even a stopped worker must not outlive a runner that was killed.
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        let mut child = command
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let stdin = child.stdin.take();
        Ok(Worker {
            process,
            name: name.to_owned(),
            language,
            child,
            stdin,
        })
    }

    /// SIGSTOP; returns when it has stopped.
    pub(crate) fn stop(&mut self) -> Result<(), String> {
        self.signal(libc::SIGSTOP)?;
        self.wait_state("stopped", |state| state == 'T')
    }

    /// SIGCONT.
    pub(crate) fn resume(&mut self) -> Result<(), String> {
        self.signal(libc::SIGCONT)?;
        self.wait_state("continued", |state| state != 'T')
    }

    fn signal(&mut self, signal: libc::c_int) -> Result<(), String> {
        if let Some(status) = self.ended()? {
            return Err(format!("{} ended by itself with {status}", self.name));
        }
        // SAFETY: the child has not been waited for, so its id cannot be anybody else's.
        if unsafe { libc::kill(self.child.id() as libc::pid_t, signal) } == 0 {
            return Ok(());
        }
        let error = std::io::Error::last_os_error();
        Err(format!("cannot signal {}: {error}", self.name))
    }

    fn wait_state(&self, what: &str, wanted: impl Fn(char) -> bool) -> Result<(), String> {
        let stat = format!("/proc/{}/stat", self.child.id());
        let state = || {
            let text = fs::read_to_string(&stat).ok()?;
            text.rsplit_once(") ")?.1.chars().next()
        };
        if eventually(SIGNALLED, || state().is_some_and(&wanted)) {
            return Ok(());
        }
        Err(format!("{} was not {what} after {SIGNALLED:?}", self.name))
    }

    /// SIGKILL; returns when it is gone.
    pub(crate) fn kill(&mut self) -> Result<(), String> {
        if let Some(status) = self.ended()? {
            return Err(format!("{} ended by itself with {status}", self.name));
        }
        let killed = self.child.kill().and_then(|()| self.child.wait());
        killed
            .map(drop)
            .map_err(|error| format!("cannot kill {}: {error}", self.name))
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>, String> {
        let status = self.child.try_wait();
        status.map_err(|error| format!("cannot wait for {}: {error}", self.name))
    }

    /// Tells it to close its session and end, and waits for that.
    pub(crate) fn finish(&mut self, limit: Duration) -> Result<(), String> {
        self.stdin = None;
        let mut status = Ok(None);
        eventually(limit, || {
            status = self.ended();
            !matches!(status, Ok(None))
        });
        match status? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(format!("{} ended with {status}", self.name)),
            None => Err(format!("{} had not ended after {limit:?}", self.name)),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It has ended already if all went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
