//! A bare forwarder: for addresses that the proxies do not have, and to see bytes that they do not show.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Forwards connections until the process ends.
pub struct Forwarder {
    address: SocketAddr,
    to_client: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Forwarder {
    /// Listens on `listen`, leads to `target`; an error if there is no such address here.
    pub fn start(listen: &str, target: &str) -> std::io::Result<Forwarder> {
        let listener = TcpListener::bind(listen)?;
        let address = listener.local_addr()?;
        let to_client: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
        let (seen, target) = (Arc::clone(&to_client), target.to_owned());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(&target) else {
                    continue;
                };
                let index = {
                    let mut seen = seen.lock().unwrap();
                    seen.push(Vec::new());
                    seen.len() - 1
                };
                let (client_in, server_out) = (client.try_clone(), server.try_clone());
                let seen = Arc::clone(&seen);
                if let (Ok(client_in), Ok(server_out)) = (client_in, server_out) {
                    thread::spawn(move || copy(client_in, server_out, |_| ()));
                    thread::spawn(move || {
                        copy(server, client, |bytes| {
                            seen.lock().unwrap()[index].extend_from_slice(bytes);
                        });
                    });
                }
            }
        });
        Ok(Forwarder { address, to_client })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What servers have sent, by connection.
    pub fn to_client(&self) -> Vec<Vec<u8>> {
        self.to_client.lock().unwrap().clone()
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream, mut seen: impl FnMut(&[u8])) {
    let mut buffer = [0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        // Noted first: who has got the bytes finds them here.
        seen(&buffer[..read]);
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    // The other side may be gone already.
    let _ = to.shutdown(Shutdown::Write);
}
