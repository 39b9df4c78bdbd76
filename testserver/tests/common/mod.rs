//! A tiny client that speaks in bytes.
#![allow(dead_code, clippy::unwrap_used)]

pub mod decode;
pub mod encode;
pub mod simulation;
