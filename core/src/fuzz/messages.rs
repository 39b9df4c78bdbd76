//! One message from a server, decoded as any of those that it could be.

use super::memory::most_held;
use crate::wire::code::Code;
use crate::wire::handshake::ConnectResponse;
use crate::wire::reply::{Reply, ReplyHeader, WatchEvent, multi_failure};
use crate::wire::request::Operation;

const OPERATIONS: [Operation; 12] = [
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

/// The smallest part of a transaction's answer has nine bytes and becomes a value of over a hundred;
/// a list that grows holds its old and its new place for a moment.
const MEMORY_PER_BYTE: usize = 64;
/// Of an error's text, at least.
const MEMORY: usize = 1024;

fn decode<T>(message: &[u8], decode: impl FnOnce() -> T) -> T {
    let (decoded, held) = most_held(decode);
    let limit = message.len() * MEMORY_PER_BYTE + MEMORY;
    assert!(held <= limit, "{held} bytes for {}", message.len());
    decoded
}

/// The first byte chooses the request that the rest, a whole reply, answers.
pub(super) fn reply(input: &[u8]) {
    let Some((choice, message)) = input.split_first() else {
        return;
    };
    let operation = OPERATIONS[usize::from(*choice) % OPERATIONS.len()];
    let Ok((header, body)) = decode(message, || ReplyHeader::decode(message)) else {
        assert!(message.len() < 16, "a header has sixteen bytes");
        return;
    };
    assert!(!header.code.name().is_empty() && !header.code.message().is_empty());
    match decode(message, || Reply::decode(operation, body)) {
        Ok(Reply::Multi(results)) => {
            if let Some((part, code)) = multi_failure(&results) {
                assert!(part < results.len());
                let all_ok = code == Code::OK;
                assert!(all_ok || results.len() > part);
            }
        }
        Ok(Reply::Children { names, .. }) => {
            let sum: usize = names.iter().map(Vec::len).sum();
            assert!(sum <= body.len());
        }
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A handshake's answer or a watch event, by the first byte.
pub(super) fn event(input: &[u8]) {
    let Some((choice, message)) = input.split_first() else {
        return;
    };
    if choice % 2 == 0 {
        if let Ok(response) = decode(message, || ConnectResponse::decode(message)) {
            assert_eq!(response.session_is_over(), response.timeout_ms <= 0);
            let shown = format!("{:?}", response.password);
            assert_eq!(shown, "(hidden)", "R19");
        }
    } else if let Ok((_, body)) = ReplyHeader::decode(message)
        && let Ok(event) = decode(message, || WatchEvent::decode(body))
    {
        assert!(event.path.len() <= body.len());
    }
}
