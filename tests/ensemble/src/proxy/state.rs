//! All links and connections, behind the one lock.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::log::{RequestLog, What};
use crate::proxy::connection::{Connection, Content, End};
use crate::proxy::cut::Rule;
use crate::proxy::election::Rewriter;
use crate::proxy::faults::WayFaults;
use crate::proxy::frames::Frames;
use crate::proxy::socket;
use crate::proxy::way::Way;

/// How long a server may take to notice that its client is gone.
const DRAIN: Duration = Duration::from_secs(5);

/// How long a server's call to another waits for that one to open its port. A follower that is *refused* by its new leader,
/// which opens the port a moment later, calls again; one whose connection is accepted and then reset begins a new
/// election, and the two can then miss each other for `initLimit`.
const PEER_PATIENCE: Duration = Duration::from_secs(2);

/// What a link carries.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Clients to the server with this number.
    Client,
    /// Votes; the address to announce for calls back.
    Election { announce: String },
    /// A follower to its leader.
    Quorum,
}

#[derive(Debug)]
pub(crate) struct LinkState {
    kind: Kind,
    server: usize,
    listen: u16,
    target: u16,
    pub(crate) listener: Option<TcpListener>,
    pub(crate) faults: [WayFaults; 2],
    pub(crate) rules: Vec<Rule>,
    /// A test wants connections refused.
    pub(crate) refusing: bool,
    /// The server is down, so the proxy must not accept in its stead.
    pub(crate) down: bool,
}

impl LinkState {
    pub(crate) fn new(kind: Kind, server: usize, listen: u16, target: u16) -> Self {
        LinkState {
            kind,
            server,
            listen,
            target,
            listener: None,
            faults: Default::default(),
            rules: Vec::new(),
            refusing: false,
            down: false,
        }
    }

    /// With a listener on its port that is open already.
    pub(crate) fn listening(mut self, listener: TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        self.listener = Some(listener);
        Ok(self)
    }

    /// Opens or closes the listener as the flags say.
    pub(crate) fn update_listener(&mut self) -> io::Result<()> {
        if self.refusing || self.down {
            if let Some(listener) = self.listener.take() {
                socket::stop_listening(&listener);
            }
        } else if self.listener.is_none() {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.listen))?;
            listener.set_nonblocking(true)?;
            self.listener = Some(listener);
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) links: Vec<LinkState>,
    pub(crate) connections: BTreeMap<u64, Connection>,
    /// Server sides of ended connections, kept until the server has closed too. Closing a socket with unread bytes in it
    /// would send a reset, and the server might drop a request that it was sent.
    pub(crate) draining: Vec<(TcpStream, Instant)>,
    pub(crate) log: RequestLog,
    pub(crate) stop: bool,
    next_id: u64,
}

impl State {
    pub(crate) fn new(links: Vec<LinkState>, log: RequestLog) -> Self {
        State {
            links,
            connections: BTreeMap::new(),
            draining: Vec::new(),
            log,
            stop: false,
            next_id: 1,
        }
    }

    /// Takes all connections that wait at a link.
    pub(crate) fn accept(&mut self, index: usize) {
        let link = &self.links[index];
        let Some(listener) = &link.listener else {
            return;
        };
        while let Ok((client, _)) = listener.accept() {
            let id = self.next_id;
            self.next_id += 1;
            let logged = matches!(link.kind, Kind::Client);
            if logged {
                self.log.add(link.server, id, What::Open);
            }
            let target = SocketAddrV4::new(Ipv4Addr::LOCALHOST, link.target);
            let server = client
                .set_nonblocking(true)
                .and_then(|()| client.set_nodelay(true))
                .and_then(|()| socket::connect(target));
            let server = match server {
                Ok(server) => server,
                Err(error) => {
                    if logged {
                        let why = format!("server: {error}");
                        self.log.add(link.server, id, What::Closed { why });
                    }
                    socket::reset(client);
                    continue;
                }
            };
            let (content, patience) = match &link.kind {
                Kind::Client => (Content::Client(Frames::default()), Duration::ZERO),
                Kind::Election { announce } => (
                    Content::Election(Rewriter::new(announce.clone())),
                    PEER_PATIENCE,
                ),
                Kind::Quorum => (Content::Opaque, PEER_PATIENCE),
            };
            let ways = link.faults.map(Way::new);
            let connection = Connection {
                id,
                link: index,
                server_number: link.server,
                client,
                server,
                target,
                connecting: true,
                retry_at: None,
                give_up_at: Instant::now() + patience,
                content,
                ways,
            };
            self.connections.insert(id, connection);
        }
    }

    /// Ends a connection.
    pub(crate) fn end(&mut self, id: u64, end: End) {
        let Some(connection) = self.connections.remove(&id) else {
            return;
        };
        let link = &mut self.links[connection.link];
        if end.then_refuse {
            link.refusing = true;
            // Closing a listener cannot fail.
            let _ = link.update_listener();
        }
        if matches!(link.kind, Kind::Client) {
            let why = end.why;
            self.log.add(link.server, id, What::Closed { why });
        }
        // Before the client can see it, so that who sees it finds it said.
        if let Some(fired) = end.fired {
            fired.store(true, Ordering::SeqCst);
        }
        if end.reset_client {
            socket::reset(connection.client);
        } else {
            drop(connection.client);
        }
        if connection
            .server
            .shutdown(std::net::Shutdown::Write)
            .is_ok()
        {
            self.draining
                .push((connection.server, Instant::now() + DRAIN));
        }
    }

    /// Ends all connections of a link.
    pub(crate) fn end_all(&mut self, link: usize, reset_client: bool, why: &str) {
        let ids: Vec<u64> = self
            .connections
            .values()
            .filter(|connection| connection.link == link)
            .map(|connection| connection.id)
            .collect();
        for id in ids {
            self.end(id, End::new(reset_client, why));
        }
    }
}
