//! Nothing secret is shown by a debug representation (R19).

use super::fixtures::exchange;
use crate::wire::acl::{Acl, perms};
use crate::wire::handshake::{ConnectRequest, ConnectResponse, SessionPassword};
use crate::wire::request::{CreateMode, MultiOperation, Request};

#[test]
fn credentials_are_hidden() {
    let request = Request::Auth {
        scheme: "digest".into(),
        credentials: b"user:secret".to_vec(),
    };
    assert_eq!(format!("{request:?}"), "Auth(\"digest\")");
}

#[test]
fn session_passwords_are_hidden() {
    let response = ConnectResponse::decode(exchange("connect").message()).unwrap();
    let request = ConnectRequest {
        last_zxid_seen: 0,
        timeout_ms: 1,
        session_id: 0,
        password: SessionPassword::none(),
    };
    assert!(format!("{response:?}").contains("password: (hidden)"));
    assert!(format!("{request:?}").contains("password: (hidden)"));
}

#[test]
fn password_hashes_are_hidden() {
    let acl = Acl {
        perms: perms::ALL,
        scheme: "digest".into(),
        id: "user:hash".into(),
    };
    assert!(!format!("{acl:?}").contains("hash"));
    assert!(format!("{:?}", Acl::anyone(perms::READ)).contains("anyone"));

    let acl: std::sync::Arc<[Acl]> = [acl].into();
    let create = MultiOperation::Create {
        path: "/a".into(),
        data: b"data".to_vec(),
        acl,
        mode: CreateMode::Ephemeral,
    };
    assert_eq!(
        format!("{:?}", Request::Multi(vec![create])),
        "Multi[Create(\"/a\")]"
    );
}
