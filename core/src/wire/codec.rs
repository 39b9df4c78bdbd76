//! The jute primitives: big-endian integers, length-prefixed buffers, strings and vectors.

use thiserror::Error;

/// Why bytes from a server are not what they should be. Each of these ends the connection they came on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum WireError {
    #[error("the message ends in the middle of a value")]
    Truncated,
    #[error("a message of {len} bytes is over the limit; is this a ZooKeeper server?")]
    TooLarge { len: usize },
    #[error("a length is negative ({len})")]
    NegativeLength { len: i32 },
    #[error("a string is not UTF-8")]
    Utf8,
    #[error("a transaction's reply has a part of unknown type {0}")]
    UnknownOperation(i32),
}

/// Reads values off the front of a message.
///
/// Bytes left over at the end are no error: newer servers append fields to records that older clients know.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    pub(crate) fn remaining(&self) -> &'a [u8] {
        self.rest
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    fn take_array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (taken, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn i32(&mut self) -> Result<i32, WireError> {
        self.take_array().map(i32::from_be_bytes)
    }

    pub(crate) fn i64(&mut self) -> Result<i64, WireError> {
        self.take_array().map(i64::from_be_bytes)
    }

    pub(crate) fn bool(&mut self) -> Result<bool, WireError> {
        self.take_array::<1>().map(|[byte]| byte != 0)
    }

    /// A length or count. Servers write the null of Java as -1; to us that is the same as empty.
    fn len(&mut self) -> Result<usize, WireError> {
        match self.i32()? {
            -1 => Ok(0),
            len => usize::try_from(len).map_err(|_| WireError::NegativeLength { len }),
        }
    }

    pub(crate) fn buffer(&mut self) -> Result<&'a [u8], WireError> {
        let len = self.len()?;
        self.take(len)
    }

    pub(crate) fn string(&mut self) -> Result<&'a str, WireError> {
        std::str::from_utf8(self.buffer()?).map_err(|_| WireError::Utf8)
    }

    /// The number of elements of a vector, each of which takes at least `min_element_len` bytes, so that a count that
    /// the message cannot hold is refused before anyone reserves memory for it.
    pub(crate) fn count(&mut self, min_element_len: usize) -> Result<usize, WireError> {
        let count = self.len()?;
        if count.saturating_mul(min_element_len) > self.rest.len() {
            return Err(WireError::Truncated);
        }
        Ok(count)
    }
}

/// Builds one frame: the length in front is filled in by [`Writer::finish`].
#[derive(Debug)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

/// Bytes of the length in front of every frame.
pub(crate) const LENGTH_PREFIX: usize = 4;

impl Writer {
    pub(crate) fn frame() -> Self {
        Writer::frame_for(0)
    }

    /// With room for so many bytes of paths and data besides what every message has.
    pub(crate) fn frame_for(room: usize) -> Self {
        let mut bytes = Vec::with_capacity(64 + room);
        bytes.extend_from_slice(&[0; LENGTH_PREFIX]);
        Writer { bytes }
    }

    pub(crate) fn i32(&mut self, value: i32) -> &mut Self {
        self.bytes.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn i64(&mut self, value: i64) -> &mut Self {
        self.bytes.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn bool(&mut self, value: bool) -> &mut Self {
        self.bytes.push(u8::from(value));
        self
    }

    pub(crate) fn buffer(&mut self, value: &[u8]) -> &mut Self {
        self.len(value.len());
        self.bytes.extend_from_slice(value);
        self
    }

    pub(crate) fn string(&mut self, value: &str) -> &mut Self {
        self.buffer(value.as_bytes())
    }

    /// A length or count. Arguments are bounded long before they get here; one that were not is written as a length
    /// that every server refuses, rather than as a wrapped one that it might believe.
    pub(crate) fn len(&mut self, len: usize) -> &mut Self {
        self.i32(i32::try_from(len).unwrap_or(i32::MAX))
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        let len = self.bytes.len().saturating_sub(LENGTH_PREFIX);
        let len = i32::try_from(len).unwrap_or(i32::MAX);
        if let Some(prefix) = self.bytes.first_chunk_mut::<LENGTH_PREFIX>() {
            *prefix = len.to_be_bytes();
        }
        self.bytes
    }
}
