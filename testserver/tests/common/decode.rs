//! Replies from bytes.

use zoolock_testserver::model::{Acl, Id, Stat};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub timeout_ms: i32,
    pub id: i64,
    pub password: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub xid: i32,
    pub zxid: i64,
    pub code: i32,
    pub body: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    pub zxid: i64,
    pub kind: i32,
    pub path: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Created(String, Option<Stat>),
    Deleted,
    Set(Stat),
    Checked,
    Failed(i32),
}

/// Takes values off the front; panics where they are not there.
pub struct Fields<'a>(pub &'a [u8]);

impl Fields<'_> {
    pub fn take(&mut self, length: usize) -> &[u8] {
        let (head, tail) = self.0.split_at(length);
        self.0 = tail;
        head
    }

    pub fn bool(&mut self) -> bool {
        self.take(1)[0] != 0
    }

    pub fn i32(&mut self) -> i32 {
        i32::from_be_bytes(self.take(4).try_into().unwrap())
    }

    pub fn i64(&mut self) -> i64 {
        i64::from_be_bytes(self.take(8).try_into().unwrap())
    }

    pub fn bytes(&mut self) -> Option<Vec<u8>> {
        let length = self.i32();
        (length >= 0).then(|| self.take(length as usize).to_vec())
    }

    pub fn string(&mut self) -> String {
        String::from_utf8(self.bytes().unwrap()).unwrap()
    }

    pub fn strings(&mut self) -> Vec<String> {
        (0..self.i32()).map(|_| self.string()).collect()
    }

    /// Pairs of scheme and user.
    pub fn identities(&mut self) -> Vec<(String, String)> {
        (0..self.i32())
            .map(|_| (self.string(), self.string()))
            .collect()
    }

    pub fn stat(&mut self) -> Stat {
        Stat {
            czxid: self.i64(),
            mzxid: self.i64(),
            ctime: self.i64(),
            mtime: self.i64(),
            version: self.i32(),
            cversion: self.i32(),
            aversion: self.i32(),
            ephemeral_owner: self.i64(),
            data_length: self.i32(),
            num_children: self.i32(),
            pzxid: self.i64(),
        }
    }

    pub fn acl(&mut self) -> Vec<Acl> {
        let count = self.i32();
        let one = |_| Acl {
            permissions: self.i32(),
            id: Id {
                scheme: self.string(),
                id: self.string(),
            },
        };
        (0..count).map(one).collect()
    }

    pub fn multi(&mut self) -> Vec<Part> {
        let mut parts = Vec::new();
        loop {
            let (op, done, _) = (self.i32(), self.bool(), self.i32());
            if done {
                return parts;
            }
            parts.push(match op {
                -1 => Part::Failed(self.i32()),
                1 => Part::Created(self.string(), None),
                2 => Part::Deleted,
                5 => Part::Set(self.stat()),
                13 => Part::Checked,
                15 => {
                    let path = self.string();
                    Part::Created(path, Some(self.stat()))
                }
                op => panic!("operation {op} in a multi's reply"),
            });
        }
    }
}

pub fn session(frame: &[u8]) -> Session {
    let mut fields = Fields(frame);
    fields.i32();
    Session {
        timeout_ms: fields.i32(),
        id: fields.i64(),
        password: fields.bytes().unwrap(),
    }
}

/// A message after the handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    Reply(Reply),
    Event(Event),
}

pub fn message(frame: &[u8]) -> Message {
    let mut fields = Fields(frame);
    let reply = Reply {
        xid: fields.i32(),
        zxid: fields.i64(),
        code: fields.i32(),
        body: fields.0.to_vec(),
    };
    if reply.xid != -1 {
        return Message::Reply(reply);
    }
    let kind = fields.i32();
    assert_eq!(fields.i32(), 3, "an event's state");
    Message::Event(Event {
        zxid: reply.zxid,
        kind,
        path: fields.string(),
    })
}

impl Reply {
    pub fn fields(&self) -> Fields<'_> {
        Fields(&self.body)
    }

    pub fn path(&self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.fields().string()
    }
}

/// Splits a stream into frames, and keeps what is left.
pub fn frames(stream: &mut Vec<u8>) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while stream.len() >= 4 {
        let length = Fields(stream).i32() as usize;
        if stream.len() < 4 + length {
            break;
        }
        let rest = stream.split_off(4 + length);
        let frame = std::mem::replace(stream, rest);
        frames.push(frame[4..].to_vec());
    }
    frames
}
