//! The server's side of ZooKeeper's wire format.

pub(crate) mod code;
pub(crate) mod connect;
pub(crate) mod op;
pub(crate) mod reader;
pub(crate) mod request;
pub(crate) mod writer;
