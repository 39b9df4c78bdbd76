//! The limit: an uncontended lock cycle on a bare blocking socket, with nothing around it.
//!
//! `bench-bare HOST:PORT LOCK_PATH`. See `block.rs` for what it reads and prints.

use std::error::Error;

use wire::Bare;

#[path = "../block.rs"]
mod block;
mod wire;

/// As long as zoolock's `_c_<uuid>-lock-` and its identity, so that the same bytes are stored.
const NAME: &str = "_c_00000000-0000-4000-8000-000000000000-lock-";
const DATA: &[u8] = b"hostname/12345";

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [address, path] = args.as_slice() else {
        return Err("usage: bench-bare HOST:PORT LOCK_PATH".into());
    };
    let mut bare = Bare::connect(address)?;
    for (end, _) in path.match_indices('/').skip(1) {
        bare.ensure(&path[..end])?;
    }
    bare.ensure(path)?;
    let prefix = format!("{path}/{NAME}");
    block::serve(|| {
        let node = bare.acquire(path, &prefix, DATA)?;
        bare.release(&node)?;
        Ok(node.czxid)
    })?;
    bare.close()?;
    Ok(())
}
