//! A holder's process is stopped for longer than its session lasts, and goes on when the next one holds.

use std::time::{Duration, Instant};

use super::{PATIENCE, Seen, Stage, wait_children};
use crate::member::{Granted, granted};

const SESSION_TIMEOUT_MS: u32 = 4_000;

/// Asks the process that was stopped for its state until it no longer believes.
pub fn play(stage: &Stage) -> Result<Vec<Seen>, String> {
    stage.each(|library| one(stage, library))
}

fn one(stage: &Stage, library: String) -> Result<Seen, String> {
    let path = format!("/stopped/{library}");
    let mut members = stage.members(&library, 2, &path, SESSION_TIMEOUT_MS)?;
    let [stopped, next] = &mut members[..] else {
        return Err("two were asked for".into());
    };
    stopped.ask(
        "lock",
        &[("lock", "mutex"), ("guard", "g"), ("thread", "t")],
    )?;
    let waiting = next.send(
        "lock",
        &[("lock", "mutex"), ("guard", "h"), ("thread", "t")],
    )?;
    wait_children(&stage.observer()?, &path, 2)?;
    stopped.pause()?;
    let answer = next.answer(&waiting, PATIENCE)?;
    if let Granted::No(answer) = granted(&answer) {
        return Err(format!("{library}'s waiter is answered `{answer}`"));
    }
    // The first look is on its way before the process goes on.
    let mut look = stopped.send("state", &[("guard", "g")])?;
    stopped.resume()?;
    let began = Instant::now();
    let mut first = None;
    let mut believed = Duration::ZERO;
    loop {
        let answer = stopped.answer(&look, PATIENCE)?;
        let state = answer.get("state").unwrap_or_default().to_owned();
        if state == "held" {
            believed = began.elapsed();
        }
        first.get_or_insert(state.clone());
        if state == "lost" {
            break;
        }
        if began.elapsed() > PATIENCE {
            return Err(format!("{library} believes for ever"));
        }
        look = stopped.send("state", &[("guard", "g")])?;
    }
    let first = first.unwrap_or_default();
    let told = began.elapsed().as_millis();
    let believed = believed.as_millis();
    let what = if first == "lost" {
        "lost at the first look".to_owned()
    } else {
        format!(
            "`{first}` at the first look, beside the next holder for {believed} ms; told of the loss after {told} ms"
        )
    };
    Ok(Seen {
        library,
        what,
        kept: first == "lost",
    })
}
