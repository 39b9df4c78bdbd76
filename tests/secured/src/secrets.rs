//! R19: what must be seen nowhere, in whatever form.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Something secret, and what it is.
#[derive(Clone)]
pub struct Secret {
    /// For messages.
    pub what: String,
    forms: Vec<(&'static str, Vec<u8>)>,
}

impl Secret {
    /// Bytes that must not be seen, raw or encoded.
    pub fn new(what: impl Into<String>, bytes: &[u8]) -> Secret {
        let hex = |upper: bool| -> Vec<u8> {
            let digits = bytes.iter().map(|byte| match upper {
                true => format!("{byte:02X}"),
                false => format!("{byte:02x}"),
            });
            digits.collect::<String>().into_bytes()
        };
        let list: Vec<String> = bytes.iter().map(u8::to_string).collect();
        let mut forms = vec![
            ("as it is", bytes.to_vec()),
            ("in hexadecimal", hex(false)),
            ("in hexadecimal", hex(true)),
            ("as a list of bytes", list.join(", ").into_bytes()),
            ("URL-encoded", url(bytes)),
        ];
        forms.extend((0..3).map(|shift| ("in base64", base64_inside(bytes, shift))));
        Secret {
            what: what.into(),
            forms,
        }
    }

    /// Which form of it is in a text, if any.
    pub fn seen_in(&self, text: &[u8]) -> Option<&'static str> {
        let found = |form: &&(&str, Vec<u8>)| contains(text, &form.1);
        self.forms.iter().find(found).map(|(name, _)| *name)
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    let Some(first) = part.first() else {
        return false;
    };
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| byte == first) {
        rest = &rest[at..];
        if rest.starts_with(part) {
            return true;
        }
        rest = &rest[1..];
    }
    false
}

fn url(bytes: &[u8]) -> Vec<u8> {
    let encoded = bytes.iter().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(*byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    });
    encoded.collect::<String>().into_bytes()
}

/// The part of a longer text's base64 that these bytes alone decide, if `shift` others are before them.
fn base64_inside(bytes: &[u8], shift: usize) -> Vec<u8> {
    let mut padded = vec![0; shift];
    padded.extend_from_slice(bytes);
    let encoded = STANDARD.encode(&padded).into_bytes();
    let first = [0, 2, 3][shift];
    let last = padded.len() * 8 / 6;
    encoded.get(first..last).unwrap_or_default().to_vec()
}

/// The password that a server gives to a session: ZooKeeper makes it of the session's id, with Java's own random numbers.
pub fn session_password(session: i64) -> [u8; 16] {
    const SECRET: i64 = 0xB341_5C00;
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;
    let mut seed = ((session ^ SECRET).cast_unsigned() ^ MULTIPLIER) & MASK;
    let mut password = [0; 16];
    for part in password.chunks_mut(4) {
        seed = seed.wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
        let number = u32::try_from(seed >> 16).unwrap_or_default();
        part.copy_from_slice(&number.to_le_bytes());
    }
    password
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r19_a_secret_is_found_in_every_form() {
        let secret = Secret::new("a password", b"pass/word+1");
        for shift in 0..4 {
            let text = format!("{}user:pass/word+1 and more", "x".repeat(shift));
            assert_eq!(secret.seen_in(text.as_bytes()), Some("as it is"));
            let encoded = STANDARD.encode(&text);
            assert_eq!(secret.seen_in(encoded.as_bytes()), Some("in base64"));
        }
        for (text, form) in [
            ("706173732f776f72642b31", "in hexadecimal"),
            ("706173732F776F72642B31", "in hexadecimal"),
            (
                "[112, 97, 115, 115, 47, 119, 111, 114, 100, 43, 49]",
                "as a list of bytes",
            ),
            ("pass%2Fword%2B1", "URL-encoded"),
        ] {
            assert_eq!(secret.seen_in(text.as_bytes()), Some(form), "{text}");
        }
        assert_eq!(secret.seen_in(b"pass/word"), None);
    }

    /// As Java says: `new Random(0x100000000L ^ 0xB3415C00L).nextBytes(…)`.
    #[test]
    fn the_password_of_a_session_is_that_of_the_server() {
        let expected = [
            242, 42, 96, 100, 151, 230, 52, 99, 32, 164, 230, 241, 56, 234, 202, 217,
        ];
        assert_eq!(session_password(0x1_0000_0000), expected);
    }
}
