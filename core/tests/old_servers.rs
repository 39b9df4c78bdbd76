//! What servers of 3.8 answer otherwise than those of 3.9.

use std::sync::mpsc;

use zoolock::SessionState;
use zoolock::blocking::Session;
use zoolock_testserver::model::Version;
use zoolock_testserver::server::Server;

/// 3.8 answers what a transaction creates without its stat.
#[test]
fn r12_a_downgrade_keeps_its_connection() {
    let server = Server::builder().version(Version::V3_8).start().unwrap();
    let session = Session::connect(&server.hosts()).unwrap();
    let (sender, states) = mpsc::channel();
    session
        .on_state(move |state| sender.send(state).unwrap())
        .unwrap();
    let lock = session.rwlock("/locks/a").unwrap();
    let write = lock.write().lock().unwrap();
    let read = lock.read().lock().unwrap();
    assert_eq!(read.fencing_token(), write.fencing_token());
    write.release().unwrap();
    assert!(read.is_held());
    read.release().unwrap();
    session.close().unwrap();
    assert_eq!(states.recv(), Ok(SessionState::Closed));
}
