//! Parts of the input as they may stand in a message.

use std::fmt;

/// On one line, and not for pages.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 60;
        match self.0.char_indices().nth(SHOWN) {
            None => write!(f, "{:?}", self.0),
            Some((end, _)) => write!(f, "{:?}…", self.0.get(..end).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Quoted;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(Quoted("a\nb").to_string(), r#""a\nb""#);
        assert_eq!(
            Quoted(&"ü".repeat(60)).to_string(),
            format!("\"{}\"", "ü".repeat(60))
        );
        assert_eq!(
            Quoted(&"ü".repeat(61)).to_string(),
            format!("\"{}\"…", "ü".repeat(60))
        );
    }
}
