//! Every pointer that crosses the boundary goes through here. Who owns the handle behind it is in
//! the type: [`Lent`] and [`LentMut`] stay the caller's, [`Given`] is taken from the caller,
//! [`Place`] receives a handle that becomes the caller's.

use std::ops::{Deref, DerefMut};

use zoolock_core::{Error, Result};

use crate::boundary::boundary;

/// A handle that the caller keeps and lends for the call.
pub(crate) struct Lent<'a, T>(&'a T);

/// A handle that the caller keeps and lends for the call, to be changed by it alone.
pub(crate) struct LentMut<'a, T>(&'a mut T);

/// A handle that the caller gives up.
pub(crate) struct Given<T> {
    _handle: Box<T>,
}

/// Where a handle goes that the caller will own. NULL until then.
pub(crate) struct Place<T>(*mut *mut T);

/// The error for a NULL where there must be none.
pub(crate) fn null(operation: &'static str, argument: &str) -> Error {
    Error::invalid_argument(operation, argument, "is NULL")
}

impl<'a, T> Lent<'a, T> {
    /// # Safety
    /// `pointer` is NULL or a live handle that outlives `'a`.
    pub(crate) unsafe fn new(
        operation: &'static str,
        argument: &str,
        pointer: *const T,
    ) -> Result<Lent<'a, T>> {
        // SAFETY: as promised by the caller.
        unsafe { Lent::optional(pointer) }.ok_or_else(|| null(operation, argument))
    }

    /// A handle that may be left out.
    ///
    /// # Safety
    /// As for [`Lent::new`].
    pub(crate) unsafe fn optional(pointer: *const T) -> Option<Lent<'a, T>> {
        // SAFETY: as promised by the caller.
        unsafe { pointer.as_ref() }.map(Lent)
    }

    /// The handle, for as long as it is lent.
    pub(crate) fn get(&self) -> &'a T {
        self.0
    }
}

impl<'a, T> LentMut<'a, T> {
    /// # Safety
    /// `pointer` is NULL or a live handle that outlives `'a` and that no other thread uses.
    pub(crate) unsafe fn new(
        operation: &'static str,
        argument: &str,
        pointer: *mut T,
    ) -> Result<LentMut<'a, T>> {
        // SAFETY: as promised by the caller.
        unsafe { pointer.as_mut() }
            .map(LentMut)
            .ok_or_else(|| null(operation, argument))
    }
}

impl<T> Given<T> {
    /// `None` for NULL, which every `*_free` ignores.
    ///
    /// # Safety
    /// `pointer` is NULL or a handle from [`Place::put`] or [`hand_out`] that was not given up yet.
    pub(crate) unsafe fn new(pointer: *mut T) -> Option<Given<T>> {
        // SAFETY: handles are leaked boxes.
        (!pointer.is_null()).then(|| Given {
            _handle: unsafe { Box::from_raw(pointer) },
        })
    }
}

/// The body of every `*_free`.
///
/// # Safety
/// As for [`Given::new`].
pub(crate) unsafe fn free<T>(pointer: *mut T) {
    let freed = boundary("free", || {
        // SAFETY: as promised by the caller.
        drop(unsafe { Given::new(pointer) });
        Ok(())
    });
    // A `*_free` has nobody to tell, and what panicked was not released.
    drop(freed);
}

impl<T> Place<T> {
    /// Sets the place to NULL, so that a failed call leaves nothing stale there.
    ///
    /// # Safety
    /// `pointer` is NULL or writable, and stays so while the place is used.
    pub(crate) unsafe fn new(
        operation: &'static str,
        argument: &str,
        pointer: *mut *mut T,
    ) -> Result<Place<T>> {
        if pointer.is_null() {
            return Err(null(operation, argument));
        }
        // SAFETY: not NULL, hence writable. What was there may be uninitialised: not read.
        unsafe { pointer.write(std::ptr::null_mut()) };
        Ok(Place(pointer))
    }

    /// Makes the handle the caller's.
    pub(crate) fn put(self, handle: T) {
        // SAFETY: writable, by the promise to `new`.
        unsafe { self.0.write(hand_out(handle)) };
    }
}

/// Makes a handle the caller's, to be given up by its `*_free`.
pub(crate) fn hand_out<T>(handle: T) -> *mut T {
    Box::into_raw(Box::new(handle))
}

/// Writes a plain value for the caller.
///
/// # Safety
/// `pointer` is NULL or writable.
pub(crate) unsafe fn write<T>(
    operation: &'static str,
    argument: &str,
    pointer: *mut T,
    value: T,
) -> Result<()> {
    if pointer.is_null() {
        return Err(null(operation, argument));
    }
    // SAFETY: not NULL, hence writable.
    unsafe { pointer.write(value) };
    Ok(())
}

impl<T> Deref for Lent<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}

impl<T> Deref for LentMut<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}

impl<T> DerefMut for LentMut<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0
    }
}
