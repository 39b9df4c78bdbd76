//! The last numbers of a path's 32-bit sequence: servers give the last one to everybody from then on (Z1).

use std::time::Duration;

use zoolock_conformance::message::Message;
use zoolock_ensemble::eventually;

use super::{Seen, Stage, holds, used_up};
use crate::member::Member;

/// How long a wait is given to turn out to be one.
const ANSWER: Duration = Duration::from_secs(5);

/// Four processes queue one behind the other, of which all but the first get the last number; then the first one lets go.
pub fn play(stage: &Stage) -> Result<Vec<Seen>, String> {
    stage.each(|library| one(stage, library, false))
}

/// The same, with all at once: servers number creates that arrive together in yet another way.
pub fn play_together(stage: &Stage) -> Result<Vec<Seen>, String> {
    stage.each(|library| one(stage, library, true))
}

fn one(stage: &Stage, library: String, together: bool) -> Result<Seen, String> {
    let path = used_up(&library);
    let mut members = stage.members(&library, 4, &path, 30_000)?;
    let observer = stage.observer()?;
    let mut calls = Vec::new();
    for member in &mut members {
        let before = observer.children(&path).map_or(0, |names| names.len());
        let call = member.send(
            "lock",
            &[("lock", "mutex"), ("guard", "g"), ("thread", "t")],
        )?;
        eventually(ANSWER, || {
            let queued = observer
                .children(&path)
                .is_ok_and(|names| names.len() > before);
            together || queued || member.has_answered(&call)
        });
        calls.push(call);
    }
    let before = answers(&members, &calls);
    let first = holders(&mut members);
    // The one with a number of its own, if it was granted: those behind it are what the case is about.
    if let [only] = first[..] {
        members[only].ask("release", &[("guard", "g"), ("thread", "t")])?;
    }
    let after = answers(&members, &calls);
    let hold = first.len().max(holders(&mut members).len());
    let of = |word: &str| {
        let answered = after.iter().flatten();
        answered.filter(|answer| answer.word == word).count()
    };
    let exhausted = |answer: &&Message| answer.get("kind") == Some("SequenceExhausted");
    let told = after.iter().flatten().filter(exhausted).count();
    let granted_first = before.iter().flatten().filter(|answer| answer.word == "ok");
    let what = format!(
        "of 4 that meet the end of the sequence {} hold before the first release, up to {hold} at once, {} are told of an error, and {} still wait at the end",
        granted_first.count(),
        of("error"),
        after.iter().filter(|answer| answer.is_none()).count()
    );
    Ok(Seen {
        library,
        what,
        // Nobody is left in the queue: who is not granted is told why (R14), and that is all but the first one at least.
        kept: hold <= 1 && told >= 3 && told + of("ok") == 4,
    })
}

/// The answers that come in time.
fn answers(members: &[Member], calls: &[String]) -> Vec<Option<Message>> {
    let all = |(member, call): (&Member, &String)| member.has_answered(call);
    let pairs = || members.iter().zip(calls);
    eventually(ANSWER, || pairs().all(all));
    pairs().map(|(member, call)| member.peek(call)).collect()
}

fn holders(members: &mut [Member]) -> Vec<usize> {
    let members = members.iter_mut().enumerate();
    members
        .filter_map(|(index, member)| holds(member, "g").then_some(index))
        .collect()
}
