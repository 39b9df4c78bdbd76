//! The Python module `zoolock._native`: thin classes over the core's handles.
//!
//! Nothing is decided here. A class converts its arguments, holds a handle of the core, waits
//! through [`wait`], and has errors made by the Python side. The public names are those of the
//! package `zoolock` around this module.

mod aio;
mod arguments;
mod callbacks;
mod cancel;
mod contenders;
mod entered;
mod errors;
mod exit;
mod guard;
mod hold;
mod lock;
mod locks;
mod logging;
mod options;
mod owner;
mod pickling;
mod releasing;
mod session;
mod statistics;
mod testing;
mod unreleased;
mod wait;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _native {
    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_export]
    use super::aio::{
        Call, Port, StateWatch, count, holds, refuse_closed, start_acquire, start_block,
        start_close, start_connect, start_contenders, start_guard_release, start_hold, start_lock,
        start_release, start_try_lock, start_wait_lost, token,
    };
    #[pymodule_export]
    use super::cancel::Cancel;
    #[pymodule_export]
    use super::exit::{close_all_sessions, end_callbacks};
    #[pymodule_export]
    use super::guard::Guard;
    #[pymodule_export]
    use super::hold::Hold;
    #[pymodule_export]
    use super::lock::Lock;
    #[pymodule_export]
    use super::locks::{Mutex, ReentrantMutex, RwLock, RwLockSide};
    #[pymodule_export]
    use super::owner::Owner;
    #[pymodule_export]
    use super::session::{Session, connect};
    #[pymodule_export]
    use super::testing::Server;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::logging::install();
        module.add("__version__", zoolock::VERSION)?;
        module.add("ERROR_CODES", super::errors::codes())
    }
}
