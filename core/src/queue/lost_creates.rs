//! Creates that were sent, and of which neither an answer nor a node is known (Z5).
//!
//! A listing behind a transaction does not show that such a node will never come. A server that was
//! cut off from its leader may still hold the request, and the leader takes it as soon as the
//! session counts as that server's again, to which one handshake is enough, even one that was
//! given up. So the paths are looked at again, after each reconnect and then less and less often,
//! and a node that has come is deleted (R5).

use std::collections::BTreeMap;
use std::time::Duration;

use uuid::Uuid;

use super::names;
use super::replies::Tag;
use super::timers::Timer;
use super::{Context, Queues};
use crate::clock::Time;
use crate::mutant::{Mutant, broken};
use crate::session::Outcome;
use crate::wire::code::Code;
use crate::wire::reply::Reply;
use crate::wire::request::Request;

/// How long a path is looked at after a create was lost on it. A server passes a request on only
/// while it keeps its link with the leader, which a silence of some seconds ends.
const WATCHFUL: Duration = Duration::from_secs(600);
/// Each pause between two looks is so many times the one before.
const STRETCH: u32 = 3;

const LISTING_REPLY: usize = 16 << 10;
const DELETE_REPLY: usize = 128;

/// The lost creates of one path.
#[derive(Debug)]
struct Lost {
    full_path: String,
    guids: Vec<Uuid>,
    until: Time,
    next_look: Time,
    pause: Duration,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct LostCreates {
    by_id: BTreeMap<u64, Lost>,
    last_id: u64,
    /// What was given up lately, and when it was asked for: for the simulation, which knows better.
    #[cfg(test)]
    pub(super) given_up: Vec<(Uuid, Time)>,
}

impl Queues {
    /// Remembers a create. Its GUID must not be sent again.
    pub(super) fn remember_lost(
        &mut self,
        cx: &Context<'_>,
        full_path: &str,
        guid: Uuid,
        asked: Time,
    ) {
        tracing::debug!(full_path, ?asked, "a create was lost");
        #[cfg(test)]
        self.lost_creates.given_up.push((guid, asked));
        let known = self
            .lost_creates
            .by_id
            .iter()
            .find(|(_, lost)| lost.full_path == full_path)
            .map(|(id, _)| *id);
        let id = known.unwrap_or_else(|| {
            self.lost_creates.last_id += 1;
            self.lost_creates.last_id
        });
        let lost = self.lost_creates.by_id.entry(id).or_insert_with(|| Lost {
            full_path: full_path.to_owned(),
            guids: Vec::new(),
            until: cx.now,
            next_look: Time::NEVER,
            pause: Duration::ZERO,
        });
        lost.guids.push(guid);
        lost.until = cx.now + WATCHFUL;
        self.look_soon(cx, id);
    }

    fn look_soon(&mut self, cx: &Context<'_>, id: u64) {
        self.set_look(cx, id, cx.machine.session_timeout() / 3);
    }

    fn set_look(&mut self, cx: &Context<'_>, id: u64, pause: Duration) {
        if let Some(lost) = self.lost_creates.by_id.get_mut(&id) {
            let timer = Timer::LostCreates(id);
            self.timers.cancel(lost.next_look, timer);
            lost.pause = pause;
            lost.next_look = cx.now + pause;
            self.timers.set(lost.next_look, timer);
        }
    }

    fn forget_lost(&mut self, id: u64) {
        if let Some(lost) = self.lost_creates.by_id.remove(&id) {
            self.timers.cancel(lost.next_look, Timer::LostCreates(id));
        }
    }

    /// The creates of a session that is over fail, wherever they are.
    pub(super) fn forget_all_lost(&mut self) {
        let ids: Vec<u64> = self.lost_creates.by_id.keys().copied().collect();
        for id in ids {
            self.forget_lost(id);
        }
    }

    /// After a reconnect: that may be what brings them.
    pub(super) fn look_for_all_lost(&mut self, cx: &mut Context<'_>) {
        let ids: Vec<u64> = self.lost_creates.by_id.keys().copied().collect();
        for id in ids {
            self.ask_for_lost(cx, id);
            self.look_soon(cx, id);
        }
    }

    /// A look is due.
    pub(super) fn look_for_lost(&mut self, cx: &mut Context<'_>, id: u64) {
        let Some(lost) = self.lost_creates.by_id.get(&id) else {
            return;
        };
        if lost.until <= cx.now {
            return self.forget_lost(id);
        }
        let pause = lost.pause * STRETCH;
        self.ask_for_lost(cx, id);
        self.set_look(cx, id, pause);
    }

    fn ask_for_lost(&mut self, cx: &mut Context<'_>, id: u64) {
        if let Some(lost) = self.lost_creates.by_id.get(&id)
            && cx.machine.is_connected()
            && !broken(Mutant::NoLaterLook)
        {
            let list = Request::GetChildren2 {
                path: lost.full_path.clone(),
            };
            cx.machine.submit(&list, Tag::LostList(id), LISTING_REPLY);
        }
    }

    /// What does not answer is asked again at the next look.
    pub(super) fn lost_listed(&mut self, cx: &mut Context<'_>, id: u64, outcome: &Outcome) {
        if let Outcome::Done(Reply::Children { names, .. }) = outcome {
            self.delete_lost_of(cx, id, names);
        }
    }

    /// Deletes what a listing of the path, for whatever reason it was asked, shows of them.
    pub(super) fn delete_lost(&mut self, cx: &mut Context<'_>, full_path: &str, names: &[Vec<u8>]) {
        let id = self
            .lost_creates
            .by_id
            .iter()
            .find(|(_, lost)| lost.full_path == full_path)
            .map(|(id, _)| *id);
        if let Some(id) = id {
            self.delete_lost_of(cx, id, names);
        }
    }

    fn delete_lost_of(&mut self, cx: &mut Context<'_>, id: u64, names: &[Vec<u8>]) {
        let Some(lost) = self.lost_creates.by_id.get(&id) else {
            return;
        };
        let by_guid = names::by_guid(names);
        for guid in &lost.guids {
            let found = by_guid.get(guid);
            if let Some(name) = found.and_then(|name| std::str::from_utf8(name).ok()) {
                tracing::warn!(
                    name,
                    "a create that was given up has come true; deleting it"
                );
                let delete = Request::Delete {
                    path: crate::path::join(&lost.full_path, name),
                    version: -1,
                };
                cx.machine
                    .submit(&delete, Tag::LostDelete(id, *guid), DELETE_REPLY);
            }
        }
    }

    /// One that has come and gone will not come again.
    pub(super) fn lost_deleted(&mut self, id: u64, guid: Uuid, outcome: &Outcome) {
        if !matches!(outcome, Outcome::Done(_) | Outcome::Refused(Code::NO_NODE)) {
            return;
        }
        let Some(lost) = self.lost_creates.by_id.get_mut(&id) else {
            return;
        };
        lost.guids.retain(|known| *known != guid);
        if lost.guids.is_empty() {
            self.forget_lost(id);
        }
    }
}
