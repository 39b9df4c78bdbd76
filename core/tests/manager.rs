//! R16: the sessions of a process, and how they are kept.

mod rig;
mod support;

use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rig::forward::Forwarder;
use rig::{Outcome, UNHURRIED, assert_kind, knows, observe, requested, wait_children};
use support::{LONG, S, children, connect_to, eventually, one, path, server_of, three};
use zoolock::{
    Acl, Backoff, ErrorKind, Guard, GuardState, Mutex, Pending, Session, SessionBuilder,
    SessionState,
};
use zoolock_ensemble::{Ensemble, Op, What};

/// Options of a session that is shared.
fn sharing() -> SessionBuilder {
    Session::builder()
        .session_timeout(UNHURRIED)
        .connect_timeout(LONG)
}

/// The session's states from now on.
fn states(session: &Session) -> Receiver<SessionState> {
    let (sender, states) = channel();
    session
        .on_state(move |state| {
            // The test may have ended.
            let _heard = sender.send(state);
        })
        .expect("open");
    states
}

#[track_caller]
fn next(states: &Receiver<SessionState>) -> SessionState {
    states.recv_timeout(LONG).expect("a change of state")
}

/// How many handshakes clients have sent, for new sessions and for old ones.
fn handshakes(ensemble: &Ensemble) -> (usize, usize) {
    let asked = ensemble.log().entries().into_iter().filter_map(|entry| {
        let What::Request {
            op: Op::Connect,
            session,
            ..
        } = entry.what
        else {
            return None;
        };
        session
    });
    let (new, old): (Vec<i64>, Vec<i64>) = asked.partition(|session| *session == 0);
    (new.len(), old.len())
}

// ---- sharing ----

#[test]
fn r16_equal_options_share_one_session() {
    let ensemble = one();
    let options = || sharing().auth("digest", "a:b").identity("me");
    // At once, from several threads.
    let sessions: Vec<Session> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| options().connect(&ensemble.hosts()).done()))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let id = sessions[0].session_id();
    assert!(sessions.iter().all(|session| session.session_id() == id));
    assert_eq!(handshakes(&ensemble), (1, 0));
    // The host's letters do not matter, nor a chroot that is none.
    let hosts = ensemble.hosts().replace("127.0.0.1", "localhost");
    let by_name = options().connect(&hosts).done();
    let shouted = options()
        .connect(&format!("{}/", hosts.to_uppercase()))
        .done();
    assert_eq!(by_name.session_id(), shouted.session_id());
}

#[test]
fn r16_different_servers_options_and_exclusive_handles_do_not_share() {
    let ensemble = one();
    let hosts = ensemble.hosts();
    let chroot = format!("{hosts}{}", path("chroot"));
    let list = |permissions| {
        Acl::List(vec![zoolock::AclEntry {
            permissions,
            scheme: "world".into(),
            id: "anyone".into(),
        }])
    };
    let sessions: Vec<Session> = [
        (sharing(), &hosts),
        (sharing(), &chroot),
        (sharing(), &ensemble.direct()),
        (sharing().session_timeout(UNHURRIED / 2), &hosts),
        (sharing().connect_timeout(LONG / 2), &hosts),
        (sharing().auth("digest", "a:b"), &hosts),
        (sharing().auth("digest", "a:c"), &hosts),
        (sharing().acl(list(31)), &hosts),
        (sharing().acl(list(15)), &hosts),
        (sharing().identity("somebody"), &hosts),
        (
            sharing().lease_confirmation(zoolock::LeaseConfirmation::Write),
            &hosts,
        ),
        (
            sharing().backoff(Backoff::Fixed {
                delay: Duration::from_secs(1),
                retries: None,
            }),
            &hosts,
        ),
        (sharing().exclusive(true), &hosts),
        (sharing().exclusive(true), &hosts),
    ]
    .into_iter()
    .map(|(options, hosts)| options.connect(hosts).done())
    .collect();
    let mut ids: Vec<i64> = sessions.iter().map(Session::session_id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), sessions.len());
}

#[test]
fn r16_handles_are_counted() {
    let ensemble = one();
    let open = || sharing().connect(&ensemble.hosts()).done();
    let mut handles = vec![open(), open(), open()];
    let id = handles[0].session_id();
    while let Some(handle) = handles.pop() {
        handle.close().done();
        assert_eq!(knows(&ensemble, id), !handles.is_empty());
        for open in &handles {
            assert_eq!(open.state(), SessionState::Connected);
        }
    }
    let next = open();
    assert_ne!(next.session_id(), id);
}

#[test]
fn r16_the_servers_grant_is_told() {
    let ensemble = Ensemble::builder()
        .max_session_timeout_ms(7_000)
        .start()
        .unwrap();
    let session = sharing().connect(&ensemble.hosts()).done();
    assert_eq!(session.negotiated_timeout(), Duration::from_secs(7));
    assert!(knows(&ensemble, session.session_id()));
}

// ---- connecting ----

#[test]
fn r16_every_server_is_tried_until_one_takes_us() {
    let ensemble = three();
    for open in 1..=3 {
        for server in 1..=3 {
            let link = ensemble.client_link(server).unwrap();
            if server == open {
                link.accept().unwrap();
            } else {
                link.refuse();
            }
        }
        let session = rig::connect(&ensemble);
        assert_eq!(server_of(&ensemble, &session), open);
        session.close().done();
    }
}

#[test]
fn r16_clients_spread_over_the_servers() {
    let ensemble = three();
    let sessions: Vec<Session> = (0..60).map(|_| rig::connect(&ensemble)).collect();
    let mut count = [0; 4];
    for session in &sessions {
        count[server_of(&ensemble, session)] += 1;
    }
    // By chance alone one of three would be left out once in ten thousand million times.
    assert!(count[1..].iter().all(|count| *count > 0), "{count:?}");
}

#[test]
fn r16_names_and_ipv6_addresses_lead_to_servers() {
    let ensemble = one();
    let host = ensemble.hosts();
    let named = host.replace("127.0.0.1", "localhost");
    rig::unhurried().connect(&named).done();
    let Ok(forwarder) = Forwarder::start("[::1]:0", &host) else {
        eprintln!("this machine has no IPv6");
        return;
    };
    let address = forwarder.address().to_string();
    assert!(address.starts_with("[::1]:"));
    let session = rig::unhurried().connect(&address).done();
    let mutex = session.mutex(&path("ipv6")).unwrap();
    mutex.lock().done().release().done();
}

#[test]
fn r16_a_name_is_resolved_again_on_every_attempt() {
    // A name that no machine has: not found is no reason to give up before the timeout.
    let options = rig::unhurried().connect_timeout(Duration::from_millis(1_500));
    let started = Instant::now();
    let error = options.connect("no-such-host.invalid:2181").refused();
    assert_kind(&error, ErrorKind::Unavailable);
    assert!(started.elapsed() >= Duration::from_millis(1_400));
}

#[test]
fn r16_retries_bound_the_first_connect() {
    let ensemble = one();
    ensemble.client_link(1).unwrap().refuse();
    for retries in [1, 3] {
        let backoff = Backoff::Fixed {
            delay: Duration::from_millis(20),
            retries: Some(retries),
        };
        let error = rig::unhurried()
            .backoff(backoff)
            .connect(&ensemble.hosts())
            .refused();
        assert_kind(&error, ErrorKind::Unavailable);
        assert!(error.message().contains("efused"), "{error}");
    }
}

/// However early the first round fails, it counts: nobody waits for another one.
#[test]
fn r16_one_retry_is_one_round() {
    let ensemble = one();
    ensemble.client_link(1).unwrap().refuse();
    for _ in 0..50 {
        let backoff = Backoff::Fixed {
            delay: Duration::from_secs(3600),
            retries: Some(1),
        };
        let error = rig::unhurried()
            .exclusive(true)
            .backoff(backoff)
            .connect(&ensemble.hosts())
            .refused();
        assert_kind(&error, ErrorKind::Unavailable);
    }
}

#[test]
fn r16_a_connect_waits_for_a_server_that_comes_in_time() {
    let ensemble = one();
    let link = ensemble.client_link(1).unwrap();
    link.refuse();
    let mut connecting = rig::unhurried().connect(&ensemble.hosts());
    assert!(connecting.is_under_way());
    link.accept().unwrap();
    connecting.done();
}

// ---- failing over ----

/// A session with a lock on a path of its own, connected to a follower if there is one.
struct Holder {
    session: Session,
    mutex: Mutex,
    guard: Guard,
    server: usize,
    states: Receiver<SessionState>,
}

fn hold(ensemble: &Ensemble, timeout: Duration) -> Holder {
    let server = ensemble.followers().first().copied().unwrap_or(1);
    let options = support::options()
        .session_timeout(timeout)
        .connect_timeout(LONG);
    let session = connect_to(options, ensemble, server);
    let states = states(&session);
    let mutex = session.mutex(&path("held")).unwrap();
    let guard = mutex.lock().done();
    Holder {
        session,
        mutex,
        guard,
        server,
        states,
    }
}

impl Holder {
    /// Waits until the session has moved to another server, and checks that nothing else has changed.
    #[track_caller]
    fn has_moved(&self, ensemble: &Ensemble, id: i64) {
        assert_eq!(next(&self.states), SessionState::Suspended);
        assert_eq!(next(&self.states), SessionState::Connected);
        assert_eq!(self.session.session_id(), id);
        assert_eq!(self.guard.state(), GuardState::Held);
        assert_ne!(server_of(ensemble, &self.session), self.server);
        assert!(self.mutex.try_lock().done().is_none());
    }
}

#[test]
fn r16_the_session_moves_on_and_keeps_its_locks_when_its_server_dies() {
    let ensemble = three();
    let holder = hold(&ensemble, Duration::from_secs(20));
    let id = holder.session.session_id();
    ensemble.kill(holder.server).unwrap();
    holder.has_moved(&ensemble, id);
}

#[test]
fn r16_a_connection_that_is_reset_or_closed_costs_no_lock() {
    let ensemble = three();
    let holder = hold(&ensemble, Duration::from_secs(20));
    let id = holder.session.session_id();
    ensemble.client_link(holder.server).unwrap().reset();
    holder.has_moved(&ensemble, id);
    let server = server_of(&ensemble, &holder.session);
    ensemble.client_link(server).unwrap().close();
    assert_eq!(next(&holder.states), SessionState::Suspended);
    assert_eq!(next(&holder.states), SessionState::Connected);
    assert_eq!(holder.session.session_id(), id);
    assert!(holder.guard.is_held());
}

#[test]
fn r16_a_stuck_server_costs_a_failover_not_the_lock() {
    let ensemble = three();
    // Noticed after S/6, and the lease ends at S/2.
    let holder = hold(&ensemble, Duration::from_secs(12));
    let id = holder.session.session_id();
    ensemble.client_link(holder.server).unwrap().freeze();
    holder.has_moved(&ensemble, id);
    assert!(!holder.guard.wait_lost(Some(rig::SHORT)));
}

#[test]
fn r16_servers_that_take_connections_and_stay_silent_are_passed_over() {
    let ensemble = three();
    let holder = hold(&ensemble, Duration::from_secs(20));
    let id = holder.session.session_id();
    let silent = (1..=3).find(|server| *server != holder.server).unwrap();
    // Whichever comes first: the next is tried beside one that has not answered within S/24.
    ensemble.client_link(silent).unwrap().freeze();
    ensemble.kill(holder.server).unwrap();
    holder.has_moved(&ensemble, id);
    assert!(holder.guard.is_held());
}

#[test]
fn r16_credentials_are_sent_again_after_a_move() {
    let ensemble = three();
    observe(&ensemble).ensure("/locks").unwrap();
    let options = support::options()
        .session_timeout(Duration::from_secs(20))
        .auth("digest", "lock:keeper");
    let session = options.connect(&ensemble.hosts()).done();
    let states = states(&session);
    let mutex = session.mutex(&path("credentials")).unwrap();
    mutex.lock().done().release().done();
    for _ in 0..3 {
        let server = server_of(&ensemble, &session);
        ensemble.client_link(server).unwrap().reset();
        assert_eq!(next(&states), SessionState::Suspended);
        assert_eq!(next(&states), SessionState::Connected);
        // The parent is the creator's alone: it takes the same credentials to queue there.
        mutex.lock().done().release().done();
    }
    assert_eq!(requested(&ensemble, Op::Auth).len(), 4);
}

// ---- watches ----

#[test]
fn r16_watches_are_armed_again_in_batches() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let session = rig::connect(&ensemble);
    let states = states(&session);
    // More than one batch of paths, each with a holder elsewhere.
    let path = format!("{}/{}", path("batches"), "x".repeat(1_900));
    let elsewhere = rig::connect(&ensemble);
    let holder = elsewhere.mutex(&path).unwrap().lock().done();
    let mutex = session.mutex(&path).unwrap();
    let waiting: Vec<Pending<Guard>> = (0..200).map(|_| mutex.lock()).collect();
    wait_children(&observer, &path, waiting.len() + 1);
    eventually("everybody watches", || {
        requested(&ensemble, Op::GetData).len() >= waiting.len()
    });
    ensemble.log().clear();
    ensemble.client_link(1).unwrap().reset();
    while next(&states) != SessionState::Connected {}
    eventually("all batches are answered", || {
        let (asked, answered) = set_watches(&ensemble);
        !asked.is_empty() && answered == asked.len()
    });
    let (asked, _) = set_watches(&ensemble);
    // Of the two sessions both come back; the other one has its own node to watch at most.
    assert!(asked.len() >= 4, "{asked:?}");
    assert!(asked.iter().all(|bytes| *bytes <= 128 * 1024), "{asked:?}");
    holder.release().done();
    // Everybody gets it, in order.
    let mut last = 0;
    for call in waiting {
        let guard = call.done();
        assert!(guard.fencing_token() > last);
        last = guard.fencing_token();
        guard.release().done();
    }
    assert_eq!(children(&observer, &path), [""; 0]);
}

/// The sizes of the requests that re-arm, and how many were answered.
fn set_watches(ensemble: &Ensemble) -> (Vec<usize>, usize) {
    let (mut asked, mut answered) = (Vec::new(), 0);
    for entry in ensemble.log().entries() {
        match entry.what {
            What::Request {
                op: Op::SetWatches,
                bytes,
                ..
            } => asked.push(bytes),
            What::Reply {
                op: Op::SetWatches, ..
            } => answered += 1,
            _ => {}
        }
    }
    (asked, answered)
}

// ---- the end of a session ----

#[test]
fn r16_states_are_observed_in_order() {
    let ensemble = one();
    let link = ensemble.client_link(1).unwrap();
    link.refuse();
    let connecting = support::options()
        .connect_timeout(LONG)
        .connect(&ensemble.hosts());
    link.accept().unwrap();
    let session = connecting.done();
    assert_eq!(session.state(), SessionState::Connected);
    let (states, other) = (states(&session), states(&session));
    let mut watch = session.watch_state();
    let old = session.session_id();
    ensemble.expire_by_freeze(old, LONG).unwrap();
    let expected = [
        SessionState::Suspended,
        SessionState::Expired,
        SessionState::Connecting,
        SessionState::Connected,
    ];
    for state in expected {
        assert_eq!(next(&states), state);
        assert_eq!(next(&other), state);
    }
    assert_ne!(session.session_id(), old);
    session.close().done();
    assert_eq!(next(&states), SessionState::Closed);
    // The same to those who await.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        for state in expected {
            assert_eq!(watch.changed().await, Some(state));
        }
        assert_eq!(watch.changed().await, Some(SessionState::Closed));
        assert_eq!(watch.changed().await, None);
    });
}

#[test]
fn r16_when_the_session_is_over_a_new_one_is_started() {
    let ensemble = three();
    let holder = hold(&ensemble, S);
    let mut waiting = holder.mutex.lock();
    wait_children(&ensemble.observer(1).unwrap(), holder.mutex.path(), 2);
    let old = holder.session.session_id();
    ensemble.expire(old).unwrap();
    assert!(holder.guard.wait_lost(Some(LONG)));
    // The waiting call goes on in the new session.
    let guard = waiting.wait_for(LONG).expect("granted").unwrap();
    assert_ne!(holder.session.session_id(), old);
    assert!(guard.fencing_token() > holder.guard.fencing_token());
    let seen: Vec<SessionState> = holder.states.try_iter().collect();
    let expired = seen
        .iter()
        .position(|state| *state == SessionState::Expired);
    assert!(
        expired.is_some_and(|at| seen[at..].contains(&SessionState::Connected)),
        "{seen:?}"
    );
}

#[test]
fn r16_a_restored_ensemble_gets_a_new_session() {
    // An ensemble of its own: its data is thrown away.
    let ensemble = Ensemble::builder().start().unwrap();
    let session = support::options()
        .session_timeout(Duration::from_secs(3))
        .connect(&ensemble.hosts())
        .done();
    let states = states(&session);
    let mutex = session.mutex("/locks/restored").unwrap();
    // Ahead of whatever the restored server will have done by then.
    for _ in 0..100 {
        mutex.lock().done().release().done();
    }
    let guard = mutex.lock().done();
    let waiting = mutex.lock();
    let old = session.session_id();
    ensemble.kill(1).unwrap();
    let data = ensemble.dir().join("server-1").join("version-2");
    std::fs::remove_dir_all(&data).unwrap();
    ensemble.restart(1).unwrap();
    assert_eq!(next(&states), SessionState::Suspended);
    assert_eq!(next(&states), SessionState::Expired);
    assert_eq!(next(&states), SessionState::Connecting);
    assert_eq!(next(&states), SessionState::Connected);
    assert_ne!(session.session_id(), old);
    assert_eq!(guard.state(), GuardState::Lost);
    waiting.done().release().done();
    drop(mutex.lock().done());
}

// ---- load ----

#[test]
fn r16_a_burst_never_starves_the_lease() {
    // Long enough for a busy machine; the burst outlasts a lease that nothing renews.
    const TIMEOUT: Duration = Duration::from_secs(24);
    let ensemble = one();
    let session = support::options()
        .session_timeout(TIMEOUT)
        .connect_timeout(LONG)
        .connect(&ensemble.hosts())
        .done();
    let id = session.session_id();
    let guard = session.mutex(&path("calm")).unwrap().lock().done();
    let top = path("burst");
    let crowd = session.mutex(&format!("{top}/one")).unwrap();
    let (started, mut sent) = (Instant::now(), 0);
    while started.elapsed() < TIMEOUT * 6 / 10 {
        // On many paths and on one, far more than may be in flight.
        let mut calls: Vec<Pending<Guard>> = Vec::new();
        for _ in 0..1_000 {
            sent += 1;
            let mutex = session.mutex(&format!("{top}/many/{sent}")).unwrap();
            calls.push(mutex.lock());
            calls.push(crowd.lock());
        }
        for call in calls {
            call.done().release().done();
        }
        assert!(guard.is_held(), "after {sent}");
    }
    assert_eq!(guard.state(), GuardState::Held);
    assert_eq!(session.session_id(), id);
}
