//! Does the jobs that the runner hands out, several at once, and reports everything that it sees of its locks.
//!
//! `torture-worker HOSTS RESOURCE NAME SESSION_TIMEOUT_MS THREADS ROOT`; ends when its standard input does. The README
//! has the protocol.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{env, io, thread};

use zoolock::blocking::{Guard, ReentrantMutex, RwLock, Session};
use zoolock::{Result, Wait};

#[path = "../src/clock.rs"]
mod clock;

/// Longer than any outage that the runner makes.
const CONNECT: Duration = Duration::from_secs(120);

/// A connection to the runner.
struct Line(BufReader<TcpStream>);

impl Line {
    fn open(resource: &str, name: &str, part: &str) -> io::Result<Line> {
        let stream = TcpStream::connect(resource)?;
        stream.set_nodelay(true)?;
        let mut line = Line(BufReader::new(stream));
        line.say(format_args!("hello {name} {part}"))?;
        Ok(line)
    }

    fn say(&mut self, what: std::fmt::Arguments<'_>) -> io::Result<()> {
        self.0.get_mut().write_all(format!("{what}\n").as_bytes())
    }

    fn ask(&mut self, what: std::fmt::Arguments<'_>) -> io::Result<String> {
        self.say(what)?;
        let mut answer = String::new();
        self.0.read_line(&mut answer)?;
        answer.truncate(answer.trim_end().len());
        Ok(answer)
    }

    /// The value, `None` if the resource refuses.
    fn ask_value(&mut self, what: std::fmt::Arguments<'_>) -> io::Result<Option<u64>> {
        let answer = self.ask(what)?;
        match answer.split_once(' ') {
            Some(("ok", value)) => value.parse().map(Some).map_err(io::Error::other),
            Some(("refused", _)) => Ok(None),
            _ => Err(io::Error::other(format!("the runner said `{answer}`"))),
        }
    }
}

struct Locks {
    mutex: zoolock::blocking::Mutex,
    reentrant: ReentrantMutex,
    rw: RwLock,
}

/// A job of one thread's.
struct Job<'a> {
    line: &'a mut Line,
    told: &'a Arc<Mutex<Line>>,
    id: &'a str,
    pause: Duration,
}

type Outcome<T> = std::result::Result<T, Box<dyn Error>>;

impl Job<'_> {
    fn take(
        &mut self,
        name: &'static str,
        lock: impl FnOnce() -> Result<Option<Guard>>,
    ) -> io::Result<Option<Guard>> {
        let id = self.id;
        self.line
            .say(format_args!("asked {id} {name} {}", clock::now()))?;
        let outcome = lock();
        let now = clock::now();
        match outcome {
            Ok(Some(guard)) => {
                let (token, node) = (guard.fencing_token(), guard.node_path());
                self.line
                    .say(format_args!("granted {id} {name} {token} {now} {node}"))?;
                let (told, id) = (Arc::clone(self.told), id.to_owned());
                guard.on_lost(move || {
                    let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                    // The runner may be gone, which the other connections notice.
                    let _ = told.say(format_args!("told {id} {name} {}", clock::now()));
                });
                return Ok(Some(guard));
            }
            Ok(None) => self
                .line
                .say(format_args!("denied {id} {name} BUSY {now}"))?,
            Err(error) => {
                let kind = error.kind().name();
                self.line
                    .say(format_args!("denied {id} {name} {kind} {now} {error}"))?;
            }
        }
        Ok(None)
    }

    fn check(&mut self, name: &str, guard: &Guard) -> io::Result<bool> {
        let before = clock::now();
        let held = guard.is_held();
        let after = clock::now();
        let (id, answer) = (self.id, u8::from(held));
        self.line
            .say(format_args!("check {id} {name} {answer} {before} {after}"))?;
        Ok(held)
    }

    /// Adds one to the fenced register and to the counter; stops as soon as the lock is lost.
    fn write(&mut self, name: &str, guard: &Guard) -> io::Result<()> {
        let (id, token) = (self.id, guard.fencing_token());
        if !self.check(name, guard)? {
            return Ok(());
        }
        let Some(value) = self
            .line
            .ask_value(format_args!("fread {id} {name} {token}"))?
        else {
            return self.check(name, guard).map(drop);
        };
        // Without another look: whoever is stopped here is the fence's affair.
        thread::sleep(self.pause / 2);
        let new = value + 1;
        let written = self
            .line
            .ask_value(format_args!("fwrite {id} {name} {token} {new}"))?;
        if !self.check(name, guard)? || written.is_none() {
            return Ok(());
        }
        let value = self.line.ask_value(format_args!("read {id} {name}"))?;
        thread::sleep(self.pause / 2);
        if self.check(name, guard)? {
            let new = value.unwrap_or(0) + 1;
            self.line.ask(format_args!("write {id} {name} {new}"))?;
            self.check(name, guard)?;
        }
        Ok(())
    }

    /// Looks twice at what no writer may change meanwhile.
    fn read(&mut self, name: &str, guard: &Guard) -> io::Result<()> {
        let (id, token) = (self.id, guard.fencing_token());
        if !self.check(name, guard)? {
            return Ok(());
        }
        self.line.ask(format_args!("look {id} {name} {token}"))?;
        self.line.ask(format_args!("read {id} {name}"))?;
        thread::sleep(self.pause);
        self.line.ask(format_args!("read {id} {name}"))?;
        self.check(name, guard).map(drop)
    }

    fn release(&mut self, name: &str, guard: Guard) -> io::Result<()> {
        let before = clock::now();
        let outcome = guard.release();
        let after = clock::now();
        let outcome = outcome.map_or_else(|error| error.kind().name(), |()| "OK");
        let id = self.id;
        self.line.say(format_args!(
            "released {id} {name} {outcome} {before} {after}"
        ))
    }

    fn run(&mut self, recipe: &str, wait: Wait, locks: &Locks) -> Outcome<()> {
        let owner = zoolock::Owner::current_thread();
        let mutex = || locks.mutex.acquire(wait, None);
        let reentrant = || locks.reentrant.acquire(&owner, wait, None);
        let write = || locks.rw.write().acquire(&owner, wait, None);
        let read = || locks.rw.read().acquire(&owner, wait, None);
        match recipe {
            "mutex" => {
                if let Some(guard) = self.take("a", mutex)? {
                    self.write("a", &guard)?;
                    self.release("a", guard)?;
                }
            }
            "reentrant" => {
                if let Some(outer) = self.take("a", reentrant)? {
                    self.write("a", &outer)?;
                    if let Some(inner) = self.take("b", reentrant)? {
                        self.write("b", &inner)?;
                        self.release("b", inner)?;
                    }
                    self.write("a", &outer)?;
                    self.release("a", outer)?;
                }
            }
            "write" => {
                if let Some(guard) = self.take("a", write)? {
                    self.write("a", &guard)?;
                    self.release("a", guard)?;
                }
            }
            "read" => {
                if let Some(guard) = self.take("a", read)? {
                    self.read("a", &guard)?;
                    self.release("a", guard)?;
                }
            }
            "downgrade" => {
                if let Some(writer) = self.take("a", write)? {
                    self.write("a", &writer)?;
                    let reader = self.take("b", read)?;
                    self.release("a", writer)?;
                    if let Some(reader) = reader {
                        self.read("b", &reader)?;
                        self.release("b", reader)?;
                    }
                }
            }
            other => return Err(format!("no recipe is called {other}").into()),
        }
        Ok(())
    }
}

fn work(mut line: Line, told: &Arc<Mutex<Line>>, locks: &Locks) -> Outcome<()> {
    loop {
        let order = line.ask(format_args!("next"))?;
        let words: Vec<&str> = order.split(' ').collect();
        let ["job", id, recipe, timeout_ms, pause_ms] = words[..] else {
            return if order == "stop" {
                Ok(())
            } else {
                Err(format!("the runner said `{order}`").into())
            };
        };
        let wait = match timeout_ms.parse()? {
            -1 => Wait::Forever,
            0 => Wait::Try,
            ms => Wait::UpTo(Duration::from_millis(ms.try_into()?)),
        };
        let pause = Duration::from_millis(pause_ms.parse()?);
        let mut job = Job {
            line: &mut line,
            told,
            id,
            pause,
        };
        job.run(recipe, wait, locks)?;
    }
}

fn main() -> Outcome<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [hosts, resource, name, timeout_ms, threads, root] = args.as_slice() else {
        return Err(
            "usage: torture-worker HOSTS RESOURCE NAME SESSION_TIMEOUT_MS THREADS ROOT".into(),
        );
    };
    let builder = zoolock::Session::builder()
        .session_timeout(Duration::from_millis(timeout_ms.parse()?))
        .connect_timeout(CONNECT)
        .identity(name);
    let session = Session::connect_with(builder, hosts)?;
    let locks = Locks {
        mutex: session.mutex(&format!("{root}/mutex"))?,
        reentrant: session.reentrant_mutex(&format!("{root}/reentrant"))?,
        rw: session.rwlock(&format!("{root}/rw"))?,
    };
    let told = Arc::new(Mutex::new(Line::open(resource, name, "told")?));
    thread::scope(|scope| {
        let mut running = Vec::new();
        for number in 0..threads.parse()? {
            let line = Line::open(resource, name, &number.to_string())?;
            let (told, locks) = (&told, &locks);
            running.push(scope.spawn(move || work(line, told, locks).map_err(|e| e.to_string())));
        }
        for thread in running {
            thread.join().map_err(|_| "a thread panicked")??;
        }
        Ok::<_, Box<dyn Error>>(())
    })?;
    // The session stays open until the runner has looked at what is left of it.
    io::stdin().read_to_end(&mut Vec::new())?;
    session.close()?;
    Ok(())
}
