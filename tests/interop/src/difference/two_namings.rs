//! What holds when one library holds with its own names, and another one tries with its own.

use std::time::Duration;

use zoolock_ensemble::{Observer, eventually};

use super::{PATIENCE, Seen, Stage, holds};
use crate::member::{Granted, Member, granted};

/// Who is queued and would be granted beside the holder is so in far less.
const ANSWER: Duration = Duration::from_secs(4);

const WAITS: &str = "waits for";

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
    let observer = stage.observer()?;
    for (number, (holder, its_naming, other, naming)) in PAIRS.into_iter().enumerate() {
        let path = format!("/namings/{number}");
        let mut first = member(stage, holder, 1, &path, its_naming)?;
        first.ask(
            "lock",
            &[("lock", "mutex"), ("guard", "g"), ("thread", "t")],
        )?;
        let mut second = member(stage, other, 2, &path, naming)?;
        let does = beside(&observer, &path, (&mut first, "g"), &mut second)?;
        seen.push(Seen {
            // What ours cannot make others see is told of them.
            library: other.to_owned(),
            what: match naming {
                Some(_) => format!("told of no other names, {}", said(does, holder, its_naming)),
                None => said(does, holder, its_naming),
            },
            kept: does == WAITS,
        });
        let apart = format!("{path}-ours");
        first.open("mutex", &apart, its_naming)?;
        first.ask(
            "lock",
            &[("lock", "mutex"), ("guard", "g2"), ("thread", "t")],
        )?;
        let ours = OURS[number % OURS.len()];
        let mut third = member(stage, ours, 3, &apart, None)?;
        let does = beside(&observer, &apart, (&mut first, "g2"), &mut third)?;
        seen.push(Seen {
            library: ours.to_owned(),
            what: said(does, holder, its_naming),
            kept: does == WAITS,
        });
    }
    Ok(seen)
}

fn said(does: &str, holder: &str, naming: Option<&str>) -> String {
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

/// What the second one does while the first one holds. If it waits, it has to be granted when the first one lets go.
fn beside(
    observer: &Observer,
    path: &str,
    (first, guard): (&mut Member, &str),
    second: &mut Member,
) -> Result<&'static str, String> {
    let fields = [("lock", "mutex"), ("guard", "h"), ("thread", "t")];
    let call = second.send("lock", &fields)?;
    let queued = || observer.children(path).is_ok_and(|names| names.len() == 2);
    // Its time to be granted begins when it queues, however long its program takes to get there.
    if !eventually(PATIENCE, || second.has_answered(&call) || queued()) {
        return Err(format!("{} does not queue on {path}", second.name));
    }
    if eventually(ANSWER, || second.has_answered(&call)) {
        if let Granted::No(_) = granted(&second.answer(&call, ANSWER)?) {
            return Ok("fails beside");
        }
        let both = holds(second, "h") && holds(first, guard);
        let alone = || Err(format!("{} or {} holds nothing", first.name, second.name));
        return if both { Ok("holds beside") } else { alone() };
    }
    first.ask("release", &[("guard", guard), ("thread", "t")])?;
    second.answer(&call, PATIENCE)?;
    if holds(second, "h") {
        Ok(WAITS)
    } else {
        Err(format!(
            "{} was let in on {path}, and does not hold",
            second.name
        ))
    }
}
