//! Reads jute records.

use crate::model::{Acl, Id};

/// The bytes are not what the record should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

pub(crate) type Result<T> = std::result::Result<T, Malformed>;

pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes }
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (head, tail) = self.bytes.split_at_checked(length).ok_or(Malformed)?;
        self.bytes = tail;
        Ok(head)
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    pub(crate) fn bool(&mut self) -> Result<bool> {
        Ok(self.take(1)?[0] != 0)
    }

    pub(crate) fn i32(&mut self) -> Result<i32> {
        let bytes = self.take(4)?.try_into().map_err(|_| Malformed)?;
        Ok(i32::from_be_bytes(bytes))
    }

    pub(crate) fn i64(&mut self) -> Result<i64> {
        let bytes = self.take(8)?.try_into().map_err(|_| Malformed)?;
        Ok(i64::from_be_bytes(bytes))
    }

    /// `None` for the null that jute writes as length -1.
    pub(crate) fn buffer(&mut self) -> Result<Option<&'a [u8]>> {
        match self.i32()? {
            -1 => Ok(None),
            length => {
                let length = usize::try_from(length).map_err(|_| Malformed)?;
                self.take(length).map(Some)
            }
        }
    }

    /// As Java decodes it: what is not UTF-8 becomes U+FFFD.
    pub(crate) fn string(&mut self) -> Result<Option<String>> {
        let bytes = self.buffer()?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
    }

    /// Grows with what is there, not with the announced length.
    pub(crate) fn vector<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Option<Vec<T>>> {
        let count = self.i32()?;
        if count == -1 {
            return Ok(None);
        }
        let mut items = Vec::new();
        for _ in 0..count.max(0) {
            items.push(one(self)?);
        }
        Ok(Some(items))
    }

    pub(crate) fn strings(&mut self) -> Result<Option<Vec<String>>> {
        self.vector(|reader| reader.string()?.ok_or(Malformed))
    }

    pub(crate) fn acl(&mut self) -> Result<Option<Vec<Acl>>> {
        self.vector(|reader| {
            Ok(Acl {
                permissions: reader.i32()?,
                id: Id {
                    scheme: reader.string()?.unwrap_or_default(),
                    id: reader.string()?.unwrap_or_default(),
                },
            })
        })
    }
}
