//! Who may do what with the nodes that are made (Z13, Z14).

use std::sync::Arc;

use super::Context;
use crate::command::LockTarget;
use crate::config::{Acl, AclEntry};
use crate::wire::acl;

/// The ACL of a contender.
pub(super) fn contender_acl(cx: &Context<'_>, target: &LockTarget) -> Arc<[acl::Acl]> {
    match target.acl.as_ref().unwrap_or(&cx.config.acl) {
        Acl::Open => [acl::Acl::anyone(acl::perms::ALL)].into(),
        // READ for anyone who may queue behind and has to watch it (Z14).
        Acl::Creator => [
            acl::Acl::creator(acl::perms::ALL),
            acl::Acl::anyone(acl::perms::READ),
        ]
        .into(),
        Acl::List(entries) => entries.iter().map(listed_acl).collect(),
    }
}

/// The ACL of parents that are made for a lock.
pub(super) fn parent_acl(cx: &Context<'_>, target: &LockTarget) -> Arc<[acl::Acl]> {
    match target.acl.as_ref().unwrap_or(&cx.config.acl) {
        Acl::Creator => [acl::Acl::creator(acl::perms::ALL)].into(),
        Acl::Open | Acl::List(_) => contender_acl(cx, target),
    }
}

fn listed_acl(entry: &AclEntry) -> acl::Acl {
    acl::Acl {
        // Checked to be at most 31.
        perms: i32::try_from(entry.permissions).unwrap_or(acl::perms::ALL),
        scheme: entry.scheme.clone(),
        id: entry.id.clone(),
    }
}
