//! A benchmark program under way: asked for blocks of cycles, and checked.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use serde::Deserialize;

/// A thousand cycles on a slow disk, and then some.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a program says of a block of cycles.
#[derive(Debug, Deserialize)]
pub(crate) struct Block {
    pub(crate) nanos: Vec<u64>,
    pub(crate) tokens: Vec<i64>,
}

#[derive(Debug)]
pub(crate) struct Program {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<std::io::Result<String>>,
}

impl Program {
    /// Starts a command and waits until it is connected.
    pub(crate) fn start(name: &str, command: &[String], args: &[&str]) -> Result<Program, String> {
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
        let mut program = Program {
            name: name.to_owned(),
            child,
            stdin,
            lines,
        };
        match program.line()?.as_str() {
            "ready" => Ok(program),
            other => Err(format!("{name} said `{other}` instead of ready")),
        }
    }

    /// Runs a block of cycles; its tokens have to rise from above `floor`.
    pub(crate) fn run(&mut self, cycles: usize, floor: i64) -> Result<Block, String> {
        let stdin = self.stdin.as_mut().ok_or("already finished")?;
        writeln!(stdin, "{cycles}").map_err(|error| format!("{}: {error}", self.name))?;
        let line = self.line()?;
        let block: Block = serde_json::from_str(&line)
            .map_err(|error| format!("{} said `{line}`: {error}", self.name))?;
        check(&block, cycles, floor).map_err(|why| format!("{}: {why}", self.name))?;
        Ok(block)
    }

    /// Lets it close its session and end.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        drop(self.stdin.take());
        match self.lines.recv_timeout(PATIENCE) {
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

    fn line(&mut self) -> Result<String, String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(Ok(line)) => Ok(line),
            Ok(Err(error)) => Err(format!("{}: {error}", self.name)),
            Err(RecvTimeoutError::Disconnected) => Err(format!("{} ended", self.name)),
            Err(RecvTimeoutError::Timeout) => Err(format!(
                "{} said nothing for {} s",
                self.name,
                PATIENCE.as_secs()
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

fn check(block: &Block, cycles: usize, floor: i64) -> Result<(), String> {
    if block.nanos.len() != cycles || block.tokens.len() != cycles {
        return Err(format!(
            "{cycles} cycles were asked for; {} times and {} tokens came",
            block.nanos.len(),
            block.tokens.len()
        ));
    }
    let mut last = floor;
    for &token in &block.tokens {
        if token <= last {
            return Err(format!("the token {token} came after {last}"));
        }
        last = token;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(tokens: &[i64]) -> Block {
        Block {
            nanos: vec![1; tokens.len()],
            tokens: tokens.to_vec(),
        }
    }

    #[test]
    fn rising_tokens_in_the_right_number_pass() {
        assert_eq!(check(&block(&[5, 6, 9]), 3, 4), Ok(()));
    }

    #[test]
    fn a_wrong_count_is_found() {
        assert!(check(&block(&[5, 6]), 3, 4).is_err());
        let mut short = block(&[5, 6, 7]);
        short.nanos.pop();
        assert!(check(&short, 3, 4).is_err());
    }

    #[test]
    fn tokens_that_do_not_rise_are_found() {
        assert!(check(&block(&[5, 5]), 2, 4).is_err());
        assert!(check(&block(&[6, 5]), 2, 4).is_err());
        assert!(check(&block(&[4, 5]), 2, 4).is_err(), "not above the floor");
    }
}
