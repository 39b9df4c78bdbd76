//! The one list of errors that every language's error classes are made from.

use std::error::Error as StdError;
use std::fmt;

/// What kind of failure it was: decides what a caller should do.
///
/// Codes and names are append-only; every binding derives its classes from [`ErrorKind::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument is malformed (R20). The message names it. Fix the call; nothing was sent.
    InvalidArgument,
    /// No server could be reached in time. Try again later, or raise `connect_timeout`.
    Unavailable,
    /// The lock was not granted within the time given. Give up, or try later. Somebody else holds it,
    /// or no server could be reached in that time: then the error's
    /// [source](std::error::Error::source) is the `Unavailable` one.
    Timeout,
    /// The caller cancelled the call. No contender is left behind (R5).
    Cancelled,
    /// The lock was held and is no longer. Stop the protected work; somebody else may be in it.
    ///
    /// The error's [cause](Error::cause) says why: `Unavailable`, the lease ran out before a server
    /// confirmed the session (R3); `SessionExpired`, the ensemble ended the session; `LockLost`,
    /// somebody else deleted the contender; `Closed`, the session's handle was closed (R17);
    /// `NotHeld`, the lock is the parent process's (R18).
    LockLost,
    /// The caller does not hold what it tries to release (R10). A bug in the caller.
    NotHeld,
    /// The owner of a read lock asked for the write lock (R12). Release the read lock first.
    WouldDeadlock,
    /// The path's 32-bit sequence is used up (R14). Let the path empty, or use another.
    SequenceExhausted,
    /// The server denies it: the message names the path and the missing right (R20).
    NoAuth,
    /// The server does not accept the credentials. Trying again does not help.
    AuthFailed,
    /// The session ended before the call could finish.
    SessionExpired,
    /// The session handle is closed. Open another one.
    Closed,
    /// The server, or this build, does not offer what was asked for.
    Unsupported,
    /// Something that should not happen; please report it with its message.
    Internal,
}

impl ErrorKind {
    /// Every kind, in the order of [`ErrorKind::code`].
    pub const ALL: &'static [ErrorKind] = &[
        ErrorKind::InvalidArgument,
        ErrorKind::Unavailable,
        ErrorKind::Timeout,
        ErrorKind::Cancelled,
        ErrorKind::LockLost,
        ErrorKind::NotHeld,
        ErrorKind::WouldDeadlock,
        ErrorKind::SequenceExhausted,
        ErrorKind::NoAuth,
        ErrorKind::AuthFailed,
        ErrorKind::SessionExpired,
        ErrorKind::Closed,
        ErrorKind::Unsupported,
        ErrorKind::Internal,
    ];

    /// The number used by C. Positive: 0 is success there. Never reused for another kind.
    pub const fn code(self) -> i32 {
        match self {
            ErrorKind::InvalidArgument => 1,
            ErrorKind::Unavailable => 2,
            ErrorKind::Timeout => 3,
            ErrorKind::Cancelled => 4,
            ErrorKind::LockLost => 5,
            ErrorKind::NotHeld => 6,
            ErrorKind::WouldDeadlock => 7,
            ErrorKind::SequenceExhausted => 8,
            ErrorKind::NoAuth => 9,
            ErrorKind::AuthFailed => 10,
            ErrorKind::SessionExpired => 11,
            ErrorKind::Closed => 12,
            ErrorKind::Unsupported => 13,
            ErrorKind::Internal => 14,
        }
    }

    /// The name in capitals, as in C's `ZOOLOCK_<NAME>` and Node's `ERR_ZOOLOCK_<NAME>`.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorKind::InvalidArgument => "INVALID_ARGUMENT",
            ErrorKind::Unavailable => "UNAVAILABLE",
            ErrorKind::Timeout => "TIMEOUT",
            ErrorKind::Cancelled => "CANCELLED",
            ErrorKind::LockLost => "LOCK_LOST",
            ErrorKind::NotHeld => "NOT_HELD",
            ErrorKind::WouldDeadlock => "WOULD_DEADLOCK",
            ErrorKind::SequenceExhausted => "SEQUENCE_EXHAUSTED",
            ErrorKind::NoAuth => "NO_AUTH",
            ErrorKind::AuthFailed => "AUTH_FAILED",
            ErrorKind::SessionExpired => "SESSION_EXPIRED",
            ErrorKind::Closed => "CLOSED",
            ErrorKind::Unsupported => "UNSUPPORTED",
            ErrorKind::Internal => "INTERNAL",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A failed operation: its kind, which operation it was, the path if one was involved, and why.
///
/// [`kind`](Error::kind) decides what to do. The message is one line for a reader, and not to be
/// matched; it never holds credentials (R19). What is underneath, if that is known, is the
/// [source](std::error::Error::source), and [`cause`](Error::cause) if it is an error of zoolock's.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use zoolock::{Error, ErrorKind};
///
/// # fn main() -> zoolock::Result<()> {
/// # let server = zoolock::testing::Server::start()?;
/// # let session = zoolock::blocking::Session::connect(&server.hosts())?;
/// let mutex = session.mutex("/locks/report")?;
/// server.freeze_all()?;
/// let error = mutex.lock_timeout(Duration::from_millis(50)).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Timeout);
/// assert_eq!(error.path(), Some("/locks/report"));
/// if let Some(cause) = error.cause() {
///     eprintln!("no server: {cause}");
/// }
/// # server.thaw_all()?;
/// # session.close()
/// # }
/// ```
#[derive(Clone)]
pub struct Error(Box<Detail>);

#[derive(Clone)]
struct Detail {
    kind: ErrorKind,
    operation: &'static str,
    path: Option<Box<str>>,
    message: Box<str>,
    source: Option<std::sync::Arc<dyn StdError + Send + Sync>>,
}

/// The result of zoolock's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Makes an error; used by the core and by bindings that check arguments of their language.
    #[doc(hidden)]
    pub fn new(kind: ErrorKind, operation: &'static str, message: impl Into<String>) -> Error {
        Error(Box::new(Detail {
            kind,
            operation,
            path: None,
            message: message.into().into_boxed_str(),
            source: None,
        }))
    }

    /// An `InvalidArgument` that names the argument and what is wrong with it (R20).
    #[doc(hidden)]
    pub fn invalid_argument(
        operation: &'static str,
        argument: &str,
        problem: impl fmt::Display,
    ) -> Error {
        Error::new(
            ErrorKind::InvalidArgument,
            operation,
            format!("{argument}: {problem}"),
        )
    }

    /// The same error, told of the path it concerns.
    #[doc(hidden)]
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Error {
        self.0.path = Some(path.into().into_boxed_str());
        self
    }

    /// The same error, as the failure of another operation: a binding's name for it.
    #[doc(hidden)]
    #[must_use]
    pub fn with_operation(mut self, operation: &'static str) -> Error {
        self.0.operation = operation;
        self
    }

    /// The same error, with the error that caused it.
    #[doc(hidden)]
    #[must_use]
    pub fn with_source(mut self, source: impl StdError + Send + Sync + 'static) -> Error {
        self.0.source = Some(std::sync::Arc::new(source));
        self
    }

    /// What kind of failure it was: decides what to do.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The error of zoolock's own that caused this one, if its source is one: of a `Timeout`, that no
    /// server could be reached; of a `LockLost`, how it was lost.
    pub fn cause(&self) -> Option<&Error> {
        self.source()?.downcast_ref()
    }

    /// The operation that failed, such as `lock` or `connect`. For readers of logs.
    pub fn operation(&self) -> &'static str {
        self.0.operation
    }

    /// The lock path that the operation was about, if it was about one.
    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }

    /// One line on what went wrong, without operation and path.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operation())?;
        if let Some(path) = self.path() {
            write!(f, " {path}")?;
        }
        write!(f, ": {}", self.message())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({}: {self})", self.kind())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0
            .source
            .as_ref()
            .map(|source| source.as_ref() as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_positive_unique_and_in_the_order_of_all() {
        for (index, kind) in ErrorKind::ALL.iter().enumerate() {
            assert_eq!(kind.code(), i32::try_from(index).unwrap() + 1, "{kind}");
        }
    }

    #[test]
    fn display_names_operation_path_and_reason_on_one_line() {
        let error =
            Error::new(ErrorKind::Timeout, "lock", "not granted within 3 s").with_path("/locks/a");
        assert_eq!(error.to_string(), "lock /locks/a: not granted within 3 s");
        let renamed = error.with_operation("write");
        assert_eq!(renamed.operation(), "write");
        assert_eq!(renamed.path(), Some("/locks/a"));
    }

    #[test]
    fn a_source_of_our_own_kind_is_the_cause() {
        let error = Error::new(ErrorKind::Timeout, "lock", "not granted in time");
        assert!(error.cause().is_none());
        let down = Error::new(ErrorKind::Unavailable, "lock", "no server can be reached");
        let caused = error.clone().with_source(down);
        assert_eq!(
            caused.cause().map(Error::kind),
            Some(ErrorKind::Unavailable)
        );
        let refused = error.with_source(std::io::Error::other("refused"));
        assert!(refused.cause().is_none() && refused.source().is_some());
    }
}
