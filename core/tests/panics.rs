//! What becomes of everybody if the library, or an application's log in it, panics.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use support::{LONG, connect, mutex, one, path};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use zoolock::{ErrorKind, GuardState, LockOptions, SessionState};

static ARMED: AtomicBool = AtomicBool::new(false);

/// A log that breaks down once.
struct Panicking;

impl Subscriber for Panicking {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let ours = event.metadata().target().starts_with("zoolock::");
        assert!(!(ours && ARMED.swap(false, Ordering::SeqCst)), "on purpose");
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Nothing is driven any more, so nothing can be told later.
#[test]
fn r04_a_panic_on_the_network_thread_is_a_loss_for_every_guard() {
    tracing::subscriber::set_global_default(Panicking).expect("no other log");
    let ensemble = one();
    let session = connect(&ensemble);
    let held = mutex(&session, &path("panics"))
        .lock()
        .wait()
        .expect("lock");
    let keeping = LockOptions::default().keep(LONG);
    let keeping = session
        .mutex_with(&path("panics-kept"), keeping)
        .expect("mutex");
    // Kept from the first release on: a guard that the engine does not know.
    keeping
        .lock()
        .wait()
        .expect("lock")
        .release()
        .wait()
        .expect("release");
    let kept = keeping.lock().wait().expect("lock");
    let (tell, told) = mpsc::channel();
    for guard in [&held, &kept] {
        let tell = tell.clone();
        guard.on_lost(move || tell.send(()).expect("somebody listens"));
    }
    let (say, said) = mpsc::channel();
    session
        .on_state(move |state| say.send(state).expect("somebody listens"))
        .expect("open");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| held.wait_lost(Some(LONG)));
        ARMED.store(true, Ordering::SeqCst);
        ensemble.client_link(1).expect("link").reset();
        assert!(waiting.join().expect("no panic here"));
    });
    for _ in 0..2 {
        assert_eq!(told.recv_timeout(LONG), Ok(()));
    }
    assert_eq!(
        (held.state(), kept.state()),
        (GuardState::Lost, GuardState::Lost)
    );
    while said.recv_timeout(LONG).expect("it is told closed") != SessionState::Closed {}
    assert_eq!(session.state(), SessionState::Closed);
    let error = mutex(&session, &path("panics")).lock().wait().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
}
