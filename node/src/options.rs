//! Options as JavaScript gives them, types already checked there, into the core's.

use std::time::Duration;

use napi::bindgen_prelude::Buffer;
use napi_derive::napi;
use zoolock::binding::millis;
use zoolock::{
    Acl, AclEntry, Backoff, Error, LeaseConfirmation, LockOptions, Naming, Result, SessionBuilder,
    Tls, Wait,
};

/// Options of `connect`.
#[napi(object, object_to_js = false)]
pub struct ConnectOptions {
    pub session_timeout_ms: Option<f64>,
    pub connect_timeout_ms: Option<f64>,
    pub auth: Option<Vec<CredentialsObject>>,
    pub tls: Option<TlsObject>,
    pub acl: Option<AclObject>,
    pub identity: Option<String>,
    pub exclusive: Option<bool>,
    pub backoff: Option<BackoffObject>,
    pub lease_confirmation: Option<String>,
}

#[napi(object, object_to_js = false)]
pub struct CredentialsObject {
    pub scheme: String,
    pub credentials: Buffer,
}

#[napi(object, object_to_js = false)]
pub struct TlsObject {
    pub ca: Option<String>,
    pub cert: Option<String>,
    pub key: Option<String>,
    pub check_server_name: Option<bool>,
}

/// `entries` if `preset` is missing.
#[napi(object, object_to_js = false)]
pub struct AclObject {
    pub preset: Option<String>,
    pub entries: Option<Vec<AclEntryObject>>,
}

#[napi(object, object_to_js = false)]
pub struct AclEntryObject {
    pub permissions: u32,
    pub scheme: String,
    pub id: String,
}

/// Fixed if `delay_ms` is given.
#[napi(object, object_to_js = false)]
pub struct BackoffObject {
    pub base_ms: Option<f64>,
    pub max_ms: Option<f64>,
    pub delay_ms: Option<f64>,
    pub retries: Option<u32>,
}

/// Options of a lock.
#[napi(object, object_to_js = false)]
pub struct LockOptionsObject {
    pub naming: Option<String>,
    pub data: Option<Buffer>,
    pub acl: Option<AclObject>,
    pub keep_ms: Option<f64>,
}

/// A time-out in milliseconds; none is for ever, 0 a try (R6).
pub fn timeout(operation: &'static str, timeout_ms: Option<f64>) -> Result<Wait> {
    match timeout_ms {
        None => Ok(Wait::Forever),
        Some(value) => Wait::from_duration(operation, millis(operation, "timeoutMs", value)?),
    }
}

impl ConnectOptions {
    pub fn builder(self) -> Result<SessionBuilder> {
        let mut builder = zoolock::Session::builder();
        if let Some(value) = self.session_timeout_ms {
            builder = builder.session_timeout(length("sessionTimeoutMs", value)?);
        }
        if let Some(value) = self.connect_timeout_ms {
            builder = builder.connect_timeout(length("connectTimeoutMs", value)?);
        }
        for entry in self.auth.unwrap_or_default() {
            builder = builder.auth(entry.scheme, entry.credentials.to_vec());
        }
        if let Some(tls) = self.tls {
            builder = builder.tls(tls.into());
        }
        if let Some(acl) = self.acl {
            builder = builder.acl(acl.acl("connect")?);
        }
        if let Some(identity) = self.identity {
            builder = builder.identity(identity);
        }
        if let Some(exclusive) = self.exclusive {
            builder = builder.exclusive(exclusive);
        }
        if let Some(backoff) = self.backoff {
            builder = builder.backoff(backoff.backoff()?);
        }
        if let Some(confirmation) = self.lease_confirmation {
            builder = builder.lease_confirmation(match &*confirmation {
                "sync" => LeaseConfirmation::Sync,
                "write" => LeaseConfirmation::Write,
                _ => return Err(unknown("connect", "leaseConfirmation", "`sync` or `write`")),
            });
        }
        Ok(builder)
    }
}

impl LockOptionsObject {
    pub fn options(self, operation: &'static str) -> Result<LockOptions> {
        let mut options = LockOptions::new();
        if let Some(naming) = self.naming {
            options = options.naming(match &*naming {
                "curator" => Naming::Curator,
                "kazoo" => Naming::Kazoo,
                _ => return Err(unknown(operation, "naming", "`curator` or `kazoo`")),
            });
        }
        if let Some(data) = self.data {
            options = options.data(data.to_vec());
        }
        if let Some(acl) = self.acl {
            options = options.acl(acl.acl(operation)?);
        }
        if let Some(idle) = self.keep_ms {
            options = options.keep(millis(operation, "keepMs", idle)?);
        }
        Ok(options)
    }
}

impl AclObject {
    fn acl(self, operation: &'static str) -> Result<Acl> {
        match self.preset.as_deref() {
            None => Ok(Acl::List(
                self.entries
                    .unwrap_or_default()
                    .into_iter()
                    .map(AclEntry::from)
                    .collect(),
            )),
            Some("open") => Ok(Acl::Open),
            Some("creator") => Ok(Acl::Creator),
            Some(_) => Err(unknown(operation, "acl", "`open`, `creator` or a list")),
        }
    }
}

impl From<AclEntryObject> for AclEntry {
    fn from(entry: AclEntryObject) -> AclEntry {
        AclEntry {
            permissions: entry.permissions,
            scheme: entry.scheme,
            id: entry.id,
        }
    }
}

impl From<TlsObject> for Tls {
    fn from(tls: TlsObject) -> Tls {
        let default = Tls::default();
        Tls {
            ca: tls.ca,
            cert: tls.cert,
            key: tls.key,
            check_server_name: tls.check_server_name.unwrap_or(default.check_server_name),
        }
    }
}

impl BackoffObject {
    fn backoff(self) -> Result<Backoff> {
        let retries = self.retries;
        if let Some(delay) = self.delay_ms {
            let delay = length("backoff.fixed.delayMs", delay)?;
            return Ok(Backoff::Fixed { delay, retries });
        }
        let part = |argument, value: Option<f64>| match value {
            Some(value) => length(argument, value),
            None => Err(Error::invalid_argument("connect", argument, "is missing")),
        };
        Ok(Backoff::Exponential {
            base: part("backoff.exponential.baseMs", self.base_ms)?,
            max: part("backoff.exponential.maxMs", self.max_ms)?,
            retries,
        })
    }
}

fn length(argument: &str, value: f64) -> Result<Duration> {
    millis("connect", argument, value)
}

fn unknown(operation: &'static str, argument: &str, known: &str) -> Error {
    Error::invalid_argument(operation, argument, format_args!("must be {known}"))
}
