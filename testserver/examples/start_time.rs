//! How long a test server takes to start and to stop: `cargo run --release -p zoolock-testserver --example start_time`.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use zoolock_testserver::server::Server;

const ROUNDS: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut starts, mut stops) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let server = Server::builder().start()?;
        let client = TcpStream::connect(server.address())?;
        starts.push(start.elapsed());
        let stop = Instant::now();
        drop(server);
        stops.push(stop.elapsed());
        drop(client);
    }
    println!("start, and connect to it: {}", middle(starts));
    println!("stop, with a connection:  {}", middle(stops));
    Ok(())
}

fn middle(mut times: Vec<Duration>) -> String {
    times.sort();
    format!(
        "median {:?}, longest {:?}",
        times[times.len() / 2],
        times[times.len() - 1]
    )
}
