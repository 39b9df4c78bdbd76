//! By blocking calls; what happens at once has a thread each.

use std::collections::BTreeMap;
use std::thread::{self, JoinHandle};

use zoolock::LockOptions;
use zoolock::blocking::{Mutex, Session};

use crate::KEEP;
use crate::clock::{now, pause};
use crate::serve::{Cycles, Drained, KeptCycles, Obey, Paths, Queued, Result, Shares, serve};

/// Enough for a call of `lock`, so that thousands of threads fit.
const STACK: usize = 128 * 1024;

struct Blocking {
    session: Session,
    path: String,
    mutex: Mutex,
    keeping: Mutex,
    paths: BTreeMap<usize, Mutex>,
    waiters: Vec<JoinHandle<zoolock::Result<(u64, i64)>>>,
}

pub fn run(hosts: &str, path: &str) -> Result<()> {
    let session = Session::connect(hosts)?;
    let mut program = Blocking {
        mutex: session.mutex(path)?,
        keeping: session.mutex_with(path, LockOptions::default().keep(KEEP))?,
        path: path.to_owned(),
        paths: BTreeMap::new(),
        waiters: Vec::new(),
        session,
    };
    serve(&mut program)?;
    program.session.close()?;
    Ok(())
}

impl Obey for Blocking {
    fn cycles(&mut self, count: usize) -> Result<Cycles> {
        let mut cycles = Cycles::default();
        for _ in 0..count {
            let start = now();
            let token = cycle(&self.mutex)?;
            cycles.nanos.push(now() - start);
            cycles.tokens.push(token);
        }
        Ok(cycles)
    }

    fn kept(&mut self, count: usize) -> Result<KeptCycles> {
        let mut cycles = KeptCycles::default();
        for _ in 0..count {
            let start = now();
            let guard = self.keeping.lock()?;
            let acquired = now();
            let token = (guard.fencing_token(), guard.grant_count());
            guard.release()?;
            cycles.nanos.push(now() - start);
            cycles.acquires.push(acquired - start);
            cycles.tokens.push(token);
        }
        Ok(cycles)
    }

    fn paths(&mut self, paths: usize, cycles: usize) -> Result<Paths> {
        for number in 0..paths {
            if !self.paths.contains_key(&number) {
                let mutex = self.session.mutex(&format!("{}/{number}", self.path))?;
                self.paths.insert(number, mutex);
            }
        }
        let start = now();
        let tokens = thread::scope(|scope| {
            let running: Vec<_> = self
                .paths
                .values()
                .take(paths)
                .map(|mutex| {
                    scope.spawn(move || {
                        (0..cycles)
                            .map(|_| cycle(mutex))
                            .collect::<zoolock::Result<Vec<_>>>()
                    })
                })
                .collect();
            running
                .into_iter()
                .map(|thread| {
                    thread
                        .join()
                        .map_err(|_| "a thread panicked")?
                        .map_err(Into::into)
                })
                .collect::<Result<Vec<_>>>()
        })?;
        Ok(Paths {
            nanos: now() - start,
            tokens,
        })
    }

    fn share(&mut self, millis: u64, pause_micros: u64) -> Result<Shares> {
        let mut shares = Shares::default();
        let end = now() + millis * 1_000_000;
        while now() < end {
            shares.begins.push(now());
            let guard = self.mutex.lock()?;
            shares.grants.push(now());
            shares.tokens.push(guard.fencing_token());
            pause(pause_micros);
            shares.releases.push(now());
            guard.release()?;
        }
        Ok(shares)
    }

    fn queue(&mut self, count: usize) -> Result<Queued> {
        for _ in 0..count {
            let mutex = self.mutex.clone();
            let waiter = thread::Builder::new().stack_size(STACK).spawn(move || {
                let guard = mutex.lock()?;
                let got = (now(), guard.fencing_token());
                guard.release()?;
                Ok(got)
            })?;
            self.waiters.push(waiter);
        }
        Ok(Queued { queued: count })
    }

    fn drain(&mut self) -> Result<Drained> {
        let start = now();
        let mut got = Vec::with_capacity(self.waiters.len());
        for waiter in self.waiters.drain(..) {
            got.push(waiter.join().map_err(|_| "a thread panicked")??);
        }
        got.sort_unstable();
        Ok(Drained {
            nanos: now() - start,
            tokens: got.into_iter().map(|(_, token)| token).collect(),
        })
    }
}

fn cycle(mutex: &Mutex) -> zoolock::Result<i64> {
    let guard = mutex.lock()?;
    let token = guard.fencing_token();
    guard.release()?;
    Ok(token)
}
