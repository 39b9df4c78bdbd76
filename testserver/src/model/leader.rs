//! The leader: what reaches it, and how it becomes a transaction.

use std::sync::Arc;

use super::database::{CONTAINER, Outcome};
use super::prepare::{Author, prepare};
use super::server::{Packet, Role, Task, ToFollower, ToLeader, Work};
use super::txn::{Entry, Txn};
use super::{Cluster, ConnectionId};
use crate::wire::code::Code;
use crate::wire::request::Request;

impl Cluster {
    /// Hands something to the leader of this server, which may be itself.
    pub(super) fn tell_leader(&mut self, server: usize, message: ToLeader) {
        match &self.servers[server].role {
            Role::Leading(_) => self.at_leader(server, server, message),
            Role::Following(following) => {
                let (leader, term) = (following.leader, following.term);
                if let Some(leading) = self.servers[leader].leading_mut()
                    && leading.term == term
                    && let Some(link) = leading.links.get_mut(&server)
                {
                    link.to_leader.push_back(message);
                }
            }
            Role::Looking { .. } | Role::Stopped => {}
        }
    }

    pub(super) fn at_leader(&mut self, leader: usize, from: usize, message: ToLeader) {
        let now = self.now;
        let Some(leading) = self.servers[leader].leading_mut() else {
            return;
        };
        if let Some(link) = leading.links.get_mut(&from) {
            link.last_ack = now;
        }
        match message {
            ToLeader::Work(work) => self.accept(leader, work),
            ToLeader::Pong(touched) => {
                for (session, timeout_ms) in touched {
                    leading.tracker.touch(session, timeout_ms, now);
                }
            }
            ToLeader::Revalidate {
                connection,
                session,
                timeout_ms,
            } => {
                let valid = leading.tracker.touch(session, timeout_ms, now);
                leading.tracker.set_owner(session, from);
                let answer = ToFollower::Revalidated { connection, valid };
                self.tell_follower(leader, from, answer);
            }
        }
    }

    pub(super) fn tell_follower(&mut self, leader: usize, follower: usize, content: ToFollower) {
        let due = self.now + self.servers[follower].lag;
        let received = self.delivers(leader, follower);
        if let Some(leading) = self.servers[leader].leading_mut()
            && let Some(link) = leading.links.get_mut(&follower)
        {
            let due = link
                .to_follower
                .back()
                .map_or(due, |last| last.due.max(due));
            link.to_follower.push_back(Packet {
                due,
                received,
                content,
            });
        }
    }

    /// Checks the session, and does the work if a majority can be had.
    pub(super) fn accept(&mut self, leader: usize, mut work: Work) {
        let now = self.now;
        let has_majority = self.has_majority(leader);
        let Some(leading) = self.servers[leader].leading_mut() else {
            return;
        };
        leading.arrived += 1;
        work.number = leading.arrived;
        let tracker = &mut leading.tracker;
        match (&work.task, work.through) {
            (Task::Write(Request::CloseSession), _) => {
                tracker.close(work.session);
            }
            (Task::CreateSession { timeout_ms }, Some(server)) => {
                tracker.track(work.session, *timeout_ms, now);
                tracker.set_owner(work.session, server);
            }
            (Task::Write(_), Some(server)) => work.standing = tracker.check(work.session, server),
            _ => {}
        }
        let needs_majority = !matches!(work.task, Task::Sync { .. });
        if !leading.blocked.is_empty() || needs_majority && !has_majority {
            leading.blocked.push_back(work);
        } else {
            self.perform(leader, work);
        }
    }

    /// Does what waited, when it can be done now.
    pub(super) fn unblock(&mut self, leader: usize) -> bool {
        let has_majority = self.has_majority(leader);
        let mut progress = false;
        while let Some(leading) = self.servers[leader].leading_mut() {
            let can = leading
                .blocked
                .front()
                .is_some_and(|work| has_majority || matches!(work.task, Task::Sync { .. }));
            if !can {
                break;
            }
            let Some(work) = leading.blocked.pop_front() else {
                break;
            };
            let session = work.session;
            self.perform(leader, work);
            if let Some(attached) = self.servers[leader].attached.get(&session).copied() {
                self.drain(attached);
            }
            progress = true;
        }
        progress
    }

    pub(super) fn perform(&mut self, leader: usize, work: Work) {
        match work.task {
            Task::Sync {
                connection,
                xid,
                path,
            } => {
                if let Some(follower) = work.through {
                    let answer = ToFollower::Synced {
                        connection,
                        xid,
                        path,
                    };
                    self.tell_follower(leader, follower, answer);
                }
            }
            _ => {
                self.commit(leader, &work);
            }
        }
    }

    /// Decides, tells the followers, and applies it here.
    pub(super) fn commit(&mut self, leader: usize, work: &Work) -> Outcome {
        let time_ms = self.wall_ms();
        let here = &mut self.servers[leader];
        let database = &here.database;
        let txn = match &work.task {
            Task::Malformed { .. } => Txn::Error(Code::MARSHALLING_ERROR),
            Task::CreateSession { timeout_ms } => Txn::CreateSession {
                timeout_ms: *timeout_ms,
            },
            Task::Reap { path } => match database.node(path) {
                None => Txn::Error(Code::NO_NODE),
                Some(node) if !node.children.is_empty() => Txn::Error(Code::NOT_EMPTY),
                Some(node) if !matches!(node.owner(), 0 | CONTAINER) => {
                    Txn::Error(Code::BAD_VERSION)
                }
                Some(_) => Txn::Delete { path: path.clone() },
            },
            Task::Write(request) => {
                let author = Author {
                    session: work.session,
                    ids: &work.ids,
                    standing: work.standing,
                };
                prepare(database, &author, request)
            }
            Task::Sync { .. } => Txn::Check,
        };
        let uses_zxid = !matches!(work.task, Task::Malformed { uses_zxid: false });
        let mut zxid = database.zxid;
        let mut followers = Vec::new();
        if let Some(leading) = here.leading_mut() {
            if uses_zxid {
                zxid = leading.next_zxid;
                leading.next_zxid += 1;
            }
            followers.extend(leading.links.keys().copied());
        }
        let entry = Arc::new(Entry {
            zxid,
            time_ms,
            session: work.session,
            origin: work.origin,
            txn,
        });
        for follower in followers {
            self.tell_follower(leader, follower, ToFollower::Commit(entry.clone()));
        }
        self.apply(leader, &entry)
    }

    /// Ends a session as its expiry does.
    pub(super) fn end_session(&mut self, leader: usize, session: i64) {
        if let Some(leading) = self.servers[leader].leading_mut() {
            leading.tracker.close(session);
            let work = internal(session, Task::Write(Request::CloseSession));
            self.accept(leader, work);
        }
    }

    pub(super) fn reap_containers(&mut self, leader: usize) {
        let never_used = self.settings.container_never_used.as_millis();
        let never_used = i64::try_from(never_used).unwrap_or(0);
        let database = &self.servers[leader].database;
        for path in database.reapable(self.wall_ms(), never_used) {
            self.accept(leader, internal(0, Task::Reap { path }));
        }
    }

    /// Who must close when a session ends, other than the client that asked for it.
    pub(super) fn attached_besides(
        &self,
        server: usize,
        session: i64,
        origin: Option<ConnectionId>,
    ) -> Option<ConnectionId> {
        let attached = self.servers[server].attached.get(&session).copied();
        attached.filter(|connection| Some(*connection) != origin)
    }
}

/// Work of the ensemble's own.
pub(super) fn internal(session: i64, task: Task) -> Work {
    Work {
        through: None,
        origin: None,
        session,
        ids: Arc::from([super::acl::Id::new("super", "")]),
        task,
        standing: Ok(()),
        number: 0,
    }
}
