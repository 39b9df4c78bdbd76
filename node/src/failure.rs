//! An error of the core on its way to a JavaScript error class.

use std::error::Error as _;

use napi_derive::napi;

/// A failed call. `kind` is the core's name for it in capitals, from which the class is chosen.
#[napi]
pub struct Failure(zoolock::Error);

impl From<zoolock::Error> for Failure {
    fn from(error: zoolock::Error) -> Failure {
        Failure(error)
    }
}

#[napi]
impl Failure {
    /// Such as `LOCK_LOST`.
    #[napi(getter)]
    pub fn kind(&self) -> &'static str {
        self.0.kind().name()
    }

    /// Such as `lock`, in the core's spelling.
    #[napi(getter)]
    pub fn operation(&self) -> &'static str {
        self.0.operation()
    }

    /// The lock path, if it is about one.
    #[napi(getter)]
    pub fn path(&self) -> Option<&str> {
        self.0.path()
    }

    /// One line, without operation and path.
    #[napi(getter)]
    pub fn message(&self) -> &str {
        self.0.message()
    }

    /// The failure that caused it.
    #[napi(getter)]
    pub fn cause(&self) -> Option<Failure> {
        self.0.cause().cloned().map(Failure)
    }

    /// What a lower layer said, or `cause` in one line.
    #[napi(getter)]
    pub fn source(&self) -> Option<String> {
        self.0.source().map(ToString::to_string)
    }
}

/// The kinds of error that there are, for JavaScript to check its classes against.
#[napi]
pub fn error_kinds() -> Vec<&'static str> {
    zoolock::ErrorKind::ALL
        .iter()
        .map(|kind| kind.name())
        .collect()
}
