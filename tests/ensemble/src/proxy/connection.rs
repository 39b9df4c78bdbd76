//! One proxied connection.

use std::io::{self, Read};
use std::net::{Shutdown, SocketAddrV4, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::log::{RequestLog, What};
use crate::proxy::cut::{Action, Moment, Rule};
use crate::proxy::election::Rewriter;
use crate::proxy::frames::{Frames, Piece};
use crate::proxy::socket;
use crate::proxy::way::{Order, Way};

/// Index of the way towards the server.
pub(crate) const TO_SERVER: usize = 0;
/// Index of the way towards the client.
pub(crate) const TO_CLIENT: usize = 1;

const READ_SIZE: usize = 64 << 10;
const RETRY: Duration = Duration::from_millis(20);

/// What the bytes of a connection are.
#[derive(Debug)]
pub(crate) enum Content {
    /// The client protocol.
    Client(Frames),
    /// Votes between servers.
    Election(Rewriter),
    /// Not looked into.
    Opaque,
}

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) id: u64,
    pub(crate) link: usize,
    /// The server's number, for the log.
    pub(crate) server_number: usize,
    pub(crate) client: TcpStream,
    pub(crate) server: TcpStream,
    pub(crate) target: SocketAddrV4,
    /// The way to the server is not open yet.
    pub(crate) connecting: bool,
    /// When to try again to reach a server that refused, and until when.
    pub(crate) retry_at: Option<Instant>,
    pub(crate) give_up_at: Instant,
    pub(crate) content: Content,
    pub(crate) ways: [Way; 2],
}

/// How a connection ends. The server always gets an orderly close, so that it handles the requests it was sent.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) reset_client: bool,
    pub(crate) then_refuse: bool,
    /// To be set when it is done.
    pub(crate) fired: Option<Arc<AtomicBool>>,
    pub(crate) why: String,
}

impl End {
    pub(crate) fn new(reset_client: bool, why: impl Into<String>) -> Self {
        End {
            reset_client,
            then_refuse: false,
            fired: None,
            why: why.into(),
        }
    }
}

impl Connection {
    /// Learns how connecting went; `Some` when it has failed for good.
    pub(crate) fn finish_connecting(&mut self, now: Instant) -> Option<End> {
        match self.server.take_error() {
            Ok(None) => {
                self.connecting = false;
                None
            }
            Ok(Some(_)) if now < self.give_up_at => {
                self.retry_at = Some(now + RETRY);
                None
            }
            Ok(Some(error)) | Err(error) => Some(End::new(true, format!("server: {error}"))),
        }
    }

    /// Tries again to reach the server, when it is time.
    pub(crate) fn retry_connecting(&mut self, now: Instant) -> Option<End> {
        if self.retry_at.is_none_or(|time| time > now) {
            return None;
        }
        self.retry_at = None;
        match socket::connect(self.target) {
            Ok(server) => {
                self.server = server;
                None
            }
            Err(error) => Some(End::new(true, format!("server: {error}"))),
        }
    }

    /// Reads, cuts, forwards; `Some` when the connection is over.
    pub(crate) fn pump(
        &mut self,
        readable: [bool; 2],
        now: Instant,
        rules: &mut Vec<Rule>,
        log: &RequestLog,
    ) -> Option<End> {
        if self.connecting {
            return None;
        }
        for way in [TO_SERVER, TO_CLIENT] {
            if readable[way]
                && let Err(error) = self.read(way, now, rules, log)
            {
                let from = ["client", "server"][way];
                return Some(End::new(way == TO_CLIENT, format!("{from}: {error}")));
            }
            if let Some(end) = self.forward(way, now) {
                return Some(end);
            }
        }
        let closed = self.ways.iter().all(|way| way.shut);
        closed.then(|| End::new(false, "closed"))
    }

    fn read(
        &mut self,
        way: usize,
        now: Instant,
        rules: &mut Vec<Rule>,
        log: &RequestLog,
    ) -> io::Result<()> {
        let mut buffer = [0; READ_SIZE];
        while self.ways[way].wants_bytes() {
            let source = if way == TO_SERVER {
                &mut self.client
            } else {
                &mut self.server
            };
            match source.read(&mut buffer) {
                Ok(0) => {
                    self.ways[way].ended = true;
                    if let Some(piece) = self.rest(way) {
                        self.take(way, piece, now, rules, log);
                    }
                }
                Ok(count) => {
                    for piece in self.split(way, &buffer[..count], log) {
                        self.take(way, piece, now, rules, log);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn split(&mut self, way: usize, bytes: &[u8], log: &RequestLog) -> Vec<Piece> {
        let opaque = |bytes: Vec<u8>| vec![Piece { bytes, frame: None }];
        match &mut self.content {
            Content::Client(frames) => {
                let was_raw = frames.is_raw();
                let pieces = frames.feed(way, bytes);
                if frames.is_raw() && !was_raw {
                    log.add(self.server_number, self.id, What::Raw);
                }
                pieces
            }
            Content::Election(rewriter) if way == TO_SERVER => opaque(rewriter.feed(bytes)),
            Content::Election(_) | Content::Opaque => opaque(bytes.to_vec()),
        }
    }

    fn rest(&mut self, way: usize) -> Option<Piece> {
        match &mut self.content {
            Content::Client(frames) => frames.rest(way),
            Content::Election(rewriter) if way == TO_SERVER => Some(Piece {
                bytes: rewriter.rest(),
                frame: None,
            }),
            Content::Election(_) | Content::Opaque => None,
        }
    }

    /// Logs a piece, and queues it as faults and cuts demand.
    fn take(
        &mut self,
        way: usize,
        piece: Piece,
        now: Instant,
        rules: &mut Vec<Rule>,
        log: &RequestLog,
    ) {
        let way = &mut self.ways[way];
        if way.stopped || piece.bytes.is_empty() {
            return;
        }
        let mut rule = None;
        let drop_it = way.faults.dropping;
        if let Some(frame) = piece.frame {
            let mut what = frame.what;
            match &mut what {
                What::Request { dropped, .. }
                | What::Reply { dropped, .. }
                | What::Event { dropped, .. } => *dropped = drop_it,
                What::Open | What::Closed { .. } | What::Raw => {}
            }
            if let (Some(message), false) = (frame.message, drop_it) {
                let position = rules.iter_mut().position(|rule| rule.counts(message));
                rule = position.map(|index| rules.remove(index));
            }
            if let (What::Request { dropped, .. } | What::Reply { dropped, .. }, Some(rule)) =
                (&mut what, &rule)
            {
                *dropped = rule.moment == Moment::Before && rule.action != Action::Hold;
            }
            log.add(self.server_number, self.id, what);
        }
        if drop_it {
            return;
        }
        let Some(rule) = rule else {
            way.push(piece.bytes, now);
            return;
        };
        let order = Order {
            action: rule.action,
            then_refuse: rule.then_refuse,
            fired: rule.fired,
        };
        if rule.moment == Moment::After {
            way.push(piece.bytes, now);
            way.order(order, now);
        } else {
            way.order(order, now);
            if rule.action == Action::Hold {
                way.push(piece.bytes, now);
            }
        }
        way.stopped = rule.action != Action::Hold;
    }

    fn forward(&mut self, way: usize, now: Instant) -> Option<End> {
        loop {
            let sink = if way == TO_SERVER {
                &mut self.server
            } else {
                &mut self.client
            };
            let order = match self.ways[way].write(sink, now) {
                Ok(order) => order,
                Err(error) => {
                    let to = ["server", "client"][way];
                    return Some(End::new(way == TO_SERVER, format!("{to}: {error}")));
                }
            };
            let Some(order) = order else { break };
            match order.action {
                Action::Hold => {
                    order.fired.store(true, Ordering::SeqCst);
                    for way in &mut self.ways {
                        way.faults.frozen = true;
                    }
                }
                action => {
                    return Some(End {
                        reset_client: action == Action::Reset,
                        then_refuse: order.then_refuse,
                        fired: Some(order.fired),
                        why: "cut".into(),
                    });
                }
            }
        }
        let pipe = &mut self.ways[way];
        if pipe.ended && !pipe.shut && pipe.is_empty() && !pipe.faults.frozen {
            pipe.shut = true;
            let sink = if way == TO_SERVER {
                &self.server
            } else {
                &self.client
            };
            // A sink that is gone already shows in its own way.
            let _ = sink.shutdown(Shutdown::Write);
        }
        None
    }
}
