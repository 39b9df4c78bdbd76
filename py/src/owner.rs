//! `zoolock.Owner`.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use pyo3::prelude::*;

use crate::pickling;

/// Who re-entrancy counts for (R11). Every `Owner()` is somebody else.
///
/// The synchronous API needs none: there the owner is the calling thread.
#[pyclass(module = "zoolock", frozen, eq)]
#[derive(PartialEq)]
pub(crate) struct Owner(zoolock::Owner);

#[pymethods]
impl Owner {
    #[new]
    fn new() -> Owner {
        Owner(zoolock::Owner::new())
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__(&self) -> PyResult<()> {
        pickling::refuse("Owner")
    }
}
