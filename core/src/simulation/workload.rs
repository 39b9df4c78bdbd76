//! What the callers of a client do next.

use std::time::Duration;

use super::client::Client;
use crate::queue::names::{Family, Kind};

/// The lock paths of a schedule.
pub(super) const PATHS: [(&str, Family); 3] = [
    ("/locks/mutex", Family::Mutex),
    ("/locks/deep/er/reentrant", Family::Mutex),
    ("/locks/rw", Family::ReadWrite),
];
/// On this one callers are owners.
const REENTRANT: usize = 1;
const READ_WRITE: usize = 2;
const MOST_CALLS: usize = 6;
const OWNERS: u64 = 2;

#[derive(Debug)]
pub(super) enum Step {
    Lock {
        path: usize,
        kind: Kind,
        owner: Option<u64>,
        wait: Option<Duration>,
    },
    Cancel(usize),
    Release(usize),
    Drop(usize),
    Nothing,
}

/// Chooses, with a client's calls and holds in view.
pub(super) fn choose(random: &mut fastrand::Rng, client: &Client, s: Duration) -> Step {
    let holds = client.held.len();
    let calls = client.calls.len();
    match random.u8(..10) {
        0..=3 if calls < MOST_CALLS => {
            let path = random.usize(..PATHS.len());
            let owner = (path != 0).then(|| 1 + random.u64(..OWNERS));
            let kind = match path {
                READ_WRITE if random.bool() => Kind::Read,
                READ_WRITE => Kind::Write,
                REENTRANT => Kind::Exclusive,
                _ => Kind::Exclusive,
            };
            let wait = match random.u8(..6) {
                0 => Some(Duration::ZERO),
                1..=2 => Some(s.mul_f64(random.f64() * 1.5)),
                _ => None,
            };
            Step::Lock {
                path,
                kind,
                owner,
                wait,
            }
        }
        4 if calls > 0 => Step::Cancel(random.usize(..calls)),
        5..=8 if holds > 0 => Step::Release(random.usize(..holds)),
        9 if holds > 0 => Step::Drop(random.usize(..holds)),
        _ => Step::Nothing,
    }
}
