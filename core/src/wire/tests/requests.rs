//! Our requests against those of the Java client.

use std::sync::Arc;

use super::arbitrary_bytes::OPERATIONS;
use super::fixtures::exchange;
use crate::wire::acl::{Acl, perms};
use crate::wire::handshake::{ConnectRequest, ConnectResponse, SessionPassword};
use crate::wire::request::*;

const CONTENDER: &str = "/locks/path/_c_00112233-4455-6677-8899-aabbccddeeff-lock-";
const HELD: &str = "/locks/path/_c_00112233-4455-6677-8899-aabbccddeeff-lock-0000000000";

fn open() -> Arc<[Acl]> {
    [Acl::anyone(perms::ALL)].into()
}

/// Asserts that a request is, but for the xid, what was recorded.
fn assert_recorded(name: &str, request: &Request) {
    let recorded = exchange(name).sent;
    let xid = i32::from_be_bytes(recorded[4..8].try_into().unwrap());
    let mut encoded = request.encode();
    assert_eq!(encoded[4..8], [0; 4], "{name}");
    set_xid(&mut encoded, xid);
    assert_eq!(encoded, recorded, "{name}");
}

#[test]
fn requests_are_those_of_the_java_client() {
    let path = || "/locks/path".to_owned();
    let plain = || "/locks/path/plain".to_owned();
    let create = |path: &str, data: &[u8], mode| Request::Create2 {
        path: path.into(),
        data: data.to_vec(),
        acl: open(),
        mode,
    };
    let requests = [
        (
            "create-persistent",
            create("/locks", b"host/1", CreateMode::Persistent),
        ),
        (
            "create-container",
            Request::CreateContainer {
                path: path(),
                data: Vec::new(),
                acl: [Acl::creator(perms::ALL)].into(),
            },
        ),
        (
            "create-sequential",
            create(CONTENDER, b"host/1", CreateMode::EphemeralSequential),
        ),
        (
            "create-ephemeral",
            create("/locks/path/plain", b"", CreateMode::Ephemeral),
        ),
        (
            "get-data-watch",
            Request::GetData {
                path: HELD.into(),
                watch: true,
            },
        ),
        (
            "get-data-no-watch",
            Request::GetData {
                path: "/locks".into(),
                watch: false,
            },
        ),
        (
            "get-children",
            Request::GetChildren2 {
                path: path(),
                watch: false,
            },
        ),
        ("sync", Request::Sync { path: path() }),
        (
            "delete",
            Request::Delete {
                path: HELD.into(),
                version: -1,
            },
        ),
        (
            "remove-watches",
            Request::RemoveDataWatches { path: plain() },
        ),
        (
            "set-watches",
            Request::SetWatches {
                relative_zxid: 13,
                data_paths: vec![plain()],
            },
        ),
        (
            "auth",
            Request::Auth {
                scheme: "digest".into(),
                credentials: b"user:secret".to_vec(),
            },
        ),
        ("ping", Request::Ping),
        ("close", Request::CloseSession),
    ];
    for (name, request) in &requests {
        assert_recorded(name, request);
    }
}

#[test]
fn a_transaction_is_what_the_server_took() {
    let operations = vec![
        MultiOperation::Check {
            path: "/multi".into(),
            version: 0,
        },
        MultiOperation::Create {
            path: "/multi/_c_00112233-4455-6677-8899-aabbccddeeff-__READ__0000000007".into(),
            data: b"host/1".to_vec(),
            acl: open(),
            mode: CreateMode::Ephemeral,
        },
    ];
    assert_recorded("multi", &Request::Multi(operations));
}

#[test]
fn handshakes_are_those_of_the_java_client() {
    let opening = ConnectRequest {
        last_zxid_seen: 0,
        timeout_ms: 4000,
        session_id: 0,
        password: SessionPassword::none(),
    };
    assert_eq!(opening.encode(), exchange("connect").sent);

    let opened = ConnectResponse::decode(exchange("connect").message()).unwrap();
    let resuming = ConnectRequest {
        last_zxid_seen: 13,
        timeout_ms: 4000,
        session_id: opened.session_id,
        password: opened.password,
    };
    assert_eq!(resuming.encode(), exchange("resume").sent);
}

#[test]
fn reserved_xids_are_those_of_the_java_client() {
    for (name, operation) in [("ping", Operation::Ping), ("auth", Operation::Auth)] {
        let xid = i32::from_be_bytes(exchange(name).sent[4..8].try_into().unwrap());
        assert_eq!(operation.reserved_xid(), Some(xid));
    }
    let event = exchange("event-0");
    assert_eq!(event.message()[..4], NOTIFICATION_XID.to_be_bytes());
}

#[test]
fn only_what_the_leader_answers_confirms() {
    let confirming: Vec<_> = OPERATIONS
        .into_iter()
        .filter(|operation| operation.is_confirming())
        .collect();
    assert_eq!(
        confirming,
        [
            Operation::Create2,
            Operation::CreateContainer,
            Operation::Delete,
            Operation::Sync,
            Operation::Multi,
        ]
    );
}

#[test]
fn numbering_something_too_short_does_nothing() {
    let mut short = [1, 2, 3, 4, 5, 6, 7];
    set_xid(&mut short, -1);
    assert_eq!(short, [1, 2, 3, 4, 5, 6, 7]);
}

fn batch_paths(batch: &Request) -> &[String] {
    match batch {
        Request::SetWatches {
            relative_zxid: 5,
            data_paths,
        } => data_paths,
        other => panic!("{other:?}"),
    }
}

#[test]
fn watches_are_set_in_bounded_batches_and_in_order() {
    let paths: Vec<String> = (0..5000).map(|n| format!("{HELD}/{n:05}")).collect();
    let batches = set_watches_batches(5, paths.iter().cloned());
    for batch in &batches {
        assert!(batch.encode().len() <= SET_WATCHES_FRAME);
    }
    for full in &batches[..batches.len() - 1] {
        assert!(full.encode().len() > SET_WATCHES_FRAME - 100);
    }
    let sent: Vec<_> = batches.iter().flat_map(batch_paths).cloned().collect();
    assert_eq!(sent, paths);
}

#[test]
fn a_batch_of_exactly_the_limit_is_one_frame() {
    let path = "x".repeat(SET_WATCHES_FRAME - 36);
    let batches = set_watches_batches(5, [path].into_iter());
    assert_eq!(batches[0].encode().len(), SET_WATCHES_FRAME);
    assert_eq!(batches.len(), 1);
}

#[test]
fn a_path_longer_than_a_batch_goes_alone() {
    let long = "x".repeat(SET_WATCHES_FRAME);
    let batches = set_watches_batches(5, ["/a".into(), long, "/b".into()].into_iter());
    let counts: Vec<_> = batches
        .iter()
        .map(|batch| batch_paths(batch).len())
        .collect();
    assert_eq!(counts, [1, 1, 1]);
    assert!(set_watches_batches(5, std::iter::empty()).is_empty());
}
