//! The limit: locks on a bare blocking socket, with nothing around it. `bench-bare HOST:PORT LOCK_PATH`.

#[path = "../clock.rs"]
mod clock;
#[path = "../serve.rs"]
mod serve;

mod jute;
mod pipeline;
mod queue;
mod wire;

use clock::{now, pause};
use serve::{Cycles, Drained, Obey, Paths, Queued, Result, Shares, serve};
use wire::Bare;

/// As long as zoolock's `_c_<uuid>-lock-` and its identity, so that the same bytes are stored.
const NAME: &str = "_c_00000000-0000-4000-8000-000000000000-lock-";
const DATA: &[u8] = b"hostname/12345";

struct Program {
    bare: Bare,
    path: String,
    prefix: String,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [address, path] = args.as_slice() else {
        return Err("usage: bench-bare HOST:PORT LOCK_PATH".into());
    };
    let mut bare = Bare::connect(address)?;
    for (end, _) in path.match_indices('/').skip(1) {
        bare.ensure(&path[..end])?;
    }
    bare.ensure(path)?;
    let mut program = Program {
        bare,
        path: path.clone(),
        prefix: format!("{path}/{NAME}"),
    };
    serve(&mut program)?;
    program.bare.close()?;
    Ok(())
}

impl Obey for Program {
    fn cycles(&mut self, count: usize) -> Result<Cycles> {
        let mut cycles = Cycles::default();
        for _ in 0..count {
            let start = now();
            self.bare.put_acquire(&self.path, &self.prefix, DATA);
            self.bare.send()?;
            let node = self.bare.created()?;
            pipeline::check_alone(&self.bare.listed()?, &node)?;
            self.bare.release(&node)?;
            cycles.nanos.push(now() - start);
            cycles.tokens.push(node.czxid);
        }
        Ok(cycles)
    }

    fn paths(&mut self, paths: usize, cycles: usize) -> Result<Paths> {
        let start = now();
        let tokens = pipeline::run(&mut self.bare, &self.path, paths, cycles)?;
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
            let node = queue::acquire(&mut self.bare, &self.path)?;
            shares.grants.push(now());
            shares.tokens.push(node.czxid);
            pause(pause_micros);
            shares.releases.push(now());
            self.bare.release(&node)?;
        }
        Ok(shares)
    }

    fn queue(&mut self, _count: usize) -> Result<Queued> {
        Err("queue: not known to the bare socket".into())
    }

    fn drain(&mut self) -> Result<Drained> {
        Err("drain: not known to the bare socket".into())
    }
}
