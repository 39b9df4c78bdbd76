//! Keeps an election link in the proxy.
//!
//! A server that calls a higher-numbered one begins with its own election address, hangs up, and is called back *at that
//! address*: past the proxy. So the address in that first message is replaced by the proxy's for the way back.
//! (`QuorumCnxManager.InitialMessage`: version, server id, length, addresses separated by `|`. Before 3.5 there is only the
//! server id, and the callee uses its own configuration.)

const VERSION_1: i64 = -65_536;
const VERSION_2: i64 = -65_535;
const HEADER: usize = 8 + 8 + 4;
const MAX_ADDRESSES: usize = 2_048;

/// Rewrites the first message of a connection, once.
#[derive(Debug)]
pub(crate) struct Rewriter {
    replacement: Option<String>,
    buffer: Vec<u8>,
}

impl Rewriter {
    /// Announces `replacement` (`host:port`) instead of the caller's own address.
    pub(crate) fn new(replacement: String) -> Self {
        Rewriter {
            replacement: Some(replacement),
            buffer: Vec::new(),
        }
    }

    /// Takes bytes of the caller and returns what to forward.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let Some(replacement) = &self.replacement else {
            return bytes.to_vec();
        };
        self.buffer.extend_from_slice(bytes);
        let Some(version) = self.buffer.first_chunk() else {
            return Vec::new();
        };
        let version = i64::from_be_bytes(*version);
        let mut out = Vec::new();
        if version == VERSION_1 || version == VERSION_2 {
            let Some(length) = self.buffer.get(16..).and_then(|rest| rest.first_chunk()) else {
                return Vec::new();
            };
            let length = u32::from_be_bytes(*length) as usize;
            if length <= MAX_ADDRESSES {
                if self.buffer.len() < HEADER + length {
                    return Vec::new();
                }
                out.extend_from_slice(&self.buffer[..16]);
                out.extend((replacement.len() as u32).to_be_bytes());
                out.extend(replacement.as_bytes());
                self.buffer.drain(..HEADER + length);
            }
        }
        out.append(&mut self.buffer);
        self.replacement = None;
        out
    }

    /// What is left when the caller hangs up early.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_announced_address_is_replaced() {
        let mut first = VERSION_1.to_be_bytes().to_vec();
        first.extend(2i64.to_be_bytes());
        first.extend(14u32.to_be_bytes());
        first.extend(b"127.0.0.1:1000rest");
        let mut rewriter = Rewriter::new("127.0.0.1:22222".into());
        let mut out = Vec::new();
        for byte in &first {
            out.extend(rewriter.feed(&[*byte]));
        }
        assert_eq!(&out[16..20], 15u32.to_be_bytes());
        assert_eq!(&out[20..], b"127.0.0.1:22222rest");
    }

    #[test]
    fn an_old_first_message_stays() {
        let mut rewriter = Rewriter::new("127.0.0.1:22222".into());
        assert_eq!(rewriter.feed(&3i64.to_be_bytes()), 3i64.to_be_bytes());
    }
}
