//! A client in a process of its own, to be stopped, continued and killed.
//!
//! The test binary starts itself, as its ignored test `child`, which a test file declares with
//! [`child_process!`](crate::child_process). Commands go in by lines, answers come out.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use zoolock::{Guard, LockOptions, Session, Wait};

use super::LONG;
use super::look::clock;

const HOSTS: &str = "ZOOLOCK_CHILD_HOSTS";
const SESSION_MS: &str = "ZOOLOCK_CHILD_SESSION_MS";
/// Tells answers from what the test harness prints.
const MARK: &str = "@ ";

/// Declares the test that a [`Child`] runs.
#[macro_export]
macro_rules! child_process {
    () => {
        #[test]
        #[ignore = "the child process of other tests"]
        fn child() {
            support::child::run();
        }
    };
}

/// The process, seen from the test. Killed when dropped.
pub struct Child {
    process: std::process::Child,
    input: ChildStdin,
    answers: Receiver<String>,
    /// Answers that were not asked for yet.
    kept: Vec<Vec<String>>,
}

impl Child {
    /// Starts a process that connects.
    #[track_caller]
    pub fn start(hosts: &str, session_timeout: Duration) -> Child {
        // By this name it can be started even if it was built anew meanwhile.
        let mut command = Command::new("/proc/self/exe");
        command
            .args(["child", "--exact", "--ignored", "--nocapture"])
            .env(HOSTS, hosts)
            .env(SESSION_MS, session_timeout.as_millis().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut process = command.spawn().expect("start a child");
        let input = process.stdin.take().expect("piped");
        let output = BufReader::new(process.stdout.take().expect("piped"));
        let (sender, answers) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Some((_, answer)) = line.split_once(MARK)
                    && sender.send(answer.to_owned()).is_err()
                {
                    return;
                }
            }
        });
        let mut child = Child {
            process,
            input,
            answers,
            kept: Vec::new(),
        };
        child.expect("connected");
        child
    }

    /// Sends a command.
    #[track_caller]
    pub fn send(&mut self, command: &str) {
        writeln!(self.input, "{command}").expect("the child reads");
    }

    /// The words after `what` of the first answer that begins with it.
    #[track_caller]
    pub fn expect(&mut self, what: &str) -> Vec<String> {
        self.within(what, LONG)
            .unwrap_or_else(|| panic!("no answer `{what}` from the child; others: {:?}", self.kept))
    }

    /// As [`expect`](Child::expect), `None` if it does not come in time.
    #[track_caller]
    pub fn within(&mut self, what: &str, time: Duration) -> Option<Vec<String>> {
        let wanted: Vec<&str> = what.split(' ').collect();
        let end = clock() + time;
        loop {
            let found = self
                .kept
                .iter()
                .position(|words| words.starts_with_words(&wanted));
            if let Some(found) = found {
                return Some(self.kept.remove(found).split_off(wanted.len()));
            }
            match self.answers.recv_timeout(end.saturating_sub(clock())) {
                Ok(answer) => self
                    .kept
                    .push(answer.split(' ').map(str::to_owned).collect()),
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => panic!("the child ended"),
            }
        }
    }

    /// Takes a lock: its token, and when it was granted.
    #[track_caller]
    pub fn lock(&mut self, name: &str, path: &str) -> (i64, Duration) {
        self.send(&format!("lock {name} {path} -1"));
        self.granted(name)
    }

    /// The token of a lock asked for before, and when it was granted.
    #[track_caller]
    pub fn granted(&mut self, name: &str) -> (i64, Duration) {
        let words = self.expect(&format!("{name} granted"));
        (words[0].parse().expect("a token"), at(&words[1]))
    }

    /// SIGSTOP.
    pub fn stop(&self) {
        self.signal(libc::SIGSTOP);
    }

    /// SIGCONT.
    pub fn go_on(&self) {
        self.signal(libc::SIGCONT);
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        self.process.kill().expect("kill");
        self.process.wait().expect("wait");
    }

    fn signal(&self, signal: libc::c_int) {
        let pid = libc::pid_t::try_from(self.process.id()).expect("a pid");
        // SAFETY: our own child, which has not been waited for.
        assert_eq!(unsafe { libc::kill(pid, signal) }, 0, "signal the child");
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have been killed by the test.
        if self.process.kill().is_ok() {
            self.process.wait().expect("wait");
        }
    }
}

/// A time that a child told.
pub fn at(word: &str) -> Duration {
    Duration::from_nanos(word.parse().expect("a time"))
}

trait StartsWithWords {
    fn starts_with_words(&self, words: &[&str]) -> bool;
}

impl StartsWithWords for Vec<String> {
    fn starts_with_words(&self, words: &[&str]) -> bool {
        self.len() >= words.len() && self.iter().zip(words).all(|(one, other)| one == other)
    }
}

// ---- in the child ----

type Guards = Arc<Mutex<HashMap<String, Arc<Guard>>>>;

fn tell(answer: &str) {
    // A whole line at once, or those of several threads would mix.
    let line = format!("\n{MARK}{answer}\n");
    let mut output = std::io::stdout().lock();
    let told = output
        .write_all(line.as_bytes())
        .and_then(|()| output.flush());
    if told.is_err() {
        // The parent is gone.
        std::process::exit(1);
    }
}

fn stamp() -> u128 {
    clock().as_nanos()
}

/// What the child does: obeys until its input ends.
///
/// - `lock NAME PATH MS` (-1 for ever, 0 a try): `NAME granted TOKEN AT`, `NAME busy AT` or `NAME failed KIND AT`;
///   later perhaps `NAME lost AT`
/// - `keep NAME PATH MS`: the same of a lock that keeps its contender
/// - `held NAME`: `NAME held BOOL AT`
/// - `watch NAME`: asks `is_held` all the time until it says no, then `NAME watched LAST_TRUE FIRST_FALSE GAP AFTER_GAP`:
///   the two times around the change, the longest time between two looks, and what the look after that said
/// - `release NAME`: `NAME released BEFORE AFTER` or `NAME refused KIND BEFORE AFTER`
/// - `quit`: returns from `main` without closing anything
pub fn run() {
    let Ok(hosts) = std::env::var(HOSTS) else {
        return;
    };
    let session_ms = std::env::var(SESSION_MS).expect("set together");
    let session_timeout = Duration::from_millis(session_ms.parse().expect("a number"));
    let options = Session::builder().session_timeout(session_timeout);
    let session = options.connect(&hosts).wait().expect("connect");
    tell("connected");
    let guards = Guards::default();
    for line in std::io::stdin().lines() {
        let line = line.expect("input");
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        match words[0].as_str() {
            "lock" | "keep" => lock(&session, &guards, &words),
            "held" => {
                let held = guard(&guards, &words[1]).is_held();
                tell(&format!("{} held {held} {}", words[1], stamp()));
            }
            "watch" => watch(&guards, &words[1]),
            "release" => {
                let before = stamp();
                let outcome = guard(&guards, &words[1]).release_shared().wait();
                let answer = match outcome {
                    Ok(()) => "released".to_owned(),
                    Err(error) => format!("refused {:?}", error.kind()),
                };
                tell(&format!("{} {answer} {before} {}", words[1], stamp()));
            }
            "quit" => return,
            other => panic!("no command: {other}"),
        }
    }
}

fn guard(guards: &Guards, name: &str) -> Arc<Guard> {
    let guards = guards.lock().expect("no panic");
    Arc::clone(guards.get(name).expect("a lock of that name"))
}

fn lock(session: &Session, guards: &Guards, words: &[String]) {
    let [verb, name, path, ms] = words else {
        panic!("lock NAME PATH MS");
    };
    let wait = Wait::from_millis("lock", ms.parse().expect("a number")).expect("a time");
    let options = match verb.as_str() {
        "keep" => LockOptions::new().keep(LONG),
        _ => LockOptions::new(),
    };
    let mutex = session.mutex_with(path, options).expect("a mutex");
    let pending = mutex.acquire(wait, None);
    let (name, guards) = (name.clone(), Arc::clone(guards));
    thread::spawn(move || match pending.wait() {
        Ok(Some(guard)) => {
            let at = stamp();
            let token = guard.fencing_token();
            let on_lost = name.clone();
            guard.on_lost(move || tell(&format!("{on_lost} lost {}", stamp())));
            let mut guards = guards.lock().expect("no panic");
            guards.insert(name.clone(), Arc::new(guard));
            drop(guards);
            tell(&format!("{name} granted {token} {at}"));
        }
        Ok(None) => tell(&format!("{name} busy {}", stamp())),
        Err(error) => tell(&format!("{name} failed {:?} {}", error.kind(), stamp())),
    });
}

fn watch(guards: &Guards, name: &str) {
    let guard = guard(guards, name);
    let name = name.to_owned();
    thread::spawn(move || {
        assert!(guard.is_held(), "there is nothing to watch");
        let mut last = clock();
        let mut longest = (Duration::ZERO, true);
        tell(&format!("{name} watching"));
        loop {
            let before = clock();
            let held = guard.is_held();
            if before - last > longest.0 {
                longest = (before - last, held);
            }
            if !held {
                let (gap, after) = (longest.0.as_nanos(), longest.1);
                let (last, first) = (last.as_nanos(), before.as_nanos());
                return tell(&format!("{name} watched {last} {first} {gap} {after}"));
            }
            last = before;
            thread::sleep(Duration::from_millis(1));
        }
    });
}
