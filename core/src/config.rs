//! Options, validated once, here, before anything is sent (R20).

use std::fmt;
use std::time::Duration;

use zeroize::Zeroize;

use crate::connect_string::ConnectString;
use crate::error::{Error, Result};
use crate::queue::names::Naming;
use crate::trust::Trust;

/// Longer than this is a mistake of units, not a wish.
const LONGEST: Duration = Duration::from_secs(10 * 366 * 24 * 3600);
/// The wire carries the session timeout as a positive 32-bit number of milliseconds.
const LONGEST_SESSION: Duration = Duration::from_millis(i32::MAX as u64);
/// What a server with its default `jute.maxbuffer` takes, less room for path, ACL and header.
const MOST_DATA: usize = 512 * 1024;

/// How long a kept contender may be idle.
const SHORTEST_IDLE: Duration = Duration::from_millis(1);
const LONGEST_IDLE: Duration = Duration::from_secs(24 * 3600);

/// Text that must not be shown (R19).
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Secret(pub(crate) Vec<u8>);

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// One entry of an access control list; see [`Acl::List`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct AclEntry {
    /// ZooKeeper's permission bits: READ 1, WRITE 2, CREATE 4, DELETE 8, ADMIN 16.
    pub permissions: u32,
    /// The scheme, such as `world`, `auth`, `digest`, `x509`.
    pub scheme: String,
    /// The identity within the scheme, such as `anyone` or `user:hash`.
    pub id: String,
}

/// Leaves out the id of a `digest` entry: it contains a fast hash of the password (R19).
impl fmt::Debug for AclEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = match self.scheme.as_str() {
            "digest" => "(hidden)",
            _ => &self.id,
        };
        f.debug_struct("AclEntry")
            .field("permissions", &self.permissions)
            .field("scheme", &self.scheme)
            .field("id", &id)
            .finish()
    }
}

/// Who may do what with the nodes that zoolock creates: contenders, and parents that are missing
/// (R15). For [`SessionBuilder::acl`](crate::SessionBuilder::acl) and [`LockOptions::acl`].
///
/// A contender needs READ for everyone who may queue behind it and has to watch it; taking and
/// releasing a lock need CREATE and DELETE on the lock path.
///
/// # Examples
/// ```
/// use zoolock::{Acl, AclEntry};
///
/// let entry = |permissions, scheme: &str, id: &str| AclEntry {
///     permissions,
///     scheme: scheme.to_owned(),
///     id: id.to_owned(),
/// };
/// let acl = Acl::List(vec![entry(31, "x509", "CN=billing"), entry(1, "world", "anyone")]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Acl {
    /// Anyone may do anything.
    Open,
    /// Contenders: everything for the creator, READ for anyone, so that successors can watch them;
    /// parents: everything for the creator. Needs credentials.
    Creator,
    /// As listed, for contenders and parents alike; not empty.
    List(Vec<AclEntry>),
}

/// What renews the lease of held locks (R3), every sixth of the session timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LeaseConfirmation {
    /// `sync`, which the leader answers without asking its quorum.
    #[default]
    Sync,
    /// A quorum write (`multi` of `check`), for those who restart followers behind a partition: R1 then
    /// assumes nothing of leaders that are cut off.
    Write,
}

/// How the first connect is retried: pauses between full rounds of the servers, each shortened by a
/// random part. Later reconnects follow the session manager's own rules (R16).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backoff {
    /// Pauses of `base · 2ⁿ`, at most `max`.
    Exponential {
        /// The first pause.
        base: Duration,
        /// The longest pause.
        max: Duration,
        /// Full rounds of servers that may fail; `None` for no limit but `connect_timeout`.
        retries: Option<u32>,
    },
    /// Pauses of one length.
    Fixed {
        /// The pause.
        delay: Duration,
        /// Full rounds of servers that may fail; `None` for no limit but `connect_timeout`.
        retries: Option<u32>,
    },
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff::Exponential {
            base: Duration::from_millis(50),
            max: Duration::from_secs(1),
            retries: None,
        }
    }
}

impl Backoff {
    pub(crate) fn pause(&self, failed_rounds: u32) -> Duration {
        match self {
            Backoff::Exponential { base, max, .. } => base
                .saturating_mul(2u32.saturating_pow(failed_rounds.saturating_sub(1)))
                .min(*max),
            Backoff::Fixed { delay, .. } => *delay,
        }
    }

    pub(crate) fn retries(&self) -> Option<u32> {
        match self {
            Backoff::Exponential { retries, .. } | Backoff::Fixed { retries, .. } => *retries,
        }
    }
}

/// TLS towards the servers. The files are read when the session is configured (a bad one is
/// `InvalidArgument`), and again for every later connection, so that renewed certificates are used
/// without a restart; files that cannot be read then change nothing, which is logged as a warning.
/// The platform's authorities are read once for each session. Key material is shown nowhere (R19).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tls {
    /// File with the trusted authorities, PEM; the platform's if left out.
    pub ca: Option<String>,
    /// File with the client's certificate chain, PEM.
    pub cert: Option<String>,
    /// File with the client's private key, PEM.
    pub key: Option<String>,
    /// Whether the server's name is checked against its certificate.
    pub check_server_name: bool,
}

impl Default for Tls {
    fn default() -> Self {
        Tls {
            ca: None,
            cert: None,
            key: None,
            check_server_name: true,
        }
    }
}

/// Everything about a session but its servers. Equal options share a session (R16).
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct SessionOptions {
    pub(crate) session_timeout: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) auth: Vec<(String, Secret)>,
    pub(crate) acl: Option<Acl>,
    pub(crate) identity: Option<String>,
    pub(crate) exclusive: bool,
    pub(crate) backoff: Backoff,
    pub(crate) lease_confirmation: LeaseConfirmation,
    pub(crate) tls: Option<Tls>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        SessionOptions {
            session_timeout: Duration::from_secs(15),
            connect_timeout: Duration::from_secs(10),
            auth: Vec::new(),
            acl: None,
            identity: None,
            exclusive: false,
            backoff: Backoff::default(),
            lease_confirmation: LeaseConfirmation::default(),
            tls: None,
        }
    }
}

/// Of the credentials no more than errors show (R19).
impl fmt::Debug for SessionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionOptions")
            .field("session_timeout", &self.session_timeout)
            .field("connect_timeout", &self.connect_timeout)
            .field("auth", &self.schemes())
            .field("acl", &self.acl)
            .field("identity", &self.identity)
            .field("exclusive", &self.exclusive)
            .field("backoff", &self.backoff)
            .field("lease_confirmation", &self.lease_confirmation)
            .field("tls", &self.tls)
            .finish()
    }
}

impl SessionOptions {
    /// The schemes of the credentials, for messages. Nothing that looks like credentials in a
    /// scheme's place (R19).
    pub(crate) fn schemes(&self) -> String {
        let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
        let shown = |scheme: &str| match scheme.len() <= 32 && scheme.chars().all(plain) {
            true => scheme.to_owned(),
            false => "(hidden)".to_owned(),
        };
        let schemes: Vec<_> = self.auth.iter().map(|(scheme, _)| shown(scheme)).collect();
        schemes.join(", ")
    }
}

/// Options and servers together, checked: what names a shared session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SessionConfig {
    pub(crate) servers: ConnectString,
    pub(crate) options: SessionOptions,
    pub(crate) acl: Acl,
    pub(crate) identity: String,
    /// What the TLS options name, if there are any.
    pub(crate) trust: Option<Trust>,
}

impl SessionConfig {
    pub(crate) fn new(hosts: Option<&str>, options: &SessionOptions) -> Result<SessionConfig> {
        let invalid = |argument: &str, problem: &dyn fmt::Display| {
            Error::invalid_argument("connect", argument, problem)
        };
        let from_environment;
        let hosts = match hosts {
            Some(hosts) => hosts,
            None => {
                from_environment = std::env::var_os("ZOOLOCK_HOSTS")
                    .map_or_else(
                        || Ok("127.0.0.1:2181".to_owned()),
                        |value| value.into_string(),
                    )
                    .map_err(|_| invalid("ZOOLOCK_HOSTS", &"is not valid UTF-8"))?;
                &from_environment
            }
        };
        let servers = ConnectString::parse(hosts).map_err(|why| invalid("hosts", &why))?;
        if options.session_timeout.as_millis() == 0 || options.session_timeout > LONGEST_SESSION {
            return Err(invalid(
                "session_timeout",
                &"must be at least 1 ms and less than 25 days",
            ));
        }
        if options.connect_timeout.is_zero() || options.connect_timeout > LONGEST {
            return Err(invalid(
                "connect_timeout",
                &"must be more than 0 and at most ten years",
            ));
        }
        for (scheme, credentials) in &options.auth {
            if scheme.len() + credentials.0.len() > MOST_DATA {
                return Err(invalid("auth", &"credentials must be at most 512 KiB"));
            }
            if scheme.is_empty() || scheme.contains(|c: char| c.is_control() || c == ' ') {
                return Err(invalid("auth", &"a scheme must be a plain, non-empty word"));
            }
        }
        let pauses = match &options.backoff {
            Backoff::Exponential { base, max, .. } => {
                if base.is_zero() || max < base {
                    return Err(invalid(
                        "backoff",
                        &"the first pause must be more than 0, and at most the longest",
                    ));
                }
                *max
            }
            Backoff::Fixed { delay, .. } => *delay,
        };
        if pauses > LONGEST {
            return Err(invalid("backoff", &"a pause must be at most ten years"));
        }
        let certified = options.tls.as_ref().is_some_and(|tls| tls.cert.is_some());
        let identified = certified || !options.auth.is_empty();
        let acl = options
            .acl
            .clone()
            .unwrap_or(if identified { Acl::Creator } else { Acl::Open });
        check_acl("connect", &acl, identified)?;
        let trust = options.tls.as_ref().map(Trust::read).transpose()?;
        let identity = options.identity.clone().unwrap_or_else(default_identity);
        if identity.len() > MOST_DATA {
            return Err(invalid("identity", &"must be at most 512 KiB"));
        }
        Ok(SessionConfig {
            servers,
            options: options.clone(),
            acl,
            identity,
            trust,
        })
    }

    /// The same configuration as a forked child needs it: the default identity names the process.
    pub(crate) fn for_this_process(&self) -> SessionConfig {
        let mut config = self.clone();
        config.identity = self
            .options
            .identity
            .clone()
            .unwrap_or_else(default_identity);
        config
    }
}

fn default_identity() -> String {
    let mut buffer = [0u8; 256];
    // SAFETY: the buffer is writable for the length given.
    let status = unsafe { libc::gethostname(buffer.as_mut_ptr().cast(), buffer.len() - 1) };
    let end = buffer.iter().position(|byte| *byte == 0).unwrap_or(0);
    let host = match (status, buffer.get(..end)) {
        (0, Some(name)) if !name.is_empty() => String::from_utf8_lossy(name).into_owned(),
        _ => "localhost".to_owned(),
    };
    format!("{host}/{}", std::process::id())
}

fn check_acl(operation: &'static str, acl: &Acl, has_credentials: bool) -> Result<()> {
    let invalid = |problem: &str| Err(Error::invalid_argument(operation, "acl", problem));
    match acl {
        Acl::Open => Ok(()),
        Acl::Creator if has_credentials => Ok(()),
        Acl::Creator => {
            invalid("`creator` needs credentials (option `auth`) or a client certificate")
        }
        Acl::List(entries) if entries.is_empty() => invalid("a list must not be empty"),
        Acl::List(entries) => {
            for entry in entries {
                if entry.permissions == 0 || entry.permissions > 31 {
                    return invalid(
                        "permissions must be a sum of READ 1, WRITE 2, CREATE 4, DELETE 8, ADMIN 16",
                    );
                }
                if entry.scheme.is_empty() {
                    return invalid("a scheme must not be empty");
                }
            }
            Ok(())
        }
    }
}

/// Options of one lock; for [`Session::mutex_with`](crate::Session::mutex_with) and its like.
///
/// ```
/// use zoolock::{LockOptions, Naming};
///
/// let options = LockOptions::new().naming(Naming::Kazoo).data("nightly batch");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LockOptions {
    /// The names that contenders get; every naming is understood whatever is chosen here (R13).
    pub naming: Naming,
    /// Data of the contender node, at most 512 KiB; the session's identity if left out.
    pub data: Option<Vec<u8>>,
    /// Overrides the session's ACL for this lock's nodes.
    pub acl: Option<Acl>,
    /// How long a contender is kept that nobody here uses; `None`: a release deletes it.
    pub keep: Option<Duration>,
}

impl LockOptions {
    /// The defaults.
    pub fn new() -> LockOptions {
        LockOptions::default()
    }

    /// Sets the names that contenders get. Default [`Naming::Curator`].
    #[must_use]
    pub fn naming(mut self, naming: Naming) -> LockOptions {
        self.naming = naming;
        self
    }

    /// Sets the contenders' data, at most 512 KiB. Default: the session's identity.
    #[must_use]
    pub fn data(mut self, data: impl Into<Vec<u8>>) -> LockOptions {
        self.data = Some(data.into());
        self
    }

    /// Sets the ACL of this lock's nodes. Default: the session's.
    #[must_use]
    pub fn acl(mut self, acl: Acl) -> LockOptions {
        self.acl = Some(acl);
        self
    }

    /// Keeps the contender at a release, so that the next acquire in this process costs no request, and
    /// takes a microsecond. For the mutex and the re-entrant mutex. Default: off.
    ///
    /// It is given up as soon as the contender of anybody else is seen on the path, with the connection
    /// and the lease, and when nobody here has used it for `idle`, 1 ms to a day. All grants of one
    /// contender have the same [`fencing_token`](crate::Guard::fencing_token), so a resource has to compare
    /// the pair with [`grant_count`](crate::Guard::grant_count), which rises with each of them (R2).
    ///
    /// ```
    /// use std::time::Duration;
    /// use zoolock::LockOptions;
    ///
    /// # fn main() -> zoolock::Result<()> {
    /// # let server = zoolock::testing::Server::start()?;
    /// # let session = zoolock::blocking::Session::connect(&server.hosts())?;
    /// let options = LockOptions::new().keep(Duration::from_secs(5));
    /// let mutex = session.mutex_with("/locks/shard-7", options)?;
    /// let first = mutex.lock()?;
    /// let token = (first.fencing_token(), first.grant_count());
    /// first.release()?;                           // the contender stays
    /// let second = mutex.lock()?;                 // no request
    /// assert!((second.fencing_token(), second.grant_count()) > token);
    /// # second.release()?;
    /// # session.close()
    /// # }
    /// ```
    #[must_use]
    pub fn keep(mut self, idle: Duration) -> LockOptions {
        self.keep = Some(idle);
        self
    }

    pub(crate) fn check(&self, operation: &'static str, has_credentials: bool) -> Result<()> {
        if self
            .data
            .as_ref()
            .is_some_and(|data| data.len() > MOST_DATA)
        {
            return Err(Error::invalid_argument(
                operation,
                "data",
                "must be at most 512 KiB",
            ));
        }
        let may_be_idle = SHORTEST_IDLE..=LONGEST_IDLE;
        if self.keep.is_some_and(|idle| !may_be_idle.contains(&idle)) {
            let problem = "must be 1 ms to a day";
            return Err(Error::invalid_argument(operation, "keep", problem));
        }
        match &self.acl {
            Some(acl) => check_acl(operation, acl, has_credentials),
            None => Ok(()),
        }
    }
}

/// How long a call for a lock waits (R6). A [`Duration`] converts: zero is a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wait {
    /// Until granted, through outages and session changes.
    Forever,
    /// Not for a holder: the round trips that the answer takes, bounded by `connect_timeout`.
    Try,
    /// At most this long; over ten years is `InvalidArgument`.
    UpTo(Duration),
}

impl From<Duration> for Wait {
    fn from(timeout: Duration) -> Wait {
        match timeout.is_zero() {
            true => Wait::Try,
            false => Wait::UpTo(timeout),
        }
    }
}

impl Wait {
    /// From a `Duration`: zero is a try; over ten years is `InvalidArgument`.
    #[doc(hidden)]
    pub fn from_duration(operation: &'static str, timeout: Duration) -> Result<Wait> {
        if timeout > LONGEST {
            return Err(too_long(operation, "timeout"));
        }
        Ok(Wait::from(timeout))
    }

    /// From seconds, as Python's `acquire` takes them: -1 is for ever, 0 a try; other negatives,
    /// NaN and over ten years are `InvalidArgument`.
    #[doc(hidden)]
    #[expect(clippy::float_cmp, reason = "exactly -1 is the marker")]
    pub fn from_seconds(operation: &'static str, timeout: f64) -> Result<Wait> {
        if timeout == -1.0 {
            return Ok(Wait::Forever);
        }
        Wait::from_duration(operation, seconds(operation, "timeout", timeout)?)
    }

    /// From milliseconds, as C takes them: -1 is for ever, 0 a try; other negatives and over ten
    /// years are `InvalidArgument`.
    #[doc(hidden)]
    pub fn from_millis(operation: &'static str, timeout_ms: i64) -> Result<Wait> {
        match timeout_ms {
            -1 => Ok(Wait::Forever),
            _ => match u64::try_from(timeout_ms) {
                Ok(millis) => Wait::from_duration(operation, Duration::from_millis(millis))
                    .map_err(|_| too_long(operation, "timeout_ms")),
                Err(_) => Err(Error::invalid_argument(
                    operation,
                    "timeout_ms",
                    format_args!("{timeout_ms} is negative (-1 is for ever)"),
                )),
            },
        }
    }
}

fn too_long(operation: &'static str, argument: &str) -> Error {
    Error::invalid_argument(operation, argument, "is over ten years")
}

/// A length of time given as a number of seconds: not negative, not NaN, at most ten years.
pub fn seconds(operation: &'static str, argument: &str, value: f64) -> Result<Duration> {
    if value.is_nan() || value < 0.0 {
        return Err(Error::invalid_argument(
            operation,
            argument,
            format_args!("{value} is not a length of time"),
        ));
    }
    match Duration::try_from_secs_f64(value) {
        Ok(duration) if duration <= LONGEST => Ok(duration),
        _ => Err(too_long(operation, argument)),
    }
}

/// A length of time given as a number of milliseconds: not negative, not NaN, at most ten years.
pub fn millis(operation: &'static str, argument: &str, value: f64) -> Result<Duration> {
    seconds(operation, argument, value / 1000.0).map_err(|error| {
        if value < 0.0 {
            Error::invalid_argument(
                operation,
                argument,
                format_args!("{value} is not a length of time"),
            )
        } else {
            error
        }
    })
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
