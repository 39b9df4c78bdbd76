//! How an ensemble is configured.

use std::time::Duration;

/// Which servers a model answers like. They differ in little that clients of locks see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Version {
    /// 3.8.0: watch events do not tell their zxid; a transaction with wrong flags is refused when it is its turn, by the
    /// part that has them; what a transaction creates is answered without its stat; every write that cannot be decoded uses up a zxid; whether a watch is set is answered for all
    /// clients at once; `exists` needs no right to read. As Debian has it, with later corrections of security.
    V3_8,
    /// 3.9.
    #[default]
    V3_9,
}

/// The settings of a [`Cluster`](super::Cluster). Start from `Settings::default()`: one server with ZooKeeper's
/// defaults.
#[derive(Debug, Clone)]
pub struct Settings {
    /// 3.9.
    pub version: Version,
    /// At least 1; of more than one, one leads.
    pub servers: usize,
    /// `tickTime`: 2 s. Sessions expire in buckets of it, followers report every half of it.
    pub tick: Duration,
    /// `syncLimit`, in ticks: 5. So long a follower serves that does not hear its leader, and a leader that does not
    /// hear a majority.
    pub sync_limit: u32,
    /// Two ticks if `None`.
    pub min_session_timeout: Option<Duration>,
    /// Twenty ticks if `None`.
    pub max_session_timeout: Option<Duration>,
    /// What a parent's counter does at 2147483647: since 3.6 it stays there, before it wrapped to negative numbers.
    pub sequence_sticks: bool,
    /// How often the leader looks for empty containers: 60 s.
    pub container_check: Duration,
    /// How old a container gets that never had a child: 300 s; zero for ever.
    pub container_never_used: Duration,
    /// `maxClientCnxns`: how many connections a server has open at once, all clients having one address here; no limit
    /// if `None`.
    pub max_connections: Option<usize>,
    /// `readonlymode.enabled`: how long a server looks for a leader before it is in read-only mode (real ones wait for
    /// the longer of two seconds and a tick); never if `None`.
    pub read_only_after: Option<Duration>,
    /// The largest request in bytes: 1 MiB - 1. A larger one closes the connection.
    pub max_frame: usize,
    /// How long an election takes once a majority looks for a leader, and how long a server needs to join one: 500 ms.
    pub election: Duration,
    /// `user:base64(sha1("user:password"))` of an administrator to whom no access control list applies.
    pub super_digest: Option<String>,
    /// Wall-clock time at the model's time 0, in milliseconds since 1970. Only `ctime` and `mtime` show it.
    pub epoch_ms: i64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            version: Version::default(),
            servers: 1,
            tick: Duration::from_secs(2),
            sync_limit: 5,
            min_session_timeout: None,
            max_session_timeout: None,
            sequence_sticks: true,
            container_check: Duration::from_secs(60),
            container_never_used: Duration::from_secs(300),
            max_connections: None,
            read_only_after: None,
            max_frame: 0xf_ffff,
            election: Duration::from_millis(500),
            super_digest: None,
            epoch_ms: 1_700_000_000_000,
        }
    }
}

impl Settings {
    /// The session timeout that a client gets who asks for one.
    pub(crate) fn negotiate(&self, asked_ms: i32) -> u32 {
        let least = self.min_session_timeout.unwrap_or(self.tick * 2);
        let most = self.max_session_timeout.unwrap_or(self.tick * 20);
        let asked = u32::try_from(asked_ms).unwrap_or(0);
        asked.max(millis(least)).min(millis(most))
    }

    pub(crate) fn majority(&self) -> usize {
        self.servers / 2 + 1
    }

    pub(crate) fn tick_ns(&self) -> u64 {
        nanos(self.tick).max(2_000_000)
    }

    pub(crate) fn patience_ns(&self) -> u64 {
        self.tick_ns().saturating_mul(u64::from(self.sync_limit))
    }
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn millis(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(i32::MAX as u32)
}
