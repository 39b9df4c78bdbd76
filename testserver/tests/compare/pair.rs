//! The real server and the model side by side.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use zoolock_testserver::model::{ConnectionId, Settings, Version};

use crate::canonical::View;
use crate::common::decode::{Message, Session};
use crate::common::encode::*;
use crate::common::simulation::Simulation;
use crate::generate::{Action, Asked, Body, UNKNOWN};
use crate::real::Client;

pub struct Pair {
    addresses: Vec<SocketAddr>,
    sim: Simulation,
    clients: Vec<Both>,
    real_view: View,
    model_view: View,
    sessions: usize,
    last_zxid: i64,
    version: Version,
    pub counts: Counts,
}

#[derive(Default)]
pub struct Counts {
    pub sequences: u64,
    pub requests: u64,
    pub events: u64,
    pub by_code: BTreeMap<i32, u64>,
}

/// A client of both.
struct Both {
    server: usize,
    real: Client,
    real_session: Session,
    model: ConnectionId,
    model_session: Session,
    xid: i32,
}

impl Pair {
    /// One server, or several.
    pub fn new(addresses: Vec<SocketAddr>, leader: usize, settings: Settings) -> Self {
        let mut pair = Pair {
            version: settings.version,
            sim: Simulation::new(settings, 1),
            addresses,
            clients: Vec::new(),
            real_view: View::default(),
            model_view: View::default(),
            sessions: 0,
            last_zxid: 0,
            counts: Counts::default(),
        };
        pair.sim.cluster.elect(0, leader);
        // Several servers have not always applied what others have answered.
        pair.real_view.tells_last_zxid = pair.addresses.len() == 1;
        pair.model_view.tells_last_zxid = pair.addresses.len() == 1;
        let mut both = pair.open(leader);
        let probe = create("/probe", b"", &open(), EPHEMERAL);
        let real = both.real.ask(1, CREATE2, &probe);
        let model = pair.sim.ask(both.model, CREATE2, &probe);
        pair.real_view.zxid_offset = real.zxid - model.zxid;
        pair.clients.push(both);
        pair.finish("start");
        pair
    }

    fn open(&mut self, server: usize) -> Both {
        let mut real = Client::connect(self.addresses[server]);
        let real_session = real.handshake(0, None).expect("a session");
        let (model, model_session) = self.sim.connect(server, 60_000);
        assert_eq!(model_session.timeout_ms, real_session.timeout_ms);
        self.sessions += 1;
        self.real_view
            .sessions
            .insert(real_session.id, self.sessions);
        self.model_view
            .sessions
            .insert(model_session.id, self.sessions);
        Both {
            server,
            real,
            real_session,
            model,
            model_session,
            xid: 0,
        }
    }

    pub fn version(&self) -> Version {
        self.version
    }

    pub fn is_standalone(&self) -> bool {
        self.addresses.len() == 1
    }

    pub fn begin(&mut self, clients: usize) {
        self.counts.sequences += 1;
        for client in 0..clients {
            let both = self.open(client % self.addresses.len());
            self.clients.push(both);
        }
    }

    pub fn act(&mut self, client: usize, action: &Action, place: &str) {
        match action {
            Action::Requests(requests) => self.ask(client, requests, place),
            Action::Reconnect { right_password } => self.reconnect(client, *right_password, place),
            Action::Close => {
                let close = Asked {
                    op: CLOSE,
                    body: Body::Plain(record()),
                };
                self.ask(client, &[close], place);
            }
        }
        // A ping's answer comes behind all events that were sent before it, and that to a write that fails behind all
        // that other servers have committed.
        let (op, body) = match self.addresses.len() {
            1 => (PING, record()),
            _ => (DELETE, path_and_number("/none", -1)),
        };
        for client in 0..self.clients.len() {
            let body = Body::Plain(body.clone());
            let place = format!("{place}, events after {action:?}");
            self.ask(client, &[Asked { op, body }], &place);
        }
    }

    /// Ends all sessions and removes what is left.
    pub fn finish(&mut self, place: &str) {
        let mut cleaner = self.open(0);
        for mut both in std::mem::take(&mut self.clients) {
            let real = both.real.ask_past_events(1, CLOSE, &record());
            assert_eq!(real.map(|reply| reply.code), Some(0), "{place}");
            self.sim.post(both.model, CLOSE, &record());
            assert!(self.sim.is_closed(both.model), "{place}");
        }
        for (op, body) in [
            (AUTH, auth("digest", b"super:admin")),
            (SET_ACL, set_acl("/", &open(), -1)),
        ] {
            assert_eq!(cleaner.real.ask(1, op, &body).code, 0, "{place}");
            assert_eq!(self.sim.ask(cleaner.model, op, &body).code, 0, "{place}");
        }
        let root = path_and_flag("/", false);
        let real = cleaner.real.ask(1, GET_CHILDREN2, &root);
        let model = self.sim.ask(cleaner.model, GET_CHILDREN2, &root);
        let names = model.fields().strings();
        for name in names.iter().filter(|name| *name != "zookeeper") {
            self.remove(&mut cleaner, &format!("/{name}"));
        }
        let expected = self.real_view.reply(GET_CHILDREN2, &real);
        let got = self.model_view.reply(GET_CHILDREN2, &model);
        assert_eq!(without_xid(&got), without_xid(&expected), "{place}");
        cleaner.real.ask(2, CLOSE, &record());
        self.sim.ask(cleaner.model, CLOSE, &record());
    }

    fn remove(&mut self, cleaner: &mut Both, path: &str) {
        for child in self.sim.cluster.children(path).unwrap_or_default() {
            self.remove(cleaner, &format!("{path}/{child}"));
        }
        let body = path_and_number(path, -1);
        let real = cleaner.real.ask(1, DELETE, &body);
        let model = self.sim.ask(cleaner.model, DELETE, &body);
        assert_eq!((model.code, real.code), (0, 0), "{path}");
    }

    fn ask(&mut self, client: usize, requests: &[Asked], place: &str) {
        let both = &mut self.clients[client];
        let (mut to_real, mut to_model) = (Vec::new(), Vec::new());
        let mut expected_replies = Vec::new();
        for asked in requests {
            both.xid += 1;
            let xid = match asked.op {
                PING => -2,
                AUTH => -4,
                SET_WATCHES => -8,
                _ => both.xid,
            };
            expected_replies.push(asked.op);
            for (bytes, offset) in [
                (&mut to_real, self.real_view.zxid_offset),
                (&mut to_model, 0),
            ] {
                bytes.extend(request(
                    xid,
                    asked.op,
                    &body(asked, self.last_zxid + offset),
                ));
            }
        }
        both.real.send(&to_real);
        self.sim.send(both.model, &to_model);
        let mut real_messages = Vec::new();
        let mut ops = expected_replies.into_iter();
        let mut ended = false;
        // As many replies as requests, or the end.
        let mut open_replies = requests.len();
        while open_replies > 0 {
            let message = both.real.try_message();
            match message.unwrap_or_else(|error| panic!("{place}: {requests:#?}: {error}")) {
                Some(message) => {
                    open_replies -= usize::from(matches!(message, Message::Reply(_)));
                    real_messages.push(message);
                }
                None => {
                    ended = true;
                    break;
                }
            }
        }
        let closes = requests.iter().any(|asked| ends(asked.op));
        let mut model_messages = Vec::new();
        while let Some(message) = self.sim.message(both.model) {
            model_messages.push(message);
        }
        self.counts.requests += requests.len() as u64;
        let real = lines(&self.real_view, &real_messages, &mut ops.clone());
        let model = lines(&self.model_view, &model_messages, &mut ops);
        assert_eq!(
            model, real,
            "{place}: {requests:#?}\nmodel left, real server right"
        );
        for message in &model_messages {
            match message {
                Message::Event(_) => self.counts.events += 1,
                Message::Reply(reply) => {
                    *self.counts.by_code.entry(reply.code).or_default() += 1;
                    self.last_zxid = self.last_zxid.max(reply.zxid);
                }
            }
        }
        let closed = self.sim.is_closed(self.clients[client].model);
        if closed || ended || closes && self.clients[client].real.message().is_none() {
            assert!(
                closed,
                "{place}: {requests:#?}\nonly the real server closed"
            );
            let end = self.clients[client].real.message();
            assert_eq!(end, None, "{place}: {requests:#?}\nonly the model closed");
            self.reconnect(client, true, place);
        }
    }

    fn reconnect(&mut self, client: usize, right_password: bool, place: &str) {
        // One of several servers may be behind for a moment.
        let zxid = match self.addresses.len() {
            1 => self.last_zxid,
            _ => 0,
        };
        let both = &mut self.clients[client];
        let twist = |session: &Session| {
            let mut session = session.clone();
            session.password[3] ^= u8::from(!right_password);
            session
        };
        both.server = (both.server + 1) % self.addresses.len();
        let server = both.server;
        both.real = Client::connect(self.addresses[server]);
        let real_zxid = if zxid > 0 {
            zxid + self.real_view.zxid_offset
        } else {
            0
        };
        let real = both
            .real
            .handshake(real_zxid, Some(&twist(&both.real_session)));
        let wanted = twist(&both.model_session);
        self.sim.cluster.client_closed(self.sim.now, both.model);
        let (model, session) = self.sim.handshake(server, zxid, 60_000, Some(&wanted));
        both.model = model;
        let timeout =
            |session: &Option<Session>| session.as_ref().map(|session| session.timeout_ms);
        let expected = match timeout(&real) {
            // Another server of the ensemble learnt of the session's end between question and answer: it just closes.
            None if self.addresses.len() > 1 && right_password => Some(0),
            answer => answer,
        };
        assert_eq!(timeout(&session), expected, "{place}: {session:?} {real:?}");
        if expected == Some(0) {
            assert_eq!(both.real.message(), None, "{place}");
            assert!(self.sim.is_closed(model), "{place}");
            if right_password {
                self.clients[client] = self.open(server);
            } else {
                self.reconnect(client, true, place);
            }
        }
    }
}

fn ends(op: i32) -> bool {
    op == CLOSE || UNKNOWN.contains(&op)
}

fn body(asked: &Asked, last_zxid: i64) -> Record {
    match &asked.body {
        Body::Plain(record) => record.clone(),
        Body::SetWatches {
            back,
            data,
            exist,
            child,
        } => set_watches(last_zxid - back, data, exist, child),
    }
}

/// Replies in their order; the events between two of them sorted, for several of one change have no order.
fn lines(view: &View, messages: &[Message], ops: &mut impl Iterator<Item = i32>) -> Vec<String> {
    let (mut lines, mut events) = (Vec::new(), Vec::new());
    for message in messages {
        match message {
            Message::Event(event) => events.push(view.event(event)),
            Message::Reply(reply) => {
                events.sort();
                lines.append(&mut events);
                lines.push(view.reply(ops.next().unwrap_or(PING), reply));
            }
        }
    }
    events.sort();
    lines.append(&mut events);
    lines
}

fn without_xid(line: &str) -> &str {
    line.split_once(' ').map_or(line, |(_, rest)| rest)
}
