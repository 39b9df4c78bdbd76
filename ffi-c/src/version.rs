//! The library's version.

use std::ffi::{CStr, c_char};

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version holds no NUL"),
    };

/// The version of this library, such as `"1.2.3"`. The text lives as long as the program. Never
/// blocks.
#[unsafe(no_mangle)]
pub extern "C" fn zoolock_version() -> *const c_char {
    VERSION.as_ptr()
}
