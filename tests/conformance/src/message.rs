//! One line of the protocol between the runner and a driver; see the README.

use std::fmt;

/// A request, an answer or an event: `<id> <word> key=value key=value`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Which request it is or answers; `!` for an event.
    pub id: String,
    /// The verb of a request, the outcome of an answer, the name of an event.
    pub word: String,
    /// Further values, in order; keys may repeat.
    pub fields: Vec<(String, String)>,
}

/// The id of events, which answer no request.
pub const EVENT: &str = "!";

impl Message {
    /// A message without fields.
    pub fn new(id: impl Into<String>, word: impl Into<String>) -> Message {
        Message {
            id: id.into(),
            word: word.into(),
            fields: Vec::new(),
        }
    }

    /// The message with one field more.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl fmt::Display) -> Message {
        self.fields.push((key.into(), value.to_string()));
        self
    }

    /// The first value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    }

    /// Every value of a key, in order.
    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields
            .iter()
            .filter(move |(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(line: &str) -> Result<Message, String> {
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        let (Some(id), Some(word)) = (words.next(), words.next()) else {
            return Err(format!("`{line}` has no id or no word"));
        };
        let mut message = Message::new(id, word);
        for field in words {
            let (key, value) = field
                .split_once('=')
                .ok_or_else(|| format!("`{field}` in `{line}` has no value"))?;
            message.fields.push((key.to_owned(), unescape(value)?));
        }
        Ok(message)
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.id, self.word)?;
        for (key, value) in &self.fields {
            write!(f, " {key}={}", escape(value))?;
        }
        Ok(())
    }
}

/// Percent-encodes all but letters, digits and a few marks that paths are made of.
pub fn escape(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'/' | b':' | b',' | b'-' => {
                escaped.push(char::from(byte));
            }
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

/// Undoes [`escape`].
///
/// # Errors
/// If a `%` is not followed by two hexadecimal digits, or the bytes are not UTF-8.
pub fn unescape(value: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let code = rest
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
            .ok_or_else(|| format!("`{value}` has a % without two hexadecimal digits"))?;
        bytes.push(code);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).map_err(|_| format!("`{value}` is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_survives_its_line() {
        let message = Message::new("7", "error")
            .with("kind", "Timeout")
            .with("message", "not granted: 50 % of é = \n");
        assert_eq!(Message::parse(&message.to_string()), Ok(message));
    }

    #[test]
    fn an_empty_value_is_a_value() {
        assert_eq!(
            Message::parse("1 connect hosts=").unwrap().get("hosts"),
            Some("")
        );
    }

    #[test]
    fn a_field_without_a_value_is_refused() {
        assert!(Message::parse("1 connect hosts").is_err());
        assert!(Message::parse("1").is_err());
        assert!(Message::parse("1 connect hosts=%4").is_err());
    }
}
