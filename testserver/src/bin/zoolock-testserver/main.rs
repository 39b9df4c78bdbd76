//! A ZooKeeper server in memory, for development and tests only, as a program: see `arguments.rs` for its options.
//!
//! It prints its connect string, one line, when clients can connect, and runs until SIGINT or SIGTERM.

mod arguments;
mod ending;

use std::io::Write;
use std::process::ExitCode;

use arguments::{Arguments, Wish};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("zoolock-testserver: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let arguments = match arguments::parse(std::env::args().skip(1))? {
        Wish::Serve(arguments) => arguments,
        Wish::Help => return print(arguments::USAGE),
        Wish::Version => {
            let version = env!("CARGO_PKG_VERSION");
            return print(&format!("zoolock-testserver {version}\n"));
        }
    };
    serve(arguments)
}

fn serve(arguments: Arguments) -> Result<(), String> {
    // Before there are other threads, which inherit what is blocked.
    let signals = ending::Signals::block().map_err(|error| error.to_string())?;
    let server = arguments
        .builder
        .start()
        .map_err(|error| error.to_string())?;
    print(&format!("{}\n", server.hosts()))?;
    signals
        .wait(arguments.until_stdin_ends)
        .map_err(|error| error.to_string())?;
    server.stop();
    Ok(())
}

fn print(text: &str) -> Result<(), String> {
    let mut out = std::io::stdout();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| format!("cannot print: {error}"))
}
