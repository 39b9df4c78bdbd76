//! Commands about links, cuts and the log.

use std::time::Duration;

use serde_json::{Value, json};

use super::words::Words;
use super::{Answer, Control, field};
use crate::error::{Error, Result};
use crate::log::What;
use crate::op::Op;
use crate::proxy::{Action, Direction, Fault, Link, Message, Moment, Scope};

pub(super) fn obey(control: &Control, command: &str, words: &mut Words) -> Result<Option<Answer>> {
    match command {
        "freeze" | "thaw" | "drop" | "pass" | "delay" => fault(control, command, words)?,
        "reset" => each(control, words, |link| {
            link.reset();
            Ok(())
        })?,
        "close" => each(control, words, |link| {
            link.close();
            Ok(())
        })?,
        "refuse" => each(control, words, |link| {
            link.refuse();
            Ok(())
        })?,
        "accept" => each(control, words, Link::accept)?,
        "heal" => each(control, words, Link::heal)?,
        "cut" => return cut(control, words).map(Some),
        "cut-fired" => return cut_fired(control, words).map(Some),
        "connections" => {
            let links = links(control, words)?;
            let count: usize = links.iter().map(|link| link.connections()).sum();
            return Ok(Some(field("connections", count)));
        }
        "log" => return log(control, words).map(Some),
        "counts" => {
            let log = control.ensemble.log();
            let counts = log.counts().into_iter();
            let counts = counts.map(|(op, count)| (op.to_string(), Value::from(count)));
            let mut answer = field("counts", Value::Object(counts.collect()));
            answer.insert("total".into(), log.total().into());
            return Ok(Some(answer));
        }
        _ => return Ok(None),
    }
    Ok(Some(Answer::new()))
}

/// `client|quorum n|all`
fn links<'a>(control: &'a Control, words: &mut Words) -> Result<Vec<&'a Link>> {
    let ensemble = &control.ensemble;
    let kind = words.next("client or quorum")?;
    let get = |number| match kind {
        "client" => ensemble.client_link(number),
        "quorum" => ensemble.quorum_link(number),
        other => Err(Error::new(format!(
            "a link is `client` or `quorum`, not `{other}`"
        ))),
    };
    if words.take("all") {
        (1..=ensemble.size()).map(get).collect()
    } else {
        Ok(vec![get(words.number("a server's number or all")?)?])
    }
}

fn each(control: &Control, words: &mut Words, act: impl Fn(&Link) -> Result<()>) -> Result<()> {
    let links = links(control, words)?;
    words.end()?;
    links.into_iter().try_for_each(act)
}

fn fault(control: &Control, command: &str, words: &mut Words) -> Result<()> {
    let links = links(control, words)?;
    let (fault, begin) = match command {
        "freeze" => (Fault::Freeze, true),
        "thaw" => (Fault::Freeze, false),
        "drop" => (Fault::Drop, true),
        "pass" => (Fault::Drop, false),
        _ => {
            let ms = words.number("milliseconds")?;
            (Fault::Delay(Duration::from_millis(ms)), true)
        }
    };
    let (mut direction, mut scope) = (Direction::Both, Scope::All);
    while let Some(word) = words.next_if_any() {
        match word {
            "to-server" => direction = Direction::ToServer,
            "to-client" => direction = Direction::ToClient,
            "both" => direction = Direction::Both,
            "existing" => scope = Scope::Existing,
            "new" => scope = Scope::New,
            "all" => scope = Scope::All,
            other => {
                return Err(Error::new(format!(
                    "`{other}` is neither a direction (to-server, to-client, both) nor a scope (existing, new, all)"
                )));
            }
        }
    }
    for link in links {
        if begin {
            link.begin(fault, direction, scope);
        } else {
            link.end(fault, direction, scope);
        }
    }
    Ok(())
}

/// `cut client n before|after request|reply OP N [reset|close|hold] [refuse]`
fn cut(control: &Control, words: &mut Words) -> Result<Answer> {
    let links = links(control, words)?;
    let [link] = links[..] else {
        return Err(Error::new("a cut is for one link"));
    };
    let moment = match words.next("before or after")? {
        "before" => Moment::Before,
        "after" => Moment::After,
        other => {
            return Err(Error::new(format!(
                "a cut is before or after, not `{other}`"
            )));
        }
    };
    let kind = words.next("request or reply")?;
    let op = match words.next("an operation or any")? {
        "any" => None,
        name => Some(name.parse::<Op>()?),
    };
    let message = match kind {
        "request" => Message::Request(op),
        "reply" => Message::Reply(op),
        other => {
            return Err(Error::new(format!(
                "`{other}` is neither request nor reply"
            )));
        }
    };
    let nth = words.number("which one, from 1,")?;
    let action = if words.take("close") {
        Action::Close
    } else if words.take("hold") {
        Action::Hold
    } else {
        words.take("reset");
        Action::Reset
    };
    let refuse = words.take("refuse");
    words.end()?;
    let cut = if refuse {
        link.cut_and_refuse(message, nth, moment, action)?
    } else {
        link.cut(message, nth, moment, action)?
    };
    let mut cuts = control.cuts();
    cuts.push(cut);
    Ok(field("cut", cuts.len()))
}

fn cut_fired(control: &Control, words: &mut Words) -> Result<Answer> {
    let number: usize = words.number("a cut's number")?;
    let cuts = control.cuts();
    let cut = number.checked_sub(1).and_then(|index| cuts.get(index));
    let cut = cut.ok_or_else(|| Error::new(format!("there is no cut {number}")))?;
    Ok(field("fired", cut.fired()))
}

/// `log clear`, `log show [OP]`
fn log(control: &Control, words: &mut Words) -> Result<Answer> {
    let log = control.ensemble.log();
    match words.next("clear or show")? {
        "clear" => {
            log.clear();
            Ok(Answer::new())
        }
        "show" => {
            let only = words.next_if_any().map(str::parse::<Op>).transpose()?;
            let wanted = |what: &What| match (only, what) {
                (None, _) => true,
                (Some(op), What::Request { op: seen, .. } | What::Reply { op: seen, .. }) => {
                    op == *seen
                }
                _ => false,
            };
            let entries = log.entries().into_iter();
            let entries: Vec<Value> = entries
                .filter(|entry| wanted(&entry.what))
                .map(|entry| json!(entry))
                .collect();
            Ok(field("log", entries))
        }
        other => Err(Error::new(format!(
            "the log can clear or show, not `{other}`"
        ))),
    }
}
