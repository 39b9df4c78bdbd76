//! Access control lists: who may do what to a node.

use std::sync::Arc;

use crate::wire::code::Code;

/// The rights, as bits of [`Acl::permissions`].
pub mod permission {
    /// Data, children, and (since 3.8.4) existence.
    pub const READ: i32 = 1;
    /// Setting data.
    pub const WRITE: i32 = 2;
    /// Creating children: a right on the parent.
    pub const CREATE: i32 = 4;
    /// Deleting children: a right on the parent.
    pub const DELETE: i32 = 8;
    /// Setting the list.
    pub const ADMIN: i32 = 16;
    /// All of them.
    pub const ALL: i32 = 31;
}

/// Who a client is, in one scheme.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub struct Id {
    pub scheme: String,
    pub id: String,
}

impl Id {
    /// An identity.
    pub fn new(scheme: &str, id: &str) -> Self {
        Id {
            scheme: scheme.to_owned(),
            id: id.to_owned(),
        }
    }
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub struct Acl {
    pub permissions: i32,
    pub id: Id,
}

/// Everything to everyone.
pub(crate) fn open() -> Arc<[Acl]> {
    world(permission::ALL)
}

pub(crate) fn world(permissions: i32) -> Arc<[Acl]> {
    Arc::from([Acl {
        permissions,
        id: Id::new("world", "anyone"),
    }])
}

/// Whether one of the identities has one of the rights.
pub(crate) fn check(acl: &[Acl], wanted: i32, ids: &[Id]) -> Result<(), Code> {
    let granted = acl.is_empty()
        || ids.iter().any(|id| id.scheme == "super")
        || acl.iter().any(|entry| {
            entry.permissions & wanted != 0
                && (is_world(&entry.id) || ids.iter().any(|id| matches(id, &entry.id)))
        });
    if granted { Ok(()) } else { Err(Code::NO_AUTH) }
}

fn is_world(id: &Id) -> bool {
    id.scheme == "world" && id.id == "anyone"
}

fn matches(client: &Id, entry: &Id) -> bool {
    client.scheme == entry.scheme
        && match client.scheme.as_str() {
            "digest" => client.id == entry.id,
            "ip" => super::ip::matches(&client.id, &entry.id),
            _ => false,
        }
}

/// The list that a node gets: without duplicates, with `auth` replaced by what the client has proved to be.
pub(crate) fn fix_up(acl: Option<&[Acl]>, ids: &[Id]) -> Result<Arc<[Acl]>, Code> {
    let mut unique: Vec<&Acl> = Vec::new();
    for entry in acl.unwrap_or_default() {
        if !unique.contains(&entry) {
            unique.push(entry);
        }
    }
    if unique.is_empty() {
        return Err(Code::INVALID_ACL);
    }
    let mut fixed = Vec::new();
    for entry in unique {
        match entry.id.scheme.as_str() {
            "world" if entry.id.id == "anyone" => fixed.push(entry.clone()),
            "auth" => {
                let before = fixed.len();
                let proved = ids.iter().filter(|id| id.scheme == "digest");
                fixed.extend(proved.map(|id| Acl {
                    permissions: entry.permissions,
                    id: id.clone(),
                }));
                if fixed.len() == before {
                    return Err(Code::INVALID_ACL);
                }
            }
            "digest" if is_digest(&entry.id.id) => fixed.push(entry.clone()),
            "ip" if super::ip::is_valid(&entry.id.id) => fixed.push(entry.clone()),
            _ => return Err(Code::INVALID_ACL),
        }
    }
    Ok(fixed.into())
}

/// Two parts, as Java's `split` counts them: empty ones at the end do not count.
fn is_digest(id: &str) -> bool {
    id.trim_end_matches(':').split(':').count() == 2
}

/// The list as one may see it who cannot change it.
pub(crate) fn masked(acl: &[Acl]) -> Vec<Acl> {
    acl.iter()
        .map(|entry| match entry.id.id.split_once(':') {
            Some((user, _)) if entry.id.scheme == "digest" => Acl {
                permissions: entry.permissions,
                id: Id::new("digest", &format!("{user}:x")),
            },
            _ => entry.clone(),
        })
        .collect()
}
