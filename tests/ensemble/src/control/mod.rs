//! The commands of the `ensemble` program: a line in, a JSON line out.

mod links;
mod nodes;
mod servers;
mod words;

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use crate::ensemble::Ensemble;
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::proxy::Cut;
use words::Words;

/// An ensemble that obeys commands.
pub struct Control {
    ensemble: Arc<Ensemble>,
    /// Kept between commands, so that ephemeral nodes stay.
    observers: Mutex<HashMap<usize, Arc<Observer>>>,
    cuts: Mutex<Vec<Cut>>,
}

/// What follows a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another one.
    Continue,
    /// The end.
    Quit,
}

type Answer = Map<String, Value>;
/// Obeys a command, or says by `None` that it is not one of its own.
type Group = fn(&Control, &str, &mut Words) -> Result<Option<Answer>>;

impl Control {
    /// Commands for `ensemble`.
    pub fn new(ensemble: Arc<Ensemble>) -> Self {
        Control {
            ensemble,
            observers: Mutex::default(),
            cuts: Mutex::default(),
        }
    }

    /// Obeys the lines of `input` until they end or one of them is `quit`.
    pub fn serve(&self, input: impl BufRead, mut output: impl Write) -> Next {
        for line in input.lines().map_while(|line| line.ok()) {
            if line.trim().is_empty() {
                continue;
            }
            let (answer, next) = self.obey(&line);
            if writeln!(output, "{answer}")
                .and_then(|()| output.flush())
                .is_err()
            {
                break;
            }
            if next == Next::Quit {
                return next;
            }
        }
        Next::Continue
    }

    /// Obeys one line. The answer has `ok`, and `error` where that is false.
    pub fn obey(&self, line: &str) -> (Value, Next) {
        let mut words = Words::new(line);
        let next = if line.trim() == "quit" {
            Next::Quit
        } else {
            Next::Continue
        };
        let answer = match self.dispatch(&mut words).and_then(|answer| {
            words.end()?;
            Ok(answer)
        }) {
            Ok(mut answer) => {
                answer.insert("ok".into(), true.into());
                Value::Object(answer)
            }
            Err(error) => json!({"ok": false, "error": error.to_string()}),
        };
        (answer, next)
    }

    fn dispatch(&self, words: &mut Words) -> Result<Answer> {
        let command = words.next("a command")?;
        for group in [servers::obey, links::obey, nodes::obey] as [Group; 3] {
            if let Some(answer) = group(self, command, words)? {
                return Ok(answer);
            }
        }
        match command {
            "quit" => Ok(Answer::new()),
            _ => Err(Error::new(format!(
                "`{command}` is no command; see the README"
            ))),
        }
    }

    fn cuts(&self) -> MutexGuard<'_, Vec<Cut>> {
        self.cuts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer with one field.
fn field(name: &str, value: impl Into<Value>) -> Answer {
    Answer::from_iter([(name.to_owned(), value.into())])
}
