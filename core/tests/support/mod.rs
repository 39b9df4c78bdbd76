//! What the rules' tests share: ensembles, sessions, child processes, and what the proxies saw.

#![allow(dead_code, unused_imports, reason = "each test file uses a part")]

mod belief;
pub mod child;
mod ensembles;
mod look;
mod sessions;
mod traffic;

pub use belief::{Belief, granted};
pub use child::Child;
pub use ensembles::{Lease, one, three};
pub use look::{children, clock, eventually, is_empty, path, queued, waits};
pub use sessions::{S, connect, connect_to, connect_with, mutex, options, server_of};
pub use traffic::{Traffic, requests};

use std::time::Duration;

/// Longer than anything here takes on a busy machine.
pub const LONG: Duration = Duration::from_secs(60);
