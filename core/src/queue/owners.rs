//! Re-entrancy (R11, R12): what an owner holds on a path decides what its next attempt is.

use std::collections::VecDeque;

use super::guards::HoldId;
use super::names::{Kind, Naming};
use super::paths::PathId;
use super::{Context, Queues};
use crate::command::AttemptId;
use crate::error::{Error, ErrorKind};
use crate::loss::Loss;
use crate::owner::Owner;

/// Whom re-entrancy counts for: per session, path, naming and owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OwnerKey {
    path: PathId,
    naming: Naming,
    owner: Owner,
}

impl OwnerKey {
    pub(super) fn new(path: PathId, naming: Naming, owner: &Owner) -> OwnerKey {
        OwnerKey {
            path,
            naming,
            owner: owner.clone(),
        }
    }
}

/// What one owner has on one path.
#[derive(Default)]
pub(super) struct OwnerEntry {
    read: Option<HoldId>,
    /// The write side; of a re-entrant mutex, its only one.
    write: Option<HoldId>,
    /// Its attempt that queues. Later ones wait for it here, so that none waits for its own owner.
    pending: Option<AttemptId>,
    behind: VecDeque<AttemptId>,
}

impl OwnerEntry {
    fn side(&mut self, kind: Kind) -> &mut Option<HoldId> {
        match kind {
            Kind::Read => &mut self.read,
            Kind::Exclusive | Kind::Write => &mut self.write,
        }
    }

    /// Its attempt that queues.
    pub(super) fn pending(&self) -> Option<AttemptId> {
        self.pending
    }

    fn is_empty(&self) -> bool {
        self.read.is_none()
            && self.write.is_none()
            && self.pending.is_none()
            && self.behind.is_empty()
    }
}

/// What becomes of an attempt, given what its owner holds.
enum Admission {
    Queue,
    Reenter(HoldId),
    Downgrade(HoldId),
    /// The owner held it, and has lost it.
    Lost(Loss),
    Deadlock,
}

impl Queues {
    pub(super) fn admit(&mut self, cx: &mut Context<'_>, key: OwnerKey, id: AttemptId) {
        let entry = self.owners.entry(key.clone()).or_default();
        entry.behind.push_back(id);
        self.admit_next(cx, &key);
    }

    /// Looks at the owner's attempts, in order, until one queues.
    fn admit_next(&mut self, cx: &mut Context<'_>, key: &OwnerKey) {
        loop {
            let Some(entry) = self.owners.get_mut(key) else {
                return;
            };
            if entry.pending.is_some() {
                return;
            }
            let Some(id) = entry.behind.pop_front() else {
                if entry.is_empty() {
                    self.owners.remove(key);
                }
                return;
            };
            let Some(kind) = self.attempts.get(&id).map(|attempt| attempt.request.kind) else {
                continue;
            };
            match self.admission(key, kind) {
                Admission::Queue => {
                    self.set_pending(key, id);
                    self.enqueue(cx, id, None);
                }
                Admission::Downgrade(write) => {
                    let node = self.holds.get(&write).map(|hold| hold.node);
                    self.set_pending(key, id);
                    self.enqueue(cx, id, node);
                }
                Admission::Reenter(hold) => {
                    if let Some(attempt) = self.take_attempt(id) {
                        self.reenter(cx, hold, attempt);
                    }
                }
                Admission::Lost(loss) => self.refuse(id, |path| {
                    loss.error("lock", path, "the owner held it, and has lost it")
                }),
                Admission::Deadlock => self.refuse(id, |path| {
                    let why = "the owner holds the read lock: release it before asking for the write lock";
                    Error::new(ErrorKind::WouldDeadlock, "lock", why).with_path(path)
                }),
            }
        }
    }

    fn refuse(&mut self, id: AttemptId, error: impl FnOnce(&str) -> Error) {
        if let Some(attempt) = self.take_attempt(id) {
            let error = error(&attempt.request.target.path);
            attempt.request.to.fail(error);
        }
    }

    fn set_pending(&mut self, key: &OwnerKey, id: AttemptId) {
        if let Some(entry) = self.owners.get_mut(key) {
            entry.pending = Some(id);
        }
    }

    fn admission(&self, key: &OwnerKey, kind: Kind) -> Admission {
        let Some(entry) = self.owners.get(key) else {
            return Admission::Queue;
        };
        let (hold, admission) = match (kind, entry.read, entry.write) {
            (Kind::Exclusive | Kind::Write, _, Some(hold)) | (Kind::Read, Some(hold), _) => {
                (hold, Admission::Reenter(hold))
            }
            (Kind::Exclusive | Kind::Write, Some(hold), None) => (hold, Admission::Deadlock),
            (Kind::Read, None, Some(write)) => (write, Admission::Downgrade(write)),
            (_, None, None) => return Admission::Queue,
        };
        match self.holds.get(&hold) {
            Some(hold) => hold.lost.map_or(admission, Admission::Lost),
            // Its owner forgets a hold as it ends.
            None => Admission::Lost(Loss::Closed),
        }
    }

    /// The owner's attempt has been granted.
    pub(super) fn owner_holds(
        &mut self,
        cx: &mut Context<'_>,
        key: &OwnerKey,
        kind: Kind,
        hold: HoldId,
    ) {
        let entry = self.owners.entry(key.clone()).or_default();
        *entry.side(kind) = Some(hold);
        entry.pending = None;
        self.admit_next(cx, key);
    }

    /// The owner's attempt has ended without a guard.
    pub(super) fn attempt_ended(&mut self, cx: &mut Context<'_>, key: OwnerKey, id: AttemptId) {
        let Some(entry) = self.owners.get_mut(&key) else {
            return;
        };
        if entry.pending == Some(id) {
            entry.pending = None;
        } else {
            entry.behind.retain(|other| *other != id);
        }
        self.admit_next(cx, &key);
    }

    /// The owner has given up all guards of a side.
    pub(super) fn owner_released(
        &mut self,
        cx: &mut Context<'_>,
        key: &OwnerKey,
        kind: Kind,
        hold: HoldId,
    ) {
        let Some(entry) = self.owners.get_mut(key) else {
            return;
        };
        let side = entry.side(kind);
        if *side == Some(hold) {
            *side = None;
        }
        self.admit_next(cx, key);
    }
}
