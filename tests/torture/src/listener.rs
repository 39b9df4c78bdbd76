//! Listens to the workers' connections, a thread for each.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::{io, thread};

use crate::board::Board;
use crate::message::Message;

/// Opens a port on the loopback interface, and serves `board` there until the process ends.
pub(crate) fn listen(board: Arc<Board>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let board = Arc::clone(&board);
            board.connected(true);
            thread::spawn(move || {
                // Connections end in all ways when workers are killed.
                let _ = serve(&board, stream);
                board.connected(false);
            });
        }
    });
    Ok(address)
}

fn serve(board: &Board, stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let (speaker, mut rng) = match Message::parse(&line) {
        Ok(Message::Hello { worker, part }) => {
            board.hello(&worker, &part).map_err(io::Error::other)?
        }
        _ => return Err(io::Error::other("a connection has to begin with hello")),
    };
    loop {
        line.clear();
        // A line that a kill cut short was not said.
        if reader.read_line(&mut line)? == 0 || !line.ends_with('\n') {
            return Ok(());
        }
        if let Some(answer) = board.hear(&speaker, &mut rng, line.trim_end()) {
            writer.write_all(format!("{answer}\n").as_bytes())?;
        }
    }
}
