//! What holds when one library holds with its own names, and another one tries with its own.

use std::time::Duration;

use super::{Seen, Stage, holds};
use crate::member::Member;

const ANSWER: Duration = Duration::from_secs(4);

const OURS: [&str; 4] = ["rust", "c", "python", "node"];

/// A holder, who tries beside it, and with which option each.
const PAIRS: [(&str, Option<&str>, &str, Option<&str>); 7] = [
    ("kazoo", None, "curator", None),
    ("curator", None, "kazoo", None),
    // Without `extra_lock_patterns`.
    ("curator", None, "kazoo", Some("kazoo")),
    ("go", None, "kazoo", Some("kazoo")),
    ("kazoo", None, "go", None),
    ("rust", Some("kazoo"), "curator", None),
    ("rust", None, "kazoo", Some("kazoo")),
];

/// Each pair on a path of its own; and ours tries beside every holder, on another.
pub fn play(stage: &Stage) -> Result<Vec<Seen>, String> {
    let mut seen = Vec::new();
    for (number, (holder, its_naming, other, naming)) in PAIRS.into_iter().enumerate() {
        let path = format!("/namings/{number}");
        let mut first = member(stage, holder, 1, &path, its_naming)?;
        first.ask(
            "lock",
            &[("lock", "mutex"), ("guard", "g"), ("thread", "t")],
        )?;
        let mut second = member(stage, other, 2, &path, naming)?;
        let both = both_hold(&mut first, "g", &mut second)?;
        seen.push(Seen {
            // What ours cannot make others see is told of them.
            library: other.to_owned(),
            what: match naming {
                Some(_) => format!("told of no other names, {}", said(both, holder, its_naming)),
                None => said(both, holder, its_naming),
            },
            kept: !both,
        });
        let apart = format!("{path}/ours");
        first.open("mutex", &apart, its_naming)?;
        first.ask(
            "lock",
            &[("lock", "mutex"), ("guard", "g2"), ("thread", "t")],
        )?;
        let ours = OURS[number % OURS.len()];
        let mut third = member(stage, ours, 3, &apart, None)?;
        let both = both_hold(&mut first, "g2", &mut third)?;
        seen.push(Seen {
            library: ours.to_owned(),
            what: said(both, holder, its_naming),
            kept: !both,
        });
    }
    Ok(seen)
}

fn said(both: bool, holder: &str, naming: Option<&str>) -> String {
    let does = if both { "holds beside" } else { "waits for" };
    let naming = naming.map_or_else(String::new, |naming| format!(" with naming={naming}"));
    format!("{does} {holder}{naming}")
}

fn member(
    stage: &Stage,
    kind: &str,
    number: usize,
    path: &str,
    naming: Option<&str>,
) -> Result<Member, String> {
    let mut member = Member::start(stage.languages, kind, number)?;
    member.connect(&stage.ensemble.hosts(), 30_000)?;
    member.open("mutex", path, naming)?;
    Ok(member)
}

/// Whether the second one is granted while the first one holds.
fn both_hold(first: &mut Member, guard: &str, second: &mut Member) -> Result<bool, String> {
    let fields = [("lock", "mutex"), ("guard", "h"), ("thread", "t")];
    let call = second.send("lock", &fields)?;
    let answered = second.answer(&call, ANSWER).is_ok();
    Ok(answered && holds(second, "h") && holds(first, guard))
}
