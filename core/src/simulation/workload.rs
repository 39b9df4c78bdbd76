//! What the callers of a client do next.

use std::time::Duration;

use super::client::Client;
use super::plan::{Family as Plans, Plan};
use crate::queue::names::{Family, Kind};

/// The lock paths of a schedule.
pub(super) const PATHS: [(&str, Family); 3] = [
    ("/locks/mutex", Family::Mutex),
    ("/locks/deep/er/reentrant", Family::Mutex),
    ("/locks/rw", Family::ReadWrite),
];
pub(super) const MUTEX: usize = 0;
pub(super) const READ_WRITE: usize = 2;
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
pub(super) fn choose(random: &mut fastrand::Rng, client: &Client, plan: &Plan) -> Step {
    let holds = client.held.len();
    let calls = client.calls.len();
    let quiet = plan.family == Plans::Quiet;
    match random.u8(..10) {
        0..=3 if calls < MOST_CALLS => {
            let path = random.usize(..PATHS.len());
            // Who holds the write lock often wants to go on reading (R12).
            let writes = client.held.iter().find(|held| held.kind == Kind::Write);
            if let (Some(held), true) = (writes, random.u8(..3) == 0) {
                return Step::Lock {
                    path: held.path,
                    kind: Kind::Read,
                    owner: held.owner,
                    wait: None,
                };
            }
            // Nobody owns the plain mutex.
            let owner = (path != MUTEX).then(|| 1 + random.u64(..OWNERS));
            let kind = match path {
                READ_WRITE if random.bool() => Kind::Read,
                READ_WRITE => Kind::Write,
                _ => Kind::Exclusive,
            };
            let wait = match random.u8(..7) {
                _ if quiet => None,
                0 => Some(Duration::ZERO),
                1..=2 => {
                    let s = Duration::from_nanos(plan.session);
                    Some(s.mul_f64(random.f64() * 1.5))
                }
                // At any message of its round trips.
                3 => Some(Duration::from_nanos(1 + random.u64(..plan.base_delay * 8))),
                _ => None,
            };
            Step::Lock {
                path,
                kind,
                owner,
                wait,
            }
        }
        4 if calls > 0 && !quiet => Step::Cancel(random.usize(..calls)),
        5..=8 if holds > 0 => Step::Release(random.usize(..holds)),
        9 if holds > 0 => Step::Drop(random.usize(..holds)),
        _ => Step::Nothing,
    }
}
