//! Runs every model, each as a test, in a process of its own: loom ends a failed one by an abort.

use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

/// Names the model that a child process runs.
const ONE: &str = "ZOOLOCK_MODEL";

fn main() {
    if let Ok(name) = std::env::var(ONE) {
        let (_, model) = zoolock_threads::models::all()
            .find(|(known, _)| *known == name)
            .expect("no such model");
        return model();
    }
    let trials = zoolock_threads::models::all()
        .map(|(name, _)| Trial::test(name.clone(), move || in_a_process(&name)))
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn in_a_process(name: &str) -> Result<(), Failed> {
    let output = Command::new(std::env::current_exe()?)
        .env(ONE, name)
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}\n{said}", output.status).into())
}
