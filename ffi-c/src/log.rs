//! The core's log, brought to a callback of the application.
//!
//! Lines wait for the callback thread, since most come from the network thread, which must not wait
//! for the application. What to do with them is known to the callback thread alone, so that nothing
//! here takes a lock, which a child could inherit taken (R18).

use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char, c_void};
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};

use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use zoolock_core::{Error, ErrorKind, Result, binding};

use crate::boundary::call;
use crate::callback::{Freed, Userdata, zoolock_free_callback};
use crate::error::zoolock_error;
use crate::log_line::line;
use crate::status::zoolock_status;
use crate::text::{c_string, text};

/// Lines that wait for the callback thread at most; more are counted instead.
const WAITING_LIMIT: usize = 1000;

/// How much a line of the log matters. Values are append-only.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum zoolock_log_level {
    /// Not of a line: no lines are wanted.
    ZOOLOCK_LOG_LEVEL_OFF = 0,
    /// Something that should not happen, or that stays broken.
    ZOOLOCK_LOG_LEVEL_ERROR = 1,
    /// Locks may be lost, or others interfere.
    ZOOLOCK_LOG_LEVEL_WARN = 2,
    /// Connections and sessions that come and go.
    ZOOLOCK_LOG_LEVEL_INFO = 3,
    /// Details for a search for faults.
    ZOOLOCK_LOG_LEVEL_DEBUG = 4,
    /// Everything.
    ZOOLOCK_LOG_LEVEL_TRACE = 5,
}

/// Gets a line of the log, on the callback thread. `target` is the part of the library that it comes
/// from, `message` the line, UTF-8; both live until the callback returns. Must not throw, and should
/// not block.
pub type zoolock_log_callback = Option<
    unsafe extern "C-unwind" fn(
        level: zoolock_log_level,
        target: *const c_char,
        message: *const c_char,
        userdata: *mut c_void,
    ),
>;

/// The level that is wanted, in the process of this number alone.
static LEVEL: AtomicU8 = AtomicU8::new(0);
static PROCESS: AtomicU64 = AtomicU64::new(0);
static WAITING: AtomicUsize = AtomicUsize::new(0);
static LEFT_OUT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    // What hands a line over, or gets one, may itself have something to say.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
    // Of the callback thread.
    static LISTENER: RefCell<Option<Listener>> = const { RefCell::new(None) };
}

struct Listener {
    level: u8,
    function:
        unsafe extern "C-unwind" fn(zoolock_log_level, *const c_char, *const c_char, *mut c_void),
    userdata: Userdata,
    _freed: Option<Freed>,
}

/// Sends the library's log to `callback`: lines of `level`, one of `zoolock_log_level`, and of those
/// that matter more. It takes the place of the one before, for the whole process. With the level off,
/// or a NULL `callback`, there is no log, as at first. Lines that are on their way still go to the one
/// before: its `free_userdata` tells when none will. No line has credentials or key material (R19).
///
/// Lines come in order, on the callback thread: a slow callback delays the other callbacks, but no
/// lock. While more than 1000 wait, further ones are left out, and a line says how many. What the
/// callback itself does is not logged. `free_userdata` is called once, when `userdata` is no longer
/// used, and also if this fails; it may be NULL. Never blocks.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`; `ZOOLOCK_INTERNAL` if there can be no callback thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_set_log_callback(
    level: i32,
    callback: zoolock_log_callback,
    userdata: *mut c_void,
    free_userdata: zoolock_free_callback,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("set_log_callback", err, || {
        let freed = Freed::new(free_userdata, userdata);
        let level = u8::try_from(level)
            .ok()
            .filter(|level| *level <= zoolock_log_level::ZOOLOCK_LOG_LEVEL_TRACE as u8)
            .ok_or_else(|| {
                let problem = format_args!("{level} is no level of zoolock_log_level");
                Error::invalid_argument("set_log_callback", "level", problem)
            })?;
        let listener = callback
            .filter(|_| level != zoolock_log_level::ZOOLOCK_LOG_LEVEL_OFF as u8)
            .map(|function| Listener {
                level,
                function,
                userdata: Userdata(userdata),
                _freed: freed,
            });
        install()?;
        let wanted = listener.as_ref().map_or(0, |listener| listener.level);
        // Until the listener has changed, whichever wants more: it sorts out what it gets.
        LEVEL.fetch_max(wanted, Ordering::Relaxed);
        binding::post_callback(move || {
            let before = LISTENER.replace(listener);
            LEVEL.store(wanted, Ordering::Relaxed);
            drop(before);
        });
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Tells the log, as an error, that a callback of the application failed: for wrappers in languages
/// with exceptions, which must not leave a callback. `callback` says which, `why` what was thrown. With
/// no log callback it goes to the standard error stream.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_report_callback_failure(
    callback: *const c_char,
    why: *const c_char,
) -> zoolock_status {
    const OPERATION: &str = "report_callback_failure";
    call(OPERATION, std::ptr::null_mut(), || {
        // SAFETY: the caller vouches for its pointers.
        let (callback, why) = unsafe {
            (
                text(OPERATION, "callback", callback)?,
                String::from_utf8_lossy(crate::text::bytes(OPERATION, "why", why)?),
            )
        };
        if is_wanted(Level::ERROR) && !WITHIN.get() {
            tracing::error!(callback, %why, "a callback of the application failed");
        } else {
            eprintln!("zoolock: a callback of the application failed: {callback}: {why}");
        }
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Makes the log of this process come here.
fn install() -> Result<()> {
    // Starts the callback thread, or says why not.
    binding::start()?;
    let process = binding::process();
    if PROCESS.swap(process, Ordering::SeqCst) == process {
        return Ok(());
    }
    // A child has its parent's numbers, and none of its parent's lines.
    LEVEL.store(0, Ordering::Relaxed);
    WAITING.store(0, Ordering::Relaxed);
    LEFT_OUT.store(0, Ordering::Relaxed);
    match tracing::subscriber::set_global_default(Bridge) {
        Ok(()) => Ok(()),
        // The parent has done it.
        Err(_) if tracing::dispatcher::get_default(|set| set.is::<Bridge>()) => Ok(()),
        Err(source) => Err(Error::new(
            ErrorKind::Internal,
            "set_log_callback",
            "the log goes elsewhere already",
        )
        .with_source(source)),
    }
}

fn is_wanted(level: Level) -> bool {
    number(level) as u8 <= LEVEL.load(Ordering::Relaxed)
        && PROCESS.load(Ordering::Relaxed) == binding::process()
}

fn number(level: Level) -> zoolock_log_level {
    match level {
        Level::ERROR => zoolock_log_level::ZOOLOCK_LOG_LEVEL_ERROR,
        Level::WARN => zoolock_log_level::ZOOLOCK_LOG_LEVEL_WARN,
        Level::INFO => zoolock_log_level::ZOOLOCK_LOG_LEVEL_INFO,
        Level::DEBUG => zoolock_log_level::ZOOLOCK_LOG_LEVEL_DEBUG,
        Level::TRACE => zoolock_log_level::ZOOLOCK_LOG_LEVEL_TRACE,
    }
}

struct Bridge;

impl Subscriber for Bridge {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        // The level that is wanted may change.
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        is_wanted(*metadata.level())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::TRACE)
    }

    fn event(&self, event: &Event<'_>) {
        if WITHIN.replace(true) {
            return;
        }
        if WAITING.fetch_add(1, Ordering::Relaxed) < WAITING_LIMIT {
            let level = number(*event.metadata().level());
            let target = event.metadata().target();
            let message = line(event);
            binding::post_callback(move || {
                WAITING.fetch_sub(1, Ordering::Relaxed);
                deliver(level, target, &message);
                tell_of_those_left_out();
            });
        } else {
            WAITING.fetch_sub(1, Ordering::Relaxed);
            LEFT_OUT.fetch_add(1, Ordering::Relaxed);
        }
        WITHIN.set(false);
    }

    // The core has no spans.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn tell_of_those_left_out() {
    let count = LEFT_OUT.swap(0, Ordering::Relaxed);
    if count > 0 {
        let message = format!("{count} lines were left out: the log callback is slow");
        deliver(
            zoolock_log_level::ZOOLOCK_LOG_LEVEL_WARN,
            "zoolock::log",
            &message,
        );
    }
}

/// On the callback thread.
fn deliver(level: zoolock_log_level, target: &str, message: &str) {
    let (target, message): (CString, CString) = (c_string(target), c_string(message));
    // Nothing is borrowed while the application runs: it may set another callback, which is posted.
    let listener = LISTENER.with_borrow(|listener| {
        let wants = listener.as_ref().filter(|l| level as u8 <= l.level);
        wants.map(|l| (l.function, l.userdata))
    });
    if let Some((function, userdata)) = listener {
        WITHIN.set(true);
        // SAFETY: the application gave the function with this signature and this pointer, which lives
        // as long as the listener, which only this thread changes.
        unsafe { function(level, target.as_ptr(), message.as_ptr(), userdata.0) };
        WITHIN.set(false);
    }
}
