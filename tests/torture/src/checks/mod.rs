//! Judges a history. Each check is pure, and tested on histories that are known to be bad.

pub(crate) mod belief;
pub(crate) mod calls;
pub(crate) mod linear;
pub(crate) mod losses;
pub(crate) mod resources;
#[cfg(test)]
pub(crate) mod sample;
pub(crate) mod servers;
pub(crate) mod tokens;

use crate::recipe::Resource;

/// What must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) resource: Resource,
    /// Around when, for the history that is shown with it.
    pub(crate) at: u64,
    pub(crate) text: String,
}
