//! Ports that stay ours while a server is down.
//!
//! A port that the kernel picks (`bind` to 0) may be given to anybody's outgoing connection as soon as the server that
//! used it is killed, and then the server cannot come back. So ports come from below the kernel's range, and a locked
//! file per port keeps several test processes apart.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};

use crate::error::{Context, Error, Result};
use crate::flock;
use crate::proxy::socket;

const LOWEST: u16 = 10_000;

/// A port nobody else in this scheme uses until this value is dropped.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) number: u16,
    _lock: File,
}

/// Reserves `count` ports of 127.0.0.1.
pub(crate) fn reserve(count: usize) -> Result<Vec<Port>> {
    let found = search(count)?;
    let let_go = |(port, listener)| {
        // Not by closing alone: a process that is being started at this moment has the socket, too, until it has got as
        // far as its program, and the port would be refused to whoever it was reserved for.
        socket::stop_listening(&listener);
        port
    };
    Ok(found.into_iter().map(let_go).collect())
}

/// Reserves a port and goes on listening there. Bound once only: where processes are started at the same time, one that
/// has not got as far as its program yet still has the socket of a first look, and a second would be refused.
pub(crate) fn reserve_listening() -> Result<(Port, TcpListener)> {
    search(1)?
        .pop()
        .ok_or_else(|| Error::new("there is no free port"))
}

fn search(count: usize) -> Result<Vec<(Port, TcpListener)>> {
    let dir = std::env::temp_dir().join(format!("zoolock-ports-{}", user()));
    fs::create_dir_all(&dir).context(|| format!("cannot create {}", dir.display()))?;
    let highest = lowest_ephemeral_port().max(LOWEST + 2_000) - 1;
    let span = highest - LOWEST;
    let mut next = (RandomState::new().hash_one(std::process::id()) % u64::from(span)) as u16;
    let mut ports = Vec::with_capacity(count);
    for _ in 0..span {
        if ports.len() == count {
            break;
        }
        let number = LOWEST + next;
        next = (next + 1) % span;
        let lock_file = dir.join(number.to_string());
        let Some(lock) = flock::try_lock(&lock_file)
            .context(|| format!("cannot lock {}", lock_file.display()))?
        else {
            continue;
        };
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, number)) {
            let port = Port {
                number,
                _lock: lock,
            };
            ports.push((port, listener));
        }
    }
    if ports.len() < count {
        return Err(Error::new(format!(
            "found only {} of {count} free ports between {LOWEST} and {highest}",
            ports.len()
        )));
    }
    Ok(ports)
}

fn user() -> u32 {
    // SAFETY: getuid has no preconditions and cannot fail.
    unsafe { libc::getuid() }
}

fn lowest_ephemeral_port() -> u16 {
    fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range")
        .ok()
        .and_then(|range| range.split_whitespace().next()?.parse().ok())
        .unwrap_or(32_768)
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn a_reserved_port_is_free_while_processes_are_started() {
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        Command::new("true").status().unwrap();
                    }
                });
            }
            let refused = (0..300).find_map(|_| {
                let ports = reserve(4).unwrap();
                ports
                    .iter()
                    .find_map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port.number)).err())
            });
            done.store(true, Ordering::Relaxed);
            assert!(refused.is_none(), "{refused:?}");
        });
    }
}
