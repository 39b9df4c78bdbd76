//! The listener's end of a connection that the model has open.

use std::collections::VecDeque;
use std::sync::Arc;

use super::outbox::Outbox;

#[derive(Debug)]
pub(super) struct Link {
    pub(super) outbox: Arc<Outbox>,
    /// What has arrived and is not to be read yet: bytes, or `None` for the end of the connection.
    pub(super) kept: VecDeque<Option<Vec<u8>>>,
    beginning: Beginning,
}

impl Link {
    pub(super) fn new(outbox: Arc<Outbox>) -> Self {
        Link {
            outbox,
            kept: VecDeque::new(),
            beginning: Beginning::default(),
        }
    }

    /// Looks at bytes before anything else does: they may say which session it is.
    pub(super) fn look_at(&mut self, bytes: &[u8]) {
        if let Some(session) = self.beginning.resumed_session(bytes) {
            self.outbox.set_session(session);
        }
    }
}

/// The first bytes of a connection. Those that resume a session name it, and if it is frozen, the model must not read them:
/// that would keep the session alive.
#[derive(Debug, Default)]
struct Beginning(Vec<u8>);

impl Beginning {
    /// Behind the frame's length, the protocol's version, the last zxid and the timeout.
    const SESSION: usize = 4 + 4 + 8 + 4;
    const LENGTH: usize = Self::SESSION + 8;

    /// The session, once: with the bytes that complete it. `None` for a new one.
    fn resumed_session(&mut self, bytes: &[u8]) -> Option<i64> {
        let missing = Self::LENGTH - self.0.len();
        if missing == 0 {
            return None;
        }
        self.0.extend(&bytes[..missing.min(bytes.len())]);
        let session = self.0.get(Self::SESSION..Self::LENGTH)?;
        let session = i64::from_be_bytes(session.try_into().ok()?);
        (session != 0).then_some(session)
    }
}

#[cfg(test)]
mod tests {
    use super::Beginning;

    fn handshake(session: i64) -> Vec<u8> {
        let mut bytes = vec![0; Beginning::SESSION];
        bytes.extend(session.to_be_bytes());
        bytes.extend([9; 30]);
        bytes
    }

    #[test]
    fn a_resumed_session_is_named_once_however_the_bytes_are_split() {
        for at in 0..handshake(0).len() {
            let bytes = handshake(7);
            let mut beginning = Beginning::default();
            let (first, second) = bytes.split_at(at);
            let named = [first, second].map(|part| beginning.resumed_session(part));
            assert_eq!(named.into_iter().flatten().collect::<Vec<_>>(), [7]);
            assert_eq!(beginning.resumed_session(&bytes), None);
        }
    }

    #[test]
    fn a_new_session_has_no_name_yet() {
        assert_eq!(Beginning::default().resumed_session(&handshake(0)), None);
    }
}
