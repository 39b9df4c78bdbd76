//! Calls as fast as a thread can make them; alone in a process, whose sessions share a network thread.

mod support;

use support::{S, clock, connect_with, mutex, one, options, path};
use zoolock::Owner;

/// Commands that need no request, as fast as a thread can give them: the others' answers are read in
/// between (R16).
#[test]
fn r03_a_flood_of_calls_without_requests_starves_no_lease() {
    let ensemble = one();
    let short = || {
        let options = options().session_timeout(S).exclusive(true);
        connect_with(options, &ensemble)
    };
    let (flooded, other) = (short(), short());
    let held = [
        mutex(&flooded, &path("flood-own"))
            .lock()
            .wait()
            .expect("lock"),
        mutex(&other, &path("flood-other"))
            .lock()
            .wait()
            .expect("lock"),
    ];
    let owner = Owner::new();
    let reentrant = flooded.reentrant_mutex(&path("flood")).expect("mutex");
    let outer = reentrant.lock(&owner).wait().expect("lock");
    let mut calls = 0_u64;
    let end = clock() + S * 5 / 8;
    while clock() < end {
        drop(reentrant.lock(&owner));
        calls += 1;
    }
    for guard in &held {
        assert!(guard.is_held(), "lost among {calls} calls");
    }
    outer.release().wait().expect("release");
}
