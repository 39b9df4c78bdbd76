//! The workloads in Rust: `bench-rust async|blocking HOSTS LOCK_PATH`.

#[path = "../clock.rs"]
mod clock;
#[path = "../serve.rs"]
mod serve;

mod asynchronous;
mod blocking;

use std::time::Duration;

/// Longer than others' blocks take.
const KEEP: Duration = Duration::from_secs(3600);

fn main() -> serve::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["async", hosts, path] => asynchronous::run(hosts, path),
        ["blocking", hosts, path] => blocking::run(hosts, path),
        _ => Err("usage: bench-rust async|blocking HOSTS LOCK_PATH".into()),
    }
}
