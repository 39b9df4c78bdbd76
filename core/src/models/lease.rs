//! A lease that one thread renews while others look at it (R3, R4).

use std::sync::Arc;

use loom::thread;

use super::{every_order, models};
use crate::clock::Time;
use crate::lease_term::LeaseTerm;

models![
    r04_nobody_believes_once_somebody_saw_the_end,
    r04_a_renewal_and_an_end_exclude_each_other,
    r04_an_end_is_not_renewed_away,
];

fn r04_nobody_believes_once_somebody_saw_the_end() {
    every_order(|| {
        let term = Arc::new(LeaseTerm::new(Time(100)));
        let network = {
            let term = Arc::clone(&term);
            thread::spawn(move || term.renew(Time(99), Time(200)))
        };
        let other = {
            let term = Arc::clone(&term);
            thread::spawn(move || [term.is_running(Time(100)), term.is_running(Time(101))])
        };
        let first = term.is_running(Time(100));
        let second = term.is_running(Time(100));
        assert!(first || !second, "it ran again after it had ended");
        let [earlier, later] = other.join().unwrap();
        assert!(earlier || !later, "it ran again after it had ended");
        let renewed = network.join().unwrap();
        let runs = term.is_running(Time(150));
        assert_eq!(renewed, runs);
        let ended = !first || !earlier || !second || !later;
        assert!(!(ended && runs), "for one it had ended, for another it ran");
    });
}

fn r04_a_renewal_and_an_end_exclude_each_other() {
    every_order(|| {
        let term = Arc::new(LeaseTerm::new(Time(100)));
        let network = {
            let term = Arc::clone(&term);
            thread::spawn(move || term.renew(Time(99), Time(200)))
        };
        let believed = term.is_running(Time(100));
        assert_eq!(network.join().unwrap(), believed);
    });
}

fn r04_an_end_is_not_renewed_away() {
    every_order(|| {
        let term = Arc::new(LeaseTerm::new(Time(100)));
        let network = {
            let term = Arc::clone(&term);
            thread::spawn(move || term.renew(Time(50), Time(200)))
        };
        term.break_now();
        assert!(!term.is_running(Time(50)));
        network.join().unwrap();
        assert!(!term.is_running(Time(50)));
        assert!(term.loss().is_some() && !term.is_running(Time(1)));
    });
}
