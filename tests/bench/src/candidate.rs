//! The programs that are measured, each beside the bare socket.

use crate::settings::Settings;

/// One program.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) name: &'static str,
    pub(crate) command: Vec<String>,
    /// The ratio to the bare socket that the project aims at.
    pub(crate) target: f64,
}

/// All of them; Rust programs are built beside the benchmark itself.
pub(crate) fn all(settings: &Settings) -> Result<Vec<Candidate>, String> {
    let rust = beside("bench-rust")?;
    let program = |name: &str| format!("{}/{name}", settings.programs);
    let candidate = |name, target, command: &[&str]| Candidate {
        name,
        command: command.iter().map(|&word| word.to_owned()).collect(),
        target,
    };
    Ok(vec![
        candidate("rust-async", 1.05, &[&rust, "async"]),
        candidate("rust-blocking", 1.05, &[&rust, "blocking"]),
        candidate("c", 1.05, &[&settings.c]),
        candidate("python", 1.10, &[&settings.python, &program("cycle.py")]),
        candidate("node", 1.15, &[&settings.node, &program("cycle.mjs")]),
    ])
}

/// The bare socket's command.
pub(crate) fn bare() -> Result<Vec<String>, String> {
    Ok(vec![beside("bench-bare")?])
}

fn beside(name: &str) -> Result<String, String> {
    let own = std::env::current_exe().map_err(|error| format!("cannot find {name}: {error}"))?;
    Ok(own.with_file_name(name).to_string_lossy().into_owned())
}
