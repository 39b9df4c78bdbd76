//! A contender that is kept: callers that take it and give it back, and the network thread, which wants
//! it for an attempt that waits, or withdraws it.

use std::sync::Arc;
use std::time::Duration;

use loom::thread;

use super::guards::target;
use super::{Count, every_order, models, most_orders};
use crate::clock::Time;
use crate::command::{Command, HandleId};
use crate::guard::{Guard, GuardCell};
use crate::kept::{GivenBack, KeptSlot, Taken};
use crate::lease_term::LeaseTerm;
use crate::link::Link;
use crate::queue::PathId;
use crate::runtime::Callbacks;
use crate::sync::primitive::atomic::{AtomicBool, Ordering};

models![
    r01_one_caller_has_it,
    r02_the_count_rises,
    r03_none_has_it_without_the_lease,
    r07_none_takes_it_once_it_is_withdrawn,
    r07_whoever_comes_later_overtakes_nobody,
    r09_who_waits_for_it_gets_it,
    r10_a_release_beside_a_withdrawal_is_the_engines_or_none,
    r17_what_a_call_takes_beside_a_close_is_known_to_it,
];

struct Rig {
    link: Arc<Link>,
    slot: Arc<KeptSlot>,
}

impl Rig {
    fn open() -> Rig {
        Rig::with_lease(Time::NEVER)
    }

    fn with_lease(lease: Time) -> Rig {
        let (callbacks, _jobs) = Callbacks::collected();
        let link = Link::new(callbacks);
        link.set_connected(true);
        let term = Arc::new(LeaseTerm::new(lease));
        let slot = KeptSlot::new(PathId(1), (7, 1), "/l/x".into(), term);
        slot.open(Time(0));
        let slot = Arc::new(slot);
        Rig { link, slot }
    }

    fn caller(&self) -> Caller {
        Caller {
            link: Arc::clone(&self.link),
            slot: Arc::clone(&self.slot),
        }
    }
}

struct Caller {
    link: Arc<Link>,
    slot: Arc<KeptSlot>,
}

impl Caller {
    fn take(&self) -> Taken {
        let (slot, link) = (&self.slot, &self.link);
        slot.take(Time(1), HandleId(1), || false, &target(), link)
    }

    fn granted(&self) -> Option<Arc<GuardCell>> {
        match self.take() {
            Taken::Granted(cell) => Some(cell),
            _ => None,
        }
    }

    fn give_back(&self, cell: &GuardCell) -> GivenBack {
        self.slot.give_back(cell.id, Time(2))
    }
}

fn r01_one_caller_has_it() {
    every_order(|| {
        let rig = Rig::open();
        let inside = Count::default();
        let work = |caller: Caller, inside: Count| {
            move || {
                if let Some(cell) = caller.granted() {
                    inside.add();
                    assert_eq!(inside.get(), 1, "two have it");
                    inside.take_back();
                    assert_ne!(caller.give_back(&cell), GivenBack::Over);
                }
            }
        };
        let other = thread::spawn(work(rig.caller(), inside.clone()));
        work(rig.caller(), inside)();
        other.join().unwrap();
    });
}

fn r02_the_count_rises() {
    every_order(|| {
        let rig = Rig::open();
        let work = |caller: Caller| {
            move || {
                let cell = caller.granted()?;
                let count = cell.count;
                caller.give_back(&cell);
                Some(count)
            }
        };
        let other = thread::spawn(work(rig.caller()));
        let mine = work(rig.caller())();
        let counts = [mine, other.join().unwrap()];
        let counts: Vec<u64> = counts.into_iter().flatten().collect();
        let among = counts.iter().all(|count| [2, 3].contains(count));
        assert!(among && counts.first() != counts.get(1), "{counts:?}");
    });
}

fn r03_none_has_it_without_the_lease() {
    every_order(|| {
        let rig = Rig::with_lease(Time(100));
        let (caller, term) = (rig.caller(), Arc::clone(&rig.slot.term));
        let other = thread::spawn(move || caller.granted().map(|cell| cell.granted));
        let ended = !term.is_running(Time(100));
        let granted = rig.caller().granted();
        assert!(!(ended && granted.is_some()), "it had ended for the other");
        other.join().unwrap();
    });
}

fn r07_none_takes_it_once_it_is_withdrawn() {
    most_orders(|| {
        let rig = Rig::open();
        let over = Arc::new(AtomicBool::new(false));
        let other = {
            let (caller, over) = (rig.caller(), Arc::clone(&over));
            thread::spawn(move || {
                let mut left = false;
                for _ in 0..2 {
                    let was_over = over.load(Ordering::SeqCst);
                    let Some(cell) = caller.granted() else {
                        continue;
                    };
                    assert!(!was_over, "a grant after the withdrawal");
                    left |= caller.give_back(&cell) == GivenBack::Over;
                }
                left
            })
        };
        let adopted = rig.slot.withdraw();
        over.store(true, Ordering::SeqCst);
        // A guard that was out is the engine's, and nobody else's.
        assert_eq!(other.join().unwrap(), adopted.is_some());
    });
}

fn r07_whoever_comes_later_overtakes_nobody() {
    every_order(|| {
        let rig = Rig::open();
        let held = rig.caller().granted().unwrap();
        let other = {
            let caller = rig.caller();
            thread::spawn(move || match caller.take() {
                Taken::Queue => assert!(caller.granted().is_none(), "it came later"),
                Taken::Granted(cell) => drop(caller.give_back(&cell)),
                Taken::Over => unreachable!("nobody withdraws it"),
            })
        };
        rig.caller().give_back(&held);
        other.join().unwrap();
    });
}

fn r09_who_waits_for_it_gets_it() {
    every_order(|| {
        let rig = Rig::open();
        let held = rig.caller().granted().unwrap();
        let other = {
            let caller = rig.caller();
            thread::spawn(move || match caller.take() {
                // What the engine does when the attempt arrives.
                Taken::Queue => {
                    let now = caller.slot.want();
                    caller.slot.arrived();
                    Some(now)
                }
                Taken::Granted(_) => None,
                Taken::Over => unreachable!("nobody withdraws it"),
            })
        };
        let given_back = rig.caller().give_back(&held);
        if let Some(at_once) = other.join().unwrap() {
            let told = given_back == GivenBack::Wanted;
            assert!(at_once || told, "nobody tells the engine");
            assert!(rig.slot.is_engines());
        }
    });
}

fn r10_a_release_beside_a_withdrawal_is_the_engines_or_none() {
    every_order(|| {
        let rig = Rig::open();
        let cell = rig.caller().granted().unwrap();
        let guard = Guard::new(cell, None);
        let network = {
            let slot = Arc::clone(&rig.slot);
            thread::spawn(move || slot.withdraw().is_some())
        };
        let mut releasing = guard.release_shared();
        let adopted = network.join().unwrap();
        // The engine, which has the guard, answers for it; otherwise there is nothing to wait for.
        assert_eq!(releasing.wait_for(Duration::ZERO).is_none(), adopted);
        let letters = rig.link.mailbox().close();
        let releases = letters
            .iter()
            .filter(|letter| matches!(letter, Command::Release { .. }));
        assert_eq!(releases.count(), usize::from(adopted));
    });
}

fn r17_what_a_call_takes_beside_a_close_is_known_to_it() {
    every_order(|| {
        let rig = Rig::open();
        let closed = Arc::new(AtomicBool::new(false));
        let taker = {
            let (caller, closed) = (rig.caller(), Arc::clone(&closed));
            thread::spawn(move || {
                let is_closed = || closed.load(Ordering::SeqCst);
                let (slot, link) = (&caller.slot, &caller.link);
                let taken = slot.take(Time(1), HandleId(1), is_closed, &target(), link);
                matches!(taken, Taken::Granted(_))
            })
        };
        closed.store(true, Ordering::SeqCst);
        let seen = rig.slot.holder().is_some();
        let taken = taker.join().unwrap();
        assert!(seen || !taken, "a closed handle has it");
    });
}
