//! A server without a majority, in read-only mode.

use std::time::Duration;

use zoolock_ensemble::{Ensemble, until};

use crate::common::decode::Message;
use crate::common::encode::connect_to;
use crate::real::Client;

const NOT_READ_ONLY: i32 = -119;

/// What `testserver/tests/read_only.rs` has the model do.
#[test]
fn a_server_that_only_reads_answers_no_handshake() {
    let ensemble = Ensemble::builder()
        .servers(3)
        .property("readonlymode.enabled", "true")
        .start()
        .unwrap();
    for server in [1, 2] {
        ensemble.kill(server).unwrap();
    }
    let address = ensemble.direct_address(3).unwrap();
    let handshake = |read_only| {
        let mut client = Client::connect(address);
        client.send(&connect_to(0, 20_000, 0, &[0; 16], read_only));
        client
    };
    // It serves until it notices that it is alone, and closes connections while it looks for a leader.
    let refusal = until(Duration::from_secs(60), || {
        match handshake(true).message()? {
            Message::Reply(reply) => ((reply.xid, reply.code) == (0, NOT_READ_ONLY)).then_some(()),
            Message::Event(_) => None,
        }
    });
    assert!(refusal.is_some(), "it answers otherwise");
    assert_eq!(handshake(false).message(), None, "it wants more than reads");
}
