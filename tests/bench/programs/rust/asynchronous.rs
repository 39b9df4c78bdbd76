//! By futures, all on one thread.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use zoolock::{LockOptions, Mutex, Session};

use crate::KEEP;
use crate::clock::now;
use crate::serve::{Cycles, Drained, KeptCycles, Obey, Paths, Queued, Result, Shares, serve};

struct Asynchronous {
    executor: Runtime,
    session: Session,
    path: String,
    mutex: Mutex,
    keeping: Mutex,
    paths: BTreeMap<usize, Mutex>,
    waiters: JoinSet<zoolock::Result<(u64, i64)>>,
    hosts: String,
    /// Which only exist.
    idle: Vec<Session>,
}

pub fn run(hosts: &str, path: &str) -> Result<()> {
    let executor = Builder::new_current_thread().enable_time().build()?;
    let session = executor.block_on(Session::connect(hosts))?;
    let mut program = Asynchronous {
        mutex: session.mutex(path)?,
        keeping: session.mutex_with(path, LockOptions::default().keep(KEEP))?,
        path: path.to_owned(),
        paths: BTreeMap::new(),
        waiters: JoinSet::new(),
        hosts: hosts.to_owned(),
        idle: Vec::new(),
        executor,
        session,
    };
    serve(&mut program)?;
    for session in &program.idle {
        program.executor.block_on(session.close())?;
    }
    program.executor.block_on(program.session.close())?;
    Ok(())
}

impl Obey for Asynchronous {
    fn cycles(&mut self, count: usize) -> Result<Cycles> {
        let mut cycles = Cycles::default();
        for _ in 0..count {
            let start = now();
            let token = self.executor.block_on(cycle(&self.mutex))?;
            cycles.nanos.push(now() - start);
            cycles.tokens.push(token);
        }
        Ok(cycles)
    }

    fn kept(&mut self, count: usize) -> Result<KeptCycles> {
        self.executor.block_on(async {
            let mut cycles = KeptCycles::default();
            for _ in 0..count {
                let start = now();
                let guard = self.keeping.lock().await?;
                let acquired = now();
                let token = (guard.fencing_token(), guard.grant_count());
                guard.release().await?;
                cycles.nanos.push(now() - start);
                cycles.acquires.push(acquired - start);
                cycles.tokens.push(token);
            }
            Ok(cycles)
        })
    }

    fn paths(&mut self, paths: usize, cycles: usize) -> Result<Paths> {
        for number in 0..paths {
            if !self.paths.contains_key(&number) {
                let mutex = self.session.mutex(&format!("{}/{number}", self.path))?;
                self.paths.insert(number, mutex);
            }
        }
        let start = now();
        let tokens = self.executor.block_on(async {
            let mut running = JoinSet::new();
            for mutex in self.paths.values().take(paths) {
                let mutex = mutex.clone();
                running.spawn(async move {
                    let mut tokens = Vec::with_capacity(cycles);
                    for _ in 0..cycles {
                        tokens.push(cycle(&mutex).await?);
                    }
                    Ok(tokens)
                });
            }
            let all = running.join_all().await;
            all.into_iter().collect::<zoolock::Result<Vec<_>>>()
        })?;
        Ok(Paths {
            nanos: now() - start,
            tokens,
        })
    }

    fn share(&mut self, millis: u64, pause_micros: u64) -> Result<Shares> {
        let mut shares = Shares::default();
        let end = now() + millis * 1_000_000;
        self.executor.block_on(async {
            while now() < end {
                shares.begins.push(now());
                let guard = self.mutex.lock().await?;
                shares.grants.push(now());
                shares.tokens.push(guard.fencing_token());
                if pause_micros > 0 {
                    tokio::time::sleep(Duration::from_micros(pause_micros)).await;
                }
                shares.releases.push(now());
                guard.release().await?;
            }
            Ok(shares)
        })
    }

    fn queue(&mut self, count: usize) -> Result<Queued> {
        let waiters = &mut self.waiters;
        let mutex = &self.mutex;
        self.executor.block_on(async {
            for _ in 0..count {
                let attempt = mutex.lock();
                waiters.spawn(async move {
                    let guard = attempt.await?;
                    let got = (now(), guard.fencing_token());
                    guard.release().await?;
                    Ok(got)
                });
            }
            // Each is polled once, so that its attempt has begun.
            tokio::task::yield_now().await;
        });
        Ok(Queued { queued: count })
    }

    fn drain(&mut self) -> Result<Drained> {
        let start = now();
        let waiters = std::mem::take(&mut self.waiters);
        let got = self.executor.block_on(waiters.join_all());
        let mut got = got.into_iter().collect::<zoolock::Result<Vec<_>>>()?;
        got.sort_unstable();
        Ok(Drained {
            nanos: now() - start,
            tokens: got.into_iter().map(|(_, token)| token).collect(),
        })
    }

    fn sessions(&mut self, count: usize) -> Result<Queued> {
        for _ in 0..count {
            let session = Session::builder().exclusive(true).connect(&self.hosts);
            self.idle.push(self.executor.block_on(session)?);
        }
        Ok(Queued { queued: count })
    }
}

async fn cycle(mutex: &Mutex) -> zoolock::Result<i64> {
    let guard = mutex.lock().await?;
    let token = guard.fencing_token();
    guard.release().await?;
    Ok(token)
}
