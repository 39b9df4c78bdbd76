//! Advisory file locks, which the kernel lets go when their process ends in any way.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Waits for the lock on `path`, which is created if need be. Dropping the file unlocks.
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    flock(&file, libc::LOCK_EX)?;
    Ok(file)
}

/// The lock on `path`, or `None` while somebody else has it.
pub(crate) fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let file = open(path)?;
    match flock(&file, libc::LOCK_EX | libc::LOCK_NB) {
        Ok(()) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
}

fn flock(file: &File, operation: libc::c_int) -> io::Result<()> {
    loop {
        // SAFETY: the descriptor is open for as long as `file` is borrowed.
        if unsafe { libc::flock(file.as_raw_fd(), operation) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
