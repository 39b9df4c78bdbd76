//! One hold of the lock, as the worker that had it reports it.

use crate::language::Language;

/// The line is `hold token=… asked=… entered=… left=… state=held|lost met=none|<token>`; times are nanoseconds of
/// [`clock`](crate::clock), taken by the worker: `asked` before the call, `entered` and `left` inside the held section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) language: Language,
    pub(crate) pid: u32,
    pub(crate) token: i64,
    pub(crate) asked: u64,
    pub(crate) entered: u64,
    pub(crate) left: u64,
    /// The guard said at the end that the lock was lost in the meantime.
    pub(crate) lost: bool,
    /// The token of another holder whose witness file was there.
    pub(crate) met: Option<i64>,
}

impl Hold {
    /// Reads a line's fields, which stand in this order.
    pub(crate) fn parse(language: Language, pid: u32, fields: &str) -> Result<Hold, String> {
        let mut words = fields.split_whitespace();
        let mut field = |name: &str| {
            words
                .next()
                .and_then(|word| word.strip_prefix(name)?.strip_prefix('='))
                .ok_or_else(|| format!("`{name}=` is missing in `{fields}`"))
        };
        let number = |text: &str| {
            text.parse()
                .map_err(|_| format!("`{text}` is no time in `{fields}`"))
        };
        let token = |text: &str| {
            text.parse()
                .map_err(|_| format!("`{text}` is no token in `{fields}`"))
        };
        let hold = Hold {
            language,
            pid,
            token: token(field("token")?)?,
            asked: number(field("asked")?)?,
            entered: number(field("entered")?)?,
            left: number(field("left")?)?,
            lost: match field("state")? {
                "held" => false,
                "lost" => true,
                other => return Err(format!("`{other}` is no state in `{fields}`")),
            },
            met: match field("met")? {
                "none" => None,
                other => Some(token(other)?),
            },
        };
        if hold.asked > hold.entered || hold.entered > hold.left {
            return Err(format!("times run backwards in `{fields}`"));
        }
        Ok(hold)
    }

    /// The last moment at which the holder is known to have believed. A lost hold may have ended right after it began.
    pub(crate) fn believed_until(&self) -> u64 {
        if self.lost { self.entered } else { self.left }
    }

    pub(crate) fn waited(&self) -> u64 {
        self.entered - self.asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_worker_is_read() {
        let hold = Hold::parse(
            Language::C,
            7,
            "token=12 asked=1 entered=2 left=5 state=held met=none",
        )
        .unwrap();
        assert_eq!(
            (hold.token, hold.waited(), hold.believed_until()),
            (12, 1, 5)
        );
        assert_eq!((hold.lost, hold.met), (false, None));
    }

    #[test]
    fn a_lost_hold_vouches_for_its_beginning_only() {
        let line = "token=12 asked=1 entered=2 left=5 state=lost met=11";
        let hold = Hold::parse(Language::C, 7, line).unwrap();
        assert_eq!((hold.believed_until(), hold.met), (2, Some(11)));
    }

    #[test]
    fn nonsense_is_refused() {
        for line in [
            "",
            "token=x asked=1 entered=2 left=5 state=held met=none",
            "token=1 asked=1 entered=2 left=5 state=maybe met=none",
            "token=1 asked=3 entered=2 left=5 state=held met=none",
            "token=1 asked=1 entered=6 left=5 state=held met=none",
            "token=1 entered=2 asked=1 left=5 state=held met=none",
        ] {
            assert!(Hold::parse(Language::C, 7, line).is_err(), "{line}");
        }
    }
}
