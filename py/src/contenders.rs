//! Who queues on a path, as Python's `Contender`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use zoolock::Contender;

/// The instances of the Python class.
pub(crate) fn to_python(py: Python<'_>, contenders: Vec<Contender>) -> PyResult<Vec<Py<PyAny>>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.import(py, "zoolock._contender", "Contender")?;
    contenders
        .into_iter()
        .map(|contender| {
            class
                .call1((
                    contender.node_path,
                    contender.sequence,
                    contender.identity,
                    contender.session_id,
                    contender.holds,
                ))
                .map(Bound::unbind)
        })
        .collect()
}
