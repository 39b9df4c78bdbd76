//! Fuzz targets: plain functions that take any bytes, for libFuzzer and for the replay of a corpus.
//! A target fails by a panic.
//!
//! Built by `tests/fuzz` alone.

mod connect_strings;
mod contender_names;
mod frames;
pub mod memory;
mod messages;
mod server;
mod sessions;

/// What is fed with bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of its corpus.
    pub name: &'static str,
    /// Takes any input.
    pub run: fn(&[u8]),
}

/// Every target.
pub const TARGETS: [Target; 7] = [
    Target {
        name: "connect_strings",
        run: connect_strings::run,
    },
    Target {
        name: "contender_names",
        run: contender_names::run,
    },
    Target {
        name: "events",
        run: messages::event,
    },
    Target {
        name: "frames",
        run: frames::run,
    },
    Target {
        name: "replies",
        run: messages::reply,
    },
    Target {
        name: "server",
        run: server::run,
    },
    Target {
        name: "sessions",
        run: sessions::run,
    },
];
