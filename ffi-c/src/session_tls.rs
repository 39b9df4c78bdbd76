//! TLS options of a session.

use std::ffi::c_char;

use zoolock_core::{Result, Tls};

use crate::mistakes::{Options, set};
use crate::session_options::zoolock_session_options;
use crate::status::zoolock_status;
use crate::text::text;

/// TLS towards the servers, trusting the platform's authorities; or none, which is the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_set_tls(
    options: *mut zoolock_session_options,
    tls: bool,
) -> zoolock_status {
    let change = |options: &mut zoolock_session_options| {
        options.tls = match options.tls.take() {
            _ if !tls => None,
            Some(known) => Some(known),
            None => Some(Tls::default()),
        };
        Ok(())
    };
    // SAFETY: the caller vouches for its handles.
    unsafe { set(options, "tls", change) }
}

/// File with the authorities to trust, PEM. Turns TLS on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_set_tls_ca(
    options: *mut zoolock_session_options,
    file: *const c_char,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe { set_file(options, "tls_ca", file, |tls, file| tls.ca = Some(file)) }
}

/// File with the client's certificate chain, PEM. Turns TLS on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_set_tls_cert(
    options: *mut zoolock_session_options,
    file: *const c_char,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe { set_file(options, "tls_cert", file, |tls, file| tls.cert = Some(file)) }
}

/// File with the client's private key, PEM. Turns TLS on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_set_tls_key(
    options: *mut zoolock_session_options,
    file: *const c_char,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe { set_file(options, "tls_key", file, |tls, file| tls.key = Some(file)) }
}

/// Whether the server's name is checked against its certificate. Default true. Turns TLS on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_options_set_tls_check_server_name(
    options: *mut zoolock_session_options,
    check_server_name: bool,
) -> zoolock_status {
    let change = |options: &mut zoolock_session_options| {
        options.tls.get_or_insert_default().check_server_name = check_server_name;
        Ok(())
    };
    // SAFETY: as above.
    unsafe { set(options, "tls_check_server_name", change) }
}

unsafe fn set_file(
    options: *mut zoolock_session_options,
    option: &'static str,
    file: *const c_char,
    store: impl FnOnce(&mut Tls, String),
) -> zoolock_status {
    let change = |options: &mut zoolock_session_options| -> Result<()> {
        options.mistakes().forget(option);
        // SAFETY: the caller vouches for its strings.
        let file = unsafe { text("set", option, file) }?;
        store(options.tls.get_or_insert_default(), file.to_owned());
        Ok(())
    };
    // SAFETY: as above.
    unsafe { set(options, option, change) }
}
