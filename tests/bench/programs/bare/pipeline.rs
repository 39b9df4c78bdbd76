//! Many paths at once on one socket: whatever can be sent is in one flight.

use std::collections::VecDeque;
use std::io;

use crate::wire::{Bare, Node};
use crate::{DATA, NAME};

/// What the next answer is to; the server answers in order.
enum Asked {
    Acquire(usize),
    Release(usize),
}

struct Path {
    path: String,
    prefix: String,
    left: usize,
    tokens: Vec<i64>,
}

/// So many cycles on each of so many paths below `parent`; the tokens, path by path.
pub(crate) fn run(
    bare: &mut Bare,
    parent: &str,
    paths: usize,
    cycles: usize,
) -> io::Result<Vec<Vec<i64>>> {
    let mut paths: Vec<Path> = (0..paths)
        .map(|number| Path {
            path: format!("{parent}/{number}"),
            prefix: format!("{parent}/{number}/{NAME}"),
            left: cycles,
            tokens: Vec::with_capacity(cycles),
        })
        .collect();
    let mut asked = VecDeque::new();
    for (number, path) in paths.iter().enumerate() {
        bare.put_acquire(&path.path, &path.prefix, DATA);
        asked.push_back(Asked::Acquire(number));
    }
    bare.send()?;
    while let Some(answered) = asked.pop_front() {
        match answered {
            Asked::Acquire(number) => {
                let node = bare.created()?;
                let listed = bare.listed()?;
                check_alone(&listed, &node)?;
                bare.put_delete(&node.path);
                paths[number].tokens.push(node.czxid);
                asked.push_back(Asked::Release(number));
            }
            Asked::Release(number) => {
                bare.deleted()?;
                let path = &mut paths[number];
                path.left -= 1;
                if path.left > 0 {
                    bare.put_acquire(&path.path, &path.prefix, DATA);
                    asked.push_back(Asked::Acquire(number));
                }
            }
        }
        if !bare.has_more() {
            bare.send()?;
        }
    }
    Ok(paths.into_iter().map(|path| path.tokens).collect())
}

/// The lock is ours if there is no other.
pub(crate) fn check_alone(listed: &[String], node: &Node) -> io::Result<()> {
    match listed {
        [only] if node.path.ends_with(only.as_str()) => Ok(()),
        _ => Err(io::Error::other(format!(
            "{} contenders beside {}",
            listed.len(),
            node.path
        ))),
    }
}
