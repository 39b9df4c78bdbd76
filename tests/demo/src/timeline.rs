//! What a person sees while the demo runs, and after it.

use crate::hold::Hold;
use crate::verdict::Tally;

pub(crate) fn heading() -> String {
    format!(
        "{:>9}  {:<8} {:>8} {:>20} {:>9} {:>11}",
        "time s", "language", "pid", "token", "held ms", "waited ms"
    )
}

/// One hold; `start` is when the workers were let loose.
pub(crate) fn row(hold: &Hold, start: u64) -> String {
    let mut row = format!(
        "{:>9.3}  {:<8} {:>8} {:>20} {:>9.1} {:>11.1}",
        hold.entered.saturating_sub(start) as f64 / 1e9,
        hold.language,
        hold.pid,
        hold.token,
        millis(hold.left - hold.entered),
        millis(hold.waited()),
    );
    if hold.lost {
        row.push_str("  LOST");
    }
    if let Some(token) = hold.met {
        row.push_str(&format!("  MET THE HOLDER OF {token}"));
    }
    row
}

/// The line that scripts may read.
pub(crate) fn summary(tally: &Tally) -> String {
    format!(
        "demo {} grants={} overlaps={} longest_wait_ms={}",
        tally.language,
        tally.grants,
        tally.overlaps,
        tally.longest_wait.div_ceil(1_000_000)
    )
}

fn millis(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;

    #[test]
    fn the_summary_has_its_fixed_form() {
        let tally = Tally {
            language: Language::Python,
            grants: 31,
            overlaps: 0,
            longest_wait: 312_000_001,
        };
        assert_eq!(
            summary(&tally),
            "demo python grants=31 overlaps=0 longest_wait_ms=313"
        );
    }

    #[test]
    fn rows_stand_under_their_headings() {
        let hold = Hold {
            language: Language::Node,
            pid: 4711,
            token: 4_294_967_301,
            asked: 1_000_000,
            entered: 13_000_000,
            left: 93_000_000,
            lost: false,
            met: None,
        };
        let row = row(&hold, 1_000_000);
        assert_eq!(row.len(), heading().len());
        assert_eq!(
            row.split_whitespace().collect::<Vec<_>>(),
            ["0.012", "node", "4711", "4294967301", "80.0", "12.0"]
        );
    }
}
