//! What happened, for the reader of a failing seed: one line an event, with its time, its actor, and what.

use std::collections::VecDeque;
use std::fmt;

/// Lines that are kept; the oldest go first.
const LINES: usize = 20_000;

/// Who does something.
#[derive(Clone, Copy, Debug)]
pub(super) enum Actor {
    Client(usize),
    Server(usize),
    Fault,
    /// What the leader has.
    Truth,
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Actor::Client(index) => f.pad(&format!("client {index}")),
            Actor::Server(index) => f.pad(&format!("server {index}")),
            Actor::Fault => f.pad("fault"),
            Actor::Truth => f.pad("truth"),
        }
    }
}

/// A trace, if one is wanted.
#[derive(Default)]
pub(super) struct Trace(Option<VecDeque<String>>);

impl Trace {
    pub(super) fn on() -> Trace {
        Trace(Some(VecDeque::new()))
    }

    pub(super) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn note(&mut self, now: u64, actor: Actor, what: impl FnOnce() -> String) {
        let Some(lines) = &mut self.0 else {
            return;
        };
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(format!(
            "{:>11.3} ms  {actor:<9} {}",
            now as f64 / 1e6,
            what()
        ));
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.0.iter().flatten().cloned().collect()
    }
}

/// What was asked on a connection, so that answers can be told with their questions.
#[derive(Default)]
pub(super) struct Asked {
    requests: VecDeque<(i32, String)>,
    greeted: bool,
    welcomed: bool,
}

impl Asked {
    /// Requests in words.
    pub(super) fn requests(&mut self, bytes: &[u8]) -> String {
        let mut texts = Vec::new();
        for frame in frames(bytes) {
            if !std::mem::replace(&mut self.greeted, true) {
                texts.push(format!("hello, session {:#x}", long(frame, 16)));
                continue;
            }
            let (xid, operation) = (int(frame, 0), int(frame, 4));
            let path = match operation {
                14 => text(frame, 17),
                101 | 11 | -11 => String::new(),
                _ => text(frame, 8),
            };
            let asked = format!("{} {path}", name(operation));
            texts.push(format!("#{xid} {}", asked.trim_end()));
            self.requests.push_back((xid, asked.trim_end().to_owned()));
        }
        texts.join(", ")
    }

    /// Answers and events in words.
    pub(super) fn answers(&mut self, bytes: &[u8]) -> String {
        let mut texts = Vec::new();
        for frame in frames(bytes) {
            if !std::mem::replace(&mut self.welcomed, true) {
                texts.push(match long(frame, 8) {
                    0 => "session is over".to_owned(),
                    session => format!("welcome, session {session:#x}"),
                });
                continue;
            }
            let (xid, code) = (int(frame, 0), int(frame, 12));
            if xid == -1 {
                let kind = match int(frame, 16) {
                    2 => "deleted",
                    3 => "changed",
                    _ => "event",
                };
                texts.push(format!("{kind} {}", text(frame, 24)));
                continue;
            }
            let at = self.requests.iter().position(|(known, _)| *known == xid);
            let asked = at.and_then(|at| self.requests.remove(at));
            let asked = asked.map(|(_, asked)| asked).unwrap_or_default();
            texts.push(format!("#{xid} {asked}: {}", verdict(code)));
        }
        texts.join(", ")
    }
}

fn frames(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let length = usize::try_from(int(rest, 0)).unwrap_or(0);
        let frame = rest.get(4..4 + length)?;
        rest = &rest[4 + length..];
        Some(frame)
    })
}

fn int(bytes: &[u8], at: usize) -> i32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map_or(0, i32::from_be_bytes)
}

fn long(bytes: &[u8], at: usize) -> i64 {
    let eight = bytes
        .get(at..at + 8)
        .and_then(|eight| eight.try_into().ok());
    eight.map_or(0, i64::from_be_bytes)
}

fn text(bytes: &[u8], at: usize) -> String {
    let length = usize::try_from(int(bytes, at)).unwrap_or(0);
    let text = bytes.get(at + 4..at + 4 + length).unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

fn name(operation: i32) -> &'static str {
    match operation {
        2 => "delete",
        4 => "watch",
        9 => "sync",
        11 => "ping",
        12 => "list",
        14 => "multi",
        15 => "create",
        18 => "unwatch",
        19 => "container",
        101 => "re-arm",
        -11 => "close",
        _ => "?",
    }
}

fn verdict(code: i32) -> String {
    match code {
        0 => "done".to_owned(),
        -101 => "no node".to_owned(),
        -110 => "exists".to_owned(),
        -112 => "session expired".to_owned(),
        -118 => "session moved".to_owned(),
        -121 => "no watcher".to_owned(),
        -127 => "throttled".to_owned(),
        code => format!("code {code}"),
    }
}

/// The deleted nodes that these answers tell of.
pub(super) fn deletions(bytes: &[u8]) -> impl Iterator<Item = String> {
    events(bytes, 2)
}

/// The nodes of which events of this kind tell.
pub(super) fn events(bytes: &[u8], kind: i32) -> impl Iterator<Item = String> {
    frames(bytes)
        .filter(move |frame| int(frame, 0) == -1 && int(frame, 16) == kind)
        .map(|frame| text(frame, 24))
}

/// The operations that these requests ask for; of a handshake, nothing that is one.
pub(super) fn operations(bytes: &[u8]) -> impl Iterator<Item = i32> {
    frames(bytes).map(|frame| int(frame, 4))
}
