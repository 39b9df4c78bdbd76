//! What the runner and the drivers written in Rust share, and what starts drivers.

pub mod actor;
pub mod driver;
pub mod languages;
pub mod message;
pub mod trace;
