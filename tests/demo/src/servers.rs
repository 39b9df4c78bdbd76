//! The ZooKeeper that the demo runs against, and the independent look at it.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use zoolock::testing;
use zoolock_ensemble::{Ensemble, Observer, eventually};

use crate::settings::Server;

/// A server other than the one that confirmed the last delete may be behind by a moment.
const SETTLE: Duration = Duration::from_secs(5);

/// Running servers; those that the demo started stop when this is dropped.
pub(crate) struct Servers {
    /// The connect string for the workers.
    pub(crate) hosts: String,
    /// What they are, for a person.
    pub(crate) described: String,
    _embedded: Option<testing::Server>,
    _ensemble: Option<Ensemble>,
}

impl Servers {
    pub(crate) fn start(server: &Server) -> Result<Servers, String> {
        match server {
            Server::Embedded => {
                let server = testing::Server::start().map_err(|error| error.to_string())?;
                Ok(Servers {
                    hosts: server.hosts(),
                    described: String::from("zoolock's embedded test server"),
                    _embedded: Some(server),
                    _ensemble: None,
                })
            }
            Server::Apache => {
                let ensemble = Ensemble::builder()
                    .proxied(false)
                    .start()
                    .map_err(|error| error.to_string())?;
                Ok(Servers {
                    hosts: ensemble.hosts(),
                    described: format!("Apache ZooKeeper {}", ensemble.version()),
                    _embedded: None,
                    _ensemble: Some(ensemble),
                })
            }
            Server::Hosts(hosts) => Ok(Servers {
                hosts: hosts.clone(),
                described: String::from("ZooKeeper"),
                _embedded: None,
                _ensemble: None,
            }),
        }
    }

    /// What is left under a lock path; the independent observer looks until nothing is.
    pub(crate) fn contenders_left(&self, lock_path: &str) -> Result<Vec<String>, String> {
        let (addresses, chroot) = split(&self.hosts)?;
        let path = format!("{chroot}{lock_path}");
        let observer = connect(&addresses)?;
        let mut last = Ok(Vec::new());
        eventually(SETTLE, || {
            last = children(&observer, &path);
            last.as_ref().is_ok_and(Vec::is_empty)
        });
        last
    }
}

fn children(observer: &Observer, path: &str) -> Result<Vec<String>, String> {
    match observer.exists(path).map_err(|error| error.to_string())? {
        Some(_) => observer.children(path).map_err(|error| error.to_string()),
        // An empty container is removed by the servers.
        None => Ok(Vec::new()),
    }
}

fn connect(addresses: &[String]) -> Result<Observer, String> {
    let mut last = String::from("no server to look at");
    for address in addresses {
        match resolve(address).and_then(|at| Observer::connect(at).map_err(|e| e.to_string())) {
            Ok(observer) => return Ok(observer),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn resolve(address: &str) -> Result<SocketAddr, String> {
    address
        .to_socket_addrs()
        .map_err(|error| format!("{address}: {error}"))?
        .next()
        .ok_or_else(|| format!("{address} has no address"))
}

/// A connect string's servers, each with a port, and its chroot, empty if there is none.
fn split(hosts: &str) -> Result<(Vec<String>, &str), String> {
    let (servers, chroot) = match hosts.find('/') {
        Some(at) => hosts.split_at(at),
        None => (hosts, ""),
    };
    let addresses: Vec<String> = servers
        .split(',')
        .map(str::trim)
        .filter(|server| !server.is_empty())
        .map(|server| {
            let after_brackets = server.rsplit(']').next().unwrap_or(server);
            if after_brackets.contains(':') {
                server.to_owned()
            } else {
                format!("{server}:2181")
            }
        })
        .collect();
    if addresses.is_empty() {
        return Err(format!("HOSTS={hosts} names no server"));
    }
    Ok((addresses, chroot.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn a_connect_string_is_taken_apart() {
        assert_eq!(
            split("a:1,b, [::1]:3,[::2]/chroot/x").unwrap(),
            (
                vec![
                    "a:1".into(),
                    "b:2181".into(),
                    "[::1]:3".into(),
                    "[::2]:2181".into()
                ],
                "/chroot/x"
            )
        );
        assert_eq!(split("a:1/").unwrap(), (vec!["a:1".into()], ""));
        assert!(split("/chroot").is_err());
    }
}
