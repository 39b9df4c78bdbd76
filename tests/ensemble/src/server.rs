//! One server process.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::error::{Context, Error, Result};
use crate::eventually::eventually;
use crate::spawn;

/// How long a server may take to end after SIGTERM before it is killed.
const STOP: Duration = Duration::from_secs(10);
/// How long a server may take to answer a command.
const ANSWER: Duration = Duration::from_secs(5);
const LOG_TAIL: usize = 25;

/// How to start a server, again and again.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) number: usize,
    pub(crate) client_port: u16,
    pub(crate) log_file: PathBuf,
    pub(crate) arguments: Vec<String>,
    process: Option<Process>,
    pub(crate) paused: bool,
}

#[derive(Debug)]
struct Process {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
}

impl Server {
    pub(crate) fn new(
        number: usize,
        client_port: u16,
        log_file: PathBuf,
        arguments: Vec<String>,
    ) -> Self {
        Server {
            number,
            client_port,
            log_file,
            arguments,
            process: None,
            paused: false,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.client_port).into()
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.child.id())
    }

    pub(crate) fn is_running(&self) -> bool {
        self.process.is_some()
    }

    /// Starts the process; it serves some time later.
    pub(crate) fn spawn(&mut self) -> Result<()> {
        if self.process.is_some() {
            return Err(self.error("is running already"));
        }
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.log_file)
            .context(|| format!("cannot open {}", self.log_file.display()))?;
        let mut command = Command::new("java");
        command
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log);
        let mut child = spawn::spawn(command)?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(self.error("was started without pipes"));
        };
        let (lines, answers) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(|line| line.ok()) {
                if lines.send(line).is_err() {
                    break;
                }
            }
        });
        self.process = Some(Process {
            child,
            stdin,
            answers,
        });
        self.paused = false;
        Ok(())
    }

    /// An error with the log's last lines when the process has ended of itself.
    pub(crate) fn check_alive(&mut self) -> Result<()> {
        let Some(process) = &mut self.process else {
            return Err(self.error("is down"));
        };
        match process.child.try_wait() {
            Ok(None) => Ok(()),
            outcome => {
                self.process = None;
                let status = match outcome {
                    Ok(Some(status)) => status.to_string(),
                    _ => "unknown status".into(),
                };
                Err(self.error(&format!("ended ({status}); {}", self.log_tail())))
            }
        }
    }

    pub(crate) fn log_tail(&self) -> String {
        let text = fs::read_to_string(&self.log_file).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let tail = &lines[lines.len().saturating_sub(LOG_TAIL)..];
        format!(
            "the end of its log {}:\n{}",
            self.log_file.display(),
            tail.join("\n")
        )
    }

    /// SIGTERM, and SIGKILL if that does not help.
    pub(crate) fn stop(&mut self) -> Result<()> {
        if self.paused {
            self.signal(libc::SIGCONT)?;
        }
        self.signal(libc::SIGTERM)?;
        if let Some(mut process) = self.process.take() {
            let ended = || matches!(process.child.try_wait(), Ok(Some(_)) | Err(_));
            if !eventually(STOP, ended) {
                self.process = Some(process);
                return self.kill();
            }
        }
        self.paused = false;
        Ok(())
    }

    pub(crate) fn kill(&mut self) -> Result<()> {
        let Some(mut process) = self.process.take() else {
            return Err(self.error("is down"));
        };
        self.paused = false;
        process
            .child
            .kill()
            .and_then(|()| process.child.wait())
            .context(|| format!("cannot kill server {}", self.number))?;
        Ok(())
    }

    pub(crate) fn pause(&mut self) -> Result<()> {
        self.signal(libc::SIGSTOP)?;
        self.paused = true;
        Ok(())
    }

    pub(crate) fn resume(&mut self) -> Result<()> {
        self.signal(libc::SIGCONT)?;
        self.paused = false;
        Ok(())
    }

    fn signal(&self, signal: libc::c_int) -> Result<()> {
        let pid = self.pid().ok_or_else(|| self.error("is down"))?;
        // SAFETY: the child has not been waited for, so its id cannot be anybody else's.
        if unsafe { libc::kill(pid as libc::pid_t, signal) } == 0 {
            return Ok(());
        }
        Err(std::io::Error::last_os_error())
            .context(|| format!("cannot signal server {}", self.number))
    }

    /// Asks the process itself (see `java/EnsembleServer.java`).
    pub(crate) fn command(&mut self, command: &str) -> Result<String> {
        let number = self.number;
        if self.paused {
            return Err(self.error("is paused"));
        }
        let Some(process) = &mut self.process else {
            return Err(self.error("is down"));
        };
        // An answer that came too late must not be taken for this one's.
        while process.answers.try_recv().is_ok() {}
        let doing = || format!("server {number}: `{command}`");
        writeln!(process.stdin, "{command}")
            .and_then(|()| process.stdin.flush())
            .context(doing)?;
        let answer = process.answers.recv_timeout(ANSWER).context(doing)?;
        match answer.split_once(' ').unwrap_or((&answer, "")) {
            ("ok", rest) => Ok(rest.to_owned()),
            (_, rest) => Err(Error::new(format!("{}: {rest}", doing()))),
        }
    }

    fn error(&self, what: &str) -> Error {
        Error::new(format!("server {} {what}", self.number))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.process.is_some() {
            let _ = self.kill();
        }
    }
}

/// Prepares a server's directories and returns its data directory.
pub(crate) fn make_data_dir(base: &Path, number: usize) -> Result<PathBuf> {
    let data = base.join(format!("server-{number}"));
    fs::create_dir_all(&data).context(|| format!("cannot create {}", data.display()))?;
    let myid = data.join("myid");
    fs::write(&myid, number.to_string()).context(|| format!("cannot write {}", myid.display()))?;
    Ok(data)
}
