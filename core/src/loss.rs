//! Why a lock was lost: the source of every `LockLost` error.

use crate::error::{Error, ErrorKind};

/// What ended a guard's belief. Of several causes the one that was seen first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// No server's confirmation came before the lease ended (R3).
    LeaseRanOut,
    /// The ensemble has ended the session.
    SessionOver,
    /// Somebody else deleted the contender.
    Removed,
    /// The session's handle was closed (R17).
    Closed,
    /// The lock is another process's: the parent's (R18).
    Forked,
}

impl Loss {
    /// Those that a guard keeps beside its state.
    pub(crate) const KEPT: [Loss; 4] = [
        Loss::LeaseRanOut,
        Loss::SessionOver,
        Loss::Removed,
        Loss::Closed,
    ];

    /// The error for who asks about a lost lock.
    pub(crate) fn error(self, operation: &'static str, path: &str, message: &str) -> Error {
        let (kind, why) = match self {
            Loss::LeaseRanOut => (
                ErrorKind::Unavailable,
                "no server confirmed the session before the lease ended: none answered in time, or this process did not run",
            ),
            Loss::SessionOver => (
                ErrorKind::SessionExpired,
                "the ensemble has ended the session",
            ),
            Loss::Removed => (ErrorKind::LockLost, "somebody else deleted the contender"),
            Loss::Closed => (ErrorKind::Closed, "the session was closed"),
            Loss::Forked => (
                ErrorKind::NotHeld,
                "the lock is the parent process's: a forked child holds none of its locks",
            ),
        };
        Error::new(ErrorKind::LockLost, operation, message)
            .with_path(path)
            .with_source(Error::new(kind, operation, why).with_path(path))
    }
}
