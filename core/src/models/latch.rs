//! The loss of a guard, told to whoever asked (R4).

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use loom::future::block_on;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::{Count, every_order, models, most_orders};
use crate::sync::Latch;

models![
    the_event_ends_every_wait,
    the_event_ends_an_await,
    a_wait_that_times_out_misses_no_event,
    a_callback_registered_meanwhile_runs_once,
    callbacks_keep_their_order,
    an_event_from_two_sides_happens_once,
    it_either_fires_or_is_retired,
    a_future_that_leaves_is_not_in_the_way,
];

fn fire(latch: &Latch) {
    latch.fire(|callback| callback());
}

fn firing(latch: &Arc<Latch>) -> thread::JoinHandle<()> {
    let latch = Arc::clone(latch);
    thread::spawn(move || fire(&latch))
}

async fn happened(latch: &Latch) {
    let mut key = 0;
    std::future::poll_fn(|context| match latch.poll(&mut key, context.waker()) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

fn the_event_ends_every_wait() {
    most_orders(|| {
        let latch = Arc::new(Latch::default());
        let other = {
            let latch = Arc::clone(&latch);
            thread::spawn(move || latch.wait(None))
        };
        let network = firing(&latch);
        assert_eq!(latch.wait(None), Some(true));
        assert_eq!(other.join().unwrap(), Some(true));
        network.join().unwrap();
    });
}

fn the_event_ends_an_await() {
    every_order(|| {
        let latch = Arc::new(Latch::default());
        let network = firing(&latch);
        block_on(happened(&latch));
        assert!(latch.is_fired());
        network.join().unwrap();
    });
}

fn a_wait_that_times_out_misses_no_event() {
    every_order(|| {
        let latch = Arc::new(Latch::default());
        let network = firing(&latch);
        let waited = latch.wait(Some(Duration::from_millis(1)));
        assert!(matches!(waited, None | Some(true)), "{waited:?}");
        assert_eq!(latch.wait(None), Some(true));
        network.join().unwrap();
    });
}

fn a_callback_registered_meanwhile_runs_once() {
    every_order(|| {
        let latch = Arc::new(Latch::default());
        let network = firing(&latch);
        let count = Count::default();
        let counted = count.clone();
        if let Some(callback) = latch.on_fire(Box::new(move || counted.add())) {
            assert!(latch.is_fired());
            callback();
        }
        network.join().unwrap();
        assert_eq!(count.get(), 1);
    });
}

/// Whoever has seen the event registers behind those who registered before it.
fn callbacks_keep_their_order() {
    every_order(|| {
        let latch = Arc::new(Latch::default());
        // Of the model checker, so that it tries what comes between the event and a callback.
        let ran = Arc::new(AtomicUsize::new(0));
        let first = Arc::clone(&ran);
        let callback = move || assert_eq!(first.fetch_add(1, Ordering::AcqRel), 0);
        assert!(latch.on_fire(Box::new(callback)).is_none());
        let network = firing(&latch);
        let second = Arc::clone(&ran);
        let callback = move || assert_eq!(second.fetch_add(1, Ordering::AcqRel), 1);
        if let Some(late) = latch.on_fire(Box::new(callback)) {
            late();
        }
        network.join().unwrap();
        assert_eq!(ran.load(Ordering::Acquire), 2);
    });
}

fn an_event_from_two_sides_happens_once() {
    every_order(|| {
        let latch = Arc::new(Latch::default());
        let count = Count::default();
        let counted = count.clone();
        assert!(latch.on_fire(Box::new(move || counted.add())).is_none());
        let network = firing(&latch);
        fire(&latch);
        network.join().unwrap();
        assert_eq!(count.get(), 1);
    });
}

fn it_either_fires_or_is_retired() {
    most_orders(|| {
        let latch = Arc::new(Latch::default());
        let count = Count::default();
        let counted = count.clone();
        assert!(latch.on_fire(Box::new(move || counted.add())).is_none());
        let network = firing(&latch);
        let releasing = {
            let latch = Arc::clone(&latch);
            thread::spawn(move || latch.retire())
        };
        let has_fired = latch.wait(None).unwrap();
        network.join().unwrap();
        releasing.join().unwrap();
        assert_eq!(latch.is_fired(), has_fired);
        assert_eq!(count.get(), usize::from(has_fired));
    });
}

fn a_future_that_leaves_is_not_in_the_way() {
    every_order(|| {
        let latch = Arc::new(Latch::default());
        let network = firing(&latch);
        let mut key = 0;
        block_on(std::future::poll_fn(|context| {
            latch.poll(&mut key, context.waker());
            Poll::Ready(())
        }));
        latch.forget(key);
        block_on(happened(&latch));
        network.join().unwrap();
    });
}
