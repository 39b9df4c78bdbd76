//! Takes connections, and reads what clients send.

use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::sync::Arc;

use super::outbox::Outbox;
use super::state::{Shared, spawn};
use crate::model::ConnectionId;

/// Accepts until the end.
pub(super) fn run_acceptor(shared: &Arc<Shared>) {
    while let Some(socket) = shared.gate.accept() {
        if attach(shared, socket).is_err() {
            shared.gate.pause();
        }
    }
}

/// Attaches an accepted connection to the model.
fn attach(shared: &Arc<Shared>, socket: TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let Some((id, outbox)) = shared.open(socket) else {
        return Ok(());
    };
    let result = start(shared, id, &outbox);
    if result.is_err() {
        shared.closed(id);
        outbox.cut();
    }
    result
}

fn start(shared: &Arc<Shared>, id: ConnectionId, outbox: &Arc<Outbox>) -> io::Result<()> {
    let writer = outbox.clone();
    spawn(shared, "zoolock-testserver-write", move || writer.run())?;
    let (outbox, there) = (outbox.clone(), shared.clone());
    spawn(shared, "zoolock-testserver-read", move || {
        run(&there, id, outbox.socket())
    })
}

fn run(shared: &Shared, id: ConnectionId, mut socket: &TcpStream) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match socket.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => shared.receive(id, &buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    shared.closed(id);
}
