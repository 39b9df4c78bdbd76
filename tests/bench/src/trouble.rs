//! Why a library has no figure: it did wrong, or it did not come to an end.

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trouble {
    pub(crate) reason: String,
    /// A check failed: figures of it would mean nothing. Else it was not there, or broke down, as others may under a load
    /// that is ours.
    pub(crate) wrong: bool,
}

impl Trouble {
    /// Of a check.
    pub(crate) fn wrong(reason: String) -> Trouble {
        Trouble {
            reason,
            wrong: true,
        }
    }
}

impl From<String> for Trouble {
    fn from(reason: String) -> Trouble {
        Trouble {
            reason,
            wrong: false,
        }
    }
}

impl From<&str> for Trouble {
    fn from(reason: &str) -> Trouble {
        reason.to_owned().into()
    }
}
