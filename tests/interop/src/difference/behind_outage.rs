//! All servers are away for longer than a session lasts, while processes wait. Servers that come back start every session's time
//! afresh, so the nodes of sessions that a client has given up by its own clock are still there for a while.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use zoolock_ensemble::{NodeKind, eventually};

use super::{PATIENCE, Seen, Stage, holds, wait_children};
use crate::member::Member;

const SESSION_TIMEOUT_MS: u32 = 6_000;
const OUTAGE: Duration = Duration::from_millis(SESSION_TIMEOUT_MS as u64 * 2);
/// The sessions from before the outage are over by then, and their nodes gone.
const AFTERWARDS: Duration = Duration::from_millis(SESSION_TIMEOUT_MS as u64 * 3);

/// A queue of one library.
struct Queue {
    path: String,
    holder: String,
    members: Vec<Member>,
    /// When both were first and last seen to hold, since the holder was gone.
    together: Option<(Duration, Duration)>,
    granted: bool,
}

/// Somebody holds, two wait, and all servers are away; then the holder goes, and the two are watched.
pub fn play(stage: &Stage) -> Result<Vec<Seen>, String> {
    let failed = |error: zoolock_ensemble::Error| error.to_string();
    let mut queues = BTreeMap::new();
    for library in stage.libraries() {
        queues.insert(library.clone(), queue(stage, &library)?);
    }
    stage.ensemble.kill(1).map_err(failed)?;
    let end = Instant::now() + OUTAGE;
    let given_up = || Instant::now() >= end;
    eventually(OUTAGE + PATIENCE, given_up);
    stage.ensemble.restart(1).map_err(failed)?;
    stage.ensemble.wait_serving(PATIENCE).map_err(failed)?;
    let observer = stage.observer()?;
    // Curator's clients have new sessions by now, or are about to.
    for queue in queues.values() {
        observer.delete(&queue.holder).map_err(failed)?;
    }
    let began = Instant::now();
    while began.elapsed() < AFTERWARDS {
        for queue in queues.values_mut() {
            let holding = holding(&mut queue.members);
            queue.granted |= holding > 0;
            if holding > 1 {
                let now = began.elapsed();
                queue.together.get_or_insert((now, now)).1 = now;
            }
        }
    }
    Ok(queues
        .into_iter()
        .map(|(library, queue)| judge(library, &queue))
        .collect())
}

/// How many hold at one moment: who was asked first still does when the others have answered.
fn holding(members: &mut [Member]) -> usize {
    let mut asked = || {
        let each = members.iter_mut();
        each.map(|member| holds(member, "g")).collect::<Vec<_>>()
    };
    let (before, after) = (asked(), asked());
    let throughout = before
        .iter()
        .zip(after)
        .filter(|(before, after)| **before && *after);
    throughout.count()
}

fn queue(stage: &Stage, library: &str) -> Result<Queue, String> {
    let path = format!("/outage/{library}");
    let failed = |error: zoolock_ensemble::Error| error.to_string();
    let observer = stage.observer()?;
    observer.ensure(&path).map_err(failed)?;
    // Of each library's own names, and of nobody's session: it stays through the outage.
    let name = if library == "kazoo" {
        "00000000000000000000000000000000__lock__"
    } else {
        "_c_00000000-0000-0000-0000-000000000000-lock-"
    };
    let node = format!("{path}/{name}");
    let holder = observer
        .create(&node, b"", NodeKind::PersistentSequential)
        .map_err(failed)?;
    let mut members = stage.members(library, 2, &path, SESSION_TIMEOUT_MS)?;
    for (number, member) in members.iter_mut().enumerate() {
        member.send(
            "lock",
            &[("lock", "mutex"), ("guard", "g"), ("thread", "t")],
        )?;
        wait_children(&observer, &path, number + 2)?;
    }
    Ok(Queue {
        path,
        holder,
        members,
        together: None,
        granted: false,
    })
}

fn judge(library: String, queue: &Queue) -> Seen {
    let new_sessions = queue
        .members
        .iter()
        .filter(|member| member.saw("expired"))
        .count();
    let what = match queue.together {
        Some((first, last)) => format!(
            "two hold {} at once, seen from {} to {} ms behind the outage; {new_sessions} of 2 took a new session",
            queue.path,
            first.as_millis(),
            last.as_millis()
        ),
        None if queue.granted => {
            format!("one at a time; {new_sessions} of 2 took a new session")
        }
        None => format!("nobody was granted; {new_sessions} of 2 took a new session"),
    };
    Seen {
        library,
        what,
        kept: queue.together.is_none() && queue.granted,
    }
}
