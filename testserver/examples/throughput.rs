//! How many requests a second the model does, without sockets: `cargo run --release --example throughput`.

use std::time::Instant;

use zoolock_testserver::model::{Cluster, ConnectionId, Output, Settings};

const ROUNDS: u32 = 100_000;

fn main() {
    for servers in [1, 3] {
        let settings = Settings {
            servers,
            ..Settings::default()
        };
        let mut cluster = Cluster::new(settings, 1);
        let connection = cluster.open(0, servers - 1).expect("a server that runs");
        let mut hello = frame(&[
            &0_i32.to_be_bytes(),
            &[0; 8],
            &40_000_i32.to_be_bytes(),
            &[0; 8],
        ]);
        hello.extend(16_i32.to_be_bytes());
        hello.extend([0; 16]);
        let length = hello.len() as i32 - 4;
        hello[..4].copy_from_slice(&length.to_be_bytes());
        ask(&mut cluster, 0, connection, &hello);
        let start = Instant::now();
        for round in 0..ROUNDS {
            let now = u64::from(round) * 1_000_000;
            let path = format!("/lock-{round:010}");
            ask(&mut cluster, now, connection, &create(&path));
            ask(&mut cluster, now, connection, &list());
            ask(&mut cluster, now, connection, &delete(&path));
        }
        let seconds = start.elapsed().as_secs_f64();
        let rate = 3.0 * f64::from(ROUNDS) / seconds;
        println!("{servers} server(s): {rate:.0} requests/s (create, list, delete)");
    }
}

fn ask(cluster: &mut Cluster, now: u64, connection: ConnectionId, bytes: &[u8]) {
    cluster.receive(now, connection, bytes);
    let answered = matches!(cluster.poll_output(), Some(Output::Bytes { .. }));
    assert!(answered, "one answer to each request");
}

fn frame(parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    [&(body.len() as i32).to_be_bytes()[..], &body].concat()
}

fn string(text: &str) -> Vec<u8> {
    frame(&[text.as_bytes()])
}

fn number(number: i32) -> [u8; 4] {
    number.to_be_bytes()
}

fn create(path: &str) -> Vec<u8> {
    let open = [
        &number(1)[..],
        &number(31),
        &string("world"),
        &string("anyone"),
    ]
    .concat();
    let ephemeral_sequential = number(3);
    frame(&[
        &number(1),
        &number(15),
        &string(path.trim_end_matches(char::is_numeric)),
        &string(""),
        &open,
        &ephemeral_sequential,
    ])
}

fn list() -> Vec<u8> {
    frame(&[&number(2), &number(12), &string("/"), &[0]])
}

fn delete(path: &str) -> Vec<u8> {
    frame(&[&number(3), &number(2), &string(path), &number(-1)])
}
