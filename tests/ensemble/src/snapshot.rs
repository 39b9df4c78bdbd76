//! A data directory that is not empty at the start.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::error::{Context, Error, Result};
use crate::jars::Distribution;

/// A persistent node, open to everybody and without data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) path: String,
    /// The number that its next sequential child gets.
    pub(crate) next_sequence: i32,
}

/// Writes one snapshot with `nodes`, and those above them, into each of the data directories.
pub(crate) fn write(distribution: &Distribution, nodes: &[Node], dirs: &[PathBuf]) -> Result<()> {
    let mut input = String::new();
    for node in nodes {
        check(node)?;
        let inner = node.path.match_indices('/').skip(1);
        for (end, _) in inner {
            input += &format!("{} 0\n", &node.path[..end]);
        }
        input += &format!("{} {}\n", node.path, node.next_sequence);
    }
    let mut child = Command::new("java")
        .args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"])
        .arg(distribution.class_path())
        .arg("-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
        .arg("SnapshotWriter")
        .args(dirs)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context(|| "cannot run java".into())?;
    if let Some(mut stdin) = child.stdin.take() {
        // Should this fail, then because the program has, and its own words say more.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child
        .wait_with_output()
        .context(|| "cannot run java".into())?;
    if !output.status.success() {
        return Err(Error::new(format!(
            "cannot write the snapshot: {}",
            String::from_utf8_lossy(&output.stderr)
        )));
    }
    Ok(())
}

fn check(node: &Node) -> Result<()> {
    let path = &node.path;
    let valid = path.len() > 1
        && path.starts_with('/')
        && !path.ends_with('/')
        && !path.contains("//")
        && !path.contains(['\n', '\r']);
    if !valid {
        return Err(Error::new(format!(
            "`{path}` is no node path such as /locks/a"
        )));
    }
    if node.next_sequence < 0 {
        return Err(Error::new(format!(
            "{path}: a sequence number is not negative"
        )));
    }
    Ok(())
}
