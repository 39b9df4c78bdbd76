//! Child processes: this test binary once more, told to run one of its ignored tests.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};

use crate::support::{LONG, eventually};

/// The variable that carries what a child is to do.
const ARGUMENT: &str = "ZOOLOCK_TEST_CHILD";

pub struct ChildProcess {
    child: Child,
    lines: Receiver<String>,
}

impl ChildProcess {
    /// Runs the ignored test `name` in a process of its own.
    pub fn start(name: &str, argument: &str) -> ChildProcess {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                name,
                "--ignored",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(ARGUMENT, argument)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        ChildProcess { child, lines }
    }

    /// What the child says behind `key`, in a line of its own.
    pub fn told(&self, key: &str) -> String {
        loop {
            let line = self
                .lines
                .recv_timeout(LONG)
                .unwrap_or_else(|_| panic!("the child did not tell {key:?}"));
            if let Some((_, value)) = line.split_once(&format!("{key}=")) {
                return value.to_owned();
            }
        }
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Lets the child go on from [`wait_for_parent`], and waits for its end.
    pub fn finish(&mut self) -> ExitStatus {
        drop(self.child.stdin.take());
        let mut status = None;
        eventually("the child ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // Gone already, unless the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What this process was started for by [`ChildProcess::start`]; `None` in an ordinary run.
pub fn argument() -> Option<String> {
    std::env::var(ARGUMENT).ok()
}

/// Tells the parent something.
pub fn tell(key: &str, value: impl std::fmt::Display) {
    println!("{key}={value}");
}

/// Waits until the parent says to go on, or is gone.
pub fn wait_for_parent() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}
