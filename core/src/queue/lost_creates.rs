//! Creates that were sent, and of which neither an answer nor a node is known (Z5).
//!
//! A listing behind a transaction does not show that such a node will never come. A server that was
//! cut off from its leader may still hold the request, and the leader takes it as soon as the
//! session counts as that server's again, to which one handshake is enough, even one that was
//! given up. So the paths are looked at again, after each reconnect and then less and less often,
//! and a node that has come is deleted (R5).

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use uuid::Uuid;

use super::names;
use super::replies::Tag;
use super::timers::Timer;
use super::{Context, Queues};
use crate::clock::Time;
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
    /// Each with the moment up to which it is looked for, the first to be forgotten in front.
    guids: VecDeque<(Time, Uuid)>,
    next_look: Time,
    pause: Duration,
}

impl Lost {
    /// However often creates are lost on a path, no more is kept than what was lost lately.
    fn forget_old(&mut self, now: Time) {
        while self.guids.front().is_some_and(|(until, _)| *until <= now) {
            self.guids.pop_front();
        }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct LostCreates {
    by_id: BTreeMap<u64, Lost>,
    /// Every listing asks for its path here, on the thread that renews leases.
    by_path: HashMap<String, u64>,
    last_id: u64,
    /// What was given up lately, and when it was asked for: for the simulation, which knows better.
    #[cfg(test)]
    pub(super) given_up: Vec<(Uuid, Time)>,
}

impl LostCreates {
    fn remember(&mut self, full_path: &str, guid: Uuid, now: Time) -> u64 {
        let id = match self.by_path.get(full_path) {
            Some(id) => *id,
            None => {
                self.last_id += 1;
                self.by_path.insert(full_path.to_owned(), self.last_id);
                self.last_id
            }
        };
        let lost = self.by_id.entry(id).or_insert_with(|| Lost {
            full_path: full_path.to_owned(),
            guids: VecDeque::new(),
            next_look: Time::NEVER,
            pause: Duration::ZERO,
        });
        lost.forget_old(now);
        lost.guids.push_back((now + WATCHFUL, guid));
        id
    }

    /// Whether there is nothing left to look for on a path.
    fn is_over(&mut self, id: u64, now: Time) -> bool {
        self.by_id.get_mut(&id).is_none_or(|lost| {
            lost.forget_old(now);
            lost.guids.is_empty()
        })
    }

    fn remove(&mut self, id: u64) -> Option<Lost> {
        let lost = self.by_id.remove(&id)?;
        self.by_path.remove(&lost.full_path);
        Some(lost)
    }
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
        let id = self.lost_creates.remember(full_path, guid, cx.now);
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
        if let Some(lost) = self.lost_creates.remove(id) {
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
        if self.lost_creates.is_over(id, cx.now) {
            return self.forget_lost(id);
        }
        let Some(lost) = self.lost_creates.by_id.get(&id) else {
            return;
        };
        let pause = lost.pause * STRETCH;
        self.ask_for_lost(cx, id);
        self.set_look(cx, id, pause);
    }

    fn ask_for_lost(&mut self, cx: &mut Context<'_>, id: u64) {
        if let Some(lost) = self.lost_creates.by_id.get(&id)
            && cx.machine.is_connected()
        {
            let list = Request::GetChildren2 {
                path: lost.full_path.clone(),
                watch: false,
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
        if let Some(id) = self.lost_creates.by_path.get(full_path).copied() {
            self.delete_lost_of(cx, id, names);
        }
    }

    fn delete_lost_of(&mut self, cx: &mut Context<'_>, id: u64, names: &[Vec<u8>]) {
        let Some(lost) = self.lost_creates.by_id.get(&id) else {
            return;
        };
        let by_guid = names::by_guid(names);
        for (_, guid) in &lost.guids {
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
        lost.guids.retain(|(_, known)| *known != guid);
        if lost.guids.is_empty() {
            self.forget_lost(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: Time = Time(1_000_000_000_000);

    /// A connection that breaks again and again, with creates under way each time, for a day.
    #[test]
    fn r05_no_more_is_kept_than_what_was_lost_lately() {
        let mut lost = LostCreates::default();
        let (mut now, breaks) = (BEGIN, 24 * 3600 / 10);
        let step = Duration::from_secs(10);
        let lately = usize::try_from(WATCHFUL.as_secs() / step.as_secs()).unwrap();
        for _ in 0..breaks {
            let id = lost.remember("/a", Uuid::new_v4(), now);
            assert!(lost.by_id[&id].guids.len() <= lately);
            now = now + step;
        }
        let id = lost.by_path["/a"];
        assert_eq!(lost.by_id[&id].guids.len(), lately);
        assert!(!lost.is_over(id, now));
        assert!(lost.is_over(id, now + WATCHFUL));
    }

    #[test]
    fn r05_of_thousands_of_paths_each_is_found_and_forgotten_by_itself() {
        let mut lost = LostCreates::default();
        let path = |at: usize| format!("/locks/order/user-{at}");
        for at in 0..20_000 {
            let id = lost.remember(&path(at), Uuid::new_v4(), BEGIN);
            assert_eq!(lost.remember(&path(at), Uuid::new_v4(), BEGIN), id);
        }
        assert_eq!((lost.by_id.len(), lost.by_path.len()), (20_000, 20_000));
        for at in 0..20_000 {
            let id = lost.by_path[&path(at)];
            assert_eq!(lost.remove(id).unwrap().guids.len(), 2);
        }
        assert_eq!((lost.by_id.len(), lost.by_path.len()), (0, 0));
    }
}
