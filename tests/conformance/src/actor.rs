//! An actor: a driver's process, and the messages to and from it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use zoolock_ensemble::until;

use crate::message::{EVENT, Message};
use crate::trace::Trace;

/// A driver's process.
pub struct Actor {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
    readers: Vec<JoinHandle<()>>,
    shared: Arc<Shared>,
    trace: Trace,
    sent: u64,
    paused: bool,
    ended: bool,
}

#[derive(Default)]
struct Shared {
    inbox: Mutex<Inbox>,
    changed: Condvar,
}

#[derive(Default)]
struct Inbox {
    answers: HashMap<String, Message>,
    events: Vec<Message>,
    broken: Option<String>,
}

impl Actor {
    /// Starts a driver.
    pub fn start(name: &str, command: &[String], trace: &Trace) -> Result<Actor, String> {
        let (program, arguments) = command
            .split_first()
            .ok_or("the driver's command is empty")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {program}: {error}"))?;
        let shared = Arc::<Shared>::default();
        let mut readers = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            let (shared, trace, name) = (shared.clone(), trace.clone(), name.to_owned());
            readers.push(thread::spawn(move || shared.receive(stdout, &trace, &name)));
        }
        if let Some(stderr) = child.stderr.take() {
            let (trace, name) = (trace.clone(), name.to_owned());
            readers.push(thread::spawn(move || {
                for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                    trace.add(format!("{name} stderr: {line}"));
                }
            }));
        }
        Ok(Actor {
            name: name.to_owned(),
            stdin: child.stdin.take(),
            child,
            readers,
            shared,
            trace: trace.clone(),
            sent: 0,
            paused: false,
            ended: false,
        })
    }

    /// Sends a request and returns its id.
    pub fn send(&mut self, word: &str, fields: &[(String, String)]) -> Result<String, String> {
        self.sent += 1;
        let mut message = Message::new(self.sent.to_string(), word);
        message.fields = fields.to_vec();
        self.trace.add(format!("{} > {message}", self.name));
        let stdin = self.stdin.as_mut().ok_or("the actor has ended")?;
        writeln!(stdin, "{message}")
            .and_then(|()| stdin.flush())
            .map_err(|error| format!("the driver of {} is gone: {error}", self.name))?;
        Ok(message.id)
    }

    /// The answer to a request, taken out of the inbox.
    pub fn answer(&self, id: &str, within: Duration) -> Result<Message, String> {
        self.wait(within, |inbox| inbox.answers.remove(id))
            .map_err(|why| format!("{} did not answer request {id} {why}", self.name))
    }

    /// Whether the answer to a request has come.
    pub fn has_answered(&self, id: &str) -> bool {
        self.shared.lock().answers.contains_key(id)
    }

    /// The answer to a request, if it has come, left in the inbox.
    pub fn peek(&self, id: &str) -> Option<Message> {
        self.shared.lock().answers.get(id).cloned()
    }

    /// Waits until the events so far satisfy `wanted`.
    pub fn wait_events(
        &self,
        within: Duration,
        wanted: impl Fn(&[Message]) -> bool,
    ) -> Result<(), String> {
        self.wait(within, |inbox| wanted(&inbox.events).then_some(()))
    }

    /// All events so far.
    pub fn events(&self) -> Vec<Message> {
        self.shared.lock().events.clone()
    }

    /// Whether it can answer at present.
    pub fn is_running(&self) -> bool {
        !self.paused && !self.ended
    }

    /// Whether it has been killed or has exited.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Stops the process where it stands, and returns once it is stopped.
    pub fn pause(&mut self) -> Result<(), String> {
        self.signal(libc::SIGSTOP)?;
        self.paused = true;
        let stat = format!("/proc/{}/stat", self.child.id());
        until(Duration::from_secs(5), || {
            let stat = std::fs::read_to_string(&stat).ok()?;
            stat.rsplit(')')
                .next()?
                .trim()
                .starts_with('T')
                .then_some(())
        })
        .ok_or_else(|| format!("{} did not stop", self.name))
    }

    /// Lets a paused process go on.
    pub fn resume(&mut self) -> Result<(), String> {
        self.signal(libc::SIGCONT)?;
        self.paused = false;
        Ok(())
    }

    /// Kills the process, which has to die of that.
    pub fn kill(&mut self) -> Result<(), String> {
        self.ended = true;
        let failed = |error| format!("cannot kill {}: {error}", self.name);
        self.child.kill().map_err(failed)?;
        let status = self.child.wait().map_err(failed)?;
        // Not before: the end of its input is what tells a driver to end, and to close its sessions.
        self.stdin = None;
        self.join();
        match status.signal() {
            Some(libc::SIGKILL) => Ok(()),
            _ => Err(format!("{} had ended by itself: {status}", self.name)),
        }
    }

    /// Asks the process to end as programs do, and waits for it.
    pub fn exit(&mut self, within: Duration) -> Result<(), String> {
        self.send("exit", &[])?;
        self.stdin = None;
        let child = &mut self.child;
        let status = until(within, || child.try_wait().transpose())
            .ok_or_else(|| format!("{} did not exit within {within:?}", self.name))?
            .map_err(|error| format!("cannot wait for {}: {error}", self.name))?;
        self.ended = true;
        self.join();
        match (status.code(), status.signal()) {
            (Some(0), _) => Ok(()),
            (Some(code), _) => Err(format!("{} exited with status {code}", self.name)),
            (None, signal) => Err(format!("{} died of signal {signal:?}", self.name)),
        }
    }

    fn join(&mut self) {
        for reader in self.readers.drain(..) {
            // A reader has nothing to tell but its panic, which is on stderr.
            let _ = reader.join();
        }
    }

    fn signal(&self, signal: i32) -> Result<(), String> {
        let pid = i32::try_from(self.child.id()).map_err(|error| error.to_string())?;
        // SAFETY: kill has no memory-safety preconditions; the child has not been waited for.
        match unsafe { libc::kill(pid, signal) } {
            0 => Ok(()),
            _ => Err(format!("cannot signal {}", self.name)),
        }
    }

    fn wait<T>(
        &self,
        within: Duration,
        mut take: impl FnMut(&mut Inbox) -> Option<T>,
    ) -> Result<T, String> {
        let end = Instant::now() + within;
        let mut inbox = self.shared.lock();
        loop {
            if let Some(value) = take(&mut inbox) {
                return Ok(value);
            }
            if let Some(broken) = &inbox.broken {
                return Err(format!("({broken})"));
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(format!("within {} ms", within.as_millis()));
            }
            inbox = self
                .shared
                .changed
                .wait_timeout(inbox, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        if !self.ended {
            // A stopped process dies of SIGKILL too.
            let _ = self.kill();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn receive(&self, from: impl Read, trace: &Trace, name: &str) {
        let mut broken = "its driver has ended".to_owned();
        for line in BufReader::new(from).lines() {
            let message = line
                .map_err(|error| error.to_string())
                .and_then(|line| Message::parse(&line));
            match message {
                Ok(message) => {
                    trace.add(format!("{name} < {message}"));
                    let mut inbox = self.lock();
                    if message.id == EVENT {
                        inbox.events.push(message);
                    } else {
                        inbox.answers.insert(message.id.clone(), message);
                    }
                    self.changed.notify_all();
                }
                Err(problem) => {
                    trace.add(format!("{name} < {problem}"));
                    broken = format!("its driver wrote: {problem}");
                    break;
                }
            }
        }
        self.lock().broken = Some(broken);
        self.changed.notify_all();
    }
}
