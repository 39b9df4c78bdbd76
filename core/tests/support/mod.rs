//! What the rules' tests share: ensembles, sessions, child processes, and what the proxies saw.

#![allow(dead_code, unused_imports, reason = "each test file uses a part")]

pub mod child;
mod ensembles;
mod look;
mod sessions;
mod traffic;

pub use child::Child;
pub use ensembles::{Lease, one, three};
pub use look::{children, clock, eventually, path, waits};
pub use sessions::{S, connect, connect_to, connect_with, options, server_of};
pub use traffic::{Traffic, requests};

use std::time::Duration;

/// Longer than anything here takes on a busy machine.
pub const LONG: Duration = Duration::from_secs(60);
