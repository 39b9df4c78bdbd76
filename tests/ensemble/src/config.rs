//! What a test can choose, and the `zoo.cfg` it becomes.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::snapshot::Node;

/// The choices of [`Builder`](crate::Builder).
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) servers: usize,
    pub(crate) version: Option<String>,
    pub(crate) proxied: bool,
    pub(crate) tick_ms: u32,
    pub(crate) init_limit: u32,
    pub(crate) sync_limit: u32,
    pub(crate) min_session_timeout_ms: Option<u32>,
    pub(crate) max_session_timeout_ms: u32,
    pub(crate) heap_mb: u32,
    pub(crate) fsync: bool,
    pub(crate) lines: Vec<String>,
    pub(crate) properties: Vec<(String, String)>,
    pub(crate) snapshot: Vec<Node>,
    pub(crate) tls: Option<Tls>,
}

/// How servers speak TLS, on a port of their own beside the plain one.
#[derive(Clone, Debug)]
pub struct Tls {
    /// PEM file with the servers' private key (PKCS #8) and certificate chain.
    pub identity: PathBuf,
    /// PEM file with the authorities that clients' certificates are checked against.
    pub authorities: PathBuf,
    /// Whether a client has to show a certificate.
    pub client_certificate: ClientCertificate,
}

/// What servers do about clients' certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCertificate {
    /// They do not ask.
    Ignored,
    /// They ask, and take clients without one as well.
    Wanted,
    /// They refuse clients without one.
    Needed,
}

impl ClientCertificate {
    /// ZooKeeper's word, `ssl.clientAuth`.
    fn word(self) -> &'static str {
        match self {
            ClientCertificate::Ignored => "none",
            ClientCertificate::Wanted => "want",
            ClientCertificate::Needed => "need",
        }
    }
}

impl Tls {
    fn properties(&self) -> Vec<String> {
        let property = |name: &str, value: &str| format!("-Dzookeeper.{name}={value}");
        vec![
            property(
                "serverCnxnFactory",
                "org.apache.zookeeper.server.NettyServerCnxnFactory",
            ),
            property("ssl.keyStore.location", &self.identity.to_string_lossy()),
            property("ssl.keyStore.type", "PEM"),
            property(
                "ssl.trustStore.location",
                &self.authorities.to_string_lossy(),
            ),
            property("ssl.trustStore.type", "PEM"),
            property("ssl.clientAuth", self.client_certificate.word()),
            // The names in the test's certificates of clients mean nothing.
            property("ssl.hostnameVerification", "false"),
            property(
                "authProvider.x509",
                "org.apache.zookeeper.server.auth.X509AuthenticationProvider",
            ),
        ]
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            servers: 1,
            version: None,
            proxied: true,
            tick_ms: 500,
            init_limit: 20,
            sync_limit: 5,
            min_session_timeout_ms: None,
            max_session_timeout_ms: 60_000,
            heap_mb: 256,
            fsync: false,
            lines: Vec::new(),
            properties: Vec::new(),
            snapshot: Vec::new(),
            tls: None,
        }
    }
}

/// A member of the ensemble as one of the servers sees it.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) number: usize,
    pub(crate) quorum_port: u16,
    pub(crate) election_port: u16,
}

impl Config {
    pub(crate) fn check(&self) -> Result<()> {
        if self.servers != 1 && self.servers != 3 {
            return Err(Error::new(format!(
                "an ensemble has 1 or 3 servers, not {}",
                self.servers
            )));
        }
        if self.tick_ms == 0 || self.init_limit == 0 || self.sync_limit == 0 {
            return Err(Error::new("tick time and limits must be positive"));
        }
        if self.heap_mb < 32 {
            return Err(Error::new("a server needs a heap of at least 32 MB"));
        }
        if let Some(line) = self.lines.iter().find(|line| !line.contains('=')) {
            return Err(Error::new(format!(
                "`{line}` is no zoo.cfg line `key=value`"
            )));
        }
        Ok(())
    }

    /// The text of one server's `zoo.cfg`. `members` is empty for a standalone server.
    pub(crate) fn zoo_cfg(
        &self,
        data: &Path,
        client_port: u16,
        secure_port: Option<u16>,
        members: &[Member],
    ) -> String {
        let mut text = format!(
            "tickTime={}\ninitLimit={}\nsyncLimit={}\ndataDir={}\nclientPort={client_port}\n\
             clientPortAddress=127.0.0.1\nmaxSessionTimeout={}\nmaxClientCnxns=0\n\
             admin.enableServer=false\n4lw.commands.whitelist=*\n",
            self.tick_ms,
            self.init_limit,
            self.sync_limit,
            data.display(),
            self.max_session_timeout_ms,
        );
        if let Some(min) = self.min_session_timeout_ms {
            let _ = writeln!(text, "minSessionTimeout={min}");
        }
        if let Some(port) = secure_port {
            let _ = writeln!(
                text,
                "secureClientPort={port}\nsecureClientPortAddress=127.0.0.1"
            );
        }
        for member in members {
            let _ = writeln!(
                text,
                "server.{}=127.0.0.1:{}:{}",
                member.number, member.quorum_port, member.election_port
            );
        }
        for line in &self.lines {
            let _ = writeln!(text, "{line}");
        }
        text
    }

    /// The JVM's arguments before the class name, without the class path.
    pub(crate) fn jvm_arguments(&self) -> Vec<String> {
        let mut arguments = vec![
            format!("-Xmx{}m", self.heap_mb),
            // Servers start faster and use fewer threads so; they are many, and short-lived.
            "-XX:+UseSerialGC".into(),
            "-XX:TieredStopAtLevel=1".into(),
            "-Xshare:auto".into(),
            "-XX:-UsePerfData".into(),
            "-Djava.net.preferIPv4Stack=true".into(),
            "-Dzookeeper.jmx.log4j.disable=true".into(),
            "-Dzookeeper.4lw.commands.whitelist=*".into(),
            // Kilobytes of log written ahead: the default is 64 MB for each server.
            "-Dzookeeper.preAllocSize=4096".into(),
            // A vote that is lost on a busy machine is sent again soon: the default waits up to a minute.
            "-Dzookeeper.fastleader.maxNotificationInterval=1000".into(),
            "-Dorg.slf4j.simpleLogger.showDateTime=true".into(),
            "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS".into(),
        ];
        if !self.fsync {
            arguments.push("-Dzookeeper.forceSync=no".into());
        }
        arguments.extend(self.tls.iter().flat_map(Tls::properties));
        arguments.extend(self.properties.iter().map(|(k, v)| format!("-D{k}={v}")));
        arguments
    }
}
