//! What the two drivers written in Rust share: reading options, writing errors.

use std::io::{self, Write};
use std::str::FromStr;
use std::time::Duration;

use zoolock::{
    Acl, AclEntry, Contender, Error, ErrorKind, LockOptions, Naming, SessionBuilder, Tls, Wait,
};

use crate::message::{EVENT, Message};

/// Writes one line at once: several threads write.
pub fn tell(message: &Message) {
    let line = format!("{message}\n");
    // The runner is gone when it does not read: the end of standard input ends the driver too.
    let _ = io::stdout().lock().write_all(line.as_bytes());
}

/// An event.
pub fn event(name: &str) -> Message {
    Message::new(EVENT, name)
}

/// An answer of one word.
pub fn answer(request: &Message, outcome: &str) -> Message {
    Message::new(&request.id, outcome)
}

/// The answer for an error.
pub fn error(request: &Message, error: &Error) -> Message {
    answer(request, "error")
        .with("kind", kind(error.kind()))
        .with("operation", error.operation())
        .with("path", error.path().unwrap_or_default())
        .with("message", error.message())
}

/// The name of a kind in the protocol, which is Rust's own.
fn kind(kind: ErrorKind) -> String {
    format!("{kind:?}")
}

/// The answer for a request that the driver does not understand. No scenario expects it.
pub fn misunderstood(request: &Message, problem: &str) -> Message {
    answer(request, "misunderstood").with("message", problem)
}

/// The answer for an attempt that was withdrawn by dropping its future.
pub fn withdrawn(request: &Message) -> Message {
    answer(request, "error")
        .with("kind", kind(ErrorKind::Cancelled))
        .with("message", "the future was dropped")
}

/// The answer to `contenders`.
pub fn contenders(request: &Message, contenders: &[Contender]) -> Message {
    contenders
        .iter()
        .fold(answer(request, "ok"), |answer, contender| {
            let holds = if contender.holds { "holds" } else { "waits" };
            let Contender {
                sequence,
                session_id,
                node_path,
                identity,
                ..
            } = contender;
            let text = format!("{holds},{sequence},{session_id},{node_path},{identity}");
            answer.with("contender", text)
        })
}

/// A field that has to be there.
///
/// # Errors
/// If it is not.
pub fn field<'a>(request: &'a Message, key: &str) -> Result<&'a str, String> {
    request.get(key).ok_or_else(|| format!("{key} is missing"))
}

/// A number, if the field is there.
///
/// # Errors
/// If it is no number.
pub fn number<T: FromStr>(request: &Message, key: &str) -> Result<Option<T>, String> {
    let value = request.get(key).map(str::parse).transpose();
    value.map_err(|_| format!("{key} is no number that this driver can say"))
}

/// The options of a session.
///
/// # Errors
/// If one cannot be said in Rust.
pub fn builder(request: &Message) -> Result<SessionBuilder, String> {
    let mut builder = zoolock::Session::builder();
    if let Some(ms) = number(request, "session_timeout_ms")? {
        builder = builder.session_timeout(Duration::from_millis(ms));
    }
    if let Some(ms) = number(request, "connect_timeout_ms")? {
        builder = builder.connect_timeout(Duration::from_millis(ms));
    }
    if let Some(identity) = request.get("identity") {
        builder = builder.identity(identity);
    }
    if request.get("exclusive").is_some() {
        builder = builder.exclusive(true);
    }
    if let Some(credentials) = request.get("auth") {
        let scheme = request.get("auth_scheme").unwrap_or("digest");
        builder = builder.auth(scheme, credentials);
    }
    if let Some(tls) = tls(request) {
        builder = builder.tls(tls);
    }
    if let Some(text) = request.get("acl") {
        builder = builder.acl(acl(text)?);
    }
    Ok(builder)
}

fn tls(request: &Message) -> Option<Tls> {
    let file = |key: &str| request.get(key).map(str::to_owned);
    request.get("tls")?;
    Some(Tls {
        ca: file("tls_ca"),
        cert: file("tls_cert"),
        key: file("tls_key"),
        check_server_name: request.get("tls_any_name").is_none(),
    })
}

/// `open`, `creator`, or entries such as `31 digest user:hash;1 world anyone`.
fn acl(text: &str) -> Result<Acl, String> {
    let entry = |text: &str| {
        let mut words = text.splitn(3, ' ');
        let (Some(permissions), Some(scheme), Some(id)) =
            (words.next(), words.next(), words.next())
        else {
            return Err(format!("`{text}` is no entry"));
        };
        Ok(AclEntry {
            permissions: permissions
                .parse()
                .map_err(|_| format!("`{text}` has no permissions"))?,
            scheme: scheme.to_owned(),
            id: id.to_owned(),
        })
    };
    match text {
        "open" => Ok(Acl::Open),
        "creator" => Ok(Acl::Creator),
        text => text
            .split(';')
            .map(entry)
            .collect::<Result<_, _>>()
            .map(Acl::List),
    }
}

/// Writes all that the library logs to standard error, if the runner wants to see it.
pub fn log() {
    if std::env::var_os("ZOOLOCK_DRIVER_LOG").is_some() {
        tracing_subscriber::fmt()
            .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
            .with_writer(io::stderr)
            .with_ansi(false)
            .init();
    }
}

/// The options of a lock.
///
/// # Errors
/// If one is not known.
pub fn lock_options(request: &Message) -> Result<LockOptions, String> {
    let mut options = LockOptions::new();
    match request.get("naming") {
        None => {}
        Some("curator") => options = options.naming(Naming::Curator),
        Some("kazoo") => options = options.naming(Naming::Kazoo),
        Some(other) => return Err(format!("{other} is no naming")),
    }
    if let Some(data) = request.get("data") {
        options = options.data(data);
    }
    if let Some(text) = request.get("acl") {
        options = options.acl(acl(text)?);
    }
    if let Some(ms) = number(request, "keep_ms")? {
        options = options.keep(Duration::from_millis(ms));
    }
    Ok(options)
}

/// How long a call for a lock waits.
///
/// # Errors
/// If the time-out is no number; in the inner result, if it is none that zoolock takes.
pub fn wait(request: &Message) -> Result<zoolock::Result<Wait>, String> {
    Ok(match number(request, "timeout_ms")? {
        None => Ok(Wait::Forever),
        Some(ms) => Wait::from_millis("lock", ms),
    })
}
