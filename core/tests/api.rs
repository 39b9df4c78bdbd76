//! What the types promise to Rust programs beside their methods.

use std::error::Error as StdError;
use std::fmt::{Debug, Display};
use std::future::Future;
use std::hash::Hash;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use zoolock::{blocking, testing, *};

fn is_shared<T: Send + Sync + Unpin + Debug + 'static>() {}
fn is_handle<T: Clone + Send + Sync + Unpin + Debug + 'static>() {}
fn is_value<T: Clone + Eq + Hash + Send + Sync + Unpin + Debug + 'static>() {}
fn is_shown<T: Display>() {}
fn is_future<T: Future<Output = O> + Send + Unpin, O>() {}
fn survives_panics<T: UnwindSafe + RefUnwindSafe>() {}

/// Compiled, so it holds.
#[test]
fn types_can_be_sent_shared_shown_and_compared() {
    is_handle::<Session>();
    is_handle::<SessionBuilder>();
    is_handle::<Mutex>();
    is_handle::<ReentrantMutex>();
    is_handle::<RwLock>();
    is_handle::<RwLockSide>();
    is_handle::<Cancel>();
    is_handle::<Error>();
    is_handle::<Contender>();
    is_handle::<LockStatistics>();
    is_handle::<blocking::Session>();
    is_handle::<blocking::Mutex>();
    is_handle::<blocking::ReentrantMutex>();
    is_handle::<blocking::RwLock>();
    is_handle::<blocking::RwLockSide>();
    is_handle::<testing::ServerBuilder>();
    is_shared::<Guard>();
    is_shared::<Lost>();
    is_shared::<Pending<Guard>>();
    is_shared::<StateWatch>();
    is_shared::<blocking::Guard>();
    is_shared::<testing::Server>();
    is_value::<Acl>();
    is_value::<AclEntry>();
    is_value::<Backoff>();
    is_value::<ErrorKind>();
    is_value::<GuardState>();
    is_value::<LeaseConfirmation>();
    is_value::<LockOptions>();
    is_value::<Naming>();
    is_value::<Owner>();
    is_value::<SessionState>();
    is_value::<Tls>();
    is_value::<Wait>();
    is_shown::<Error>();
    is_shown::<ErrorKind>();
    is_shown::<GuardState>();
    is_shown::<SessionState>();
    is_future::<Pending<Guard>, Result<Guard>>();
    is_future::<Lost, ()>();
    survives_panics::<Owner>();
    survives_panics::<ErrorKind>();
}

/// `?` turns it into what programs use.
#[test]
fn the_error_fits_into_others() {
    fn boxed() -> std::result::Result<(), Box<dyn StdError + Send + Sync>> {
        Err(Session::connect("not a connect string")
            .wait()
            .map(drop)
            .expect_err("bad hosts"))?
    }
    let error = boxed().expect_err("bad hosts");
    let error: &Error = error.downcast_ref().expect("ours");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(size_of::<Error>(), size_of::<usize>(), "small in a Result");
}

#[test]
fn r06_a_duration_is_a_wait() {
    assert_eq!(Wait::from(Duration::ZERO), Wait::Try);
    let second = Duration::from_secs(1);
    assert_eq!(Wait::from(second), Wait::UpTo(second));
}

#[test]
fn states_are_shown_by_their_names() {
    assert_eq!(GuardState::Suspended.to_string(), "suspended");
    assert_eq!(SessionState::Expired.to_string(), "expired");
}

/// Also where a `Wait` was not made from a time-out that was checked.
#[test]
fn r06_r20_every_wait_is_checked() {
    let server = testing::Server::start().expect("a server");
    let session = blocking::Session::connect(&server.hosts()).expect("connect");
    let mutex = session.mutex("/locks/wait").expect("a path");
    let held = mutex.lock().expect("lock");
    let zero = Wait::UpTo(Duration::ZERO);
    assert!(mutex.acquire(zero, None).expect("a try").is_none());
    for long in [Duration::MAX, Duration::from_secs(400_000_000)] {
        let error = mutex.acquire(Wait::UpTo(long), None).expect_err("too long");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert_eq!(error.path(), Some("/locks/wait"));
    }
    held.release().expect("release");
    session.close().expect("close");
}

#[test]
fn blocking_and_asynchronous_handles_are_the_same() {
    let server = testing::Server::start().expect("a server");
    let session = blocking::Session::connect(&server.hosts()).expect("connect");
    let asynchronous: Session = session.clone().into();
    assert_eq!(asynchronous.session_id(), session.session_id());
    let guard = session
        .mutex("/locks/both")
        .expect("a path")
        .lock()
        .expect("lock");
    let token = guard.fencing_token();
    let guard: Guard = guard.into();
    assert_eq!(guard.fencing_token(), token);
    blocking::Guard::from(guard).release().expect("release");
    blocking::Session::from(asynchronous)
        .close()
        .expect("close");
    assert_eq!(session.state(), SessionState::Closed);
}
