//! The history as lines, for a person who looks for the cause of a violation.

use std::fmt::Write;

use crate::history::{Held, History, Outcome};
use crate::recipe::Resource;

/// How much is shown before and behind a violation, in nanoseconds.
const AROUND: u64 = 1_500_000_000;

/// What happened on a path around a moment; times are milliseconds since `start`.
pub(crate) fn around(history: &History, resource: Resource, at: u64, start: u64) -> Vec<String> {
    between(
        history,
        resource,
        at.saturating_sub(AROUND),
        at + AROUND,
        start,
    )
}

/// Everything that happened on a path.
pub(crate) fn whole(history: &History, resource: Resource, start: u64) -> Vec<String> {
    between(history, resource, 0, u64::MAX, start)
}

fn between(history: &History, resource: Resource, from: u64, to: u64, start: u64) -> Vec<String> {
    let near = |time: &u64| (from..=to).contains(time);
    let mut lines: Vec<(u64, String)> = Vec::new();
    for held in history.holds() {
        if held.job.recipe.resource() == resource {
            lines.extend(
                told(history, &held)
                    .into_iter()
                    .filter(|(time, _)| near(time)),
            );
        }
    }
    for entry in &history.accesses {
        if entry.resource == resource && near(&entry.at) {
            let line = format!("{}: {:?}", history.who(entry.hold), entry.access);
            lines.push((entry.at, line));
        }
    }
    for process in &history.processes {
        let name = &process.name;
        for (from, to) in &process.stops {
            lines.push((*from, format!("{name} stopped")));
            lines.push((*to, format!("{name} continued")));
        }
        lines.extend(
            process
                .killed
                .map(|killed| (killed, format!("{name} killed"))),
        );
    }
    lines.retain(|(time, _)| near(time));
    lines.sort();
    let print = |(time, line): (u64, String)| {
        let ms = (time as f64 - start as f64) / 1e6;
        format!("{ms:>12.3} ms  {line}")
    };
    lines.into_iter().map(print).collect()
}

fn told(history: &History, held: &Held<'_>) -> Vec<(u64, String)> {
    let who = history.who(held.id);
    let hold = held.hold;
    let (limit, pause) = (held.job.timeout_ms, held.job.pause_ms);
    let asked = format!("{who}: asked (time-out {limit} ms, section {pause} ms)");
    let mut lines = vec![(hold.asked, asked)];
    match &hold.outcome {
        Some(Outcome::Granted(grant)) => {
            let line = format!("{who}: granted {} {}", grant.token, grant.node);
            lines.push((grant.at, line));
        }
        Some(Outcome::Denied { kind, at, message }) => {
            lines.push((*at, format!("{who}: {kind} {message}")));
        }
        None => {}
    }
    for check in &hold.checks {
        let mut line = format!("{who}: held={}", check.held);
        let took = check.after - check.before;
        if took > 1_000_000 {
            // Writing to a string cannot fail.
            let _ = write!(line, " (asked for {took} ns)");
        }
        lines.push((check.before, line));
    }
    if let Some(release) = &hold.release {
        lines.push((release.before, format!("{who}: releases")));
        lines.push((
            release.after,
            format!("{who}: released {}", release.outcome),
        ));
    }
    lines.extend(
        hold.told
            .iter()
            .map(|at| (*at, format!("{who}: told of its loss"))),
    );
    lines
}
