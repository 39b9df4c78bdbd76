//! Options of a session.

use std::ffi::c_char;

use zoolock_core::{Acl, Backoff, Error, LeaseConfirmation, Result, SessionBuilder, Tls};

use crate::acl;
use crate::boundary::boundary;
use crate::milliseconds::milliseconds;
use crate::mistakes::{Mistakes, Options, set};
use crate::pointer::{self, hand_out};
use crate::status::zoolock_status;
use crate::text::{bytes, text};

/// Options of a session, for `zoolock_session_connect`; each is left at its default unless set. Not
/// for two threads at once. May be freed, and changed, once the session is connected.
///
/// A setter that is given a bad value answers `ZOOLOCK_INVALID_ARGUMENT`, and so does the connect
/// that uses the options, with a message (R20). Values that only make sense together are checked by
/// the connect.
#[derive(Default)]
pub struct zoolock_session_options {
    builder: SessionBuilder,
    acl: Option<Acl>,
    pub(crate) tls: Option<Tls>,
    mistakes: Mistakes,
}

/// What renews the leases of held locks (R3). Values are append-only.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum zoolock_lease_confirmation {
    /// `sync`, which the leader answers without asking its quorum. The default.
    ZOOLOCK_LEASE_CONFIRMATION_SYNC = 0,
    /// A quorum write, for those who restart followers behind a partition.
    ZOOLOCK_LEASE_CONFIRMATION_WRITE = 1,
}

use zoolock_lease_confirmation::*;

impl Options for zoolock_session_options {
    fn mistakes(&mut self) -> &mut Mistakes {
        &mut self.mistakes
    }
}

impl zoolock_session_options {
    /// The core's form of the options.
    pub(crate) fn builder(&self) -> Result<SessionBuilder> {
        self.mistakes.check("connect")?;
        let mut builder = self.builder.clone();
        if let Some(acl) = &self.acl {
            builder = builder.acl(acl.clone());
        }
        if let Some(tls) = &self.tls {
            builder = builder.tls(tls.clone());
        }
        Ok(builder)
    }

    fn change(&mut self, change: impl FnOnce(SessionBuilder) -> SessionBuilder) {
        self.builder = change(std::mem::take(&mut self.builder));
    }
}

/// Options with every default. Never blocks. NULL only if zoolock itself fails,
/// which is a bug to report.
#[unsafe(no_mangle)]
pub extern "C" fn zoolock_session_options_new() -> *mut zoolock_session_options {
    boundary("session_options_new", || {
        Ok(hand_out(zoolock_session_options::default()))
    })
    .unwrap_or(std::ptr::null_mut())
}

/// Frees options. NULL is ignored. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_free(options: *mut zoolock_session_options) {
    // SAFETY: the caller vouches for its handles.
    unsafe { pointer::free(options) }
}

/// The session timeout to ask the servers for, in milliseconds; they may grant another. Default
/// 15000.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_set_session_timeout_ms(
    options: *mut zoolock_session_options,
    session_timeout_ms: i64,
) -> zoolock_status {
    let option = "session_timeout_ms";
    let change = |options: &mut zoolock_session_options| {
        options.mistakes.forget(option);
        let timeout = milliseconds("set", option, session_timeout_ms)?;
        options.change(|builder| builder.session_timeout(timeout));
        Ok(())
    };
    // SAFETY: as above.
    unsafe { set(options, option, change) }
}

/// How long the connect, and a try, may take, in milliseconds. Default 10000.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_set_connect_timeout_ms(
    options: *mut zoolock_session_options,
    connect_timeout_ms: i64,
) -> zoolock_status {
    let option = "connect_timeout_ms";
    let change = |options: &mut zoolock_session_options| {
        options.mistakes.forget(option);
        let timeout = milliseconds("set", option, connect_timeout_ms)?;
        options.change(|builder| builder.connect_timeout(timeout));
        Ok(())
    };
    // SAFETY: as above.
    unsafe { set(options, option, change) }
}

/// Adds credentials, such as `"digest"` with `"user:password"`. They are copied, and never logged
/// (R19). With credentials the default ACL is the creator's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_add_auth(
    options: *mut zoolock_session_options,
    scheme: *const c_char,
    credentials: *const c_char,
) -> zoolock_status {
    let change = |options: &mut zoolock_session_options| {
        // SAFETY: the caller vouches for its strings.
        let (scheme, credentials) = unsafe {
            (
                text("set", "auth scheme", scheme)?,
                bytes("set", "auth credentials", credentials)?,
            )
        };
        options.change(|builder| builder.auth(scheme, credentials));
        Ok(())
    };
    // SAFETY: as above.
    unsafe { set(options, "auth", change) }
}

/// Nodes that anyone may do anything with. The default without credentials.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_set_acl_open(
    options: *mut zoolock_session_options,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe { set(options, "acl", |options| replace_acl(options, Acl::Open)) }
}

/// Nodes that only this session's credentials may change. Contenders can be read by anyone, so that
/// whoever queues behind them can watch them. The default with credentials; needs some.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_set_acl_creator(
    options: *mut zoolock_session_options,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe { set(options, "acl", |options| replace_acl(options, Acl::Creator)) }
}

/// Adds an entry to a list of one's own, which replaces the default ACL, for contenders and parents
/// alike. `permissions` is a sum of `ZOOLOCK_PERMISSION_*`. Whoever queues on a path needs to read
/// the contenders there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_add_acl_entry(
    options: *mut zoolock_session_options,
    permissions: u32,
    scheme: *const c_char,
    id: *const c_char,
) -> zoolock_status {
    let change = |options: &mut zoolock_session_options| {
        // SAFETY: the caller vouches for its strings.
        unsafe { acl::add_entry(&mut options.acl, permissions, scheme, id) }
    };
    // SAFETY: as above.
    unsafe { set(options, "acl", change) }
}

/// What contenders' data says of the holder, UTF-8; shown by `zoolock_*_contenders`. Default
/// `host/pid`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_set_identity(
    options: *mut zoolock_session_options,
    identity: *const c_char,
) -> zoolock_status {
    let option = "identity";
    let change = |options: &mut zoolock_session_options| {
        options.mistakes.forget(option);
        // SAFETY: the caller vouches for its strings.
        let identity = unsafe { text("set", option, identity) }?;
        options.change(|builder| builder.identity(identity));
        Ok(())
    };
    // SAFETY: as above.
    unsafe { set(options, option, change) }
}

/// Whether this handle gets a ZooKeeper session of its own, instead of sharing one with equal
/// options (R16). Default false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_set_exclusive(
    options: *mut zoolock_session_options,
    exclusive: bool,
) -> zoolock_status {
    let change = |options: &mut zoolock_session_options| {
        options.change(|builder| builder.exclusive(exclusive));
        Ok(())
    };
    // SAFETY: as above.
    unsafe { set(options, "exclusive", change) }
}

/// Pauses between the rounds of servers of the first connect: `base_ms`, doubled each time, at most
/// `max_ms`. `retries` is how many full rounds may fail, -1 for no limit but the connect timeout.
/// Default 50, 1000, -1. Later reconnects follow the session manager's own rules (R16).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_set_backoff_exponential(
    options: *mut zoolock_session_options,
    base_ms: i64,
    max_ms: i64,
    retries: i32,
) -> zoolock_status {
    let change = |options: &mut zoolock_session_options| {
        options.mistakes.forget("backoff");
        let backoff = Backoff::Exponential {
            base: milliseconds("set", "backoff base_ms", base_ms)?,
            max: milliseconds("set", "backoff max_ms", max_ms)?,
            retries: rounds(retries)?,
        };
        options.change(|builder| builder.backoff(backoff));
        Ok(())
    };
    // SAFETY: as above.
    unsafe { set(options, "backoff", change) }
}

/// Pauses of `delay_ms` between the rounds of servers of the first connect. `retries` as for
/// `zoolock_session_options_set_backoff_exponential`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_set_backoff_fixed(
    options: *mut zoolock_session_options,
    delay_ms: i64,
    retries: i32,
) -> zoolock_status {
    let change = |options: &mut zoolock_session_options| {
        options.mistakes.forget("backoff");
        let backoff = Backoff::Fixed {
            delay: milliseconds("set", "backoff delay_ms", delay_ms)?,
            retries: rounds(retries)?,
        };
        options.change(|builder| builder.backoff(backoff));
        Ok(())
    };
    // SAFETY: as above.
    unsafe { set(options, "backoff", change) }
}

/// What renews the leases of held locks (R3): one of `zoolock_lease_confirmation`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_set_lease_confirmation(
    options: *mut zoolock_session_options,
    lease_confirmation: i32,
) -> zoolock_status {
    let option = "lease_confirmation";
    let change = |options: &mut zoolock_session_options| {
        options.mistakes.forget(option);
        let confirmation = match lease_confirmation {
            n if n == ZOOLOCK_LEASE_CONFIRMATION_SYNC as i32 => LeaseConfirmation::Sync,
            n if n == ZOOLOCK_LEASE_CONFIRMATION_WRITE as i32 => LeaseConfirmation::Write,
            other => {
                let problem = format!("{other} is none of zoolock_lease_confirmation");
                return Err(Error::invalid_argument("set", option, problem));
            }
        };
        options.change(|builder| builder.lease_confirmation(confirmation));
        Ok(())
    };
    // SAFETY: as above.
    unsafe { set(options, option, change) }
}

fn replace_acl(options: &mut zoolock_session_options, acl: Acl) -> Result<()> {
    options.mistakes.forget("acl");
    options.acl = Some(acl);
    Ok(())
}

fn rounds(retries: i32) -> Result<Option<u32>> {
    if retries == -1 {
        return Ok(None);
    }
    u32::try_from(retries).map(Some).map_err(|_| {
        let problem = format!("{retries} is negative (-1 is no limit)");
        Error::invalid_argument("set", "backoff retries", problem)
    })
}
