//! What a job does with which lock.

use std::fmt;

/// The lock paths, each with a resource that its lock guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Resource {
    Mutex,
    Reentrant,
    ReadWrite,
}

impl Resource {
    pub(crate) const ALL: [Resource; 3] =
        [Resource::Mutex, Resource::Reentrant, Resource::ReadWrite];

    /// The last part of the lock path.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Resource::Mutex => "mutex",
            Resource::Reentrant => "reentrant",
            Resource::ReadWrite => "rw",
        }
    }
}

/// How a lock is used. Every recipe begins with hold `a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Recipe {
    /// Locks and writes.
    Mutex,
    /// Locks, writes, locks again (`b`), writes, and so on out.
    Reentrant,
    /// Takes the write side and writes.
    Write,
    /// Takes the read side and looks twice.
    Read,
    /// Takes the write side, writes, takes the read side (`b`), releases the write side, looks twice.
    Downgrade,
}

impl Recipe {
    pub(crate) const ALL: [Recipe; 5] = [
        Recipe::Mutex,
        Recipe::Reentrant,
        Recipe::Write,
        Recipe::Read,
        Recipe::Downgrade,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Recipe::Mutex => "mutex",
            Recipe::Reentrant => "reentrant",
            Recipe::Write => "write",
            Recipe::Read => "read",
            Recipe::Downgrade => "downgrade",
        }
    }

    pub(crate) fn resource(self) -> Resource {
        match self {
            Recipe::Mutex => Resource::Mutex,
            Recipe::Reentrant => Resource::Reentrant,
            Recipe::Write | Recipe::Read | Recipe::Downgrade => Resource::ReadWrite,
        }
    }

    /// Whether a hold of this job shares the lock with readers.
    pub(crate) fn is_shared(self, hold: char) -> bool {
        matches!((self, hold), (Recipe::Read, _) | (Recipe::Downgrade, 'b'))
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
