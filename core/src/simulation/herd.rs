//! R8, counted where nothing goes wrong and nobody leaves: whom a release wakes, and what a hand-off asks.

use std::collections::{BTreeMap, BTreeSet};

use super::checks::{self, Violation};
use super::workload::READ_WRITE;
use crate::queue::names::Kind;
use crate::wire::request::Operation;

/// What each grant may cost on average, beside one create and one delete.
const LISTINGS: u64 = 3;
const WATCHES: u64 = 3;
/// What a schedule may cost besides, for parents and the first of its kind.
const BESIDES: u64 = 40;

/// See the module.
#[derive(Default)]
pub(super) struct Herd {
    asked: BTreeMap<i32, u64>,
    /// The clients that were told of a contender's end.
    woken: BTreeMap<String, BTreeSet<usize>>,
}

impl Herd {
    pub(super) fn asked(&mut self, operations: impl Iterator<Item = i32>) {
        for operation in operations {
            *self.asked.entry(operation).or_default() += 1;
        }
    }

    pub(super) fn woken(&mut self, path: String, client: usize) {
        self.woken.entry(path).or_default().insert(client);
    }

    pub(super) fn check(&self, grants: u64) -> Result<(), Violation> {
        for (operation, per_grant) in [
            (Operation::Create2, 1),
            (Operation::Delete, 1),
            (Operation::GetChildren2, LISTINGS),
            (Operation::GetData, WATCHES),
        ] {
            let asked = self.asked.get(&operation.code()).copied().unwrap_or(0);
            if asked > grants * per_grant + BESIDES {
                return Err(format!("R8: {grants} grants took {asked} of {operation:?}"));
            }
        }
        for (path, clients) in &self.woken {
            // The contender's own session watches it too. A writer that goes wakes every reader
            // right behind it; anybody else, one.
            let most = if wakes_many(path) { usize::MAX } else { 2 };
            if clients.len() > most {
                return Err(format!("R8: the end of {path} was told to {clients:?}"));
            }
        }
        Ok(())
    }
}

fn wakes_many(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.contains("/rw/")
        && checks::position(READ_WRITE, name).is_none_or(|position| position.kind == Kind::Write)
}
