//! An independent client: tests must not check zoolock with zoolock.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use zookeeper::{Acl, CreateMode, Stat, WatchedEvent, ZkError, ZkResult, ZooKeeper};

use crate::error::{Error, Result};
use crate::eventually::retry;

/// The session's timeout. Long: an observer is not what is being tested.
const SESSION: Duration = Duration::from_secs(30);
/// The `zookeeper` crate never notices a server that does not answer, so every call has a deadline of ours.
const DEADLINE: Duration = Duration::from_secs(10);
/// On a busy machine the crate now and then loses a request that is made while it connects, and never answers it:
/// then another client is made.
const FIRST_ANSWER: Duration = Duration::from_secs(3);
/// A farewell to a server that is down must not hold up its test.
const CLOSE: Duration = Duration::from_secs(1);

/// A client of one server, past all proxies.
pub struct Observer {
    client: Arc<ZooKeeper>,
    address: SocketAddr,
}

/// What kind of node to create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Stays.
    Persistent,
    /// Stays, numbered.
    PersistentSequential,
    /// Goes with the observer's session.
    Ephemeral,
    /// Goes with the observer's session, numbered.
    EphemeralSequential,
    /// Goes when its last child has.
    Container,
}

impl Observer {
    /// Connects to the server at `address`.
    pub fn connect(address: SocketAddr) -> Result<Self> {
        retry(DEADLINE, || {
            let client = bounded("connect", "", DEADLINE, move || {
                ZooKeeper::connect(&address.to_string(), SESSION, |_: WatchedEvent| {})
            })?;
            let observer = Observer {
                client: Arc::new(client),
                address,
            };
            // The crate answers before it is connected.
            let client = observer.client.clone();
            bounded("exists", "/", FIRST_ANSWER, move || {
                client.exists("/", false)
            })?;
            Ok(observer)
        })
    }

    /// The server's address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The names of a node's children, sorted.
    pub fn children(&self, path: &str) -> Result<Vec<String>> {
        let mut names = self.call("children", path, |client, path| {
            client.get_children(path, false)
        })?;
        names.sort();
        Ok(names)
    }

    /// A node's `Stat`, `None` when there is no such node.
    pub fn exists(&self, path: &str) -> Result<Option<Stat>> {
        self.call("exists", path, |client, path| client.exists(path, false))
    }

    /// A node's data and `Stat`.
    pub fn get(&self, path: &str) -> Result<(Vec<u8>, Stat)> {
        self.call("get", path, |client, path| client.get_data(path, false))
    }

    /// Creates a node that is open to everybody, and returns its name (with its number, for a sequential one).
    pub fn create(&self, path: &str, data: &[u8], kind: NodeKind) -> Result<String> {
        self.create_with_acl(path, data, kind, Acl::open_unsafe().clone())
    }

    /// Creates a node with an ACL.
    pub fn create_with_acl(
        &self,
        path: &str,
        data: &[u8],
        kind: NodeKind,
        acl: Vec<Acl>,
    ) -> Result<String> {
        let data = data.to_vec();
        let mode = match kind {
            NodeKind::Persistent => CreateMode::Persistent,
            NodeKind::PersistentSequential => CreateMode::PersistentSequential,
            NodeKind::Ephemeral => CreateMode::Ephemeral,
            NodeKind::EphemeralSequential => CreateMode::EphemeralSequential,
            NodeKind::Container => CreateMode::Container,
        };
        self.call("create", path, move |client, path| {
            client.create(path, data, acl, mode)
        })
    }

    /// Creates a persistent node, and those above it; existing ones stay as they are.
    pub fn ensure(&self, path: &str) -> Result<()> {
        let ends = path.match_indices('/').skip(1).map(|(end, _)| end);
        for end in ends.chain([path.len()]) {
            self.call("create", &path[..end], |client, path| {
                let acl = Acl::open_unsafe().clone();
                match client.create(path, Vec::new(), acl, CreateMode::Persistent) {
                    Ok(_) | Err(ZkError::NodeExists) => Ok(()),
                    Err(error) => Err(error),
                }
            })?;
        }
        Ok(())
    }

    /// Sets a node's data.
    pub fn set(&self, path: &str, data: &[u8]) -> Result<Stat> {
        let data = data.to_vec();
        self.call("set", path, move |client, path| {
            client.set_data(path, data, None)
        })
    }

    /// Deletes a node, whatever its version.
    pub fn delete(&self, path: &str) -> Result<()> {
        self.call("delete", path, |client, path| client.delete(path, None))
    }

    /// A node's ACL.
    pub fn acl(&self, path: &str) -> Result<Vec<Acl>> {
        self.call("acl", path, |client, path| client.get_acl(path))
            .map(|(acl, _)| acl)
    }

    /// Sets a node's ACL.
    pub fn set_acl(&self, path: &str, acl: Vec<Acl>) -> Result<Stat> {
        self.call("set acl", path, move |client, path| {
            client.set_acl(path, acl, None)
        })
    }

    /// Presents credentials, for example `digest` and `user:password`.
    pub fn authenticate(&self, scheme: &str, credentials: &str) -> Result<()> {
        let (scheme, credentials) = (scheme.to_owned(), credentials.as_bytes().to_vec());
        self.call("authenticate", "", move |client, _| {
            client.add_auth(scheme, credentials)
        })
    }

    fn call<T: Send + 'static>(
        &self,
        operation: &str,
        path: &str,
        call: impl FnOnce(&ZooKeeper, &str) -> ZkResult<T> + Send + 'static,
    ) -> Result<T> {
        let client = self.client.clone();
        let owned = path.to_owned();
        bounded(operation, path, DEADLINE, move || call(&client, &owned))
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        // Ends the session, or the ephemeral nodes would stay for its timeout.
        let client = self.client.clone();
        let _ = bounded("close", "", CLOSE, move || client.close());
    }
}

/// Makes a call on a thread of its own, and gives up on it after the deadline.
fn bounded<T: Send + 'static>(
    operation: &str,
    path: &str,
    deadline: Duration,
    call: impl FnOnce() -> ZkResult<T> + Send + 'static,
) -> Result<T> {
    let (sender, outcome) = channel();
    thread::spawn(move || {
        let _ = sender.send(call());
    });
    match outcome.recv_timeout(deadline) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(Error::new(format!(
            "observer: {operation} {path}: {error:?}"
        ))),
        Err(_) => Err(Error::new(format!(
            "observer: {operation} {path}: no answer within {} s",
            deadline.as_secs()
        ))),
    }
}
