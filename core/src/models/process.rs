//! Values of which each process has its own (R18), such as the runtime, started on first use.

use std::convert::Infallible;
use std::sync::Arc;

use loom::sync::Notify;
use loom::thread;

use super::{Count, Dropped, every_order, models, most_orders};
use crate::process::PerProcess;
use crate::sync::primitive;

models![
    the_first_use_by_several_threads_makes_one,
    a_failed_start_is_tried_again_by_whoever_waited,
    a_look_during_the_first_use_sees_all_or_nothing,
    r18_a_child_does_not_wait_for_its_parents_threads,
    r18_the_first_use_in_a_child_by_several_threads_makes_one,
];

/// Two values that belong together.
struct Runtime {
    network: usize,
    callbacks: usize,
    _dropped: Dropped,
}

fn start(count: &Count, dropped: &Count) -> Runtime {
    count.add();
    Runtime {
        network: 7,
        callbacks: 7,
        _dropped: Dropped(dropped.clone()),
    }
}

fn use_it(slot: &PerProcess<Runtime>, count: &Count, dropped: &Count) {
    let started = slot.get_or_try_init(|| Ok::<_, Infallible>(start(count, dropped)));
    let runtime = started.unwrap();
    assert_eq!((runtime.network, runtime.callbacks), (7, 7));
}

fn the_first_use_by_several_threads_makes_one() {
    most_orders(|| {
        let slot = Arc::new(PerProcess::new());
        let (count, dropped) = (Count::default(), Count::default());
        let others = [0, 1].map(|_| {
            let (slot, count, dropped) = (Arc::clone(&slot), count.clone(), dropped.clone());
            thread::spawn(move || use_it(&slot, &count, &dropped))
        });
        use_it(&slot, &count, &dropped);
        for other in others {
            other.join().unwrap();
        }
        assert_eq!((count.get(), dropped.get()), (1, 0));
        drop(slot);
        assert_eq!(dropped.get(), 1);
    });
}

fn a_failed_start_is_tried_again_by_whoever_waited() {
    every_order(|| {
        let slot = Arc::new(PerProcess::new());
        let tries = Count::default();
        let attempt = |slot: &PerProcess<usize>, tries: &Count| {
            let made = slot.get_or_try_init(|| {
                tries.add();
                if tries.get() == 1 { Err(()) } else { Ok(7) }
            });
            made.copied()
        };
        let other = {
            let (slot, tries) = (Arc::clone(&slot), tries.clone());
            thread::spawn(move || attempt(&slot, &tries))
        };
        let mut outcomes = [attempt(&slot, &tries), other.join().unwrap()];
        outcomes.sort_unstable();
        assert_eq!(outcomes, [Ok(7), Err(())]);
        assert_eq!(slot.get(), Some(&7));
    });
}

fn a_look_during_the_first_use_sees_all_or_nothing() {
    every_order(|| {
        let slot = Arc::new(PerProcess::new());
        let (count, dropped) = (Count::default(), Count::default());
        let other = {
            let (slot, count, dropped) = (Arc::clone(&slot), count.clone(), dropped.clone());
            thread::spawn(move || use_it(&slot, &count, &dropped))
        };
        if let Some(runtime) = slot.get() {
            assert_eq!((runtime.network, runtime.callbacks), (7, 7));
        }
        other.join().unwrap();
        assert!(slot.get().is_some());
    });
}

/// The parent's thread stands in the middle of its first use, as it does for ever in the child's
/// copy of the memory, until the child is through.
fn r18_a_child_does_not_wait_for_its_parents_threads() {
    every_order(|| {
        let slot = Arc::new(PerProcess::new());
        let child_is_through = Arc::new(Notify::new());
        let parent = {
            let (slot, child_is_through) = (Arc::clone(&slot), Arc::clone(&child_is_through));
            thread::spawn(move || {
                let made = slot.get_or_try_init(|| {
                    child_is_through.wait();
                    Ok::<_, Infallible>("parent's")
                });
                assert_eq!(made, Ok(&"parent's"));
            })
        };
        primitive::fork();
        assert_eq!(slot.get(), None);
        let made = slot.get_or_try_init(|| Ok::<_, Infallible>("child's"));
        assert_eq!(made, Ok(&"child's"));
        child_is_through.notify();
        parent.join().unwrap();
    });
}

fn r18_the_first_use_in_a_child_by_several_threads_makes_one() {
    every_order(|| {
        let slot = Arc::new(PerProcess::new());
        let (parents, count, dropped) = (Count::default(), Count::default(), Count::default());
        use_it(&slot, &parents, &dropped);
        primitive::fork();
        let other = {
            let (slot, count, dropped) = (Arc::clone(&slot), count.clone(), dropped.clone());
            thread::spawn(move || {
                primitive::fork();
                use_it(&slot, &count, &dropped);
            })
        };
        use_it(&slot, &count, &dropped);
        other.join().unwrap();
        assert_eq!((parents.get(), count.get()), (1, 1));
        assert_eq!(dropped.get(), 0, "what belongs to the parent is leaked");
    });
}
