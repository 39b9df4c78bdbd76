//! One error type: a sentence for the person who reads the test's output.

use std::fmt;

/// What went wrong, in words.
#[derive(Clone, Debug)]
pub struct Error(String);

/// The result of everything here.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error that says `message`.
    pub fn new(message: impl Into<String>) -> Self {
        Error(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Adds what was being done to an error of any kind.
pub(crate) trait Context<T> {
    fn context(self, doing: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: fmt::Display> Context<T> for std::result::Result<T, E> {
    fn context(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Error(format!("{}: {error}", doing())))
    }
}
