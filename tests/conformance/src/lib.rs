//! What the runner and the drivers written in Rust share.

pub mod driver;
pub mod message;
