//! Data directories that go away with the ensemble, or with the next one if this process was killed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::error::{Context, Result};
use crate::flock;

const PREFIX: &str = "zoolock-ensemble-";
/// A directory this young may be between its creation and its lock.
const SETTLED: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct TempDir {
    path: PathBuf,
    _lock: File,
}

impl TempDir {
    pub(crate) fn create() -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let base = std::env::temp_dir();
        remove_abandoned(&base);
        loop {
            let path = base.join(format!(
                "{PREFIX}{}-{}",
                std::process::id(),
                COUNT.fetch_add(1, Ordering::Relaxed)
            ));
            match fs::create_dir(&path) {
                Ok(()) => {
                    let lock = flock::lock(&path.join("lock"))
                        .context(|| format!("cannot lock {}", path.display()))?;
                    return Ok(TempDir { path, _lock: lock });
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error).context(|| format!("cannot create {}", path.display()));
                }
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes a directory that a dying server may still write to.
pub(crate) fn remove(path: &Path) {
    for _ in 0..50 {
        if fs::remove_dir_all(path).is_ok() || !path.exists() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Removes what killed processes left behind: directories whose lock nobody holds.
fn remove_abandoned(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let settled = entry
            .metadata()
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > SETTLED));
        if ours && settled && matches!(flock::try_lock(&entry.path().join("lock")), Ok(Some(_))) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
