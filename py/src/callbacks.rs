//! Python callbacks of guards and sessions, run on the core's callback thread.
//!
//! What the core is given holds only a number and a weak pointer, so that the network thread may
//! drop it without the GIL. The callables themselves belong to the Python object that they were
//! registered with, where the garbage collector sees them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::exit;

/// The process in which Python may be called; another one has no callback thread to wait for.
static EXPECTED_IN: AtomicU64 = AtomicU64::new(0);

/// Callables by number. Locked only with the GIL held and never while Python code runs, so nobody
/// waits for it and no fork finds it locked.
#[derive(Default)]
struct Table(Mutex<HashMap<u64, Py<PyAny>>>);

/// Tables whose Python object is gone but whose core side may still call.
static ORPHANS: Mutex<Vec<Arc<Table>>> = Mutex::new(Vec::new());

/// The callbacks of one Python object. As a field it has to come after the core's handle: dropped
/// then, it knows whether the core can still call.
#[derive(Default)]
pub(crate) struct Callbacks(Arc<Table>);

/// What the core is given: which callable to call.
pub(crate) struct Registered {
    table: Weak<Table>,
    key: u64,
}

impl Table {
    fn with<T>(&self, use_it: impl FnOnce(&mut HashMap<u64, Py<PyAny>>) -> T) -> T {
        use_it(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Callbacks {
    pub(crate) fn register(&self, callback: Py<PyAny>) -> Registered {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        expect();
        let key = NEXT.fetch_add(1, Ordering::Relaxed);
        self.0.with(|table| table.insert(key, callback));
        Registered {
            table: Arc::downgrade(&self.0),
            key,
        }
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // Never held while the collector runs; skipping an object would only delay its collection.
        match self.0.0.try_lock() {
            Ok(table) => table.values().try_for_each(|callback| visit.call(callback)),
            Err(_) => Ok(()),
        }
    }

    pub(crate) fn clear(&self) {
        let callbacks = self.0.with(std::mem::take);
        // Outside the lock: destructors may run any code.
        drop(callbacks);
    }
}

impl Drop for Callbacks {
    fn drop(&mut self) {
        if Arc::weak_count(&self.0) > 0 {
            let mut orphans = ORPHANS.lock().unwrap_or_else(PoisonError::into_inner);
            orphans.push(Arc::clone(&self.0));
        }
        drop_finished_orphans();
    }
}

/// Runs something with the GIL on the callback thread, some time.
pub(crate) fn post(run: impl FnOnce(Python<'_>) + Send + 'static) {
    expect();
    zoolock::binding::post_callback(move || attached(run));
}

fn attached(run: impl FnOnce(Python<'_>)) {
    if !exit::has_begun() {
        Python::try_attach(run);
    }
}

fn expect() {
    EXPECTED_IN.store(zoolock::binding::process(), Ordering::Release);
}

fn drop_finished_orphans() {
    let mut orphans = ORPHANS.lock().unwrap_or_else(PoisonError::into_inner);
    let (waiting, finished) = std::mem::take(&mut *orphans)
        .into_iter()
        .partition(|table| Arc::weak_count(table) > 0);
    *orphans = waiting;
    drop(orphans);
    // Outside the lock: destructors may run any code.
    drop::<Vec<_>>(finished);
}

impl Registered {
    /// Calls the callable, on the callback thread; it will not be called again.
    pub(crate) fn call_once(self) {
        self.attached(|py, table| {
            let callback = table.with(|table| table.remove(&self.key));
            if let Some(callback) = callback {
                call(callback.bind(py), &PyTuple::empty(py));
            }
        });
        drop(self);
        // Also lets go of what was called last.
        attached(|_| drop_finished_orphans());
    }

    /// Calls the callable with a word, on the callback thread.
    pub(crate) fn call(&self, word: &'static str) {
        self.attached(|py, table| {
            let callback =
                table.with(|table| table.get(&self.key).map(|found| found.clone_ref(py)));
            if let (Some(callback), Ok(arguments)) = (callback, PyTuple::new(py, [word])) {
                call(callback.bind(py), &arguments);
            }
        });
    }

    fn attached(&self, run: impl FnOnce(Python<'_>, &Table)) {
        attached(|py| {
            if let Some(table) = self.table.upgrade() {
                run(py, &table);
            }
        });
    }
}

/// Whether calls of Python may be under way in this process.
pub(crate) fn are_expected() -> bool {
    EXPECTED_IN.load(Ordering::Acquire) == zoolock::binding::process()
}

mod unwinding {
    //! Before Python 3.14 the interpreter ends foreign threads at its exit with `pthread_exit`,
    //! from inside any call that runs bytecode, and a forced unwind that meets Rust's frames
    //! aborts the process. Declared as unwinding, a call can have a destructor beside it that
    //! parks the thread for good instead.
    use pyo3::ffi::PyObject;

    unsafe extern "C-unwind" {
        pub(super) fn PyObject_CallObject(
            callable: *mut PyObject,
            arguments: *mut PyObject,
        ) -> *mut PyObject;
        pub(super) fn PyErr_WriteUnraisable(of: *mut PyObject);
        pub(super) fn Py_DecRef(object: *mut PyObject);
    }

    pub(super) struct ParkOnUnwind;

    impl Drop for ParkOnUnwind {
        fn drop(&mut self) {
            loop {
                std::thread::park();
            }
        }
    }
}

/// Calls on the callback thread; an exception goes to `sys.unraisablehook`, since nobody is there to catch it.
pub(crate) fn call(callback: &Bound<'_, PyAny>, arguments: &Bound<'_, PyTuple>) {
    let park = unwinding::ParkOnUnwind;
    // SAFETY: both pointers are of live objects, this thread is attached, and the reference
    // returned is given up once.
    unsafe {
        let result = unwinding::PyObject_CallObject(callback.as_ptr(), arguments.as_ptr());
        if result.is_null() {
            unwinding::PyErr_WriteUnraisable(callback.as_ptr());
        } else {
            unwinding::Py_DecRef(result);
        }
    }
    std::mem::forget(park);
}
