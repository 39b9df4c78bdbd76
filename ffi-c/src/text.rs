//! Text in and out. In: NUL-terminated UTF-8. Out: NUL-terminated, owned by the handle it is from.

use std::ffi::{CStr, CString, c_char};

use zoolock_core::{Error, Result};

use crate::pointer;

/// The bytes of an argument.
///
/// # Safety
/// `pointer` is NULL or a NUL-terminated string that outlives `'a`.
pub(crate) unsafe fn bytes<'a>(
    operation: &'static str,
    argument: &str,
    pointer: *const c_char,
) -> Result<&'a [u8]> {
    if pointer.is_null() {
        return Err(pointer::null(operation, argument));
    }
    // SAFETY: not NULL, hence NUL-terminated.
    Ok(unsafe { CStr::from_ptr(pointer) }.to_bytes())
}

/// The text of an argument.
///
/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn text<'a>(
    operation: &'static str,
    argument: &str,
    pointer: *const c_char,
) -> Result<&'a str> {
    // SAFETY: as promised by the caller.
    let bytes = unsafe { bytes(operation, argument, pointer) }?;
    std::str::from_utf8(bytes)
        .map_err(|_| Error::invalid_argument(operation, argument, "is not valid UTF-8"))
}

/// Text for C. A NUL inside, which only another library's node data can hold, is replaced.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text)
        .or_else(|_| CString::new(text.replace('\0', "\u{fffd}")))
        .unwrap_or_default()
}
