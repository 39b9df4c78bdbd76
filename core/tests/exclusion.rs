//! R1 exclusion, R2 fencing, R3 the lease, R4 loss.

mod support;

use support::{Child, S, connect, eventually, one, path, waits};

child_process!();

#[test]
fn r01_two_sessions_exclude_each_other() {
    let ensemble = one();
    let (first, second) = (connect(&ensemble), connect(&ensemble));
    let path = path("exclude");
    let held = first
        .mutex(&path)
        .expect("mutex")
        .lock()
        .wait()
        .expect("lock");
    let mut waiting = second.mutex(&path).expect("mutex").lock();
    let observer = ensemble.observer(1).expect("observer");
    eventually("the second queues", || {
        support::children(&observer, &path).len() == 2
    });
    assert!(waits(&mut waiting, S));
    assert!(held.is_held());
    held.release().wait().expect("release");
    assert!(waiting.wait().expect("lock").is_held());
}

#[test]
fn r01_two_processes_exclude_each_other() {
    let ensemble = one();
    let path = path("exclude");
    let mut first = Child::start(&ensemble.hosts(), S);
    let mut second = Child::start(&ensemble.hosts(), S);
    first.lock("a", &path);
    second.send(&format!("lock b {path} -1"));
    assert_eq!(second.within("b granted", S), None);
    first.send("release a");
    let released = support::child::at(&first.expect("a released")[0]);
    let (_, granted) = second.granted("b");
    assert!(granted > released - S / 2);
}
