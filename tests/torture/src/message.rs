//! What workers say; the README has the protocol.

use std::str::{FromStr, SplitWhitespace};

/// Which hold of which job it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct HoldId {
    pub(crate) job: usize,
    pub(crate) name: char,
}

/// One line. Times are nanoseconds of [`clock`](crate::clock).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// The first line of a connection; the part is a thread's number, or `told`.
    Hello {
        worker: String,
        part: String,
    },
    Next,
    /// A call for a lock is about to be made.
    Asked {
        hold: HoldId,
        at: u64,
    },
    Granted {
        hold: HoldId,
        token: i64,
        at: u64,
        node: String,
    },
    /// The call ended otherwise: `BUSY`, or the kind of an error.
    Denied {
        hold: HoldId,
        kind: String,
        at: u64,
        message: String,
    },
    /// What the guard answered to the question whether it is held.
    Check {
        hold: HoldId,
        held: bool,
        before: u64,
        after: u64,
    },
    /// A release's outcome: `OK`, or the kind of an error.
    Released {
        hold: HoldId,
        outcome: String,
        before: u64,
        after: u64,
    },
    /// The notification of a loss.
    Told {
        hold: HoldId,
        at: u64,
    },
    /// Reads the fenced register, which from then on refuses lower tokens.
    FencedRead {
        hold: HoldId,
        token: i64,
    },
    FencedWrite {
        hold: HoldId,
        token: i64,
        value: u64,
    },
    /// A reader shows its token to the fenced register.
    Look {
        hold: HoldId,
        token: i64,
    },
    /// Reads the counter that nothing but the lock protects.
    Read {
        hold: HoldId,
    },
    Write {
        hold: HoldId,
        value: u64,
    },
}

impl Message {
    pub(crate) fn parse(line: &str) -> Result<Message, String> {
        let mut words = line.split_whitespace();
        let verb = words.next().unwrap_or_default();
        let message = match verb {
            "next" => Some(Message::Next),
            "hello" => hello(&mut words),
            _ => hold_id(&mut words).and_then(|hold| about(verb, hold, &mut words)),
        };
        match message {
            // What follows an error is its text.
            Some(message @ Message::Denied { .. }) => Ok(message),
            Some(message) if words.next().is_none() => Ok(message),
            _ => Err(format!("`{line}` is not understood")),
        }
    }
}

fn hello(words: &mut SplitWhitespace<'_>) -> Option<Message> {
    Some(Message::Hello {
        worker: words.next()?.to_owned(),
        part: words.next()?.to_owned(),
    })
}

fn hold_id(words: &mut SplitWhitespace<'_>) -> Option<HoldId> {
    let job = next(words)?;
    let name = next(words)?;
    matches!(name, 'a' | 'b').then_some(HoldId { job, name })
}

fn about(verb: &str, hold: HoldId, words: &mut SplitWhitespace<'_>) -> Option<Message> {
    Some(match verb {
        "asked" => Message::Asked {
            hold,
            at: next(words)?,
        },
        "granted" => Message::Granted {
            hold,
            token: next(words)?,
            at: next(words)?,
            node: next(words)?,
        },
        "denied" => Message::Denied {
            hold,
            kind: next(words)?,
            at: next(words)?,
            message: words.collect::<Vec<_>>().join(" "),
        },
        "check" => Message::Check {
            hold,
            held: match words.next()? {
                "0" => false,
                "1" => true,
                _ => return None,
            },
            before: next(words)?,
            after: next(words)?,
        },
        "released" => Message::Released {
            hold,
            outcome: next(words)?,
            before: next(words)?,
            after: next(words)?,
        },
        "told" => Message::Told {
            hold,
            at: next(words)?,
        },
        "fread" => Message::FencedRead {
            hold,
            token: next(words)?,
        },
        "fwrite" => Message::FencedWrite {
            hold,
            token: next(words)?,
            value: next(words)?,
        },
        "look" => Message::Look {
            hold,
            token: next(words)?,
        },
        "read" => Message::Read { hold },
        "write" => Message::Write {
            hold,
            value: next(words)?,
        },
        _ => return None,
    })
}

fn next<T: FromStr>(words: &mut SplitWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_workers_are_read() {
        let hold = HoldId { job: 7, name: 'b' };
        assert_eq!(
            Message::parse("check 7 b 1 10 12"),
            Ok(Message::Check {
                hold,
                held: true,
                before: 10,
                after: 12
            })
        );
        assert_eq!(
            Message::parse("denied 7 b TIMEOUT 10 lock /a: not granted"),
            Ok(Message::Denied {
                hold,
                kind: "TIMEOUT".into(),
                at: 10,
                message: "lock /a: not granted".into()
            })
        );
        assert_eq!(Message::parse("next"), Ok(Message::Next));
    }

    #[test]
    fn nonsense_is_refused() {
        for line in [
            "",
            "next please",
            "check 7 b yes 10 12",
            "check 7 c 1 10 12",
            "check 7 b 1 10 12 13",
            "granted 7 a x 10 /n",
            "sing 7 a",
            "fread 7 a",
        ] {
            assert!(Message::parse(line).is_err(), "{line}");
        }
    }
}
