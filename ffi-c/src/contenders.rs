//! Who queues on a lock path.

use std::ffi::{CString, c_char};

use zoolock_core::{Contender, Pending, Result};

use crate::boundary::{boundary, call};
use crate::error::zoolock_error;
use crate::pointer::{self, Lent, Place};
use crate::status::zoolock_status;
use crate::text::c_string;

/// A contender as the server shows it: holder or waiter, of this library or another.
#[repr(C)]
pub struct zoolock_contender {
    /// Its node, without the session's chroot. Lives as long as the list.
    node_path: *const c_char,
    /// The number that the server gave it. Not a fencing token.
    sequence: i64,
    /// The node's data as text: zoolock writes the holder's identity there. Lives as long as the
    /// list.
    identity: *const c_char,
    /// The id of the ZooKeeper session that owns the node.
    session_id: i64,
    /// Whether the lock is its own by the order of the queue.
    holds: bool,
}

/// A list of contenders, in the order of the queue. For any thread.
pub struct zoolock_contenders {
    rows: Vec<zoolock_contender>,
    _texts: Vec<CString>,
}

impl zoolock_contenders {
    fn new(contenders: &[Contender]) -> zoolock_contenders {
        let mut texts = Vec::with_capacity(2 * contenders.len());
        let mut keep = |text: &str| {
            let text = c_string(text);
            // A string's bytes stay where they are when the string itself moves.
            let pointer = text.as_ptr();
            texts.push(text);
            pointer
        };
        let rows = contenders
            .iter()
            .map(|contender| zoolock_contender {
                node_path: keep(&contender.node_path),
                sequence: contender.sequence,
                identity: keep(&contender.identity),
                session_id: contender.session_id,
                holds: contender.holds,
            })
            .collect();
        zoolock_contenders {
            rows,
            _texts: texts,
        }
    }
}

/// Blocks for the answer of the call that `start` makes.
///
/// # Safety
/// The pointers are NULL or what their types say.
pub(crate) unsafe fn ask(
    contenders: *mut *mut zoolock_contenders,
    err: *mut *mut zoolock_error,
    start: impl FnOnce() -> Result<Pending<Vec<Contender>>>,
) -> zoolock_status {
    call("contenders", err, || {
        // SAFETY: as promised by the caller.
        let place = unsafe { Place::new("contenders", "contenders", contenders) }?;
        place.put(zoolock_contenders::new(&start()?.wait()?));
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// How many there are; 0 if `contenders` is NULL. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_contenders_count(contenders: *const zoolock_contenders) -> usize {
    // SAFETY: the caller vouches for its handles.
    boundary("contenders_count", || {
        Ok(unsafe { Lent::optional(contenders) }.map_or(0, |contenders| contenders.rows.len()))
    })
    .unwrap_or(0)
}

/// The contender at `index`, counted from 0; it lives as long as the list. NULL if there is none, or
/// `contenders` is NULL. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_contenders_get(
    contenders: *const zoolock_contenders,
    index: usize,
) -> *const zoolock_contender {
    boundary("contenders_get", || {
        // SAFETY: as above.
        let contenders = unsafe { Lent::new("contenders_get", "contenders", contenders) }?;
        Ok(contenders.get().rows.get(index).map(std::ptr::from_ref))
    })
    .ok()
    .flatten()
    .unwrap_or(std::ptr::null())
}

/// Frees a list. NULL is ignored. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_contenders_free(contenders: *mut zoolock_contenders) {
    // SAFETY: the caller vouches for its handles.
    unsafe { pointer::free(contenders) }
}
