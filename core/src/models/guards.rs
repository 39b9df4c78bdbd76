//! A held lock: the network thread that loses it, threads that release it, and those that wait to
//! hear of it (R4, R10).

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use loom::thread::{self, JoinHandle};

use super::{Count, every_order, models, most_orders};
use crate::clock::{self, Time};
use crate::command::{Command, GuardId, LockTarget};
use crate::error::ErrorKind;
use crate::guard::{Grant, Guard, GuardCell};
use crate::lease_term::LeaseTerm;
use crate::link::Link;
use crate::loss::Loss;
use crate::queue::names::{Family, Naming};
use crate::runtime::{Callbacks, Job};
use crate::state::GuardState;
use crate::stats::LockStats;

models![
    r04_a_loss_is_told_once_whenever_it_was_asked_for,
    r04_a_loss_seen_by_the_clock_first_is_told_once,
    r04_a_loss_ends_every_wait,
    r10_a_release_beside_a_loss_is_one_of_both,
    r10_of_two_releases_one_is_not_held,
    r10_a_release_ends_a_wait_for_the_loss,
    r10_a_guard_dropped_beside_a_loss_is_given_up_once,
];

pub(super) fn target() -> Arc<LockTarget> {
    Arc::new(LockTarget {
        path: "/l".into(),
        family: Family::Mutex,
        naming: Naming::Curator,
        data: None,
        acl: None,
        keep: None,
        stats: LockStats::default(),
    })
}

/// A guard whose lease runs.
pub(super) fn granted(link: &Arc<Link>) -> Guard {
    Guard::new(cell(link, Time::NEVER), None)
}

fn cell(link: &Arc<Link>, lease: Time) -> Arc<GuardCell> {
    GuardCell::new(
        GuardId(1),
        Grant {
            token: 7,
            count: 1,
            node_path: "/l/x".into(),
            granted: Time(0),
            term: Arc::new(LeaseTerm::new(lease)),
            kept: None,
        },
        target(),
        Arc::clone(link),
    )
}

struct Rig {
    link: Arc<Link>,
    cell: Arc<GuardCell>,
    guard: Arc<Guard>,
    jobs: Receiver<Job>,
}

impl Rig {
    fn with_lease(lease: Time) -> Rig {
        let (callbacks, jobs) = Callbacks::collected();
        let link = Link::new(callbacks);
        let cell = cell(&link, lease);
        let guard = Arc::new(Guard::new(Arc::clone(&cell), None));
        Rig {
            link,
            cell,
            guard,
            jobs,
        }
    }

    fn held() -> Rig {
        Rig::with_lease(Time::NEVER)
    }

    /// The network thread finds the lease over.
    fn losing(&self) -> JoinHandle<bool> {
        let cell = Arc::clone(&self.cell);
        thread::spawn(move || cell.lose(clock::now(), Loss::LeaseRanOut))
    }

    fn count_losses(&self) -> Count {
        let count = Count::default();
        let counted = count.clone();
        self.guard.on_lost(move || counted.add());
        count
    }

    fn run_callbacks(&self) {
        for job in self.jobs.try_iter() {
            job();
        }
    }

    /// How often the queue was told to give the guard up.
    fn releases(&self) -> usize {
        let letters = self.link.mailbox().close();
        let is_release = |letter: &&Command| matches!(letter, Command::Release { .. });
        letters.iter().filter(is_release).count()
    }
}

fn r04_a_loss_is_told_once_whenever_it_was_asked_for() {
    every_order(|| {
        let rig = Rig::held();
        let early = rig.count_losses();
        let network = rig.losing();
        let late = rig.count_losses();
        assert!(network.join().unwrap());
        rig.run_callbacks();
        assert_eq!((early.get(), late.get()), (1, 1));
    });
}

fn r04_a_loss_seen_by_the_clock_first_is_told_once() {
    most_orders(|| {
        let rig = Rig::with_lease(Time(1));
        let early = Count::default();
        let counted = early.clone();
        let registered = rig.cell.lost.on_fire(Box::new(move || counted.add()));
        assert!(registered.is_none());
        let network = rig.losing();
        assert_eq!(rig.guard.state(), GuardState::Lost);
        let late = rig.count_losses();
        network.join().unwrap();
        rig.run_callbacks();
        assert_eq!((early.get(), late.get()), (1, 1));
        assert_eq!(rig.cell.target.stats.read().losses, 1);
    });
}

fn r04_a_loss_ends_every_wait() {
    most_orders(|| {
        let rig = Rig::held();
        let network = rig.losing();
        let other = {
            let lost = rig.guard.lost();
            thread::spawn(move || loom::future::block_on(lost))
        };
        let in_slices = rig.guard.wait_lost(Some(Duration::from_millis(1)));
        assert!(in_slices || rig.guard.wait_lost(None));
        other.join().unwrap();
        network.join().unwrap();
    });
}

fn r10_a_release_beside_a_loss_is_one_of_both() {
    every_order(|| {
        let rig = Rig::held();
        let count = rig.count_losses();
        let network = rig.losing();
        let mut releasing = rig.guard.release_shared();
        let lost = network.join().unwrap();
        rig.run_callbacks();
        assert_eq!(count.get(), usize::from(lost));
        let outcome = releasing.wait_for(Duration::ZERO);
        if lost {
            assert_eq!(rig.guard.state(), GuardState::Lost);
            let error = outcome.unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LockLost);
        } else {
            assert_eq!(rig.guard.state(), GuardState::Released);
            assert!(outcome.is_none(), "it is done when the node is gone");
        }
        assert_eq!(rig.releases(), 1);
    });
}

fn r10_of_two_releases_one_is_not_held() {
    every_order(|| {
        let rig = Rig::held();
        let other = {
            let guard = Arc::clone(&rig.guard);
            thread::spawn(move || guard.release_shared())
        };
        let outcomes = [rig.guard.release_shared(), other.join().unwrap()];
        assert_eq!(rig.releases(), 1);
        let not_held = outcomes.into_iter().filter_map(|mut pending| {
            let error = pending.wait_for(Duration::ZERO)?.unwrap_err();
            (error.kind() == ErrorKind::NotHeld).then_some(())
        });
        assert_eq!(not_held.count(), 1);
    });
}

fn r10_a_release_ends_a_wait_for_the_loss() {
    every_order(|| {
        let rig = Rig::held();
        let other = {
            let guard = Arc::clone(&rig.guard);
            thread::spawn(move || drop(guard.release_shared()))
        };
        assert!(!rig.guard.wait_lost(None));
        other.join().unwrap();
    });
}

fn r10_a_guard_dropped_beside_a_loss_is_given_up_once() {
    every_order(|| {
        let rig = Rig::held();
        let network = rig.losing();
        let Rig {
            link,
            cell,
            guard,
            jobs,
        } = rig;
        drop(guard);
        network.join().unwrap();
        let guard = Arc::new(Guard::new(Arc::clone(&cell), None));
        let rig = Rig {
            link,
            cell,
            guard,
            jobs,
        };
        assert_eq!(rig.releases(), 1);
        assert!(matches!(
            rig.guard.state(),
            GuardState::Lost | GuardState::Released
        ));
    });
}
