//! A benchmark program under way: it is asked, and it answers.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;

/// A thousand cycles on a slow disk, or a thousand waiters, and then some.
const PATIENCE: Duration = Duration::from_secs(120);
/// A program that does not close its sessions in this time is killed.
const ENDING: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Program {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<std::io::Result<String>>,
}

impl Program {
    /// Starts a command, which connects meanwhile.
    pub(crate) fn spawn(name: &str, command: &[String], args: &[&str]) -> Result<Program, String> {
        let (path, first_args) = command.split_first().ok_or("no command")?;
        let mut child = Command::new(path)
            .args(first_args)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {path}: {error}"))?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or("no standard output")?;
        let (sender, lines) = channel();
        thread::spawn(move || pass_on(stdout, &sender));
        Ok(Program {
            name: name.to_owned(),
            child,
            stdin,
            lines,
        })
    }

    /// Starts a command and waits until it is connected.
    pub(crate) fn start(name: &str, command: &[String], args: &[&str]) -> Result<Program, String> {
        let mut program = Program::spawn(name, command, args)?;
        program.wait_ready()?;
        Ok(program)
    }

    pub(crate) fn wait_ready(&mut self) -> Result<(), String> {
        match self.line(PATIENCE)?.as_str() {
            "ready" => Ok(()),
            other => Err(format!("{} said `{other}` instead of ready", self.name)),
        }
    }

    pub(crate) fn send(&mut self, command: &str) -> Result<(), String> {
        let stdin = self.stdin.as_mut().ok_or("already finished")?;
        writeln!(stdin, "{command}").map_err(|error| format!("{}: {error}", self.name))
    }

    pub(crate) fn receive<T: DeserializeOwned>(&mut self) -> Result<T, String> {
        let line = self.line(PATIENCE)?;
        serde_json::from_str(&line).map_err(|error| {
            let start: String = line.chars().take(200).collect();
            format!("{} said `{start}`: {error}", self.name)
        })
    }

    pub(crate) fn ask<T: DeserializeOwned>(&mut self, command: &str) -> Result<T, String> {
        self.send(command)?;
        self.receive()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets it close its session and end.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        drop(self.stdin.take());
        match self.lines.recv_timeout(ENDING) {
            Err(RecvTimeoutError::Disconnected) => {}
            Err(RecvTimeoutError::Timeout) => return Err(format!("{} did not end", self.name)),
            Ok(line) => return Err(format!("{} ended with {line:?}", self.name)),
        }
        let status = self
            .child
            .wait()
            .map_err(|error| format!("{}: {error}", self.name))?;
        if status.success() {
            return Ok(());
        }
        Err(format!("{} ended with {status}", self.name))
    }

    fn line(&mut self, patience: Duration) -> Result<String, String> {
        match self.lines.recv_timeout(patience) {
            Ok(Ok(line)) => Ok(line),
            Ok(Err(error)) => Err(format!("{}: {error}", self.name)),
            Err(RecvTimeoutError::Disconnected) => Err(format!("{} ended", self.name)),
            Err(RecvTimeoutError::Timeout) => Err(format!(
                "{} said nothing for {} s",
                self.name,
                patience.as_secs()
            )),
        }
    }
}

fn pass_on(stdout: ChildStdout, to: &Sender<std::io::Result<String>>) {
    for line in BufReader::new(stdout).lines() {
        if to.send(line).is_err() {
            return;
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
