//! States that users wait for (R16).

use std::sync::Arc;

use loom::future::block_on;
use loom::thread;

use super::{every_order, models};
use crate::command::HandleId;
use crate::state::{SessionState, StateCell};

models![a_watch_sees_every_change_in_order];

fn a_watch_sees_every_change_in_order() {
    every_order(|| {
        let cell = Arc::new(StateCell::new());
        let handle = HandleId(1);
        let mut watch = cell.watch(handle);
        let network = {
            let cell = Arc::clone(&cell);
            thread::spawn(move || {
                cell.set(SessionState::Connected, |_| ());
                cell.close(handle, |_| ());
            })
        };
        let seen = block_on(async {
            let mut seen = Vec::new();
            while let Some(state) = watch.changed().await {
                seen.push(state);
            }
            seen
        });
        assert_eq!(seen, [SessionState::Connected, SessionState::Closed]);
        network.join().unwrap();
    });
}
