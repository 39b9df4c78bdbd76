//! Ensembles that the tests of one file use one after the other.

use std::ops::Deref;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use zoolock_ensemble::{Ensemble, Result, Role};

use super::LONG;

/// No test takes longer, unless it hangs.
const LONGEST_TEST: Duration = Duration::from_secs(180);

type Slot = Mutex<Option<Ensemble>>;

static ONE: Slot = Mutex::new(None);
static THREE: Slot = Mutex::new(None);

/// An ensemble for one test alone, without faults, with an empty log. Given back healed.
pub struct Lease {
    slot: MutexGuard<'static, Option<Ensemble>>,
    _watchdog: Sender<()>,
}

/// One server.
#[track_caller]
pub fn one() -> Lease {
    lease(&ONE, 1)
}

/// Three servers.
#[track_caller]
pub fn three() -> Lease {
    lease(&THREE, 3)
}

#[track_caller]
fn lease(slot: &'static Slot, servers: usize) -> Lease {
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    let usable = slot
        .as_ref()
        .is_some_and(|ensemble| ensemble.wait_serving(LONG).is_ok());
    if !usable {
        clean_up_at_exit();
        // A follower that is cut off serves on for 8 ticks, 4 s: longer than the sessions of tests.
        let ensemble = Ensemble::builder().servers(servers).sync_limit(8).start();
        *slot = Some(ensemble.expect("an ensemble"));
    }
    let lease = Lease {
        slot,
        _watchdog: watchdog(),
    };
    lease.log().clear();
    lease
}

impl Deref for Lease {
    type Target = Ensemble;

    fn deref(&self) -> &Ensemble {
        self.slot.as_ref().expect("there as long as the lease is")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if heal(self).is_err() {
            // The next test gets a fresh one.
            *self.slot = None;
        }
    }
}

/// Ends a run that hangs, and says which test it was.
fn watchdog() -> Sender<()> {
    let (alive, ended) = channel::<()>();
    let test = thread::current().name().unwrap_or("a test").to_owned();
    thread::spawn(move || {
        if ended.recv_timeout(LONGEST_TEST) == Err(RecvTimeoutError::Timeout) {
            eprintln!("{test} hangs");
            std::process::abort();
        }
    });
    alive
}

fn heal(ensemble: &Ensemble) -> Result<()> {
    for server in 1..=ensemble.size() {
        ensemble.client_link(server)?.heal()?;
        if ensemble.size() > 1 {
            ensemble.quorum_link(server)?.heal()?;
        }
        match ensemble.role(server)? {
            Role::Paused => ensemble.resume(server)?,
            Role::Down => ensemble.restart(server)?,
            _ => {}
        }
    }
    Ok(())
}

/// Statics are not dropped, and the servers' directories have to go.
fn clean_up_at_exit() {
    extern "C" fn clean_up() {
        for slot in [&ONE, &THREE] {
            if let Ok(mut slot) = slot.try_lock() {
                slot.take();
            }
        }
    }
    // SAFETY: a plain C function without arguments; registering it twice is harmless.
    unsafe { libc::atexit(clean_up) };
}
