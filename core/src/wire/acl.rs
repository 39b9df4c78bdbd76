//! Access control entries, as they go into a create.

use std::fmt;

use super::codec::Writer;

/// The bits of [`Acl::perms`].
pub(crate) mod perms {
    pub(crate) const READ: i32 = 1;
    pub(crate) const WRITE: i32 = 1 << 1;
    pub(crate) const CREATE: i32 = 1 << 2;
    pub(crate) const DELETE: i32 = 1 << 3;
    pub(crate) const ADMIN: i32 = 1 << 4;
    pub(crate) const ALL: i32 = READ | WRITE | CREATE | DELETE | ADMIN;
}

/// Who may do what with a node.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Acl {
    pub(crate) perms: i32,
    pub(crate) scheme: String,
    pub(crate) id: String,
}

impl Acl {
    /// An entry for everybody.
    pub(crate) fn anyone(perms: i32) -> Self {
        Acl {
            perms,
            scheme: "world".into(),
            id: "anyone".into(),
        }
    }

    /// An entry for every identity that the creating session has authenticated as; the server fills them in.
    pub(crate) fn creator(perms: i32) -> Self {
        Acl {
            perms,
            scheme: "auth".into(),
            id: String::new(),
        }
    }

    pub(super) fn encode_all(entries: &[Acl], writer: &mut Writer) {
        writer.len(entries.len());
        for entry in entries {
            writer
                .i32(entry.perms)
                .string(&entry.scheme)
                .string(&entry.id);
        }
    }
}

/// Leaves out the id of a `digest` entry: it contains a fast hash of the password (R19).
impl fmt::Debug for Acl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = match self.scheme.as_str() {
            "digest" => "(hidden)",
            _ => &self.id,
        };
        f.debug_struct("Acl")
            .field("perms", &self.perms)
            .field("scheme", &self.scheme)
            .field("id", &id)
            .finish()
    }
}
