//! The words of a command line.

use std::str::{FromStr, SplitWhitespace};

use crate::error::{Error, Result};

pub(super) struct Words<'a> {
    words: std::iter::Peekable<SplitWhitespace<'a>>,
}

impl<'a> Words<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Words {
            words: line.split_whitespace().peekable(),
        }
    }

    /// The next word, which has to be there.
    pub(super) fn next(&mut self, what: &str) -> Result<&'a str> {
        self.words
            .next()
            .ok_or_else(|| Error::new(format!("{what} is missing")))
    }

    /// The next word, which may be missing.
    pub(super) fn next_if_any(&mut self) -> Option<&'a str> {
        self.words.next()
    }

    /// The next word as a number.
    pub(super) fn number<T: FromStr>(&mut self, what: &str) -> Result<T> {
        let word = self.next(what)?;
        word.parse()
            .map_err(|_| Error::new(format!("{what} cannot be `{word}`")))
    }

    /// Takes the next word if it is this one.
    pub(super) fn take(&mut self, word: &str) -> bool {
        self.words.next_if_eq(&word).is_some()
    }

    /// A session id, with or without `0x`.
    pub(super) fn session(&mut self) -> Result<i64> {
        let word = self.next("a session id")?;
        u64::from_str_radix(word.trim_start_matches("0x"), 16)
            .map(|id| id as i64)
            .map_err(|_| Error::new(format!("`{word}` is no session id such as 0x100000a")))
    }

    /// Nothing may be left over.
    pub(super) fn end(&mut self) -> Result<()> {
        match self.words.next() {
            None => Ok(()),
            Some(word) => Err(Error::new(format!("`{word}` is one word too many"))),
        }
    }
}
