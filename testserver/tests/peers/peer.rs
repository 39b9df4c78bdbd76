//! Another library's lock, as a program that takes orders on its standard input.
//!
//! It says `session ID` when it is connected; `locked` and `unlocked` when it has done the orders `lock` and `unlock`;
//! and `lost` when its session is over. It ends when its standard input does.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// Until it says what it has to, on a busy machine. JVMs start slowly.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Peer {
    name: &'static str,
    /// The session that it had first.
    pub session: i64,
    child: Child,
    orders: Option<ChildStdin>,
    said: Receiver<String>,
}

impl Peer {
    pub fn start(name: &'static str, mut command: Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the peer can be started");
        let out = BufReader::new(child.stdout.take().expect("piped"));
        let (says, said) = mpsc::channel();
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                println!("{name}: {line}");
                if says.send(line).is_err() {
                    break;
                }
            }
        });
        let complaints = BufReader::new(child.stderr.take().expect("piped"));
        thread::spawn(move || {
            for line in complaints.lines().map_while(Result::ok) {
                println!("{name}: {line}");
            }
        });
        let mut peer = Peer {
            name,
            session: 0,
            orders: child.stdin.take(),
            child,
            said,
        };
        let line = peer.hear();
        let session = line.strip_prefix("session ").expect("its session first");
        peer.session = session.parse().expect("a number");
        peer
    }

    pub fn order(&self, order: &str) {
        println!("{} is told to {order}", self.name);
        let mut orders = self.orders.as_ref().expect("not ended");
        writeln!(orders, "{order}").expect("it listens");
    }

    fn hear(&self) -> String {
        let line = self.said.recv_timeout(PATIENCE);
        line.unwrap_or_else(|error| panic!("{} said nothing: {error}", self.name))
    }

    pub fn says(&self, expected: &str) {
        assert_eq!(self.hear(), expected, "{}", self.name);
    }

    pub fn has_said_nothing(&self) {
        if let Ok(line) = self.said.try_recv() {
            panic!("{} said {line} too early", self.name);
        }
    }

    /// What it says until it says this.
    pub fn says_at_last(&self, expected: &str) {
        while self.hear() != expected {}
    }

    pub fn ends_well(mut self) {
        drop(self.orders.take());
        assert!(self.child.wait().expect("a child").success());
    }
}

impl Drop for Peer {
    /// After a failure: it must not stay behind.
    fn drop(&mut self) {
        drop(self.orders.take());
        // It may have ended already.
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}
