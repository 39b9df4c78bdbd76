//! Puts an ensemble together.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use crate::config::{Config, Member, Tls};
use crate::ensemble::Ensemble;
use crate::error::{Context, Result};
use crate::jars::{self, Distribution};
use crate::log::RequestLog;
use crate::ports::{self, Port};
use crate::proxy::{Kind, Link, LinkState, Proxy};
use crate::server::{self, Server};
use crate::snapshot::{self, Node};
use crate::tempdir::TempDir;

/// The settings of an ensemble to be started.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    config: Config,
}

impl Builder {
    /// 1 (the default) or 3 servers.
    pub fn servers(mut self, servers: usize) -> Self {
        self.config.servers = servers;
        self
    }

    /// Another ZooKeeper than [`jars::locate`] finds, for example `3.4.14`.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.config.version = Some(version.into());
        self
    }

    /// Whether clients and servers are linked through proxies (the default), or directly.
    pub fn proxied(mut self, proxied: bool) -> Self {
        self.config.proxied = proxied;
        self
    }

    /// `tickTime`, 500 ms by default. The shortest session timeout is two ticks.
    pub fn tick_ms(mut self, tick_ms: u32) -> Self {
        self.config.tick_ms = tick_ms;
        self
    }

    /// `initLimit`, 20 ticks by default.
    pub fn init_limit(mut self, ticks: u32) -> Self {
        self.config.init_limit = ticks;
        self
    }

    /// `syncLimit`, 5 ticks by default: so long a follower serves that cannot reach its leader.
    pub fn sync_limit(mut self, ticks: u32) -> Self {
        self.config.sync_limit = ticks;
        self
    }

    /// `minSessionTimeout`; two ticks by default.
    pub fn min_session_timeout_ms(mut self, ms: u32) -> Self {
        self.config.min_session_timeout_ms = Some(ms);
        self
    }

    /// `maxSessionTimeout`, 60 s by default.
    pub fn max_session_timeout_ms(mut self, ms: u32) -> Self {
        self.config.max_session_timeout_ms = ms;
        self
    }

    /// The heap of each server, 256 MB by default.
    pub fn heap_mb(mut self, megabytes: u32) -> Self {
        self.config.heap_mb = megabytes;
        self
    }

    /// Whether a server forces its log to disk before it answers. Off by default, for speed; on for benchmarks.
    pub fn fsync(mut self, fsync: bool) -> Self {
        self.config.fsync = fsync;
        self
    }

    /// A further line of `zoo.cfg`, for example `globalOutstandingLimit=10`.
    pub fn line(mut self, line: impl Into<String>) -> Self {
        self.config.lines.push(line.into());
        self
    }

    /// A JVM system property, for example `znode.container.checkIntervalMs`.
    pub fn property(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.config.properties.push((name.into(), value.into()));
        self
    }

    /// Servers speak TLS as well, at [`Ensemble::secure_hosts`]; no proxy is on the way there.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.config.tls = Some(tls);
        self
    }

    /// Starts with persistent nodes, each with the number that its next sequential child gets (0 for a fresh node).
    pub fn snapshot<P: Into<String>>(mut self, nodes: impl IntoIterator<Item = (P, i32)>) -> Self {
        let nodes = nodes.into_iter().map(|(path, next_sequence)| Node {
            path: path.into(),
            next_sequence,
        });
        self.config.snapshot.extend(nodes);
        self
    }

    /// Starts the servers and returns when all of them serve.
    pub fn start(self) -> Result<Ensemble> {
        let ensemble = self.prepare()?;
        ensemble.spawn_all()?;
        ensemble.wait_serving(START)?;
        Ok(ensemble)
    }

    fn prepare(self) -> Result<Ensemble> {
        let config = self.config;
        config.check()?;
        let distribution = match &config.version {
            Some(version) => jars::locate_version(version)?,
            None => jars::locate()?,
        };
        let dir = TempDir::create()?;
        let plan = Plan::new(&config)?;
        let mut servers = Vec::new();
        let mut data_dirs = Vec::new();
        for number in 1..=config.servers {
            let data = server::make_data_dir(dir.path(), number)?;
            let server = plan.server(&config, &distribution, dir.path(), &data, number)?;
            servers.push(server);
            data_dirs.push(data);
        }
        if !config.snapshot.is_empty() {
            snapshot::write(&distribution, &config.snapshot, &data_dirs)?;
        }
        let log = RequestLog::new();
        let proxy = Proxy::start(plan.link_states(), log.clone())?;
        let link = |parts| Link::new(proxy.shared.clone(), parts);
        let numbers = 1..=config.servers;
        let client_links = plan.client_links(config.servers).map(&link).collect();
        let quorum_links = numbers
            .map(|number| link(plan.quorum_parts(number)))
            .collect();
        Ok(Ensemble {
            version: distribution.version,
            proxied: config.proxied,
            hosts: plan.hosts(config.servers),
            secure_hosts: plan.secure_hosts(config.servers),
            servers: servers.into_iter().map(Mutex::new).collect(),
            client_links,
            quorum_links,
            log,
            proxy,
            _ports: plan.ports,
            dir,
        })
    }
}

/// Three JVMs on a busy machine.
const START: Duration = Duration::from_secs(90);

/// A role that a port plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    Client(usize),
    Secure(usize),
    ClientProxy(usize),
    Quorum(usize),
    Election(usize),
    /// From a server to another.
    QuorumProxy(usize, usize),
    ElectionProxy(usize, usize),
}

/// Who listens where.
///
/// Each server's `zoo.cfg` has its own true ports in its own line, for it binds those, and in the others' lines the
/// ports of the proxies that lead from it to them.
struct Plan {
    proxied: bool,
    numbers: BTreeMap<Use, u16>,
    links: Vec<Use>,
    ports: Vec<Port>,
}

impl Plan {
    fn new(config: &Config) -> Result<Self> {
        let all = 1..=config.servers;
        let mut uses: Vec<Use> = all.clone().map(Use::Client).collect();
        if config.tls.is_some() {
            uses.extend(all.clone().map(Use::Secure));
        }
        let mut links = Vec::new();
        if config.proxied {
            links.extend(all.clone().map(Use::ClientProxy));
        }
        if config.servers > 1 {
            uses.extend(all.clone().flat_map(|n| [Use::Quorum(n), Use::Election(n)]));
            if config.proxied {
                for from in all.clone() {
                    for to in all.clone().filter(|to| *to != from) {
                        links.push(Use::QuorumProxy(from, to));
                        links.push(Use::ElectionProxy(from, to));
                    }
                }
            }
        }
        uses.extend(&links);
        let ports = ports::reserve(uses.len())?;
        let numbers = uses
            .into_iter()
            .zip(ports.iter().map(|port| port.number))
            .collect();
        Ok(Plan {
            proxied: config.proxied,
            numbers,
            links,
            ports,
        })
    }

    fn server(
        &self,
        config: &Config,
        distribution: &Distribution,
        dir: &Path,
        data: &Path,
        number: usize,
    ) -> Result<Server> {
        let mut members = Vec::new();
        if config.servers > 1 {
            for other in 1..=config.servers {
                let direct = other == number || !self.proxied;
                let (quorum, election) = if direct {
                    (Use::Quorum(other), Use::Election(other))
                } else {
                    (
                        Use::QuorumProxy(number, other),
                        Use::ElectionProxy(number, other),
                    )
                };
                members.push(Member {
                    number: other,
                    quorum_port: self.numbers[&quorum],
                    election_port: self.numbers[&election],
                });
            }
        }
        let client_port = self.numbers[&Use::Client(number)];
        let cfg = dir.join(format!("zoo-{number}.cfg"));
        let secure_port = self.numbers.get(&Use::Secure(number)).copied();
        let text = config.zoo_cfg(data, client_port, secure_port, &members);
        fs::write(&cfg, text).context(|| format!("cannot write {}", cfg.display()))?;
        let mut arguments = config.jvm_arguments();
        arguments.extend(["-cp".into(), distribution.class_path()]);
        arguments.push("EnsembleServer".into());
        let mode = if config.servers > 1 {
            "quorum"
        } else {
            "standalone"
        };
        arguments.push(mode.into());
        arguments.push(cfg.to_string_lossy().into_owned());
        let log_file = dir.join(format!("server-{number}.log"));
        Ok(Server::new(number, client_port, log_file, arguments))
    }

    fn link_states(&self) -> Vec<LinkState> {
        let state = |link: &Use| {
            let (kind, server, target) = match *link {
                Use::QuorumProxy(_, to) => (Kind::Quorum, to, Use::Quorum(to)),
                Use::ElectionProxy(from, to) => {
                    let back = self.numbers[&Use::ElectionProxy(to, from)];
                    let announce = format!("127.0.0.1:{back}");
                    (Kind::Election { announce }, to, Use::Election(to))
                }
                Use::ClientProxy(n)
                | Use::Client(n)
                | Use::Secure(n)
                | Use::Quorum(n)
                | Use::Election(n) => (Kind::Client, n, Use::Client(n)),
            };
            LinkState::new(kind, server, self.numbers[link], self.numbers[&target])
        };
        self.links.iter().map(state).collect()
    }

    fn client_links(&self, servers: usize) -> impl Iterator<Item = Vec<(usize, bool)>> {
        let servers = if self.proxied { servers } else { 0 };
        (0..servers).map(|index| vec![(index, false)])
    }

    /// The links at whose one end the server is; true when it is the calling one.
    fn quorum_parts(&self, server: usize) -> Vec<(usize, bool)> {
        let part = |(index, link): (usize, &Use)| match *link {
            Use::QuorumProxy(from, to) | Use::ElectionProxy(from, to) => {
                (from == server || to == server).then_some((index, from == server))
            }
            _ => None,
        };
        self.links.iter().enumerate().filter_map(part).collect()
    }

    /// By name: certificates are made out to names.
    fn secure_hosts(&self, servers: usize) -> Vec<String> {
        (1..=servers)
            .filter_map(|n| self.numbers.get(&Use::Secure(n)))
            .map(|port| format!("localhost:{port}"))
            .collect()
    }

    fn hosts(&self, servers: usize) -> Vec<String> {
        let port = |n: usize| {
            let proxied = self.numbers.get(&Use::ClientProxy(n));
            proxied.copied().unwrap_or(self.numbers[&Use::Client(n)])
        };
        (1..=servers)
            .map(|n| format!("127.0.0.1:{}", port(n)))
            .collect()
    }
}
