//! A worker process: started, let loose, listened to, waited for.
//!
//! A worker says `ready` when it is connected, reads from its standard input when to stop (a time of
//! [`clock`](crate::clock)), prints a `hold` line after each hold, and exits with 0.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::thread;

use crate::hold::Hold;
use crate::language::Language;

/// What a worker did.
#[derive(Debug)]
pub(crate) enum Event {
    Ready,
    Hold(Hold),
    /// It said something that it should not have.
    Nonsense(String),
    /// Its standard output is closed: it ended, or is about to.
    End,
}

/// A running worker.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) language: Language,
    child: Child,
    stdin: Option<ChildStdin>,
}

impl Worker {
    /// Starts `command` with the arguments that all workers take; its events go to `events`.
    pub(crate) fn start(
        language: Language,
        command: &[PathBuf],
        args: &[&str],
        events: Sender<(Language, Event)>,
    ) -> Result<Worker, String> {
        let (program, first_args) = command.split_first().ok_or("no command")?;
        let mut child = Command::new(program)
            .args(first_args)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let pid = child.id();
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or("no standard output")?;
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                // Nobody listens any more once the demo has given up.
                let _ = events.send((language, read(language, pid, line)));
            }
            let _ = events.send((language, Event::End));
        });
        Ok(Worker {
            language,
            child,
            stdin,
        })
    }

    /// Tells it to take the lock again and again until `end`.
    pub(crate) fn let_loose(&mut self, end: u64) -> Result<(), String> {
        let mut stdin = self.stdin.take().ok_or("let loose twice")?;
        writeln!(stdin, "{end}").map_err(|error| format!("{} went away: {error}", self.language))
    }

    /// Waits for its end, which its closed output announced.
    pub(crate) fn wait(&mut self) -> Result<ExitStatus, String> {
        self.child
            .wait()
            .map_err(|error| format!("cannot wait for {}: {error}", self.language))
    }

    pub(crate) fn kill(&mut self) {
        // It may have ended by itself just now.
        let _ = self.child.kill();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
    }
}

fn read(language: Language, pid: u32, line: std::io::Result<String>) -> Event {
    let line = match line {
        Ok(line) => line,
        Err(error) => return Event::Nonsense(error.to_string()),
    };
    if line == "ready" {
        return Event::Ready;
    }
    match line.strip_prefix("hold ") {
        Some(fields) => match Hold::parse(language, pid, fields) {
            Ok(hold) => Event::Hold(hold),
            Err(why) => Event::Nonsense(why),
        },
        None => Event::Nonsense(line),
    }
}
