//! The data watches that the server has been asked for, to be re-armed on the next server.

use std::collections::BTreeSet;

use crate::wire::request::{Request, set_watches_batches};

/// One-shot watches by path. A path is here from the moment its request is sent until its event.
#[derive(Debug, Default)]
pub(crate) struct Watches(BTreeSet<String>);

impl Watches {
    pub(crate) fn requested(&mut self, path: &str) {
        self.0.insert(path.to_owned());
    }

    /// It fired, was refused or was removed; true if it was here.
    pub(crate) fn ended(&mut self, path: &str) -> bool {
        self.0.remove(path)
    }

    /// The session that they belonged to is over.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Requests that re-arm everything, each small enough for a server's buffer (Z7). What changed
    /// since `last_zxid` fires at once.
    pub(crate) fn rearm(&self, last_zxid: i64) -> Vec<Request> {
        if self.0.is_empty() {
            return Vec::new();
        }
        set_watches_batches(last_zxid, self.0.iter().cloned())
    }
}
