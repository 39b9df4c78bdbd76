//! Figures: what happened how often, and how long it took in units of the session timeout.

use std::collections::BTreeMap;

use crate::checks::calls;
use crate::checks::servers::Queues;
use crate::fire::Kind;
use crate::fire::record::Injection;
use crate::history::History;
use crate::language::Language;
use crate::recipe::{Recipe, Resource};

/// Grants per language and recipe.
pub(crate) fn grants(history: &History) -> BTreeMap<(Language, Recipe), usize> {
    let mut grants = BTreeMap::new();
    for held in history.holds().filter(|held| held.hold.grant().is_some()) {
        let key = (history.language(held.id), held.job.recipe);
        *grants.entry(key).or_default() += 1;
    }
    grants
}

/// Losses that were reported, per language.
pub(crate) fn losses(history: &History) -> BTreeMap<Language, usize> {
    let mut losses = BTreeMap::new();
    for held in history.holds().filter(|held| held.hold.is_reported_lost()) {
        *losses.entry(history.language(held.id)).or_default() += 1;
    }
    losses
}

/// Accesses that the fence refused.
pub(crate) fn refusals(history: &History) -> usize {
    let refused = history
        .accesses
        .iter()
        .filter(|entry| entry.access.refusal().is_some());
    refused.count()
}

/// The most by which a call outlasted its time-out, in nanoseconds.
pub(crate) fn longest_overshoot(history: &History) -> u64 {
    let overshoots = history
        .holds()
        .filter_map(|held| calls::overshoot(history, &held));
    overshoots.max().unwrap_or(0)
}

/// How long waiters stood after their turn had come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Nanoseconds, ascending.
    pub(crate) all: Vec<u64>,
    /// Who stood longest, and when its turn came.
    pub(crate) longest: Option<(String, u64)>,
}

/// Of grants to processes that ran all the while.
pub(crate) fn standing(history: &History, queues: &Queues) -> Standing {
    let mut standing = Standing::default();
    let mut longest = 0;
    for resource in Resource::ALL {
        for (held, grant) in history.granted(resource) {
            let Some(turn) = queues.turn(resource, &grant.node) else {
                continue;
            };
            let stops = &history.processes[held.job.process].stops;
            let ran = stops
                .iter()
                .all(|(from, to)| *from > grant.at || *to < turn.from);
            if !ran || held.id.name != 'a' {
                continue;
            }
            let stood = grant.at.saturating_sub(turn.to);
            if stood > longest {
                longest = stood;
                standing.longest = Some((history.who(held.id), turn.from));
            }
            standing.all.push(stood);
        }
    }
    standing.all.sort_unstable();
    standing
}

/// The longest stretches without any grant on any path that began with, or during, a fault: how long it was until the
/// next grant anywhere. In nanoseconds, ascending, by kind.
///
/// Only of faults that struck while no worker's did: what a dead process had queued stands in the way until its session
/// expires, and hides how soon the others went on.
pub(crate) fn outages(
    history: &History,
    injections: &[Injection],
    session_timeout: u64,
) -> BTreeMap<Kind, Vec<u64>> {
    let held = history.holds();
    let mut grants: Vec<u64> = held
        .filter_map(|held| Some(held.hold.grant()?.at))
        .collect();
    grants.sort_unstable();
    let mut outages: BTreeMap<Kind, Vec<u64>> = BTreeMap::new();
    for injection in injections {
        if is_hidden(injection, injections, session_timeout) {
            continue;
        }
        let first = grants.partition_point(|at| *at < injection.from);
        let mut last = injection.from;
        let mut longest = 0;
        for at in &grants[first..] {
            longest = longest.max(at - last);
            last = *at;
            if last > injection.to {
                break;
            }
        }
        outages.entry(injection.kind).or_default().push(longest);
    }
    outages.values_mut().for_each(|all| all.sort_unstable());
    outages
}

fn is_hidden(injection: &Injection, all: &[Injection], session_timeout: u64) -> bool {
    if Kind::CLIENTS.contains(&injection.kind) {
        return false;
    }
    let workers = all
        .iter()
        .filter(|other| Kind::CLIENTS.contains(&other.kind));
    workers.into_iter().any(|other| {
        let expired = other.to.max(other.from + session_timeout * 3 / 2);
        other.from < injection.to && expired > injection.from
    })
}

/// Of ascending values; 0 of none.
pub(crate) fn percentile(ascending: &[u64], percent: usize) -> u64 {
    let last = ascending.len().saturating_sub(1);
    ascending.get(last * percent / 100).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::sample::{history, hold, lost};
    use crate::recipe::Recipe::Mutex;

    #[test]
    fn grants_and_losses_are_counted() {
        let history = history()
            .with(Mutex, [hold('a', 1, 10, 20)])
            .with(Mutex, [lost('a', 2, 30, 40)]);
        assert_eq!(grants(&history)[&(Language::C, Mutex)], 2);
        assert_eq!(losses(&history)[&Language::C], 1);
    }

    #[test]
    fn an_outage_is_the_longest_stretch_without_a_grant() {
        let history = [10, 20, 25, 60, 70, 200].into_iter().enumerate();
        let history = history.fold(super::tests::history(), |history, (token, at)| {
            history.with(Mutex, [hold('a', token as i64 + 1, at, at)])
        });
        let injection = Injection {
            kind: Kind::KillServer,
            from: 22,
            to: 65,
        };
        let worker = Injection {
            kind: Kind::StopClient,
            from: 1,
            to: 6,
        };
        let both = [injection, worker];
        assert_eq!(outages(&history, &both, 10)[&Kind::KillServer], [35]);
        let hidden = outages(&history, &both, 20);
        assert_eq!(hidden.keys().collect::<Vec<_>>(), [&Kind::StopClient]);
    }

    #[test]
    fn percentiles_of_few() {
        assert_eq!(percentile(&[], 50), 0);
        assert_eq!(percentile(&[4], 99), 4);
        assert_eq!(percentile(&[1, 2, 3], 50), 2);
        assert_eq!(percentile(&[1, 2, 3], 100), 3);
    }
}
