//! Compiles our Java programs, once per ZooKeeper and source text.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Context, Error, Result};
use crate::flock;

const SOURCES: [(&str, &str); 2] = [
    (
        "EnsembleServer.java",
        include_str!("../java/EnsembleServer.java"),
    ),
    (
        "SnapshotWriter.java",
        include_str!("../java/SnapshotWriter.java"),
    ),
];

pub(crate) fn class_path<'a>(paths: impl IntoIterator<Item = &'a Path>) -> String {
    let paths: Vec<_> = paths
        .into_iter()
        .map(|path| path.to_string_lossy())
        .collect();
    paths.join(":")
}

/// The directory with the compiled programs.
pub(crate) fn compile_tools(cache: &Path, jars: &[PathBuf]) -> Result<PathBuf> {
    // The same text and jars give the same directory, so a change of either never meets old classes.
    let mut hasher = DefaultHasher::new();
    SOURCES.hash(&mut hasher);
    for jar in jars {
        jar.hash(&mut hasher);
        fs::metadata(jar).map_or(0, |m| m.len()).hash(&mut hasher);
    }
    let dir = cache.join(format!("tools-{:016x}", hasher.finish()));
    if dir.is_dir() {
        return Ok(dir);
    }
    let lock_file = dir.with_extension("lock");
    let _lock =
        flock::lock(&lock_file).context(|| format!("cannot lock {}", lock_file.display()))?;
    if dir.is_dir() {
        return Ok(dir);
    }
    let partial = dir.with_extension("partial");
    let _ = fs::remove_dir_all(&partial);
    fs::create_dir_all(&partial).context(|| format!("cannot create {}", partial.display()))?;
    let mut javac = Command::new("javac");
    javac
        .args(["-nowarn", "-encoding", "UTF-8", "-cp"])
        .arg(class_path(jars.iter().map(PathBuf::as_path)))
        // Some jars have sources beside their classes, which today's compilers refuse.
        .arg("-sourcepath")
        .arg(&partial)
        .arg("-d")
        .arg(&partial);
    for (name, text) in SOURCES {
        let file = partial.join(name);
        fs::write(&file, text).context(|| format!("cannot write {}", file.display()))?;
        javac.arg(file);
    }
    let output = javac
        .output()
        .context(|| "cannot run javac (a JDK is needed)".into())?;
    if !output.status.success() {
        return Err(Error::new(format!(
            "javac failed: {}",
            String::from_utf8_lossy(&output.stderr)
        )));
    }
    fs::rename(&partial, &dir).context(|| format!("cannot create {}", dir.display()))?;
    Ok(dir)
}
