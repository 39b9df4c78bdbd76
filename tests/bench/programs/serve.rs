//! What every benchmark program does: obeys commands on standard input, one a line, and answers each with one line of
//! JSON. See the README for the commands.

use std::error::Error;
use std::io;

use serde::Serialize;

pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The times and tokens of cycles one after the other.
#[derive(Default, Serialize)]
pub struct Cycles {
    pub nanos: Vec<u64>,
    pub tokens: Vec<i64>,
}

/// The times of cycles of a kept contender, the first part of each alone, and the pairs that are its tokens.
#[derive(Default, Serialize)]
pub struct KeptCycles {
    pub nanos: Vec<u64>,
    pub acquires: Vec<u64>,
    pub tokens: Vec<(i64, u64)>,
}

/// Cycles on several paths at once.
#[derive(Default, Serialize)]
pub struct Paths {
    pub nanos: u64,
    pub tokens: Vec<Vec<i64>>,
}

/// Grants of a lock that others want too, at times of `CLOCK_MONOTONIC`, which all processes share.
#[derive(Default, Serialize)]
pub struct Shares {
    pub begins: Vec<u64>,
    pub grants: Vec<u64>,
    pub releases: Vec<u64>,
    pub tokens: Vec<i64>,
}

/// What waiters got, in the order of their grants.
#[derive(Default, Serialize)]
pub struct Drained {
    pub nanos: u64,
    pub tokens: Vec<i64>,
}

#[derive(Serialize)]
pub struct Queued {
    pub queued: usize,
}

/// What a program can be asked for; those that it cannot do end it.
pub trait Obey {
    fn cycles(&mut self, count: usize) -> Result<Cycles>;
    /// Cycles of a lock that keeps its contender.
    fn kept(&mut self, _count: usize) -> Result<KeptCycles> {
        Err("kept: not known here".into())
    }
    fn paths(&mut self, paths: usize, cycles: usize) -> Result<Paths>;
    fn share(&mut self, millis: u64, pause_micros: u64) -> Result<Shares>;
    fn queue(&mut self, count: usize) -> Result<Queued>;
    fn drain(&mut self) -> Result<Drained>;
    /// Further sessions, which stay open.
    fn sessions(&mut self, _count: usize) -> Result<Queued> {
        Err("sessions: not known here".into())
    }
}

/// Obeys until standard input ends.
pub fn serve(program: &mut impl Obey) -> Result<()> {
    println!("ready");
    for line in io::stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["cycles", count] => answer(&program.cycles(count.parse()?)?)?,
            ["kept", count] => answer(&program.kept(count.parse()?)?)?,
            ["paths", paths, cycles] => answer(&program.paths(paths.parse()?, cycles.parse()?)?)?,
            ["share", millis, pause] => answer(&program.share(millis.parse()?, pause.parse()?)?)?,
            ["queue", count] => answer(&program.queue(count.parse()?)?)?,
            ["drain"] => answer(&program.drain()?)?,
            ["sessions", count] => answer(&program.sessions(count.parse()?)?)?,
            _ => return Err(format!("unknown command: {line}").into()),
        }
    }
    Ok(())
}

fn answer(value: &impl Serialize) -> Result<()> {
    println!("{}", serde_json::to_string(value)?);
    Ok(())
}
