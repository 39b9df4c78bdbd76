//! Nothing that a client sends makes the model panic, and no fault does.
mod common;

use std::time::Duration;

use common::encode::*;
use proptest::prelude::*;
use zoolock_testserver::model::{Cluster, ConnectionId, NodeKind, Output, Settings};

#[derive(Debug, Clone)]
enum Step {
    Open(usize),
    Handshake(usize, i64, i32),
    Raw(usize, Vec<u8>),
    Frame(usize, i32, Vec<u8>),
    Write(usize, String, i32),
    Read(usize, String, bool),
    Closed(usize),
    Pass(u64),
    Stop(usize),
    Start(usize),
    Pause(usize),
    Resume(usize),
    CutOff(usize),
    Rejoin(usize),
    Lag(usize, u64),
    Elect(usize),
    Expire(usize),
    Create(String),
    Delete(String),
    Restore,
    Throttle(usize),
    Sequence(i32),
}

const SERVERS: usize = 3;

fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("/a".to_owned()),
        Just("/a/b".to_owned()),
        Just("/a/b-".to_owned()),
        "[/a\\.\\x00]{0,4}",
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let client = 0..6_usize;
    let server = 0..SERVERS;
    let op = prop_oneof![-12..25_i32, 100..107_i32];
    prop_oneof![
        3 => server.clone().prop_map(Step::Open),
        6 => (client.clone(), prop_oneof![Just(0_i64), any::<i64>()], any::<i32>())
            .prop_map(|(client, session, timeout)| Step::Handshake(client, session, timeout)),
        1 => (client.clone(), prop::collection::vec(any::<u8>(), 0..40))
            .prop_map(|(client, bytes)| Step::Raw(client, bytes)),
        3 => (client.clone(), op, prop::collection::vec(any::<u8>(), 0..60))
            .prop_map(|(client, op, bytes)| Step::Frame(client, op, bytes)),
        8 => (client.clone(), path(), -1..8_i32)
            .prop_map(|(client, path, flags)| Step::Write(client, path, flags)),
        6 => (client.clone(), path(), any::<bool>())
            .prop_map(|(client, path, watch)| Step::Read(client, path, watch)),
        1 => client.clone().prop_map(Step::Closed),
        6 => (0..4_000_u64).prop_map(Step::Pass),
        1 => server.clone().prop_map(Step::Stop),
        2 => server.clone().prop_map(Step::Start),
        1 => server.clone().prop_map(Step::Pause),
        2 => server.clone().prop_map(Step::Resume),
        1 => server.clone().prop_map(Step::CutOff),
        2 => server.clone().prop_map(Step::Rejoin),
        1 => (server.clone(), 0..900_u64).prop_map(|(server, ms)| Step::Lag(server, ms)),
        1 => server.clone().prop_map(Step::Elect),
        1 => client.prop_map(Step::Expire),
        1 => path().prop_map(Step::Create),
        1 => path().prop_map(Step::Delete),
        1 => Just(Step::Restore),
        1 => server.prop_map(Step::Throttle),
        1 => any::<i32>().prop_map(Step::Sequence),
    ]
}

struct Run {
    cluster: Cluster,
    now: u64,
    open: Vec<ConnectionId>,
    closed: Vec<ConnectionId>,
}

impl Run {
    fn client(&self, index: usize) -> Option<ConnectionId> {
        let count = self.open.len();
        (count > 0).then(|| self.open[index % count])
    }

    fn send(&mut self, client: usize, bytes: &[u8]) {
        if let Some(client) = self.client(client) {
            self.cluster.receive(self.now, client, bytes);
        }
    }

    fn step(&mut self, step: Step) {
        let now = self.now;
        let cluster = &mut self.cluster;
        match step {
            Step::Open(server) => self.open.extend(cluster.open(now, server)),
            Step::Handshake(client, session, timeout) => {
                self.send(client, &connect(0, timeout, session, &[0; 16]));
            }
            Step::Raw(client, bytes) => self.send(client, &bytes),
            Step::Frame(client, op, bytes) => {
                self.send(client, &request(1, op, &record().raw(&bytes)));
            }
            Step::Write(client, path, flags) => {
                let body = match flags {
                    -1 => request(1, DELETE, &path_and_number(&path, -1)),
                    7 => request(1, SET_DATA, &set_data(&path, b"x", -1)),
                    flags => request(1, CREATE2, &create(&path, b"", &open(), flags)),
                };
                self.send(client, &body);
            }
            Step::Read(client, path, watch) => {
                self.send(client, &request(1, EXISTS, &path_and_flag(&path, watch)));
                self.send(client, &request(2, SYNC, &record().string(&path)));
            }
            Step::Closed(client) => {
                if let Some(client) = self.client(client) {
                    self.cluster.client_closed(now, client);
                    self.open.retain(|open| *open != client);
                }
            }
            Step::Pass(ms) => self.now += ms * 1_000_000,
            Step::Stop(server) => cluster.stop(now, server),
            Step::Start(server) => cluster.start(now, server),
            Step::Pause(server) => cluster.pause(server),
            Step::Resume(server) => cluster.resume(now, server),
            Step::CutOff(server) => cluster.cut_off(now, server),
            Step::Rejoin(server) => cluster.rejoin(now, server),
            Step::Lag(server, ms) => cluster.set_lag(server, Duration::from_millis(ms)),
            Step::Elect(server) => cluster.elect(now, server),
            Step::Expire(index) => {
                let sessions = cluster.sessions();
                if let Some(session) = sessions.get(index) {
                    cluster.expire_session(now, session.id);
                }
            }
            Step::Create(path) => {
                let _refused = cluster.create_node(now, &path, b"", NodeKind::Container);
            }
            Step::Delete(path) => {
                let _refused = cluster.delete_node(now, &path);
            }
            Step::Restore => {
                let snapshot = cluster.snapshot();
                cluster.restore(now, &snapshot);
            }
            Step::Throttle(server) => cluster.throttle(server, 2),
            Step::Sequence(next) => cluster.set_next_sequence("/a", next),
        }
    }

    /// Output comes from open connections only, time goes on, and ephemeral nodes have sessions.
    fn check(&mut self) {
        self.cluster.handle_timeout(self.now);
        while let Some(output) = self.cluster.poll_output() {
            match output {
                Output::Bytes { connection, bytes } => {
                    assert!(!self.closed.contains(&connection));
                    assert!(!bytes.is_empty());
                }
                Output::Close { connection } => {
                    assert!(!self.closed.contains(&connection));
                    self.closed.push(connection);
                    self.open.retain(|open| *open != connection);
                }
            }
        }
        if let Some(next) = self.cluster.next_timeout() {
            assert!(next > self.now, "something is due and was not done");
        }
        let sessions = self.cluster.sessions();
        for session in &sessions {
            for path in &session.ephemerals {
                let node = self.cluster.node(path).expect("an ephemeral node");
                assert_eq!(node.stat.ephemeral_owner, session.id);
            }
        }
    }

    /// With all faults gone there is a leader, and it can write.
    fn recover(&mut self) {
        for server in 0..SERVERS {
            self.cluster.start(self.now, server);
            self.cluster.resume(self.now, server);
            self.cluster.rejoin(self.now, server);
            self.cluster.set_lag(server, Duration::ZERO);
        }
        self.now += 30_000_000_000;
        self.check();
        self.cluster
            .create_node(self.now, "/recovered", b"", NodeKind::Persistent)
            .expect("a leader with a majority");
        self.now += 1_000_000_000;
        self.check();
        for server in 0..SERVERS {
            let node = self.cluster.node_at(server, "/recovered");
            assert!(node.is_some(), "server {server} has caught up");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn it_never_panics_and_always_recovers(
        seed in any::<u64>(),
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let settings = Settings { servers: SERVERS, ..Settings::default() };
        let mut run = Run {
            cluster: Cluster::new(settings, seed),
            now: 0,
            open: Vec::new(),
            closed: Vec::new(),
        };
        for step in steps {
            run.step(step);
            run.check();
        }
        run.recover();
    }
}
