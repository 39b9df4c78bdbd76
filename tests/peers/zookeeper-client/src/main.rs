//! The workloads of tests/bench with the lock of the crate `zookeeper-client`: `bench-zookeeper-client HOSTS LOCK_PATH`.

// Its pause is for programs that block.
#[allow(dead_code)]
#[path = "../../../bench/programs/clock.rs"]
mod clock;
#[path = "../../../bench/programs/serve.rs"]
mod serve;

use std::time::Duration;

use clock::now;
use serve::{Cycles, Drained, Obey, Paths, Queued, Result, Shares, serve};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use zookeeper_client::{Acls, Client, Error, LockClient, LockOptions, LockPrefix};

const SESSION_TIMEOUT: Duration = Duration::from_secs(15);

struct Program {
    executor: Runtime,
    client: Client,
    path: String,
    waiters: JoinSet<std::result::Result<(), Error>>,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [hosts, path] = args.as_slice() else {
        return Err("usage: bench-zookeeper-client HOSTS LOCK_PATH".into());
    };
    // It goes on only while its executor does, so that has a thread of its own.
    let executor = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let connector = Client::connector().with_session_timeout(SESSION_TIMEOUT);
    let client = executor.block_on(connector.connect(hosts))?;
    let mut program = Program {
        executor,
        client,
        path: path.clone(),
        waiters: JoinSet::new(),
    };
    serve(&mut program)
}

/// It tells no fencing tokens.
impl Obey for Program {
    fn cycles(&mut self, count: usize) -> Result<Cycles> {
        let mut cycles = Cycles::default();
        for _ in 0..count {
            let start = now();
            self.executor.block_on(cycle(&self.client, &self.path))?;
            cycles.nanos.push(now() - start);
        }
        Ok(cycles)
    }

    fn paths(&mut self, paths: usize, cycles: usize) -> Result<Paths> {
        let start = now();
        self.executor.block_on(async {
            let mut running = JoinSet::new();
            for number in 0..paths {
                let (client, path) = (self.client.clone(), format!("{}/{number}", self.path));
                running.spawn(async move {
                    for _ in 0..cycles {
                        cycle(&client, &path).await?;
                    }
                    Ok::<_, Error>(())
                });
            }
            let all = running.join_all().await;
            all.into_iter().collect::<std::result::Result<Vec<_>, _>>()
        })?;
        Ok(Paths {
            nanos: now() - start,
            tokens: Vec::new(),
        })
    }

    fn share(&mut self, millis: u64, pause_micros: u64) -> Result<Shares> {
        let mut shares = Shares::default();
        let end = now() + millis * 1_000_000;
        self.executor.block_on(async {
            while now() < end {
                shares.begins.push(now());
                let lock = take(&self.client, &self.path).await?;
                shares.grants.push(now());
                if pause_micros > 0 {
                    tokio::time::sleep(Duration::from_micros(pause_micros)).await;
                }
                shares.releases.push(now());
                give(&self.client, lock).await?;
            }
            Ok(shares)
        })
    }

    fn queue(&mut self, count: usize) -> Result<Queued> {
        let waiters = &mut self.waiters;
        self.executor.block_on(async {
            for _ in 0..count {
                let (client, path) = (self.client.clone(), self.path.clone());
                waiters.spawn(async move { cycle(&client, &path).await });
            }
        });
        Ok(Queued { queued: count })
    }

    fn drain(&mut self) -> Result<Drained> {
        let start = now();
        let waiters = std::mem::take(&mut self.waiters);
        for ended in self.executor.block_on(waiters.join_all()) {
            ended?;
        }
        Ok(Drained {
            nanos: now() - start,
            tokens: Vec::new(),
        })
    }
}

async fn cycle(client: &Client, path: &str) -> std::result::Result<(), Error> {
    let lock = take(client, path).await?;
    give(client, lock).await
}

async fn take<'a>(client: &'a Client, path: &str) -> std::result::Result<LockClient<'a>, Error> {
    let prefix = LockPrefix::new_curator(path, "lock-")?;
    client
        .lock(
            prefix,
            b"hostname/12345",
            LockOptions::new(Acls::anyone_all()),
        )
        .await
}

/// As the other libraries give a lock back: confirmed. Its own way, at the lock's end, does not wait.
async fn give(client: &Client, lock: LockClient<'_>) -> std::result::Result<(), Error> {
    client.delete(lock.lock_path(), None).await?;
    std::mem::forget(lock);
    Ok(())
}
