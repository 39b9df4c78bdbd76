//! What the figures were measured on.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Names and values, for a person and for the results file; `data` is where the servers write. What cannot be found out is left out.
pub(crate) fn describe(data: &Path) -> BTreeMap<String, String> {
    let data = data.to_string_lossy();
    let facts = [
        ("processor", field("/proc/cpuinfo", "model name")),
        ("memory", field("/proc/meminfo", "MemTotal")),
        ("cores", cores()),
        ("system", first_line("uname", &["-srm"])),
        (
            "filesystem",
            first_line(
                "findmnt",
                &["--noheadings", "--output=FSTYPE", "--target", &data],
            ),
        ),
        ("rustc", first_line("rustc", &["--version"])),
        ("cc", first_line("cc", &["--version"])),
        ("java", first_line("java", &["--version"])),
    ];
    facts
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

fn cores() -> Option<String> {
    let cores = std::thread::available_parallelism().ok()?;
    Some(cores.to_string())
}

fn field(file: &str, label: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(label))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn first_line(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(str::to_owned)
}
