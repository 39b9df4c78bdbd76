//! Options of a test server.

use std::ffi::c_char;
use std::net::IpAddr;
use std::time::Duration;

use zoolock_core::testing::{Server, ServerBuilder};
use zoolock_core::{Error, Result};

use crate::boundary::boundary;
use crate::milliseconds::milliseconds;
use crate::mistakes::{Mistakes, Options, set};
use crate::pointer::{self, hand_out};
use crate::status::zoolock_status;
use crate::text::text;

/// Options of a test server, for `zoolock_test_server_start`; each is left at its default unless
/// set. Not for two threads at once. May be freed, and changed, once the server is started.
///
/// A setter that is given a bad value answers `ZOOLOCK_INVALID_ARGUMENT`, and so does the start that
/// uses the options, with a message (R20). Values that only make sense together are checked by the
/// start.
#[derive(Default)]
pub struct zoolock_test_server_options {
    builder: ServerBuilder,
    mistakes: Mistakes,
}

impl Options for zoolock_test_server_options {
    fn mistakes(&mut self) -> &mut Mistakes {
        &mut self.mistakes
    }
}

impl zoolock_test_server_options {
    pub(crate) fn start(&self) -> Result<Server> {
        self.mistakes.check("start")?;
        self.builder.clone().start()
    }

    fn change(&mut self, change: impl FnOnce(ServerBuilder) -> ServerBuilder) {
        self.builder = change(std::mem::take(&mut self.builder));
    }
}

/// Options with every default. Never blocks. NULL only if something is broken.
#[unsafe(no_mangle)]
pub extern "C" fn zoolock_test_server_options_new() -> *mut zoolock_test_server_options {
    boundary("test_server_options_new", || {
        Ok(hand_out(zoolock_test_server_options::default()))
    })
    .unwrap_or(std::ptr::null_mut())
}

/// Frees options. NULL is ignored. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_options_free(
    options: *mut zoolock_test_server_options,
) {
    // SAFETY: the caller vouches for its handles.
    unsafe { pointer::free(options) }
}

/// The address to listen on, an IPv4 or IPv6 address. Default `127.0.0.1`. Anything but a loopback
/// address lets others in.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_options_set_address(
    options: *mut zoolock_test_server_options,
    address: *const c_char,
) -> zoolock_status {
    let option = "address";
    let change = |options: &mut zoolock_test_server_options| {
        options.mistakes.forget(option);
        // SAFETY: the caller vouches for its strings.
        let address = unsafe { text("set", option, address) }?;
        let address: IpAddr = address.parse().map_err(|_| {
            let problem = format!("{address:?} is no IP address");
            Error::invalid_argument("set", option, problem)
        })?;
        options.change(|builder| builder.address(address));
        Ok(())
    };
    // SAFETY: as above.
    unsafe { set(options, option, change) }
}

/// The port. Default 0: a free one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_options_set_port(
    options: *mut zoolock_test_server_options,
    port: u16,
) -> zoolock_status {
    let change = |options: &mut zoolock_test_server_options| {
        options.change(|builder| builder.port(port));
        Ok(())
    };
    // SAFETY: as above.
    unsafe { set(options, "port", change) }
}

/// ZooKeeper's `tickTime`, in milliseconds: sessions expire in steps of it. From 10 to 60000; default
/// 500.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_options_set_tick_ms(
    options: *mut zoolock_test_server_options,
    tick_ms: i64,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe { set_time(options, "tick_ms", tick_ms, ServerBuilder::tick) }
}

/// The shortest session timeout that clients get, in milliseconds. Default, and least, two ticks (R1).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_options_set_min_session_timeout_ms(
    options: *mut zoolock_test_server_options,
    min_session_timeout_ms: i64,
) -> zoolock_status {
    let (option, value) = ("min_session_timeout_ms", min_session_timeout_ms);
    // SAFETY: as above.
    unsafe { set_time(options, option, value, ServerBuilder::min_session_timeout) }
}

/// The longest session timeout that clients get, in milliseconds. Default the longest of 60000,
/// twenty ticks, and the shortest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_options_set_max_session_timeout_ms(
    options: *mut zoolock_test_server_options,
    max_session_timeout_ms: i64,
) -> zoolock_status {
    let (option, value) = ("max_session_timeout_ms", max_session_timeout_ms);
    // SAFETY: as above.
    unsafe { set_time(options, option, value, ServerBuilder::max_session_timeout) }
}

/// How often empty containers are removed, in milliseconds. From 1 to a day; default 60000.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_options_set_container_check_ms(
    options: *mut zoolock_test_server_options,
    container_check_ms: i64,
) -> zoolock_status {
    let (option, value) = ("container_check_ms", container_check_ms);
    // SAFETY: as above.
    unsafe { set_time(options, option, value, ServerBuilder::container_check) }
}

/// # Safety
/// As for [`set`].
unsafe fn set_time(
    options: *mut zoolock_test_server_options,
    option: &'static str,
    value: i64,
    apply: fn(ServerBuilder, Duration) -> ServerBuilder,
) -> zoolock_status {
    let change = |options: &mut zoolock_test_server_options| {
        options.mistakes.forget(option);
        let value = milliseconds("set", option, value)?;
        options.change(|builder| apply(builder, value));
        Ok(())
    };
    // SAFETY: as promised by the caller.
    unsafe { set(options, option, change) }
}
