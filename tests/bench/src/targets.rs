//! What the project aims at, and whether the figures reach it. A missed target is told, and no failure.

use serde::Serialize;

use crate::row::{Results, Row};

/// One aim and what was seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Verdict {
    pub(crate) workload: String,
    pub(crate) name: String,
    pub(crate) target: String,
    pub(crate) seen: f64,
    pub(crate) met: bool,
}

const OURS: &[&str] = &[
    "rust-blocking",
    "rust-async",
    "c",
    "python",
    "python-asyncio",
    "node",
];
/// Other libraries on ZooKeeper.
const PEERS: &[&str] = &["curator", "kazoo", "go", "zookeeper-client"];
/// Counted in turns of a second: a process may be in the middle of one at the end.
const FAIR: f64 = 0.97;

/// Whatever can be said of the rows that are there.
pub(crate) fn judge(results: &Results) -> Vec<Verdict> {
    let mut verdicts = Verdicts {
        results,
        all: Vec::new(),
    };
    for (name, most) in [
        ("rust-blocking", 1.05),
        ("rust-async", 1.05),
        ("c", 1.05),
        ("python", 1.10),
        ("node", 1.15),
    ] {
        verdicts.ratio_at_most("uncontended", name, "cycle", most);
    }
    for (name, most) in [
        ("rust-blocking", 1.0),
        ("rust-async", 1.0),
        ("c", 1.0),
        ("python", 5.0),
        ("python-asyncio", 5.0),
        ("node", 10.0),
    ] {
        verdicts.at_most(
            "kept",
            name,
            "cycle",
            most,
            &format!("at most {most} us a re-acquire and release"),
        );
    }
    for workload in ["paths-16", "paths-128"] {
        for name in OURS {
            // Within 1.10 of the time, so 1 / 1.10 of the rate.
            verdicts.ratio_at_least(workload, name, "cycles", 1.0 / 1.10);
            verdicts.times(workload, name, "cycles", "curator", 1.3);
            verdicts.times(workload, name, "cycles", "kazoo", 5.0);
        }
    }
    for name in OURS {
        verdicts.ratio_at_most("hand-off", name, "hand-off", 1.15);
        verdicts.ratio_at_least("contention", name, "grants", 0.85);
        verdicts.at_most(
            "contention",
            name,
            "requests",
            6.0,
            "at most 6 requests a grant",
        );
        verdicts.at_least("contention", name, "fairness", FAIR, "fairness 1.0");
        for peer in PEERS {
            verdicts.times("contention", name, "grants", peer, 1.0);
        }
        verdicts.memory("waiters-10000", name);
        verdicts.at_most(
            "waiters-10000",
            name,
            "requests draining",
            5.0,
            "drained in at most 5 requests a waiter",
        );
    }
    for name in ["python", "python-asyncio", "node"] {
        verdicts.ahead("start", name, "beyond interpreter", "kazoo");
    }
    verdicts.all
}

struct Verdicts<'a> {
    results: &'a Results,
    all: Vec<Verdict>,
}

impl Verdicts<'_> {
    fn find(&self, workload: &str, name: &str, measure: &str) -> Option<&Row> {
        self.results.find(workload, name, measure)
    }

    fn note(&mut self, workload: &str, name: &str, target: String, seen: f64, met: bool) {
        self.all.push(Verdict {
            workload: workload.to_owned(),
            name: name.to_owned(),
            target,
            seen,
            met,
        });
    }

    fn ratio(&self, workload: &str, name: &str, measure: &str) -> Option<f64> {
        Some(self.find(workload, name, measure)?.ratio?.median)
    }

    fn value(&self, workload: &str, name: &str, measure: &str) -> Option<f64> {
        Some(self.find(workload, name, measure)?.value.median)
    }

    fn ratio_at_most(&mut self, workload: &str, name: &str, measure: &str, most: f64) {
        if let Some(seen) = self.ratio(workload, name, measure) {
            self.note(
                workload,
                name,
                format!("at most {most:.2} of the bare socket"),
                seen,
                seen <= most,
            );
        }
    }

    fn ratio_at_least(&mut self, workload: &str, name: &str, measure: &str, least: f64) {
        if let Some(seen) = self.ratio(workload, name, measure) {
            self.note(
                workload,
                name,
                format!("at least {least:.2} of the bare socket"),
                seen,
                seen >= least,
            );
        }
    }

    fn at_most(&mut self, workload: &str, name: &str, measure: &str, most: f64, target: &str) {
        if let Some(seen) = self.value(workload, name, measure) {
            self.note(workload, name, target.to_owned(), seen, seen <= most);
        }
    }

    fn at_least(&mut self, workload: &str, name: &str, measure: &str, least: f64, target: &str) {
        if let Some(seen) = self.value(workload, name, measure) {
            self.note(workload, name, target.to_owned(), seen, seen >= least);
        }
    }

    /// So many times another library's rate.
    fn times(&mut self, workload: &str, name: &str, measure: &str, peer: &str, times: f64) {
        let both = (
            self.value(workload, name, measure),
            self.value(workload, peer, measure),
        );
        if let (Some(own), Some(theirs)) = both {
            let seen = own / theirs;
            self.note(
                workload,
                name,
                format!("{times} x {peer}"),
                seen,
                seen >= times,
            );
        }
    }

    /// In less time than another library.
    fn ahead(&mut self, workload: &str, name: &str, measure: &str, peer: &str) {
        let both = (
            self.value(workload, name, measure),
            self.value(workload, peer, measure),
        );
        if let (Some(own), Some(theirs)) = both {
            let seen = own / theirs;
            self.note(
                workload,
                name,
                format!("in less time than {peer}"),
                seen,
                seen < 1.0,
            );
        }
    }

    /// Beyond the language's own objects.
    fn memory(&mut self, workload: &str, name: &str) {
        if let Some(memory) = self.value(workload, name, "memory") {
            let seen = memory - self.value(workload, name, "objects").unwrap_or_default();
            self.note(
                workload,
                name,
                "at most 2048 B a waiter".to_owned(),
                seen,
                seen <= 2048.0,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Spread;

    fn row(workload: &str, name: &str, measure: &str, value: f64, ratio: Option<f64>) -> Row {
        Row {
            workload: workload.to_owned(),
            name: name.to_owned(),
            library: String::new(),
            language: String::new(),
            measure: measure.to_owned(),
            unit: String::new(),
            value: Spread::exact(value),
            ratio: ratio.map(Spread::exact),
            at: None,
        }
    }

    fn judged(rows: Vec<Row>) -> Vec<Verdict> {
        judge(&Results {
            rows,
            ..Results::default()
        })
    }

    #[test]
    fn nothing_is_said_of_what_was_not_measured() {
        assert_eq!(judged(Vec::new()), Vec::new());
        assert_eq!(
            judged(vec![row("paths-16", "curator", "cycles", 1.0, Some(0.5))]),
            Vec::new()
        );
    }

    #[test]
    fn ratios_and_other_libraries_are_compared() {
        let verdicts = judged(vec![
            row("paths-16", "c", "cycles", 600.0, Some(0.95)),
            row("paths-16", "curator", "cycles", 500.0, Some(0.8)),
            row("paths-16", "kazoo", "cycles", 100.0, Some(0.1)),
            row("uncontended", "c", "cycle", 400.0, Some(1.06)),
        ]);
        let seen: Vec<(&str, bool)> = verdicts
            .iter()
            .map(|verdict| (verdict.target.as_str(), verdict.met))
            .collect();
        assert_eq!(
            seen,
            [
                ("at most 1.05 of the bare socket", false),
                ("at least 0.91 of the bare socket", true),
                ("1.3 x curator", false),
                ("5 x kazoo", true),
            ]
        );
    }

    #[test]
    fn what_is_kept_has_a_target_for_each_language() {
        let verdicts = judged(vec![
            row("kept", "c", "cycle", 0.9, None),
            row("kept", "c", "acquire", 9.0, None),
            row("kept", "python-asyncio", "cycle", 5.5, None),
            row("kept", "node", "cycle", 9.5, None),
        ]);
        let met: Vec<(&str, bool)> = verdicts.iter().map(|v| (v.name.as_str(), v.met)).collect();
        assert_eq!(
            met,
            [("c", true), ("python-asyncio", false), ("node", true)]
        );
    }

    #[test]
    fn the_languages_own_objects_are_not_counted() {
        let verdicts = judged(vec![
            row("waiters-10000", "node", "memory", 3000.0, None),
            row("waiters-10000", "node", "objects", 1000.0, None),
            row("waiters-10000", "c", "memory", 3000.0, None),
        ]);
        let met: Vec<(&str, f64, bool)> = verdicts
            .iter()
            .map(|v| (v.name.as_str(), v.seen, v.met))
            .collect();
        assert_eq!(met, [("c", 3000.0, false), ("node", 2000.0, true)]);
    }
}
