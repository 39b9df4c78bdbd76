//! Bad values given to setters of options. A setter has no place for an error, so the first of them
//! is told, with the option's name, by the call that uses the options (R20).

use zoolock_core::{Error, Result};

use crate::boundary::call;
use crate::pointer::LentMut;
use crate::status::zoolock_status;

/// What was wrong, by option.
#[derive(Clone, Default)]
pub(crate) struct Mistakes(Vec<(&'static str, Error)>);

impl Mistakes {
    /// Forgets what was wrong with an option that is set anew.
    pub(crate) fn forget(&mut self, option: &str) {
        self.0.retain(|(known, _)| *known != option);
    }

    fn note(&mut self, option: &'static str, error: Error) {
        self.0.push((option, error));
    }

    /// # Errors
    /// The first mistake, as the failure of `operation`.
    pub(crate) fn check(&self, operation: &'static str) -> Result<()> {
        match self.0.first() {
            Some((_, error)) => Err(error.clone().with_operation(operation)),
            None => Ok(()),
        }
    }
}

/// Options with a note of what was wrong.
pub(crate) trait Options {
    fn mistakes(&mut self) -> &mut Mistakes;
}

/// The body of every setter: `change` converts the value and stores it.
///
/// # Safety
/// `options` is NULL or a live handle that no other thread uses.
pub(crate) unsafe fn set<O: Options>(
    options: *mut O,
    option: &'static str,
    change: impl FnOnce(&mut O) -> Result<()>,
) -> zoolock_status {
    call("set", std::ptr::null_mut(), || {
        // SAFETY: as promised by the caller.
        let mut options = unsafe { LentMut::new("set", "options", options) }?;
        match change(&mut options) {
            Ok(()) => Ok(zoolock_status::ZOOLOCK_OK),
            Err(error) => {
                let status = zoolock_status::of(error.kind());
                options.mistakes().note(option, error);
                Ok(status)
            }
        }
    })
}
