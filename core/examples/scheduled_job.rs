//! A job that a scheduler starts on several instances and that one of them does.
//!
//!     cargo run --example scheduled_job -- BATCH
//!
//! Waits 10 s (or JOB_PATIENCE_MS) for the lock, else skips the round; that ZooKeeper cannot be
//! reached is a failure. The servers come from ZOOLOCK_HOSTS, the directory of what is done, which
//! has to exist, from JOBS_DIR. A batch is done once, whoever comes when: its name is unique there.

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::{ErrorKind as IoErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use zoolock::ErrorKind;
use zoolock::blocking::{Guard, Session};

const STEPS: usize = 10;

/// Does the batch; false if it was done before.
fn run(batch: &str, guard: &Guard) -> Result<bool, Box<dyn Error>> {
    for _step in 0..STEPS {
        // Costs no request. Another instance may have begun by the time that this fails.
        guard.ensure_held()?;
    }
    let directory = PathBuf::from(env::var_os("JOBS_DIR").unwrap_or_else(|| ".".into()));
    match File::create_new(directory.join(batch)) {
        Ok(mut record) => {
            write!(record, "{}", guard.fencing_token())?;
            Ok(true)
        }
        Err(error) if error.kind() == IoErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn work(batch: &str, patience: Duration) -> Result<&'static str, Box<dyn Error>> {
    let session = Session::connect_default(zoolock::Session::builder())?;
    let guard = match session.mutex("/locks/job/nightly")?.lock_timeout(patience) {
        Ok(guard) => guard,
        // One that has a cause is an outage, and nobody's work.
        Err(error) if error.kind() == ErrorKind::Timeout && error.cause().is_none() => {
            return Ok("skipped: another instance is at it");
        }
        Err(error) => return Err(error.into()),
    };
    let done = run(batch, &guard)?;
    guard.release()?;
    session.close()?;
    Ok(if done { "done" } else { "was done before" })
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let [batch] = &args[..] else {
        eprintln!("usage: scheduled_job BATCH");
        return ExitCode::from(2);
    };
    let patience = match env::var("JOB_PATIENCE_MS") {
        Ok(text) => text.parse().map(Duration::from_millis),
        Err(_) => Ok(Duration::from_secs(10)),
    };
    let Ok(patience) = patience else {
        eprintln!("JOB_PATIENCE_MS has to be a number of milliseconds");
        return ExitCode::from(2);
    };
    match work(batch, patience) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
