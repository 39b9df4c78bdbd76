//! The last numbers of a path's 32-bit sequence: servers give the last one to everybody from then on (Z1).

use std::time::Duration;

use zoolock_conformance::message::Message;
use zoolock_ensemble::eventually;

use super::{Seen, Stage, holds, used_up};
use crate::member::Member;

/// How long a wait is given to turn out to be one.
const ANSWER: Duration = Duration::from_secs(5);

/// Four processes queue, of which all but the first meet the end; then the first one lets go.
pub fn play(stage: &Stage) -> Result<Vec<Seen>, String> {
    stage.each(|library| one(stage, library))
}

fn one(stage: &Stage, library: String) -> Result<Seen, String> {
    let path = used_up(&library);
    let mut members = stage.members(&library, 4, &path, 30_000)?;
    let mut calls = Vec::new();
    for member in &mut members {
        let fields = [("lock", "mutex"), ("guard", "g"), ("thread", "t")];
        calls.push(member.send("lock", &fields)?);
    }
    let before = answers(&members, &calls);
    let first = holders(&mut members);
    // The one with a number of its own, if it was granted: those behind it are what the case is about.
    if let [only] = first[..] {
        members[only].ask("release", &[("guard", "g"), ("thread", "t")])?;
    }
    let answers = answers(&members, &calls);
    let hold = first.len().max(holders(&mut members).len());
    let errors = answers
        .iter()
        .flatten()
        .filter(|answer| answer.word != "ok");
    let errors = errors.count();
    let granted_first = before.iter().flatten().filter(|answer| answer.word == "ok");
    let what = format!(
        "of 4 that meet the end of the sequence {} hold before the first release, up to {hold} at once, and {errors} are told of an error",
        granted_first.count()
    );
    Ok(Seen {
        library,
        what,
        kept: hold <= 1,
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
