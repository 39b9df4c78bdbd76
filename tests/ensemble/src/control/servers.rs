//! Commands about servers and sessions.

use std::time::Duration;

use serde_json::{Value, json};

use super::words::Words;
use super::{Answer, Control, field};
use crate::error::Result;

const DEADLINE_MS: u64 = 60_000;

pub(super) fn obey(control: &Control, command: &str, words: &mut Words) -> Result<Option<Answer>> {
    let ensemble = &control.ensemble;
    let deadline = |words: &mut Words| -> Result<Duration> {
        let Some(word) = words.next_if_any() else {
            return Ok(Duration::from_millis(DEADLINE_MS));
        };
        Words::new(word)
            .number("milliseconds")
            .map(Duration::from_millis)
    };
    let done = match command {
        "kill" => ensemble.kill(words.number("a server's number")?),
        "stop" => ensemble.stop(words.number("a server's number")?),
        "pause" => ensemble.pause(words.number("a server's number")?),
        "continue" => ensemble.resume(words.number("a server's number")?),
        "restart" => ensemble.restart(words.number("a server's number")?),
        "wait" => ensemble.wait_serving(deadline(words)?),
        "expire" => ensemble.expire(words.session()?),
        "expire-by-freeze" => {
            let session = words.session()?;
            ensemble.expire_by_freeze(session, deadline(words)?)
        }
        "roles" => {
            let roles = ensemble.roles().into_iter();
            let roles = roles.map(|(number, role)| (number.to_string(), json!(role)));
            return Ok(Some(field("roles", Value::Object(roles.collect()))));
        }
        "leader" => return Ok(Some(field("leader", ensemble.leader()))),
        "sessions" => {
            let sessions = ensemble.sessions()?.into_iter().map(|session| {
                json!({
                    "id": format!("0x{:x}", session.id),
                    "timeout_ms": session.timeout_ms,
                    "server": session.server,
                })
            });
            return Ok(Some(field("sessions", sessions.collect::<Vec<_>>())));
        }
        "word" => {
            let server = words.number("a server's number")?;
            let text = ensemble.four_letter(server, words.next("a four-letter word")?)?;
            return Ok(Some(field("text", text)));
        }
        _ => return Ok(None),
    };
    done.map(|()| Some(Answer::new()))
}
