//! A way to one port on this machine that a test has for itself.

use std::net::SocketAddr;

use crate::error::{Context, Result};
use crate::log::{RequestLog, What};
use crate::ports::{self, Port};
use crate::proxy::{Kind, Link, LinkState, Proxy};

/// A proxy of its own before any port, with all that a [`Link`] can do: tests that share servers disturb only themselves,
/// and see how often a server was called.
#[derive(Debug)]
pub struct Relay {
    link: Link,
    log: RequestLog,
    port: Port,
    #[allow(dead_code)] // runs as long as this does
    proxy: Proxy,
}

impl Relay {
    /// Leads to a port of 127.0.0.1.
    pub fn start(target: SocketAddr) -> Result<Self> {
        let (port, listener) = ports::reserve_listening()?;
        let log = RequestLog::new();
        let state = LinkState::new(Kind::Client, 1, port.number, target.port());
        let state = state
            .listening(listener)
            .context(|| "cannot open a proxy's port".into())?;
        let proxy = Proxy::start(vec![state], log.clone())?;
        Ok(Relay {
            link: Link::new(proxy.shared.clone(), vec![(0, false)]),
            log,
            port,
            proxy,
        })
    }

    /// Where it listens, by the name that certificates are made out to.
    pub fn host(&self) -> String {
        format!("localhost:{}", self.port.number)
    }

    /// Where it listens, by its address.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port.number)
    }

    /// What to disturb.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// How many connections it has accepted so far.
    pub fn accepted(&self) -> usize {
        let entries = self.log.entries().into_iter();
        entries.filter(|entry| entry.what == What::Open).count()
    }
}
