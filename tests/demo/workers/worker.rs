//! Takes a lock again and again until it is told to stop, and reports each hold.
//!
//! `demo-worker HOSTS LOCK_PATH WITNESS`; the time to stop comes on standard input.

use std::error::Error;
use std::os::unix::fs::symlink;
use std::thread;
use std::time::Duration;
use std::{env, fs, io};

use zoolock::ErrorKind;
use zoolock::blocking::{Guard, Session};

#[path = "../src/clock.rs"]
mod clock;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [hosts, path, witness] = args.as_slice() else {
        return Err("usage: demo-worker HOSTS LOCK_PATH WITNESS".into());
    };
    let session = Session::connect(hosts)?;
    let mutex = session.mutex(path)?;
    println!("ready");
    let end: u64 = io::read_to_string(io::stdin())?.trim().parse()?;

    loop {
        let asked = clock::now();
        if asked >= end {
            break;
        }
        let guard = match mutex.lock_timeout(Duration::from_nanos(end - asked)) {
            Ok(guard) => guard,
            Err(error) if error.kind() == ErrorKind::Timeout => break,
            Err(error) => return Err(error.into()),
        };
        let report = work(&guard, asked, witness)?;
        match guard.release() {
            Err(error) if error.kind() != ErrorKind::LockLost => return Err(error.into()),
            _ => println!("{report}"),
        }
    }
    session.close()?;
    Ok(())
}

/// The critical section. Whoever is alone in it can make the witness, a link that names its holder's token.
fn work(guard: &Guard, asked: u64, witness: &str) -> io::Result<String> {
    let entered = clock::now();
    let token = guard.fencing_token();
    let met = match symlink(token.to_string(), witness) {
        Ok(()) => String::from("none"),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::read_link(witness)?.display().to_string()
        }
        Err(error) => return Err(error),
    };
    thread::sleep(Duration::from_millis(30 + asked / 1000 % 100));
    if met == "none" {
        fs::remove_file(witness)?;
    }
    let left = clock::now();
    let state = if guard.is_held() { "held" } else { "lost" };
    Ok(format!(
        "hold token={token} asked={asked} entered={entered} left={left} state={state} met={met}"
    ))
}
