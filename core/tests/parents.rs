//! R15: what has to be there above a lock.

mod rig;
mod support;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rig::{Outcome, assert_kind, connect, observe, unhurried};
use support::{connect_with, eventually, one, path};
use zoolock::{Acl, AclEntry, ErrorKind, LockOptions, Session};
use zoolock_ensemble::{Ensemble, NodeKind, Observer, Op, Permission};

/// The nodes that clients asked for as containers. (To clients a container looks like any persistent node; that these are
/// some shows in `r15_the_servers_own_reaper_is_no_error`.)
fn containers(ensemble: &Ensemble) -> Vec<String> {
    rig::requested(ensemble, Op::CreateContainer)
}

#[test]
fn r15_missing_parents_of_any_depth_are_made_as_containers() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let top = path("deep");
    let lock_path = format!("{top}/a/b/c/d/e/f/g/h/i/j");
    let guard = connect(&ensemble).mutex(&lock_path).unwrap().lock().done();
    let mut above = lock_path.as_str();
    while above.len() >= top.len() {
        assert!(containers(&ensemble).contains(&above.to_owned()), "{above}");
        assert_eq!(support::children(&observer, above).len(), 1);
        above = above.rsplit_once('/').unwrap().0;
    }
    guard.release().done();
}

#[test]
fn r15_parents_that_are_there_stay_as_they_are() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let top = path("there");
    observer.ensure(&top).unwrap();
    let before = observer.set(&top, b"data").unwrap();
    let below = format!("{top}/made");
    drop(connect(&ensemble).mutex(&below).unwrap().lock().done());
    let (data, stat) = observer.get(&top).unwrap();
    assert_eq!(data, b"data");
    assert_eq!((stat.czxid, stat.version), (before.czxid, before.version));
}

#[test]
fn r15_a_missing_chroot_is_made_too() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let chroot = path("chroot");
    let hosts = format!("{}{chroot}/inner", ensemble.hosts());
    let session = unhurried().connect(&hosts).done();
    let mutex = session.mutex("/locks/a").unwrap();
    let guard = mutex.lock().done();
    assert!(guard.node_path().starts_with("/locks/a/"));
    assert_eq!(guard.path(), "/locks/a");
    let full = format!("{chroot}/inner{}", guard.node_path());
    assert!(observer.exists(&full).unwrap().is_some());
    for node in ["", "/locks", "/locks/a"] {
        let node = format!("{chroot}/inner{node}");
        assert!(containers(&ensemble).contains(&node), "{node}");
    }
    let contenders = mutex.contenders().done();
    assert_eq!(contenders[0].node_path, guard.node_path());
}

#[test]
fn r15_parents_get_the_acl_configured_for_them() {
    let ensemble = one();
    let observer = observe(&ensemble);
    observer.ensure("/locks").unwrap();
    let top = path("acl");
    let options = unhurried().auth("digest", "lock:keeper");
    let session = options.connect(&ensemble.hosts()).done();
    let mutex = session.mutex(&format!("{top}/creator")).unwrap();
    let guard = mutex.lock().done();
    observer.authenticate("digest", "lock:keeper").unwrap();
    let acl = observer.acl(&format!("{top}/creator")).unwrap();
    assert_eq!(acl.len(), 1, "{acl:?}");
    assert_eq!(acl[0].scheme, "digest");
    assert!(acl[0].id.starts_with("lock:"));
    // Contenders can be read by whoever has to watch them.
    let acl = observer.acl(guard.node_path()).unwrap();
    assert_eq!(acl.len(), 2, "{acl:?}");
    assert!(acl.iter().any(|entry| entry.scheme == "world"));

    let list = Acl::List(vec![AclEntry {
        permissions: 31,
        scheme: "ip".into(),
        id: "127.0.0.1".into(),
    }]);
    let options = LockOptions::new().acl(list);
    let mutex = session.mutex_with(&format!("{top}-list/a"), options);
    let guard = mutex.unwrap().lock().done();
    for node in [
        &format!("{top}-list"),
        &format!("{top}-list/a"),
        guard.node_path(),
    ] {
        let acl = observer.acl(node).unwrap();
        assert_eq!((acl.len(), acl[0].scheme.as_str()), (1, "ip"), "{node}");
    }
}

#[test]
fn r15_racing_creators_all_get_through() {
    let ensemble = one();
    let sessions: Vec<Session> = (0..6).map(|_| connect(&ensemble)).collect();
    for _ in 0..5 {
        let path = format!("{}/x/y/z", path("race"));
        let locks: Vec<_> = sessions
            .iter()
            .map(|session| session.mutex(&path).unwrap())
            .collect();
        // Started together, so that every one of them finds no parent.
        let calls: Vec<_> = locks.iter().map(zoolock::Mutex::lock).collect();
        for call in calls {
            std::thread::spawn(move || call.done().release().done());
        }
        for lock in &locks {
            lock.lock().done().release().done();
        }
    }
}

/// Deletes the empty nodes of `paths` over and over while `work` runs, which is shown how often that has succeeded.
fn reaping(observer: &Observer, paths: &[&str], work: impl FnOnce(&AtomicUsize)) {
    let (stop, reaped) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                for path in paths {
                    // Refused as long as somebody queues there.
                    let gone = observer.delete(path).is_ok();
                    reaped.fetch_add(usize::from(gone), Ordering::SeqCst);
                }
            }
        });
        // The thread has to end when the work panics.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&reaped)));
        stop.store(true, Ordering::SeqCst);
        if let Err(panic) = outcome {
            std::panic::resume_unwind(panic);
        }
    });
}

#[test]
fn r15_a_reaper_may_remove_the_empty_parent_at_any_moment() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let top = path("reaped");
    let path = format!("{top}/a/b");
    let (one, other) = (connect(&ensemble), connect(&ensemble));
    let middle = format!("{top}/a");
    reaping(&observer, &[&path, &middle, &top], |reaped| {
        let last = Mutex::new(0);
        std::thread::scope(|scope| {
            for session in [&one, &other] {
                let (path, last) = (&path, &last);
                scope.spawn(move || {
                    let mutex = session.mutex(path).unwrap();
                    let mut granted = 0;
                    while reaped.load(Ordering::SeqCst) < 60 || granted < 100 {
                        let guard = mutex.lock().done();
                        let mut last = last.lock().unwrap();
                        assert!(guard.fencing_token() > *last);
                        *last = guard.fencing_token();
                        drop(last);
                        guard.release().done();
                        granted += 1;
                    }
                });
            }
        });
    });
}

#[test]
fn r15_the_servers_own_reaper_is_no_error() {
    let ensemble = Ensemble::builder()
        .property("znode.container.checkIntervalMs", "30")
        .property("znode.container.maxNeverUsedIntervalMs", "30")
        .start()
        .unwrap();
    let observer = observe(&ensemble);
    let session = connect(&ensemble);
    let mutex = session.mutex("/containers/deep/lock").unwrap();
    for _ in 0..5 {
        let guard = mutex.lock().done();
        guard.release().done();
        eventually("the empty containers are reaped", || {
            observer.exists("/containers").unwrap().is_none()
        });
    }
    for _ in 0..50 {
        mutex.lock().done().release().done();
    }
}

#[test]
fn r15_ancestors_without_rights_are_no_error() {
    // An ensemble of its own: the root's rights are taken away.
    let ensemble = Ensemble::builder().start().unwrap();
    let observer = observe(&ensemble);
    observer.authenticate("digest", "root:root").unwrap();
    let mine = zoolock_ensemble::Acl::new(Permission::ALL, "auth", "");
    observer.create("/ours", b"", NodeKind::Persistent).unwrap();
    observer
        .create_with_acl("/closed", b"", NodeKind::Persistent, vec![mine.clone()])
        .unwrap();
    observer
        .create("/closed/open", b"", NodeKind::Persistent)
        .unwrap();
    observer.set_acl("/", vec![mine]).unwrap();

    let session = connect(&ensemble);
    for path in [
        "/ours/a",
        "/ours/b/c/d",
        "/closed/open/a",
        "/closed/open/b/c",
    ] {
        let mutex = session.mutex(path).unwrap();
        for _ in 0..2 {
            mutex.lock().done().release().done();
        }
        // And once more after it was removed.
        observer.delete(path).unwrap();
        mutex.lock().done().release().done();
    }
    let hosts = format!("{}/closed/open/chroot", ensemble.hosts());
    let session = unhurried().connect(&hosts).done();
    session
        .mutex("/a/b")
        .unwrap()
        .lock()
        .done()
        .release()
        .done();

    // Under a reaper too: the denial above is never taken for the reason.
    let session = connect(&ensemble);
    let mutex = session.mutex("/ours/x/y/z").unwrap();
    let paths = ["/ours/x/y/z", "/ours/x/y", "/ours/x"];
    reaping(&observer, &paths, |reaped| {
        while reaped.load(Ordering::SeqCst) < 60 {
            mutex.lock().done().release().done();
        }
    });

    // Where it matters it is told once, with path and right.
    ensemble.log().clear();
    let session = connect(&ensemble);
    let error = session.mutex("/missing/a").unwrap().lock().refused();
    assert_kind(&error, ErrorKind::NoAuth);
    assert_eq!(error.path(), Some("/missing/a"));
    assert!(error.message().ends_with("CREATE on /"), "{error}");
    let error = session.mutex("/closed/a").unwrap().lock().refused();
    assert_kind(&error, ErrorKind::NoAuth);
    assert!(error.message().ends_with("CREATE on /closed"), "{error}");
    assert!(rig::requested(&ensemble, Op::Create2).len() <= 2);
}

#[test]
fn r15_a_parent_that_is_ephemeral_is_the_callers_mistake() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let parent = path("ephemeral");
    observer.ensure("/locks").unwrap();
    observer.create(&parent, b"", NodeKind::Ephemeral).unwrap();
    let session = connect_with(unhurried(), &ensemble);
    for path in [
        parent.clone(),
        format!("{parent}/a"),
        format!("{parent}/a/b"),
    ] {
        let error = session.mutex(&path).unwrap().lock().refused();
        assert_kind(&error, ErrorKind::InvalidArgument);
        assert!(error.message().starts_with("path: "), "{error}");
    }
}
