//! The leader's view of sessions: when each expires, and through which server it may write.

use std::collections::{BTreeMap, BTreeSet};

use crate::wire::code::Code;

#[derive(Debug, Clone)]
pub(crate) struct Tracker {
    tick_ms: u64,
    /// The buckets' phase: a server counts from its own start.
    phase_ms: u64,
    sessions: BTreeMap<i64, Tracked>,
    buckets: BTreeMap<u64, BTreeSet<i64>>,
}

#[derive(Debug, Clone)]
struct Tracked {
    bucket: u64,
    closing: bool,
    owner: Option<usize>,
}

impl Tracker {
    /// A new leader's: every session's timer starts afresh, and belongs to the server it writes through first.
    pub(crate) fn new(
        tick_ns: u64,
        phase_ms: u64,
        sessions: &BTreeMap<i64, u32>,
        now: u64,
    ) -> Self {
        let mut tracker = Tracker {
            tick_ms: (tick_ns / 1_000_000).max(1),
            phase_ms,
            sessions: BTreeMap::new(),
            buckets: BTreeMap::new(),
        };
        for (id, timeout_ms) in sessions {
            tracker.track(*id, *timeout_ms, now);
        }
        tracker
    }

    pub(crate) fn track(&mut self, id: i64, timeout_ms: u32, now: u64) {
        self.sessions.entry(id).or_insert(Tracked {
            bucket: 0,
            closing: false,
            owner: None,
        });
        self.move_to_bucket(id, timeout_ms, now);
    }

    /// For a session that survived the leader it was begun with.
    pub(crate) fn track_if_unknown(&mut self, id: i64, timeout_ms: u32, now: u64) {
        if !self.sessions.contains_key(&id) {
            self.track(id, timeout_ms, now);
        }
    }

    /// Expires at the first bucket's end after the timeout: never early, late by up to a tick.
    fn move_to_bucket(&mut self, id: i64, timeout_ms: u32, now: u64) {
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        let due = self.phase_ms + now / 1_000_000 + u64::from(timeout_ms);
        let bucket = (due / self.tick_ms + 1) * self.tick_ms;
        if session.bucket == bucket {
            return;
        }
        let before = std::mem::replace(&mut session.bucket, bucket);
        self.take_from_bucket(before, id);
        self.buckets.entry(bucket).or_default().insert(id);
    }

    fn take_from_bucket(&mut self, bucket: u64, id: i64) {
        if let Some(ids) = self.buckets.get_mut(&bucket) {
            ids.remove(&id);
            if ids.is_empty() {
                self.buckets.remove(&bucket);
            }
        }
    }

    /// Whether the session lives.
    pub(crate) fn touch(&mut self, id: i64, timeout_ms: u32, now: u64) -> bool {
        let lives = self
            .sessions
            .get(&id)
            .is_some_and(|session| !session.closing);
        if lives {
            self.move_to_bucket(id, timeout_ms, now);
        }
        lives
    }

    pub(crate) fn set_owner(&mut self, id: i64, server: usize) {
        if let Some(session) = self.sessions.get_mut(&id)
            && !session.closing
        {
            session.owner = Some(server);
        }
    }

    /// Whether a request of the session that came through the server is allowed.
    pub(crate) fn check(&mut self, id: i64, server: usize) -> Result<(), Code> {
        let session = self.sessions.get_mut(&id).ok_or(Code::SESSION_EXPIRED)?;
        if session.closing {
            return Err(Code::SESSION_EXPIRED);
        }
        if *session.owner.get_or_insert(server) == server {
            Ok(())
        } else {
            Err(Code::SESSION_MOVED)
        }
    }

    /// Refuses the session's further requests. False if it is unknown or being closed already.
    pub(crate) fn close(&mut self, id: i64) -> bool {
        match self.sessions.get_mut(&id) {
            Some(session) => !std::mem::replace(&mut session.closing, true),
            None => false,
        }
    }

    pub(crate) fn remove(&mut self, id: i64) {
        if let Some(session) = self.sessions.remove(&id) {
            self.take_from_bucket(session.bucket, id);
        }
    }

    /// When the next bucket ends, in nanoseconds.
    pub(crate) fn next_expiry(&self) -> Option<u64> {
        let bucket = *self.buckets.keys().next()?;
        Some(bucket.saturating_sub(self.phase_ms) * 1_000_000)
    }

    /// The sessions of the buckets that have ended.
    pub(crate) fn expired(&mut self, now: u64) -> Vec<i64> {
        let mut expired = Vec::new();
        while let Some(entry) = self.buckets.first_entry() {
            if entry.key().saturating_sub(self.phase_ms) * 1_000_000 > now {
                break;
            }
            expired.extend(entry.remove());
        }
        expired
    }

    pub(crate) fn is_closing(&self, id: i64) -> bool {
        self.sessions
            .get(&id)
            .is_some_and(|session| session.closing)
    }

    pub(crate) fn owner(&self, id: i64) -> Option<usize> {
        self.sessions.get(&id)?.owner
    }

    pub(crate) fn expires_at(&self, id: i64) -> Option<u64> {
        let session = self.sessions.get(&id)?;
        Some(session.bucket.saturating_sub(self.phase_ms) * 1_000_000)
    }
}
