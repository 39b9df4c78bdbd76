//! A server leaves nothing behind, and a forked child leaves it alone. One test, since it counts what the whole process has.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use zoolock_testserver::server::{Gone, Server};

const PATIENCE: Duration = Duration::from_secs(20);

fn count(folder: &str) -> usize {
    fs::read_dir(folder).unwrap().count()
}

/// A connection that is served.
fn connection(server: &Server) -> TcpStream {
    let mut socket = TcpStream::connect(server.address()).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut handshake = vec![0; 4 + 4 + 8 + 4 + 8 + 4];
    handshake[3] = 28;
    socket.write_all(&handshake).unwrap();
    socket.read_exact(&mut [0; 40]).unwrap();
    socket
}

#[test]
fn nothing_is_left_of_it_and_a_forked_child_leaves_it_alone() {
    let (threads, files) = (count("/proc/self/task"), count("/proc/self/fd"));
    for round in 0..20 {
        let server = Server::builder().start().unwrap();
        let clients: Vec<TcpStream> = (0..3).map(|_| connection(&server)).collect();
        match round % 4 {
            0 => server.freeze_all().unwrap(),
            1 => server.refuse_connections().unwrap(),
            2 => server.delay_answers(PATIENCE).unwrap(),
            _ => {}
        }
        if round % 2 == 0 {
            drop(clients);
        }
        let start = Instant::now();
        drop(server);
        assert!(start.elapsed() < PATIENCE / 2, "it waits for nobody");
    }
    assert_eq!(count("/proc/self/fd"), files);
    // A thread is gone from there some moments after it has been joined.
    let start = Instant::now();
    while count("/proc/self/task") > threads {
        assert!(start.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(1));
    }

    let server = Server::builder().start().unwrap();
    let mut client = connection(&server);
    // SAFETY: the child only calls what is made for it, and leaves by `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: async-signal-safe.
        unsafe { libc::alarm(20) };
        let refused = server.sessions() == Err(Gone::OtherProcess);
        server.stop();
        drop(server);
        // SAFETY: as above.
        unsafe { libc::_exit(i32::from(!refused)) };
    }
    let mut status = 0;
    // SAFETY: the child is ours.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    client.write_all(&[0, 0, 0, 8]).unwrap();
    client.write_all(&(-2_i32).to_be_bytes()).unwrap();
    client.write_all(&11_i32.to_be_bytes()).unwrap();
    client.read_exact(&mut [0; 20]).expect("a pong");
    // What the child has inherited does not keep the port open.
    // SAFETY: as above, and it waits to be ended.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: async-signal-safe.
        unsafe {
            libc::alarm(20);
            libc::pause();
            libc::_exit(1);
        }
    }
    let address = server.address();
    drop(server);
    assert_eq!(client.read(&mut [0; 1]).unwrap(), 0, "the end");
    let refused = TcpStream::connect(address).is_err();
    let again = Server::builder().port(address.port()).start();
    // SAFETY: the child is ours, and has not been waited for.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, &raw mut status, 0);
    }
    assert!(refused);
    assert_eq!(again.unwrap().address(), address);
}
