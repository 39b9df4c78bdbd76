//! Writes frames.

use super::code::Code;
use super::op;
use crate::model::{Acl, Id, Stat};

/// A frame under construction; its length is set last.
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn frame() -> Self {
        Writer { bytes: vec![0; 4] }
    }

    pub(crate) fn reply(xid: i32, zxid: i64, code: Code) -> Self {
        let mut writer = Writer::frame();
        writer.i32(xid).i64(zxid).i32(code.0);
        writer
    }

    pub(crate) fn event(zxid: i64, kind: i32, path: &str) -> Vec<u8> {
        const CONNECTED: i32 = 3;
        let mut writer = Writer::reply(op::NOTIFICATION_XID, zxid, Code::OK);
        writer.i32(kind).i32(CONNECTED).string(path);
        writer.finish()
    }

    pub(crate) fn bool(&mut self, value: bool) -> &mut Self {
        self.bytes.push(u8::from(value));
        self
    }

    pub(crate) fn i32(&mut self, value: i32) -> &mut Self {
        self.bytes.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn i64(&mut self, value: i64) -> &mut Self {
        self.bytes.extend_from_slice(&value.to_be_bytes());
        self
    }

    fn length(&mut self, length: usize) -> &mut Self {
        self.i32(i32::try_from(length).unwrap_or(i32::MAX))
    }

    pub(crate) fn buffer(&mut self, value: Option<&[u8]>) -> &mut Self {
        match value {
            None => self.i32(-1),
            Some(bytes) => {
                self.length(bytes.len());
                self.bytes.extend_from_slice(bytes);
                self
            }
        }
    }

    /// As Java's own encoder does it: three bytes for each half of a surrogate pair.
    pub(crate) fn string(&mut self, value: &str) -> &mut Self {
        if value.chars().all(|c| c < '\u{10000}') {
            return self.buffer(Some(value.as_bytes()));
        }
        let mut bytes = Vec::new();
        for unit in value.encode_utf16() {
            match char::from_u32(u32::from(unit)) {
                Some(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                None => {
                    let [high, low] = unit.to_be_bytes();
                    bytes.extend([
                        0xe0 | high >> 4,
                        0x80 | (high & 15) << 2 | low >> 6,
                        0x80 | low & 63,
                    ]);
                }
            }
        }
        self.buffer(Some(&bytes))
    }

    pub(crate) fn nullable_string(&mut self, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.string(value),
            None => self.buffer(None),
        }
    }

    pub(crate) fn strings<'a>(
        &mut self,
        values: impl ExactSizeIterator<Item = &'a str>,
    ) -> &mut Self {
        self.length(values.len());
        for value in values {
            self.string(value);
        }
        self
    }

    pub(crate) fn stat(&mut self, stat: &Stat) -> &mut Self {
        self.i64(stat.czxid)
            .i64(stat.mzxid)
            .i64(stat.ctime)
            .i64(stat.mtime)
            .i32(stat.version)
            .i32(stat.cversion)
            .i32(stat.aversion)
            .i64(stat.ephemeral_owner)
            .i32(stat.data_length)
            .i32(stat.num_children)
            .i64(stat.pzxid)
    }

    pub(crate) fn acl(&mut self, acl: &[Acl]) -> &mut Self {
        self.length(acl.len());
        for entry in acl {
            self.i32(entry.permissions)
                .string(&entry.id.scheme)
                .string(&entry.id.id);
        }
        self
    }

    /// Schemes and users; of a digest without the hash.
    pub(crate) fn identities(&mut self, ids: &[Id]) -> &mut Self {
        self.length(ids.len());
        for id in ids {
            let user = match id.scheme.as_str() {
                "digest" => id.id.split(':').next().unwrap_or_default(),
                _ => &id.id,
            };
            self.string(&id.scheme).string(user);
        }
        self
    }

    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let length = i32::try_from(self.bytes.len() - 4).unwrap_or(i32::MAX);
        self.bytes[..4].copy_from_slice(&length.to_be_bytes());
        std::mem::take(&mut self.bytes)
    }
}
