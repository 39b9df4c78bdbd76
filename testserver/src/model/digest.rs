//! The `digest` scheme: `user:base64(sha1("user:password"))`.

use super::acl::Id;

pub(crate) fn identity(credentials: &[u8]) -> Id {
    let text = String::from_utf8_lossy(credentials);
    let user = text.split(':').next().unwrap_or_default();
    let hash = sha1_smol::Sha1::from(text.as_bytes()).digest().bytes();
    Id::new("digest", &format!("{user}:{}", base64(&hash)))
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            if at <= chunk.len() {
                let index = bits >> (18 - 6 * at) & 63;
                text.push(char::from(ALPHABET[index as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_zookeepers_own() {
        // From ZooKeeper's documentation of DigestAuthenticationProvider.
        assert_eq!(
            identity(b"user1:12345").id,
            "user1:+owfoSBn/am19roBPzR1/MfCblE="
        );
    }

    #[test]
    fn base64_pads() {
        assert_eq!(base64(b"a"), "YQ==");
        assert_eq!(base64(b"ab"), "YWI=");
        assert_eq!(base64(b"abc"), "YWJj");
    }
}
