//! The ACL option, which sessions and locks have in common.

use std::ffi::c_char;

use zoolock_core::{Acl, AclEntry, Result};

use crate::text::text;

/// Adds an entry to a list; anything that is not a list is replaced by one.
///
/// # Safety
/// The strings are NULL or NUL-terminated.
pub(crate) unsafe fn add_entry(
    acl: &mut Option<Acl>,
    permissions: u32,
    scheme: *const c_char,
    id: *const c_char,
) -> Result<()> {
    // SAFETY: as promised by the caller.
    let (scheme, id) = unsafe {
        (
            text("set", "acl scheme", scheme)?,
            text("set", "acl id", id)?,
        )
    };
    let entry = AclEntry {
        permissions,
        scheme: scheme.to_owned(),
        id: id.to_owned(),
    };
    match acl {
        Some(Acl::List(entries)) => entries.push(entry),
        other => *other = Some(Acl::List(vec![entry])),
    }
    Ok(())
}
