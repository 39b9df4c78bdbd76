//! Answers the question who queues on a path.

use std::sync::Arc;

use super::names::{self, Family, Kind, Position};
use super::replies::Tag;
use super::timers::Timer;
use super::{Context, Queues};
use crate::clock::Time;
use crate::command::{HandleId, LockTarget, Then};
use crate::contender::Contender;
use crate::error::{Error, ErrorKind};
use crate::link;
use crate::session::Outcome;
use crate::wire::code::Code;
use crate::wire::reply::Reply;
use crate::wire::request::Request;

const REPLY: usize = 512;
const LISTING_REPLY: usize = 64 << 10;

/// One question under way.
pub(super) struct Query {
    handle: HandleId,
    target: Arc<LockTarget>,
    until: Time,
    then: Option<Then<Vec<Contender>>>,
    /// In queue order; data arrives one by one, and a contender that is gone meanwhile is `None`.
    found: Vec<(Position, Option<Contender>)>,
    unanswered: usize,
    /// Rises when the question is asked again after a reconnect: older answers do not count.
    round: u64,
}

impl Queues {
    pub(crate) fn ask_contenders(
        &mut self,
        cx: &mut Context<'_>,
        handle: HandleId,
        target: Arc<LockTarget>,
        until: Time,
        then: Then<Vec<Contender>>,
    ) {
        let id = self.next_id();
        self.timers.set(until, Timer::Query(id));
        self.queries.insert(
            id,
            Query {
                handle,
                target,
                until,
                then: Some(then),
                found: Vec::new(),
                unanswered: 0,
                round: 0,
            },
        );
        self.ask(cx, id);
    }

    fn ask(&mut self, cx: &mut Context<'_>, id: u64) {
        if !cx.machine.is_connected() {
            return;
        }
        let Some(query) = self.queries.get_mut(&id) else {
            return;
        };
        query.round += 1;
        query.found.clear();
        query.unanswered = 0;
        let path = cx.full_path(&query.target.path);
        let sync = Request::Sync { path: path.clone() };
        cx.machine.submit(&sync, Tag::Nothing, REPLY);
        let list = Request::GetChildren2 { path, watch: false };
        cx.machine
            .submit(&list, Tag::QueryList(id, query.round), LISTING_REPLY);
    }

    /// Questions asked while there was no connection, or whose answers were lost with it.
    pub(super) fn ask_again(&mut self, cx: &mut Context<'_>) {
        let mut ids: Vec<u64> = self.queries.keys().copied().collect();
        ids.sort_unstable();
        for id in ids {
            self.ask(cx, id);
        }
    }

    pub(super) fn query_listed(
        &mut self,
        cx: &mut Context<'_>,
        id: u64,
        round: u64,
        outcome: Outcome,
    ) {
        let Some(query) = self
            .queries
            .get_mut(&id)
            .filter(|query| query.round == round)
        else {
            return;
        };
        let names = match outcome {
            Outcome::Done(Reply::Children { names, .. }) => names,
            Outcome::Refused(Code::NO_NODE) => Vec::new(),
            Outcome::Refused(code) => return self.refuse_query(id, code, "the lock path"),
            // Asked again after the reconnect.
            _ => return,
        };
        let mut positions: Vec<Position> = names
            .iter()
            .filter_map(|name| names::parse(query.target.family, name))
            .map(Position::from)
            .collect();
        positions.sort_unstable();
        query.unanswered = positions.len();
        let path = cx.full_path(&query.target.path);
        for (index, position) in positions.iter().enumerate() {
            let get = Request::GetData {
                path: crate::path::join(&path, &position.name),
                watch: false,
            };
            cx.machine
                .submit(&get, Tag::QueryData(id, round, index), REPLY);
        }
        query.found = positions.into_iter().map(|at| (at, None)).collect();
        self.answer_query(id);
    }

    pub(super) fn query_data(&mut self, id: u64, round: u64, index: usize, outcome: Outcome) {
        let Some(query) = self
            .queries
            .get_mut(&id)
            .filter(|query| query.round == round)
        else {
            return;
        };
        match outcome {
            Outcome::Done(Reply::Data { data, stat }) => {
                if let Some((position, contender)) = query.found.get_mut(index) {
                    *contender = Some(Contender {
                        node_path: crate::path::join(&query.target.path, &position.name),
                        sequence: position.number,
                        identity: String::from_utf8_lossy(&data).into_owned(),
                        session_id: stat.ephemeral_owner,
                        holds: false,
                    });
                }
            }
            Outcome::Refused(Code::NO_NODE) => {}
            Outcome::Refused(code) => return self.refuse_query(id, code, "a contender"),
            _ => return,
        }
        query.unanswered -= 1;
        self.answer_query(id);
    }

    fn answer_query(&mut self, id: u64) {
        if self
            .queries
            .get(&id)
            .is_none_or(|query| query.unanswered > 0)
        {
            return;
        }
        let Some(query) = self.take_query(id) else {
            return;
        };
        let there = query
            .found
            .into_iter()
            .filter_map(|(position, contender)| contender.map(|found| (position, found)));
        let mut first = true;
        let mut only_readers = query.target.family == Family::ReadWrite;
        let contenders = there
            .map(|(position, mut contender)| {
                only_readers &= position.kind == Kind::Read;
                contender.holds = first || only_readers;
                first = false;
                contender
            })
            .collect();
        if let Some(then) = query.then {
            then(Ok(contenders));
        }
    }

    fn take_query(&mut self, id: u64) -> Option<Query> {
        let query = self.queries.remove(&id)?;
        self.timers.cancel(query.until, Timer::Query(id));
        Some(query)
    }

    fn refuse_query(&mut self, id: u64, code: Code, what: &str) {
        let (kind, why) = match code {
            Code::NO_AUTH => (
                ErrorKind::NoAuth,
                format!("the server denies READ on {what}"),
            ),
            code => (ErrorKind::Internal, format!("the server answers: {code}")),
        };
        self.fail_query(id, kind, &why);
    }

    fn fail_query(&mut self, id: u64, kind: ErrorKind, why: &str) {
        if let Some(query) = self.take_query(id)
            && let Some(then) = query.then
        {
            then(Err(
                Error::new(kind, "contenders", why).with_path(&*query.target.path)
            ));
        }
    }

    pub(super) fn query_timed_out(&mut self, id: u64) {
        self.fail_query(
            id,
            ErrorKind::Unavailable,
            "no server answered within the connect timeout",
        );
    }

    /// The questions of one handle, or all, fail: it is closed.
    pub(crate) fn fail_queries(&mut self, of: Option<HandleId>) {
        let mut ids: Vec<u64> = self
            .queries
            .iter()
            .filter(|(_, query)| of.is_none_or(|handle| query.handle == handle))
            .map(|(id, _)| *id)
            .collect();
        ids.sort_unstable();
        for id in ids {
            if let Some(query) = self.take_query(id)
                && let Some(then) = query.then
            {
                then(Err(link::closed("contenders")));
            }
        }
    }
}
