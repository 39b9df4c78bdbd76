//! The driver for Rust's asynchronous API: one task per request, on one thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::io::BufRead;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use tokio::sync::{Notify, mpsc};
use tokio::task::{LocalSet, spawn_local};
use zoolock::{Guard, Mutex, Owner, Pending, ReentrantMutex, RwLockSide, Session, Wait};
use zoolock_conformance::driver::{
    answer, builder, contenders, error, event, field, lock_options, log, misunderstood, number,
    tell, wait, withdrawn,
};
use zoolock_conformance::message::Message;

#[derive(Default)]
struct Driver {
    sessions: RefCell<HashMap<String, Session>>,
    locks: RefCell<HashMap<String, Lock>>,
    guards: RefCell<HashMap<String, Rc<Guard>>>,
    owners: RefCell<HashMap<String, Owner>>,
    cancels: RefCell<HashMap<String, Rc<Notify>>>,
    /// How options and errors show themselves to who debugs.
    shown: RefCell<Vec<String>>,
}

#[derive(Clone, Debug)]
enum Lock {
    Mutex(Mutex),
    Reentrant(ReentrantMutex),
    Side(RwLockSide),
}

/// Why there is no answer yet: an error of zoolock's, or of the request itself.
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

fn main() -> std::io::Result<()> {
    log();
    let (lines, mut inbox) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let requests = std::io::stdin().lock().lines().map_while(Result::ok);
        requests.for_each(|line| drop(lines.send(line)));
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let driver = Rc::new(Driver::default());
    let serve = async {
        while let Some(line) = inbox.recv().await {
            let request = Message::parse(&line).map_err(std::io::Error::other)?;
            if request.word == "exit" {
                break;
            }
            let driver = Rc::clone(&driver);
            spawn_local(async move {
                let answer = match driver.obey(&request).await {
                    Ok(answer) => answer,
                    Err(Trouble::Zoolock(trouble)) => {
                        let mut shown = driver.shown.borrow_mut();
                        shown.push(format!("{trouble:#?} {trouble}"));
                        error(&request, &trouble)
                    }
                    Err(Trouble::Request(problem)) => misunderstood(&request, &problem),
                };
                tell(&answer);
            });
        }
        Ok(())
    };
    LocalSet::new().block_on(&runtime, serve)
}

impl Driver {
    async fn obey(&self, request: &Message) -> Result<Message, Trouble> {
        let ok = || answer(request, "ok");
        match request.word.as_str() {
            "connect" => {
                let options = builder(request)?;
                self.shown.borrow_mut().push(format!("{options:#?}"));
                let session = options.connect(field(request, "hosts")?).await?;
                watch(&session);
                let name = field(request, "session")?.to_owned();
                self.sessions.borrow_mut().insert(name, session);
                Ok(ok())
            }
            "mutex" | "reentrant" | "read" | "write" => {
                let lock = self.open(request)?;
                let name = field(request, "lock")?.to_owned();
                self.locks.borrow_mut().insert(name, lock);
                Ok(ok())
            }
            "lock" => self.lock(request).await,
            "try" => {
                let lock = self.find_lock(request)?;
                let owner = self.owner(request);
                let pending = match lock {
                    Lock::Mutex(mutex) => mutex.try_lock(),
                    Lock::Reentrant(mutex) => mutex.try_lock(&owner),
                    Lock::Side(side) => side.try_lock(&owner),
                };
                let granted = pending.await?;
                self.granted(request, granted)
            }
            "cancel" => {
                self.cancel(field(request, "cancel")?).notify_one();
                Ok(ok())
            }
            "release" => {
                self.guard(request)?.release_shared().await?;
                Ok(ok())
            }
            "drop" => {
                let guard = self.guards.borrow_mut().remove(field(request, "guard")?);
                drop(guard.ok_or_else(|| "there is no such guard".to_owned())?);
                Ok(ok())
            }
            "state" => {
                let guard = self.guard(request)?;
                let held = if guard.is_held() { "yes" } else { "no" };
                Ok(ok().with("state", guard.state().name()).with("held", held))
            }
            "session_state" => Ok(ok().with("state", self.session(request)?.state().name())),
            "show" => Ok(ok().with("text", self.show())),
            "contenders" => {
                let found = match self.find_lock(request)? {
                    Lock::Mutex(mutex) => mutex.contenders(),
                    Lock::Reentrant(mutex) => mutex.contenders(),
                    Lock::Side(side) => side.contenders(),
                };
                Ok(contenders(request, &found.await?))
            }
            "close" => {
                let session = self.session(request)?;
                match number(request, "timeout_ms")? {
                    Some(ms) => {
                        session
                            .close_timeout(std::time::Duration::from_millis(ms))
                            .await?
                    }
                    None => session.close().await?,
                }
                Ok(ok())
            }
            verb => Err(format!("{verb} is no verb").into()),
        }
    }

    fn open(&self, request: &Message) -> Result<Lock, Trouble> {
        let session = self.session(request)?;
        let (path, options) = (field(request, "path")?, lock_options(request)?);
        Ok(match request.word.as_str() {
            "mutex" => Lock::Mutex(session.mutex_with(path, options)?),
            "reentrant" => Lock::Reentrant(session.reentrant_mutex_with(path, options)?),
            "read" => Lock::Side(session.rwlock_with(path, options)?.read()),
            _ => Lock::Side(session.rwlock_with(path, options)?.write()),
        })
    }

    async fn lock(&self, request: &Message) -> Result<Message, Trouble> {
        let lock = self.find_lock(request)?;
        let owner = self.owner(request);
        let pending: Pending<Guard> = match (&lock, wait(request)??) {
            (Lock::Mutex(mutex), Wait::Forever) => mutex.lock(),
            (Lock::Reentrant(mutex), Wait::Forever) => mutex.lock(&owner),
            (Lock::Side(side), Wait::Forever) => side.lock(&owner),
            (Lock::Mutex(mutex), Wait::UpTo(time)) => mutex.lock_timeout(time),
            (Lock::Reentrant(mutex), Wait::UpTo(time)) => mutex.lock_timeout(&owner, time),
            (Lock::Side(side), Wait::UpTo(time)) => side.lock_timeout(&owner, time),
            (_, Wait::Try) => return Err("a lock with time-out 0: use try".to_owned().into()),
        };
        let Some(cancel) = request.get("cancel") else {
            let guard = pending.await?;
            return self.granted(request, Some(guard));
        };
        let cancelled = self.cancel(cancel);
        let mut pending = pin!(pending);
        let mut cancelled = pin!(cancelled.notified());
        let granted = poll_fn(|context| match pending.as_mut().poll(context) {
            Poll::Ready(granted) => Poll::Ready(Some(granted)),
            Poll::Pending => cancelled.as_mut().poll(context).map(|()| None),
        });
        match granted.await {
            Some(granted) => self.granted(request, Some(granted?)),
            None => Ok(withdrawn(request)),
        }
    }

    fn granted(&self, request: &Message, guard: Option<Guard>) -> Result<Message, Trouble> {
        let Some(guard) = guard else {
            return Ok(answer(request, "none"));
        };
        let name = field(request, "guard")?.to_owned();
        let (lost, told) = (guard.lost(), name.clone());
        spawn_local(async move {
            lost.await;
            tell(&event("lost").with("guard", told));
        });
        let answer = answer(request, "ok")
            .with("token", guard.fencing_token())
            .with("count", guard.grant_count())
            .with("node", guard.node_path());
        self.guards.borrow_mut().insert(name, Rc::new(guard));
        Ok(answer)
    }

    /// How everything shows itself to who debugs.
    fn show(&self) -> String {
        format!(
            "{:?} {:#?} {:#?} {:#?} {:#?}",
            self.shown.borrow(),
            self.sessions.borrow(),
            self.locks.borrow(),
            self.guards.borrow(),
            self.owners.borrow(),
        )
    }

    fn session(&self, request: &Message) -> Result<Session, String> {
        find(&self.sessions, field(request, "session")?)
    }

    fn find_lock(&self, request: &Message) -> Result<Lock, String> {
        find(&self.locks, field(request, "lock")?)
    }

    fn guard(&self, request: &Message) -> Result<Rc<Guard>, String> {
        find(&self.guards, field(request, "guard")?)
    }

    fn owner(&self, request: &Message) -> Owner {
        match request.get("thread") {
            Some(thread) => {
                let mut owners = self.owners.borrow_mut();
                owners
                    .entry(thread.to_owned())
                    .or_insert_with(Owner::new)
                    .clone()
            }
            None => Owner::new(),
        }
    }

    fn cancel(&self, name: &str) -> Rc<Notify> {
        Rc::clone(
            self.cancels
                .borrow_mut()
                .entry(name.to_owned())
                .or_default(),
        )
    }
}

fn find<T: Clone>(map: &RefCell<HashMap<String, T>>, name: &str) -> Result<T, String> {
    let found = map.borrow().get(name).cloned();
    found.ok_or_else(|| format!("there is no {name}"))
}

fn watch(session: &Session) {
    let mut watch = session.watch_state();
    spawn_local(async move {
        while let Some(state) = watch.changed().await {
            tell(&event("state").with("state", state.name()));
        }
    });
}
