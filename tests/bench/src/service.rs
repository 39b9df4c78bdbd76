//! The servers that are no ZooKeeper: Redis in two settings, and etcd. Each is started when first asked for.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use zoolock_ensemble::eventually;

use crate::library::{Manifest, Service};

const START: Duration = Duration::from_secs(20);

/// A server that ends with this.
struct Server {
    child: Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Those that were started.
#[derive(Default)]
pub(crate) struct Services(BTreeMap<Service, Server>);

impl Services {
    /// Where a service listens; `data` is the folder in which it writes.
    pub(crate) fn address(
        &mut self,
        service: Service,
        manifest: &Manifest,
        data: &Path,
    ) -> Result<String, String> {
        if let Some(server) = self.0.get(&service) {
            return Ok(server.address.clone());
        }
        let folder = data.join(format!("{service:?}"));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let program = match service {
            Service::Etcd => manifest.etcd_server.as_deref(),
            _ => manifest.redis_server.as_deref(),
        };
        let program = program.ok_or("its server is not there")?;
        let ports = free_ports()?;
        let arguments = arguments(service, ports, &folder.to_string_lossy());
        // The server ends with us, however we end.
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", program])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot start {program}: {error}"))?;
        let server = Server {
            child,
            address: format!("127.0.0.1:{}", ports[0]),
        };
        let open = || TcpStream::connect((Ipv4Addr::LOCALHOST, ports[0])).is_ok();
        if !eventually(START, open) {
            return Err(format!("{program} does not listen"));
        }
        let address = server.address.clone();
        self.0.insert(service, server);
        Ok(address)
    }
}

/// For clients, and for the other servers of a cluster.
fn free_ports() -> Result<[u16; 2], String> {
    let port = || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        Ok((listener.local_addr()?.port(), listener))
    };
    let both: std::io::Result<_> = port().and_then(|first| Ok((first, port()?)));
    let (first, second) = both.map_err(|error| format!("no free port: {error}"))?;
    Ok([first.0, second.0])
}

fn arguments(service: Service, [port, peers]: [u16; 2], folder: &str) -> Vec<String> {
    let text = match service {
        Service::RedisMemory => {
            format!("--bind 127.0.0.1 --port {port} --dir {folder} --save '' --appendonly no")
        }
        Service::RedisFsync => {
            format!(
                "--bind 127.0.0.1 --port {port} --dir {folder} --save '' --appendonly yes --appendfsync always"
            )
        }
        Service::Etcd => {
            let (clients, peers) = (
                format!("http://127.0.0.1:{port}"),
                format!("http://127.0.0.1:{peers}"),
            );
            format!(
                "--data-dir {folder} --listen-client-urls {clients} --advertise-client-urls {clients} \
                 --listen-peer-urls {peers} --initial-advertise-peer-urls {peers} --initial-cluster default={peers}"
            )
        }
        Service::Zookeeper => String::new(),
    };
    let words = text.split_whitespace();
    words
        .map(|word| {
            if word == "''" {
                String::new()
            } else {
                word.to_owned()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_redis_writes_to_disk() {
        let memory = arguments(Service::RedisMemory, [1, 2], "/d");
        let fsync = arguments(Service::RedisFsync, [1, 2], "/d");
        assert!(
            memory.windows(2).any(|pair| pair == ["--save", ""]),
            "{memory:?}"
        );
        assert!(memory.windows(2).any(|pair| pair == ["--appendonly", "no"]));
        assert!(
            fsync
                .windows(2)
                .any(|pair| pair == ["--appendfsync", "always"])
        );
    }
}
