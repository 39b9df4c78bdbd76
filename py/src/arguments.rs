//! Arguments of Python's types to the core's. A wrong type is a `TypeError` as Python has it, a
//! wrong value `InvalidArgument` (R20); both name the argument.

use std::time::Duration;

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyString};
use zoolock::{Error, Wait, binding};

use crate::cancel::Cancel;
use crate::errors::OrRaise;
use crate::owner::Owner;

/// A number of seconds, unchecked.
fn number(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    match value.extract::<f64>() {
        Ok(number) => Ok(number),
        // An integer beyond all floats; the core says that it is too long.
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => Ok(f64::INFINITY),
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
            Err(wrong_type(argument, "a number of seconds", value))
        }
        Err(error) => Err(error),
    }
}

/// A length of time in seconds.
pub(crate) fn seconds(
    operation: &'static str,
    argument: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<Duration> {
    binding::seconds(operation, argument, number(argument, value)?).or_raise(value.py())
}

/// How long at most a call about the lock on `path` lasts; `None` is for ever.
pub(crate) fn limit(
    operation: &'static str,
    path: &str,
    value: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<Duration>> {
    value
        .map(|value| {
            binding::seconds(operation, "timeout", number("timeout", value)?)
                .map_err(|error| error.with_path(path))
                .or_raise(value.py())
        })
        .transpose()
}

/// A time-out for which `None` is for ever and zero a try.
pub(crate) fn timeout(
    operation: &'static str,
    path: &str,
    value: Option<&Bound<'_, PyAny>>,
) -> PyResult<Wait> {
    let (Some(value), Some(limit)) = (value, limit(operation, path, value)?) else {
        return Ok(Wait::Forever);
    };
    Wait::from_duration(operation, limit).or_raise(value.py())
}

/// The two arguments of `threading.Lock.acquire` of the lock on `path`.
pub(crate) fn acquire_wait(
    py: Python<'_>,
    path: &str,
    blocking: Option<&Bound<'_, PyAny>>,
    timeout: Option<&Bound<'_, PyAny>>,
) -> PyResult<Wait> {
    let blocking = blocking.map_or(Ok(true), Bound::is_truthy)?;
    let seconds = timeout.map_or(Ok(-1.0), |value| number("timeout", value))?;
    let wait = Wait::from_seconds("acquire", seconds)
        .map_err(|error| error.with_path(path))
        .or_raise(py)?;
    match (blocking, wait) {
        (true, wait) => Ok(wait),
        (false, Wait::Forever) => Ok(Wait::Try),
        (false, _) => Err(Error::invalid_argument(
            "acquire",
            "timeout",
            "cannot be given for a call that does not block",
        )
        .with_path(path))
        .or_raise(py),
    }
}

/// Text as UTF-8, which a Python string with lone surrogates is not.
pub(crate) fn text(
    operation: &'static str,
    argument: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let Ok(string) = value.cast::<PyString>() else {
        return Err(wrong_type(argument, "a string", value));
    };
    string
        .to_cow()
        .map(std::borrow::Cow::into_owned)
        .map_err(|_| Error::invalid_argument(operation, argument, "is not valid Unicode"))
        .or_raise(value.py())
}

/// Bytes, or text as UTF-8.
pub(crate) fn bytes(
    operation: &'static str,
    argument: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    if value.is_instance_of::<PyString>() {
        return text(operation, argument, value).map(String::into_bytes);
    }
    Err(wrong_type(argument, "bytes or a string", value))
}

/// True or False, and nothing that only stands for it.
pub(crate) fn flag(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match value.cast::<PyBool>() {
        Ok(flag) => Ok(flag.is_true()),
        Err(_) => Err(wrong_type(argument, "True or False", value)),
    }
}

/// A `zoolock.Cancel`, or none.
pub(crate) fn cancel(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<zoolock::Cancel>> {
    value
        .map(|value| match value.cast::<Cancel>() {
            Ok(cancel) => Ok(cancel.get().0.clone()),
            Err(_) => Err(wrong_type("cancel", "a zoolock.Cancel", value)),
        })
        .transpose()
}

/// A `zoolock.Owner`, or none.
pub(crate) fn given_owner(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<zoolock::Owner>> {
    value
        .map(|value| match value.cast::<Owner>() {
            Ok(owner) => Ok(owner.get().0.clone()),
            Err(_) => Err(wrong_type("owner", "a zoolock.Owner", value)),
        })
        .transpose()
}

/// A `zoolock.Owner`, or the one that stands for the calling thread.
pub(crate) fn owner(value: Option<&Bound<'_, PyAny>>) -> PyResult<zoolock::Owner> {
    Ok(given_owner(value)?.unwrap_or_else(zoolock::Owner::current_thread))
}

/// A whole number; `problem` says of one that does not fit what it should be.
pub(crate) fn integer<T: TryFrom<i64>>(
    operation: &'static str,
    argument: &str,
    value: &Bound<'_, PyAny>,
    problem: &str,
) -> PyResult<T> {
    let number = match value.extract::<i64>() {
        Ok(number) => T::try_from(number).ok(),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => None,
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
            return Err(wrong_type(argument, "an int", value));
        }
        Err(error) => return Err(error),
    };
    number
        .ok_or_else(|| Error::invalid_argument(operation, argument, problem))
        .or_raise(value.py())
}

/// Something to be called later.
pub(crate) fn callback(value: Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    if value.is_callable() {
        Ok(value.unbind())
    } else {
        Err(wrong_type("callback", "callable", &value))
    }
}

pub(crate) fn wrong_type(argument: &str, wanted: &str, value: &Bound<'_, PyAny>) -> PyErr {
    // Never the value itself: it may be a secret (R19).
    match value.get_type().name() {
        Ok(name) => PyTypeError::new_err(format!("{argument} must be {wanted}, not {name}")),
        Err(error) => error,
    }
}
