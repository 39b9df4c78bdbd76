//! A client's bytes to the test server's model: decoded, executed, answered.

use std::collections::VecDeque;

use zoolock_testserver::model::{Cluster, Output, Settings};

const SECOND: u64 = 1_000_000_000;

/// A byte 0 in front of the stream leaves the handshake to it; any other comes behind a session's
/// handshake.
pub(super) fn run(input: &[u8]) {
    let Some((choice, stream)) = input.split_first() else {
        return;
    };
    let mut cluster = Cluster::new(Settings::default(), 1);
    let Some(connection) = cluster.open(SECOND, 0) else {
        return;
    };
    if *choice != 0 {
        let mut handshake = vec![0, 0, 0, 45];
        handshake.extend([0; 12]);
        handshake.extend(10_000_i32.to_be_bytes());
        handshake.extend([0; 8]);
        handshake.extend(16_i32.to_be_bytes());
        handshake.extend([0; 17]);
        cluster.receive(SECOND, connection, &handshake);
    }
    cluster.receive(2 * SECOND, connection, stream);
    let mut answers = VecDeque::new();
    while let Some(output) = cluster.poll_output() {
        if let Output::Bytes { bytes, .. } = output {
            answers.extend(bytes);
        }
    }
    // Instead of a handshake there can be a four-letter word, which is answered in plain text.
    if *choice != 0 {
        while take_frame(&mut answers) {}
    }
    cluster.handle_timeout(60 * SECOND);
}

/// False if none was left.
fn take_frame(answers: &mut VecDeque<u8>) -> bool {
    if answers.is_empty() {
        return false;
    }
    assert!(answers.len() >= 4, "a whole length");
    let len: Vec<u8> = answers.drain(..4).collect();
    let len = i32::from_be_bytes(len.try_into().expect("four bytes"));
    let len = usize::try_from(len).expect("not negative");
    assert!(answers.len() >= len, "a whole frame");
    answers.drain(..len);
    true
}
