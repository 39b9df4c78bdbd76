//! ZooKeeper's wire format: the jute encoding, frames, requests and replies.
//!
//! Pure: bytes in, values out. Whatever a server sends, decoding ends in a value or a [`codec::WireError`]; it never
//! panics, and never reserves memory that the peer has only announced.

pub(crate) mod acl;
pub(crate) mod code;
pub(crate) mod codec;
pub(crate) mod frames;
pub(crate) mod handshake;
pub(crate) mod reply;
pub(crate) mod request;
pub(crate) mod stat;

#[cfg(test)]
mod tests;
