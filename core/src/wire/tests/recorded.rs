//! Every recorded answer, decoded.

use super::fixtures::{all, exchange};
use crate::wire::code::Code;
use crate::wire::frames::{FrameBuffer, MAX_FRAME};
use crate::wire::handshake::ConnectResponse;
use crate::wire::reply::*;
use crate::wire::request::{NOTIFICATION_XID, Operation};

const CONTENDER: &str = "_c_00112233-4455-6677-8899-aabbccddeeff-lock-0000000000";

fn header(name: &str) -> ReplyHeader {
    ReplyHeader::decode(exchange(name).message()).unwrap().0
}

fn reply(name: &str, operation: Operation) -> Reply {
    let exchange = exchange(name);
    let (header, body) = ReplyHeader::decode(exchange.message()).unwrap();
    assert_eq!(header.code, Code::OK, "{name}");
    assert_eq!(header.xid.to_be_bytes(), exchange.sent[4..8], "{name}");
    Reply::decode(operation, body).unwrap()
}

#[test]
fn frames() {
    let mut buffer = FrameBuffer::new(MAX_FRAME);
    for exchange in all() {
        buffer.push(&exchange.received);
        let frame = buffer.next().unwrap().unwrap();
        assert_eq!(&*frame, exchange.message(), "{}", exchange.name);
    }
    assert_eq!(buffer.next(), Ok(None));
}

#[test]
fn handshakes() {
    let connect = |name| ConnectResponse::decode(exchange(name).message()).unwrap();

    let opened = connect("connect");
    assert_eq!(opened.timeout_ms, 6000);
    assert!(opened.session_id > 0);
    assert_eq!(opened.read_only, Some(false));
    assert!(!opened.session_is_over());
    assert_eq!(connect("resume"), opened);

    assert_eq!(connect("connect-without-read-only").read_only, None);
    assert!(connect("connect-expired").session_is_over());
}

#[test]
fn creates() {
    let Reply::Created { path, stat } = reply("create-persistent", Operation::Create2) else {
        panic!()
    };
    assert_eq!(path, "/locks");
    assert_eq!(stat.czxid, header("create-persistent").zxid);
    assert_eq!((stat.ephemeral_owner, stat.data_length), (0, 6));

    let Reply::Created { path, .. } = reply("create-container", Operation::CreateContainer) else {
        panic!()
    };
    assert_eq!(path, "/locks/path");

    let session = ConnectResponse::decode(exchange("connect").message()).unwrap();
    let Reply::Created { path, stat } = reply("create-sequential", Operation::Create2) else {
        panic!()
    };
    assert_eq!(path, format!("/locks/path/{CONTENDER}"));
    assert_eq!(stat.czxid, 4);
    assert_eq!(stat.ephemeral_owner, session.session_id);

    assert!(matches!(
        reply("create-ephemeral", Operation::Create2),
        Reply::Created { .. }
    ));
}

#[test]
fn reads() {
    for (name, expected) in [
        ("get-data-watch", &b"host/1"[..]),
        ("get-data-watch-2", b"host/2"),
        ("get-data-watch-3", b""),
        ("get-data-watch-4", b""),
        ("get-data-no-watch", b"host/1"),
    ] {
        let Reply::Data { data, stat } = reply(name, Operation::GetData) else {
            panic!()
        };
        assert_eq!(data, expected, "{name}");
        assert_eq!(stat.data_length as usize, expected.len(), "{name}");
    }
    let Reply::Children { names, stat } = reply("get-children", Operation::GetChildren2) else {
        panic!()
    };
    assert_eq!(names, [CONTENDER.as_bytes()]);
    assert_eq!((stat.num_children, stat.cversion, stat.pzxid), (1, 1, 4));
}

#[test]
fn the_rest() {
    assert_eq!(reply("sync", Operation::Sync), Reply::Synced);
    for (name, operation) in [
        ("delete", Operation::Delete),
        ("remove-watches", Operation::RemoveWatches),
        ("set-watches", Operation::SetWatches),
        ("auth", Operation::Auth),
        ("auth-again", Operation::Auth),
        ("ping", Operation::Ping),
        ("close", Operation::CloseSession),
    ] {
        assert_eq!(reply(name, operation), Reply::Empty, "{name}");
    }
}

#[test]
fn transactions() {
    let Reply::Multi(results) = reply("multi", Operation::Multi) else {
        panic!()
    };
    let [MultiResult::Checked, MultiResult::Created { path, stat }] = &results[..] else {
        panic!("{results:?}")
    };
    assert!(path.ends_with("-__READ__0000000007"));
    assert_eq!(stat.as_ref().unwrap().czxid, header("multi").zxid);
    assert_eq!(multi_failure(&results), None);

    for (name, failure) in [
        ("multi-failed", (1, Code::NO_NODE)),
        ("multi-failed-last", (1, Code::NODE_EXISTS)),
        ("multi-no-auth", (1, Code::NO_AUTH)),
    ] {
        let Reply::Multi(results) = reply(name, Operation::Multi) else {
            panic!()
        };
        assert_eq!(results[0], MultiResult::Error(Code::OK), "{name}");
        assert_eq!(multi_failure(&results), Some(failure), "{name}");
    }
}

#[test]
fn errors() {
    for (name, code) in [
        ("error-no-node", Code::NO_NODE),
        ("error-node-exists", Code::NODE_EXISTS),
        ("error-not-empty", Code::NOT_EMPTY),
        ("error-bad-version", Code::BAD_VERSION),
        (
            "error-no-children-for-ephemerals",
            Code::NO_CHILDREN_FOR_EPHEMERALS,
        ),
        ("error-invalid-acl", Code::INVALID_ACL),
        ("error-no-watcher", Code::NO_WATCHER),
        ("error-no-auth", Code::NO_AUTH),
        ("error-unimplemented", Code::UNIMPLEMENTED),
    ] {
        assert_eq!(header(name).code, code, "{name}");
    }
}

#[test]
fn notifications() {
    for (name, kind, path) in [
        (
            "event-0",
            WatchEventKind::DataChanged,
            format!("/locks/path/{CONTENDER}"),
        ),
        (
            "event-1",
            WatchEventKind::Deleted,
            format!("/locks/path/{CONTENDER}"),
        ),
        (
            "event-2",
            WatchEventKind::Deleted,
            "/locks/path/plain".to_owned(),
        ),
    ] {
        let exchange = exchange(name);
        let (header, body) = ReplyHeader::decode(exchange.message()).unwrap();
        assert_eq!(header.xid, NOTIFICATION_XID);
        let event = WatchEvent::decode(body).unwrap();
        assert_eq!(
            event,
            WatchEvent {
                kind,
                state: 3,
                path
            },
            "{name}"
        );
    }
}

/// A new line in the file needs a test.
#[test]
fn nothing_recorded_is_left_out() {
    let sources = [include_str!("recorded.rs"), include_str!("requests.rs")].concat();
    for exchange in all() {
        assert!(
            sources.contains(&format!("\"{}\"", exchange.name)),
            "{} is tested nowhere",
            exchange.name
        );
    }
}
