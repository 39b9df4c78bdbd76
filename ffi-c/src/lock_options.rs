//! Options of a lock.

use std::ffi::{c_char, c_void};
use std::time::Duration;

use zoolock_core::{Acl, Error, LockOptions, Naming, Result};

use crate::acl;
use crate::boundary::boundary;
use crate::milliseconds::milliseconds;
use crate::mistakes::{Mistakes, Options, set};
use crate::pointer::{self, Lent, hand_out, null};
use crate::status::zoolock_status;

/// Options of a lock, for `zoolock_*_new`; each is left at its default unless set. Not for two
/// threads at once. May be freed, and changed, once the lock is made. Bad values are told as for
/// `zoolock_session_options`.
#[derive(Default)]
pub struct zoolock_lock_options {
    naming: Naming,
    data: Option<Vec<u8>>,
    acl: Option<Acl>,
    keep: Option<Duration>,
    mistakes: Mistakes,
}

/// The names that contenders get. Every naming is understood, whatever is written. Values are
/// append-only.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum zoolock_naming {
    /// Curator's, which go-zookeeper shares. The default.
    ZOOLOCK_NAMING_CURATOR = 0,
    /// kazoo's.
    ZOOLOCK_NAMING_KAZOO = 1,
}

impl Options for zoolock_lock_options {
    fn mistakes(&mut self) -> &mut Mistakes {
        &mut self.mistakes
    }
}

/// The core's form of the options, or the defaults.
///
/// # Safety
/// `options` is NULL or a live handle.
pub(crate) unsafe fn inner(
    operation: &'static str,
    options: *const zoolock_lock_options,
) -> Result<LockOptions> {
    // SAFETY: as promised by the caller.
    let Some(options) = (unsafe { Lent::optional(options) }) else {
        return Ok(LockOptions::new());
    };
    options.mistakes.check(operation)?;
    let mut inner = LockOptions::new().naming(options.naming);
    if let Some(data) = &options.data {
        inner = inner.data(data.clone());
    }
    if let Some(acl) = &options.acl {
        inner = inner.acl(acl.clone());
    }
    if let Some(idle) = options.keep {
        inner = inner.keep(idle);
    }
    Ok(inner)
}

/// Options with every default. Never blocks. NULL only if zoolock itself fails,
/// which is a bug to report.
#[unsafe(no_mangle)]
pub extern "C" fn zoolock_lock_options_new() -> *mut zoolock_lock_options {
    boundary("lock_options_new", || {
        Ok(hand_out(zoolock_lock_options::default()))
    })
    .unwrap_or(std::ptr::null_mut())
}

/// Frees options. NULL is ignored. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_lock_options_free(options: *mut zoolock_lock_options) {
    // SAFETY: the caller vouches for its handles.
    unsafe { pointer::free(options) }
}

/// The names that contenders get: one of `zoolock_naming`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_lock_options_set_naming(
    options: *mut zoolock_lock_options,
    naming: i32,
) -> zoolock_status {
    let change = |options: &mut zoolock_lock_options| {
        options.mistakes.forget("naming");
        options.naming = match naming {
            n if n == zoolock_naming::ZOOLOCK_NAMING_CURATOR as i32 => Naming::Curator,
            n if n == zoolock_naming::ZOOLOCK_NAMING_KAZOO as i32 => Naming::Kazoo,
            other => {
                let problem = format!("{other} is none of zoolock_naming");
                return Err(Error::invalid_argument("set", "naming", problem));
            }
        };
        Ok(())
    };
    // SAFETY: as above.
    unsafe { set(options, "naming", change) }
}

/// Data of the contender node, `length` bytes, copied, at most 512 KiB. Default: the session's
/// identity. `data` may be NULL if `length` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_lock_options_set_data(
    options: *mut zoolock_lock_options,
    data: *const c_void,
    length: usize,
) -> zoolock_status {
    let change = |options: &mut zoolock_lock_options| {
        options.mistakes.forget("data");
        options.data = Some(match (data.is_null(), length) {
            (_, 0) => Vec::new(),
            (true, _) => return Err(null("set", "data")),
            (false, _) if isize::try_from(length).is_err() => {
                return Err(Error::invalid_argument(
                    "set",
                    "data",
                    "is longer than memory",
                ));
            }
            // SAFETY: not NULL, hence readable for its length.
            (false, _) => unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) }.to_vec(),
        });
        Ok(())
    };
    // SAFETY: as above.
    unsafe { set(options, "data", change) }
}

/// Keeps the contender at a release, so that the next acquire in this process costs no request; it is
/// given up when nobody here has used it for so long, 1 ms to a day, or when anybody else comes. Default:
/// off. For mutexes and re-entrant mutexes. The token is then the pair of `zoolock_guard_fencing_token`
/// and `zoolock_guard_grant_count`, to be compared whole (R2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_lock_options_set_keep_ms(
    options: *mut zoolock_lock_options,
    idle_ms: i64,
) -> zoolock_status {
    let change = |options: &mut zoolock_lock_options| {
        options.mistakes.forget("keep");
        options.keep = Some(milliseconds("set", "keep", idle_ms)?);
        Ok(())
    };
    // SAFETY: as above.
    unsafe { set(options, "keep", change) }
}

/// Nodes that anyone may do anything with, whatever the session's ACL is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_lock_options_set_acl_open(
    options: *mut zoolock_lock_options,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe { set(options, "acl", |options| replace_acl(options, Acl::Open)) }
}

/// Nodes that only the session's credentials may change, as
/// `zoolock_session_options_set_acl_creator`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_lock_options_set_acl_creator(
    options: *mut zoolock_lock_options,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe { set(options, "acl", |options| replace_acl(options, Acl::Creator)) }
}

/// Adds an entry to a list of the lock's own, as `zoolock_session_options_add_acl_entry`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_lock_options_add_acl_entry(
    options: *mut zoolock_lock_options,
    permissions: u32,
    scheme: *const c_char,
    id: *const c_char,
) -> zoolock_status {
    let change = |options: &mut zoolock_lock_options| {
        // SAFETY: the caller vouches for its strings.
        unsafe { acl::add_entry(&mut options.acl, permissions, scheme, id) }
    };
    // SAFETY: as above.
    unsafe { set(options, "acl", change) }
}

fn replace_acl(options: &mut zoolock_lock_options, acl: Acl) -> Result<()> {
    options.mistakes.forget("acl");
    options.acl = Some(acl);
    Ok(())
}
