//! The languages that take part.

use std::fmt;

/// A worker's language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Language {
    Rust,
    C,
    Python,
    Node,
}

impl Language {
    pub(crate) const ALL: [Language; 4] = [
        Language::Rust,
        Language::C,
        Language::Python,
        Language::Node,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::C => "c",
            Language::Python => "python",
            Language::Node => "node",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
