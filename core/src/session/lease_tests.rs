//! The lease's arithmetic by itself, and against a model of the servers that it has to outguess.

use super::*;

#[path = "lease_tests/client.rs"]
mod client;
#[path = "lease_tests/model.rs"]
mod model;
#[path = "lease_tests/plan.rs"]
mod plan;
#[path = "lease_tests/rule.rs"]
mod rule;

use model::{Model, Outcome};
use plan::Plan;
use rule::MISTAKES;

/// Each schedule is drawn from its number. `ZOOLOCK_LEASE_SEED=n` plays number `n` alone.
const SCHEDULES: u64 = 30_000;
const REPLAY: &str = "ZOOLOCK_LEASE_SEED";

fn play(seed: u64) -> Outcome {
    let mut rng = fastrand::Rng::with_seed(seed);
    let plan = Plan::any(&mut rng);
    Model::run(plan, rng)
}

fn replayed() -> Option<u64> {
    std::env::var(REPLAY).ok()?.parse().ok()
}

#[test]
fn r03_no_lease_outlives_the_session_in_the_model() {
    let seeds = replayed().map_or(0..SCHEDULES, |seed| seed..seed + 1);
    let mut expired = 0;
    for seed in seeds.clone() {
        let outcome = play(seed);
        assert!(
            !outcome.outlived.really,
            "a lease outlived its session; {REPLAY}={seed} plays it again"
        );
        assert!(
            !outcome.outlived.beyond,
            "a lease was longer than R3 lets it be; {REPLAY}={seed} plays it again"
        );
        expired += u64::from(outcome.expired);
    }
    // A schedule in which nothing expires proves nothing.
    let played = seeds.end - seeds.start;
    assert!(played == 1 || expired > played / 2, "{expired} of {played}");
}

#[test]
fn r03_every_mistaken_rule_is_caught_by_the_model() {
    let mut caught = [None; MISTAKES.len()];
    for seed in 0..SCHEDULES {
        let outlived = play(seed).outlived.mistakenly;
        for (first, outlived) in caught.iter_mut().zip(outlived) {
            if outlived && first.is_none() {
                *first = Some(seed);
            }
        }
        if caught.iter().all(Option::is_some) {
            break;
        }
    }
    for (mistake, first) in MISTAKES.iter().zip(caught) {
        println!("{}: {first:?}", mistake.name);
        assert!(first.is_some(), "not caught: {}", mistake.name);
    }
}

#[test]
fn r03_a_lease_lasts_while_nothing_is_wrong() {
    for seed in 0..1_000 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let plan = Plan::calm(&mut rng);
        let outcome = Model::run(plan, rng);
        assert!(!outcome.lapsed && !outcome.expired, "seed {seed}");
    }
}

/// `S` is 100 s in what follows, so that seconds are percent of it.
const S: Duration = Duration::from_secs(100);

fn second(seconds: u64) -> Time {
    Time(seconds * 1_000_000_000)
}

/// A lease whose session was opened by a handshake sent at second 1000.
fn opened() -> Lease {
    let mut lease = Lease::new(Duration::ZERO);
    lease.handshake(second(1_000), S);
    lease
}

#[test]
fn r03_without_a_handshake_there_is_no_lease() {
    let mut lease = Lease::new(S);
    lease.answered(second(1_000), second(1_001), true);
    assert_eq!(lease.until(), Time::default());
}

#[test]
fn r03_a_handshake_counts_at_once_as_both() {
    assert_eq!(opened().until(), second(1_050));
}

#[test]
fn r03_a_handshake_brings_the_timeout_that_was_agreed_on() {
    let mut lease = opened();
    lease.handshake(second(1_000), S / 2);
    assert_eq!(lease.until(), second(1_025));
}

#[test]
fn r03_pings_do_not_renew() {
    let mut lease = opened();
    for at in (1_010..1_100).step_by(10) {
        lease.answered(second(at), second(at + 1), false);
    }
    assert_eq!(lease.until(), second(1_050));
}

#[test]
fn r03_a_confirmation_counts_from_its_sending() {
    let mut lease = opened();
    lease.answered(second(1_010), second(1_039), true);
    assert_eq!(lease.until(), second(1_060));
}

#[test]
fn r03_a_late_answer_does_not_set_the_lease_back() {
    let mut lease = opened();
    lease.answered(second(1_020), second(1_021), true);
    lease.answered(second(1_010), second(1_022), true);
    assert_eq!(lease.until(), second(1_070));
}

#[test]
fn r03_a_silence_before_the_confirmation_counts() {
    let mut lease = opened();
    lease.answered(second(1_060), second(1_061), true);
    assert_eq!(lease.until(), second(1_090));
    lease.answered(second(1_080), second(1_081), true);
    assert_eq!(lease.until(), second(1_090));
}

#[test]
fn r03_an_answer_is_learnt_of_after_three_tenths() {
    let learnt_with = |confirmed| {
        let mut lease = opened();
        lease.answered(second(1_060), second(1_061), false);
        lease.answered(confirmed, second(1_093), true);
        lease.until()
    };
    assert_eq!(
        learnt_with(second(1_091).minus(Duration::from_nanos(1))),
        second(1_090)
    );
    assert_eq!(learnt_with(second(1_091)), second(1_141));
}

#[test]
fn r03_answers_on_an_old_connection_do_not_count_on_the_next() {
    let mut lease = opened();
    lease.answered(second(1_020), second(1_021), true);
    lease.handshake(second(1_030), S);
    assert_eq!(lease.until(), second(1_080));
    lease.answered(second(1_090), second(1_091), true);
    assert_eq!(lease.until(), second(1_120));
}

#[test]
fn r03_answers_in_a_burst_only_shorten_the_lease() {
    let mut lease = opened();
    for millisecond in 0..1_000 {
        let sent = second(1_060) + Duration::from_millis(millisecond);
        lease.answered(sent, sent, false);
    }
    assert_eq!(lease.answered.len(), 1);
    lease.answered(second(1_100), second(1_101), true);
    assert_eq!(lease.until(), second(1_150));
    lease.answered(second(1_149), second(1_149), true);
    assert_eq!(lease.until(), second(1_190));
}

#[test]
fn r03_memory_is_bounded_and_what_is_forgotten_only_shortens_the_lease() {
    let mut lease = opened();
    for at in 1_000..2_000 {
        lease.answered(second(2 * at), second(2 * at), false);
    }
    assert_eq!(lease.answered.len(), KEPT);
    // All that had been answered by then is forgotten but the handshake.
    lease.answered(second(3_900), second(4_000), true);
    assert_eq!(lease.until(), second(1_090));
}

#[test]
fn r03_a_session_that_is_over_has_no_lease() {
    let mut lease = opened();
    lease.end();
    lease.answered(second(1_010), second(1_011), true);
    assert_eq!(lease.until(), Time::default());
}
