//! The driver for Rust's blocking API: one thread per request, or per logical thread.

use std::collections::HashMap;
use std::io::BufRead;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex as Lockable, PoisonError};
use std::thread;
use std::time::Duration;

use zoolock::blocking::{Guard, Mutex, ReentrantMutex, RwLockSide, Session};
use zoolock::{Cancel, Owner, Wait};
use zoolock_conformance::driver::{
    answer, builder, contenders, error, event, field, lock_options, misunderstood, number, tell,
    wait,
};
use zoolock_conformance::message::Message;

#[derive(Default)]
struct Driver {
    sessions: Table<Session>,
    locks: Table<Lock>,
    guards: Table<Arc<Guard>>,
    cancels: Table<Cancel>,
}

struct Table<T>(Lockable<HashMap<String, T>>);

#[derive(Clone)]
enum Lock {
    Mutex(Mutex),
    Reentrant(ReentrantMutex),
    Side(RwLockSide),
}

enum Trouble {
    Zoolock(zoolock::Error),
    Request(String),
}

impl From<zoolock::Error> for Trouble {
    fn from(error: zoolock::Error) -> Trouble {
        Trouble::Zoolock(error)
    }
}

impl From<String> for Trouble {
    fn from(problem: String) -> Trouble {
        Trouble::Request(problem)
    }
}

fn main() -> Result<(), String> {
    let driver = Arc::new(Driver::default());
    let mut threads = HashMap::<String, Sender<Message>>::new();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let request = Message::parse(&line)?;
        if request.word == "exit" {
            break;
        }
        let run = |request: Message, driver: &Driver| tell(&driver.respond(&request));
        match request.get("thread").map(str::to_owned) {
            None => {
                let driver = Arc::clone(&driver);
                thread::spawn(move || run(request, &driver));
            }
            Some(name) => {
                let inbox = threads.entry(name).or_insert_with(|| {
                    let (sender, inbox) = channel();
                    let driver = Arc::clone(&driver);
                    thread::spawn(move || {
                        inbox.into_iter().for_each(|request| run(request, &driver));
                    });
                    sender
                });
                inbox.send(request).map_err(|_| "a thread has ended")?;
            }
        }
    }
    Ok(())
}

impl Driver {
    fn respond(&self, request: &Message) -> Message {
        match self.obey(request) {
            Ok(answer) => answer,
            Err(Trouble::Zoolock(trouble)) => error(request, &trouble),
            Err(Trouble::Request(problem)) => misunderstood(request, &problem),
        }
    }

    fn obey(&self, request: &Message) -> Result<Message, Trouble> {
        let ok = || answer(request, "ok");
        match request.word.as_str() {
            "connect" => {
                let hosts = field(request, "hosts")?;
                let session = Session::connect_with(builder(request)?, hosts)?;
                session.on_state(|state| tell(&event("state").with("state", state.name())))?;
                self.sessions.put(field(request, "session")?, session);
                Ok(ok())
            }
            "mutex" | "reentrant" | "read" | "write" => {
                self.locks.put(field(request, "lock")?, self.open(request)?);
                Ok(ok())
            }
            "lock" => self.lock(request),
            "try" => {
                let granted = match self.locks.get(field(request, "lock")?)? {
                    Lock::Mutex(mutex) => mutex.try_lock()?,
                    Lock::Reentrant(mutex) => mutex.try_lock()?,
                    Lock::Side(side) => side.try_lock()?,
                };
                self.granted(request, granted)
            }
            "cancel" => {
                self.cancel(field(request, "cancel")?).cancel();
                Ok(ok())
            }
            "release" => {
                let guard = self.guards.take(field(request, "guard")?)?;
                let guard = Arc::into_inner(guard).ok_or("the guard is in use".to_owned())?;
                guard.release()?;
                Ok(ok())
            }
            "drop" => {
                drop(self.guards.take(field(request, "guard")?)?);
                Ok(ok())
            }
            "state" => {
                let guard = self.guards.get(field(request, "guard")?)?;
                let held = if guard.is_held() { "yes" } else { "no" };
                Ok(ok().with("state", guard.state().name()).with("held", held))
            }
            "session_state" => {
                let session = self.sessions.get(field(request, "session")?)?;
                Ok(ok().with("state", session.state().name()))
            }
            "contenders" => {
                let found = match self.locks.get(field(request, "lock")?)? {
                    Lock::Mutex(mutex) => mutex.contenders()?,
                    Lock::Reentrant(mutex) => mutex.contenders()?,
                    Lock::Side(side) => side.contenders()?,
                };
                Ok(contenders(request, &found))
            }
            "close" => {
                let session = self.sessions.get(field(request, "session")?)?;
                match number(request, "timeout_ms")? {
                    Some(ms) => session.close_timeout(Duration::from_millis(ms))?,
                    None => session.close()?,
                }
                Ok(ok())
            }
            verb => Err(format!("{verb} is no verb").into()),
        }
    }

    fn open(&self, request: &Message) -> Result<Lock, Trouble> {
        let session = self.sessions.get(field(request, "session")?)?;
        let path = field(request, "path")?;
        let options = lock_options(request)?;
        let plain = options == zoolock::LockOptions::new();
        Ok(match request.word.as_str() {
            "mutex" if plain => Lock::Mutex(session.mutex(path)?),
            "mutex" => Lock::Mutex(session.mutex_with(path, options)?),
            "reentrant" if plain => Lock::Reentrant(session.reentrant_mutex(path)?),
            "reentrant" => Lock::Reentrant(session.reentrant_mutex_with(path, options)?),
            _ if !plain => return Err("options only for mutexes here".to_owned().into()),
            "read" => Lock::Side(session.rwlock(path)?.read()),
            _ => Lock::Side(session.rwlock(path)?.write()),
        })
    }

    fn lock(&self, request: &Message) -> Result<Message, Trouble> {
        let lock = self.locks.get(field(request, "lock")?)?;
        let wait = wait(request)??;
        let cancel = request.get("cancel").map(|name| self.cancel(name));
        let owner = Owner::current_thread();
        let granted = match (&lock, wait, &cancel) {
            (Lock::Mutex(mutex), Wait::Forever, None) => Some(mutex.lock()?),
            (Lock::Reentrant(mutex), Wait::Forever, None) => Some(mutex.lock()?),
            (Lock::Side(side), Wait::Forever, None) => Some(side.lock()?),
            (Lock::Mutex(mutex), Wait::UpTo(time), None) => Some(mutex.lock_timeout(time)?),
            (Lock::Reentrant(mutex), Wait::UpTo(time), None) => Some(mutex.lock_timeout(time)?),
            (Lock::Side(side), Wait::UpTo(time), None) => Some(side.lock_timeout(time)?),
            (Lock::Mutex(mutex), wait, cancel) => mutex.acquire(wait, cancel.as_ref())?,
            (Lock::Reentrant(mutex), wait, cancel) => {
                mutex.acquire(&owner, wait, cancel.as_ref())?
            }
            (Lock::Side(side), wait, cancel) => side.acquire(&owner, wait, cancel.as_ref())?,
        };
        self.granted(request, granted)
    }

    fn granted(&self, request: &Message, guard: Option<Guard>) -> Result<Message, Trouble> {
        let Some(guard) = guard else {
            return Ok(answer(request, "none"));
        };
        let name = field(request, "guard")?.to_owned();
        let told = name.clone();
        guard.on_lost(move || tell(&event("lost").with("guard", told)));
        let answer = answer(request, "ok")
            .with("token", guard.fencing_token())
            .with("count", guard.grant_count())
            .with("node", guard.node_path());
        self.guards.put(&name, Arc::new(guard));
        Ok(answer)
    }

    fn cancel(&self, name: &str) -> Cancel {
        let mut cancels = self
            .cancels
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        cancels.entry(name.to_owned()).or_default().clone()
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table(Lockable::default())
    }
}

impl<T: Clone> Table<T> {
    fn put(&self, name: &str, value: T) {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        map.insert(name.to_owned(), value);
    }

    fn get(&self, name: &str) -> Result<T, String> {
        let map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        map.get(name)
            .cloned()
            .ok_or_else(|| format!("there is no {name}"))
    }

    fn take(&self, name: &str) -> Result<T, String> {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        map.remove(name)
            .ok_or_else(|| format!("there is no {name}"))
    }
}
