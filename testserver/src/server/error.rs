//! What can go wrong.

use std::error::Error;
use std::net::SocketAddr;
use std::{fmt, io};

/// A server could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The option of this name is out of its range; and what is wrong with it.
    Option(&'static str, String),
    /// The address cannot be listened on.
    Listen(SocketAddr, io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Option(option, problem) => write!(f, "{option}: {problem}"),
            StartError::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            StartError::Option(..) => None,
            StartError::Listen(_, error) => Some(error),
        }
    }
}

/// The server has been stopped, or belongs to another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gone {
    /// By [`Server::stop`](super::Server::stop).
    Stopped,
    /// This process is a forked child of the one that started it.
    OtherProcess,
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Gone::Stopped => "the test server has been stopped",
            Gone::OtherProcess => {
                "the test server belongs to the process that started it, of which this is a fork"
            }
        })
    }
}

impl Error for Gone {}

/// The port could not be opened again.
#[derive(Debug)]
#[non_exhaustive]
pub enum AcceptError {
    /// There is no server any more.
    Gone(Gone),
    /// The address cannot be listened on.
    Listen(SocketAddr, io::Error),
}

impl fmt::Display for AcceptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AcceptError::Gone(gone) => gone.fmt(f),
            AcceptError::Listen(address, error) => {
                write!(f, "cannot listen on {address}: {error}")
            }
        }
    }
}

impl Error for AcceptError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            AcceptError::Gone(gone) => Some(gone),
            AcceptError::Listen(_, error) => Some(error),
        }
    }
}

impl From<Gone> for AcceptError {
    fn from(gone: Gone) -> Self {
        AcceptError::Gone(gone)
    }
}
