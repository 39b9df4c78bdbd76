//! No bytes make a decoder panic.

use proptest::prelude::*;

use super::fixtures;
use crate::wire::handshake::ConnectResponse;
use crate::wire::reply::{Reply, ReplyHeader, WatchEvent};
use crate::wire::request::Operation;

pub(super) const OPERATIONS: [Operation; 12] = [
    Operation::Create2,
    Operation::CreateContainer,
    Operation::Delete,
    Operation::GetData,
    Operation::GetChildren2,
    Operation::Sync,
    Operation::Multi,
    Operation::SetWatches,
    Operation::RemoveWatches,
    Operation::Auth,
    Operation::Ping,
    Operation::CloseSession,
];

fn decode_with_everything(bytes: &[u8]) {
    let _ = ReplyHeader::decode(bytes);
    let _ = WatchEvent::decode(bytes);
    let _ = ConnectResponse::decode(bytes);
    for operation in OPERATIONS {
        let _ = Reply::decode(operation, bytes);
    }
}

proptest! {
    #[test]
    fn noise(bytes: Vec<u8>) {
        decode_with_everything(&bytes);
    }

    /// Noise seldom gets past the first length; a real message with one byte changed does.
    #[test]
    fn damaged_messages(which: prop::sample::Index, at: prop::sample::Index, byte: u8) {
        let exchanges = fixtures::all();
        let mut message = exchanges[which.index(exchanges.len())].message().to_vec();
        let at = at.index(message.len());
        message[at] = byte;
        decode_with_everything(&message);
        decode_with_everything(message.get(16..).unwrap_or_default());
    }
}

#[test]
fn cut_messages() {
    for exchange in fixtures::all() {
        let message = exchange.message();
        for end in 0..message.len() {
            decode_with_everything(&message[..end]);
            decode_with_everything(message[..end].get(16..).unwrap_or_default());
        }
    }
}
