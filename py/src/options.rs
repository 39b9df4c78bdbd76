//! Options of sessions and locks, from Python's values.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use zoolock::{
    Acl, AclEntry, Backoff, Error, LeaseConfirmation, LockOptions, Naming, SessionBuilder, Tls,
};

use crate::arguments::{bytes, flag, seconds, text, wrong_type};
use crate::errors::OrRaise;

/// A word of a fixed set.
fn word<T>(
    operation: &'static str,
    argument: &str,
    value: &Bound<'_, PyAny>,
    known: &[(&str, T)],
) -> PyResult<T>
where
    T: Clone,
{
    let given = text(operation, argument, value)?;
    match known.iter().find(|(name, _)| *name == given) {
        Some((_, meaning)) => Ok(meaning.clone()),
        None => {
            let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            let problem = format!("must be one of {}", names.join(", "));
            Err(Error::invalid_argument(operation, argument, problem)).or_raise(value.py())
        }
    }
}

/// "open", "creator", or an iterable of (permissions, scheme, id).
fn acl(operation: &'static str, value: &Bound<'_, PyAny>) -> PyResult<Acl> {
    if value.is_instance_of::<PyString>() {
        let known = [("open", Acl::Open), ("creator", Acl::Creator)];
        return word(operation, "acl", value, &known);
    }
    let wrong = || {
        wrong_type(
            "acl",
            "a string or a list of (permissions, scheme, id)",
            value,
        )
    };
    value
        .try_iter()
        .map_err(|_| wrong())?
        .map(|entry| {
            let entry = entry?;
            let (permissions, scheme, id) = entry
                .extract::<(i64, Bound<'_, PyAny>, Bound<'_, PyAny>)>()
                .map_err(|_| wrong())?;
            Ok(AclEntry {
                // What does not fit is no sum of permissions, as the core says of 0.
                permissions: u32::try_from(permissions).unwrap_or(0),
                scheme: text(operation, "acl", &scheme)?,
                id: text(operation, "acl", &id)?,
            })
        })
        .collect::<PyResult<_>>()
        .map(Acl::List)
}

/// Adds the credentials of an iterable of (scheme, credentials).
fn add_auth(mut builder: SessionBuilder, value: &Bound<'_, PyAny>) -> PyResult<SessionBuilder> {
    let wrong = || {
        // Not even the type of what is inside: this is where secrets are.
        PyTypeError::new_err("auth must be a list of (scheme, credentials)")
    };
    if value.is_instance_of::<PyString>() {
        return Err(wrong());
    }
    for entry in value.try_iter().map_err(|_| wrong())? {
        let (scheme, credentials) = entry?
            .extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()
            .map_err(|_| wrong())?;
        let scheme = text("connect", "auth", &scheme)?;
        builder = builder.auth(scheme, bytes("connect", "auth", &credentials)?);
    }
    Ok(builder)
}

/// (base, max, retries) or (delay, None, retries), as the Python side reduces its classes to.
pub(crate) type BackoffArgument<'py> = (
    Bound<'py, PyAny>,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
);

fn backoff(py: Python<'_>, (first, max, retries): BackoffArgument<'_>) -> PyResult<Backoff> {
    let pause = |part: &str, value| seconds("connect", &format!("backoff.{part}"), value);
    let retries = retries
        .map(|value| match value.extract::<i64>() {
            Ok(number) => u32::try_from(number)
                .map_err(|_| {
                    let problem = "must be 0 to 4294967295";
                    Error::invalid_argument("connect", "backoff.retries", problem)
                })
                .or_raise(py),
            Err(_) => Err(wrong_type("backoff.retries", "an int or None", &value)),
        })
        .transpose()?;
    Ok(match max {
        Some(max) => Backoff::Exponential {
            base: pause("base", &first)?,
            max: pause("max", &max)?,
            retries,
        },
        None => Backoff::Fixed {
            delay: pause("delay", &first)?,
            retries,
        },
    })
}

/// (ca, cert, key, check_server_name), as the Python side reduces its class to.
pub(crate) type TlsArgument<'py> = (
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
    Bound<'py, PyAny>,
);

fn tls((ca, cert, key, check_server_name): TlsArgument<'_>) -> PyResult<Tls> {
    let file = |value: Option<Bound<'_, PyAny>>| {
        value
            .map(|value| text("connect", "tls", &value))
            .transpose()
    };
    Ok(Tls {
        ca: file(ca)?,
        cert: file(cert)?,
        key: file(key)?,
        check_server_name: flag("tls", &check_server_name)?,
    })
}

/// What `connect` takes, as it comes.
pub(crate) struct SessionArguments<'py> {
    pub(crate) session_timeout: Bound<'py, PyAny>,
    pub(crate) connect_timeout: Bound<'py, PyAny>,
    pub(crate) auth: Option<Bound<'py, PyAny>>,
    pub(crate) tls: Option<TlsArgument<'py>>,
    pub(crate) acl: Option<Bound<'py, PyAny>>,
    pub(crate) identity: Option<Bound<'py, PyAny>>,
    pub(crate) exclusive: Bound<'py, PyAny>,
    pub(crate) backoff: Option<BackoffArgument<'py>>,
    pub(crate) lease_confirmation: Bound<'py, PyAny>,
}

/// The options of a session.
pub(crate) fn session(py: Python<'_>, given: SessionArguments<'_>) -> PyResult<SessionBuilder> {
    let confirmations = [
        ("sync", LeaseConfirmation::Sync),
        ("write", LeaseConfirmation::Write),
    ];
    let mut builder = zoolock::Session::builder()
        .session_timeout(seconds(
            "connect",
            "session_timeout",
            &given.session_timeout,
        )?)
        .connect_timeout(seconds(
            "connect",
            "connect_timeout",
            &given.connect_timeout,
        )?)
        .exclusive(flag("exclusive", &given.exclusive)?)
        .lease_confirmation(word(
            "connect",
            "lease_confirmation",
            &given.lease_confirmation,
            &confirmations,
        )?);
    if let Some(auth) = given.auth {
        builder = add_auth(builder, &auth)?;
    }
    if let Some(value) = given.tls {
        builder = builder.tls(tls(value)?);
    }
    if let Some(value) = given.acl {
        builder = builder.acl(acl("connect", &value)?);
    }
    if let Some(identity) = given.identity {
        builder = builder.identity(text("connect", "identity", &identity)?);
    }
    if let Some(value) = given.backoff {
        builder = builder.backoff(backoff(py, value)?);
    }
    Ok(builder)
}

/// The options of a lock.
pub(crate) fn lock(
    operation: &'static str,
    naming: Option<&Bound<'_, PyAny>>,
    data: Option<&Bound<'_, PyAny>>,
    acl_value: Option<&Bound<'_, PyAny>>,
    keep: Option<&Bound<'_, PyAny>>,
) -> PyResult<LockOptions> {
    let namings = [("curator", Naming::Curator), ("kazoo", Naming::Kazoo)];
    let mut options = LockOptions::new();
    if let Some(naming) = naming {
        options = options.naming(word(operation, "naming", naming, &namings)?);
    }
    if let Some(data) = data {
        options = options.data(bytes(operation, "data", data)?);
    }
    if let Some(value) = acl_value {
        options = options.acl(acl(operation, value)?);
    }
    if let Some(idle) = keep {
        // It sounds like a switch, and would be a second.
        if idle.is_instance_of::<PyBool>() {
            return Err(wrong_type("keep", "a number of seconds", idle));
        }
        options = options.keep(seconds(operation, "keep", idle)?);
    }
    Ok(options)
}
