//! The figures for a person.

use std::collections::BTreeMap;

use crate::row::{Results, Row};
use crate::statistics::Spread;
use crate::targets::Verdict;

/// A table for each workload, in the order in which they were run.
pub(crate) fn print(results: &Results) {
    let mut workloads: Vec<&str> = Vec::new();
    for row in &results.rows {
        if !workloads.contains(&row.workload.as_str()) {
            workloads.push(&row.workload);
        }
    }
    for workload in workloads {
        println!("\n{workload}");
        println!(
            "{:<18} {:>7} {:<26} {:>10} {:>21}  {:>6} {:>15}",
            "program", "at", "measure", "median", "quartiles", "ratio", "quartiles"
        );
        for row in results.rows.iter().filter(|row| row.workload == workload) {
            println!("{}", line(row));
        }
    }
    for skipped in &results.skipped {
        println!("\nskipped: {}: {}", skipped.name, skipped.reason);
    }
    for failure in &results.failures {
        println!(
            "\n{} {}, {}: {}",
            if failure.counts {
                "FAILED"
            } else {
                "not finished:"
            },
            failure.workload,
            failure.name,
            failure.reason
        );
    }
}

fn line(row: &Row) -> String {
    let at = row.at.map(|at| at.to_string()).unwrap_or_default();
    let measure = match row.unit.as_str() {
        "" => row.measure.clone(),
        unit => format!("{}, {unit}", row.measure),
    };
    let value = figure(row.value.median);
    let (ratio, spread) = match &row.ratio {
        Some(ratio) => (
            format!("{:.3}", ratio.median),
            quartiles(ratio, |value| format!("{value:.3}")),
        ),
        None => Default::default(),
    };
    let text = format!(
        "{:<18} {:>7} {:<26} {:>10} {:>21}  {:>6} {:>15}",
        row.name,
        at,
        measure,
        value,
        quartiles(&row.value, figure),
        ratio,
        spread
    );
    text.trim_end().to_owned()
}

fn quartiles(spread: &Spread, show: impl Fn(f64) -> String) -> String {
    if spread.lower_quartile == spread.upper_quartile {
        return String::new();
    }
    format!(
        "{} .. {}",
        show(spread.lower_quartile),
        show(spread.upper_quartile)
    )
}

/// With about four digits.
fn figure(value: f64) -> String {
    match value.abs() {
        below if below < 10.0 => format!("{value:.3}"),
        below if below < 1_000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// The aims, and which were missed.
pub(crate) fn print_targets(verdicts: &[Verdict]) {
    if verdicts.is_empty() {
        return;
    }
    println!("\ntargets");
    let mut missed: BTreeMap<bool, usize> = BTreeMap::new();
    for verdict in verdicts {
        *missed.entry(verdict.met).or_default() += 1;
        println!(
            "{:<15} {:<16} {:<42} {:>10}  {}",
            verdict.workload,
            verdict.name,
            verdict.target,
            figure(verdict.seen),
            if verdict.met { "met" } else { "missed" }
        );
    }
    let count = |met| missed.get(&met).copied().unwrap_or_default();
    println!("{} met, {} missed", count(true), count(false));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_their_digits() {
        assert_eq!(figure(1.0456), "1.046");
        assert_eq!(figure(426.31), "426.3");
        assert_eq!(figure(10_234.6), "10235");
        assert_eq!(
            quartiles(&Spread::exact(3.0), figure),
            "",
            "what was counted has no spread"
        );
    }
}
