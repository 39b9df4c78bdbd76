//! All checks of a run, by the names under which they are reported.

use crate::checks::servers::Queues;
use crate::checks::{Violation, belief, calls, linear, losses, resources, tokens};
use crate::history::History;

/// Each check with what it found.
pub(crate) fn all(history: &History, queues: &Queues) -> Vec<(&'static str, Vec<Violation>)> {
    let belief = belief::check(history);
    vec![
        ("r01_no_two_believers_under_fire", belief.overlaps),
        (
            "r01_no_update_is_lost_under_fire",
            resources::lost_updates(history),
        ),
        (
            "r01_r02_the_history_is_a_locks_under_fire",
            linear::check(history),
        ),
        (
            "r02_tokens_rise_under_fire",
            [belief.reversals, tokens::check(history)].concat(),
        ),
        (
            "r02_tokens_are_the_contenders_under_fire",
            queues.wrong_tokens(history),
        ),
        (
            "r02_no_believer_is_refused_under_fire",
            resources::refused_believers(history),
        ),
        (
            "r03_no_guard_outlives_its_contender_under_fire",
            queues.outlived(history),
        ),
        (
            "r04_r10_losses_are_told_once_and_final_under_fire",
            losses::check(history),
        ),
        ("r05_every_contender_goes_under_fire", queues.left()),
        ("r06_timed_calls_end_under_fire", calls::late(history)),
        (
            "r07_nobody_overtakes_under_fire",
            queues.overtakers(history),
        ),
        ("r09_every_waiter_ends_under_fire", calls::endless(history)),
        ("r16_no_call_fails_under_fire", calls::failures(history)),
    ]
}
