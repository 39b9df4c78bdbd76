//! A lock that others want: the contender before us is watched, and its end is our turn.

use std::io;

use crate::wire::{Bare, Node};
use crate::{DATA, NAME};

/// Takes the lock at a path, after all who were there before.
pub(crate) fn acquire(bare: &mut Bare, path: &str) -> io::Result<Node> {
    bare.put_acquire(path, &format!("{path}/{NAME}"), DATA);
    bare.send()?;
    let node = bare.created()?;
    let own = sequence(&node.path).to_owned();
    let mut listed = bare.listed()?;
    loop {
        // All digits are ten, as no path here is used two thousand million times.
        let before = listed.iter().filter(|child| *sequence(child) < *own);
        let Some(nearest) = before.max_by(|a, b| sequence(a).cmp(sequence(b))) else {
            return Ok(node);
        };
        if bare.wait_gone(&format!("{path}/{nearest}"))? {
            return Ok(node);
        }
        listed = bare.list(path)?;
    }
}

fn sequence(name: &str) -> &str {
    name.rsplit('-').next().unwrap_or_default()
}
