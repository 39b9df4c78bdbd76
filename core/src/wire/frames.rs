//! Cuts the byte stream of a connection into frames.

use std::collections::VecDeque;
use std::ops::Deref;

use super::codec::{LENGTH_PREFIX, WireError};

/// The largest frame taken from a server. Listings pass ZooKeeper's own 1 MiB at about 17,000 contenders (Z14).
pub(crate) const MAX_FRAME: usize = 64 * 1024 * 1024;

/// One message, without its length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame(Vec<u8>);

impl Deref for Frame {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Takes bytes as they arrive, gives frames as they are complete.
///
/// Every byte is copied once, from the caller's read buffer into the frame that will own it. Memory follows the bytes
/// that have arrived: an announced length reserves nothing.
#[derive(Debug)]
pub(crate) struct FrameBuffer {
    limit: usize,
    complete: VecDeque<Frame>,
    partial: Partial,
}

/// What has arrived of the frame at the end of the stream.
#[derive(Debug)]
enum Partial {
    Length {
        bytes: [u8; LENGTH_PREFIX],
        filled: usize,
    },
    Body {
        bytes: Vec<u8>,
        len: usize,
    },
    /// The stream cannot be cut any further: after a wrong length nothing shows where the next frame begins.
    Broken(WireError),
}

impl Partial {
    const START: Partial = Partial::Length {
        bytes: [0; LENGTH_PREFIX],
        filled: 0,
    };
}

impl FrameBuffer {
    pub(crate) fn new(limit: usize) -> Self {
        FrameBuffer {
            limit,
            complete: VecDeque::new(),
            partial: Partial::START,
        }
    }

    /// Adds bytes from the connection. A wrong length is reported by [`FrameBuffer::next`], after the frames before it.
    pub(crate) fn push(&mut self, mut input: &[u8]) {
        while !input.is_empty() {
            match &mut self.partial {
                Partial::Length { bytes, filled } => {
                    for (slot, byte) in bytes.iter_mut().skip(*filled).zip(input) {
                        *slot = *byte;
                        *filled += 1;
                        input = input.get(1..).unwrap_or_default();
                    }
                    if *filled == LENGTH_PREFIX {
                        self.partial = begin_body(i32::from_be_bytes(*bytes), self.limit);
                    }
                }
                Partial::Body { bytes, len } => {
                    let missing = len.saturating_sub(bytes.len());
                    let (taken, rest) = input.split_at(missing.min(input.len()));
                    bytes.extend_from_slice(taken);
                    input = rest;
                }
                Partial::Broken(_) => return,
            }
            self.complete_body();
        }
    }

    fn complete_body(&mut self) {
        if let Partial::Body { bytes, len } = &mut self.partial
            && bytes.len() == *len
        {
            self.complete.push_back(Frame(std::mem::take(bytes)));
            self.partial = Partial::START;
        }
    }

    /// The next complete frame, `None` when more bytes are needed. An error is final: every later call repeats it.
    pub(crate) fn next(&mut self) -> Result<Option<Frame>, WireError> {
        match (self.complete.pop_front(), &self.partial) {
            (Some(frame), _) => Ok(Some(frame)),
            (None, Partial::Broken(error)) => Err(error.clone()),
            (None, _) => Ok(None),
        }
    }

    /// Bytes of memory held for the incomplete frame.
    #[cfg(test)]
    pub(crate) fn reserved(&self) -> usize {
        match &self.partial {
            Partial::Body { bytes, .. } => bytes.capacity(),
            _ => 0,
        }
    }
}

fn begin_body(len: i32, limit: usize) -> Partial {
    match usize::try_from(len) {
        Err(_) => Partial::Broken(WireError::NegativeLength { len }),
        Ok(len) if len > limit => Partial::Broken(WireError::TooLarge { len }),
        Ok(len) => Partial::Body {
            bytes: Vec::new(),
            len,
        },
    }
}
