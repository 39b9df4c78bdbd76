//! Splits the client protocol into frames and names them.

use std::collections::HashMap;
use std::collections::VecDeque;

use crate::log::What;
use crate::op::Op;
use crate::proxy::cut::Message;

/// A length beyond this is no ZooKeeper frame.
const MAX_FRAME: usize = 64 << 20;
const NOTIFICATION_XID: i32 = -1;

/// A piece of the stream to forward as one.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) bytes: Vec<u8>,
    /// What it is, when it is a frame of the client protocol.
    pub(crate) frame: Option<Frame>,
}

/// What the log and the cuts want to know of a frame.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) what: What,
    /// None for watch events, which no cut counts.
    pub(crate) message: Option<Message>,
}

/// Both ways of one connection: replies are named by the request with their xid.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    buffers: [Vec<u8>; 2],
    raw: bool,
    connect_seen: [bool; 2],
    pending: HashMap<i32, VecDeque<Op>>,
}

impl Frames {
    pub(crate) fn is_raw(&self) -> bool {
        self.raw
    }

    /// Takes bytes that arrived on `way` (0 towards the server) and returns what is complete.
    pub(crate) fn feed(&mut self, way: usize, bytes: &[u8]) -> Vec<Piece> {
        self.buffers[way].extend_from_slice(bytes);
        let mut pieces = Vec::new();
        // A frame's length has a zero first byte; a four-letter word or TLS has not.
        if !self.raw && way == 0 && !self.connect_seen[0] {
            self.raw = self.buffers[0].first().is_some_and(|first| *first != 0);
        }
        while !self.raw {
            let Some(length) = self.buffers[way].first_chunk().copied() else {
                break;
            };
            let length = u32::from_be_bytes(length) as usize;
            if length > MAX_FRAME {
                self.raw = true;
                break;
            }
            if self.buffers[way].len() < 4 + length {
                break;
            }
            let rest = self.buffers[way].split_off(4 + length);
            let bytes = std::mem::replace(&mut self.buffers[way], rest);
            let frame = if way == 0 {
                self.request(&bytes)
            } else {
                self.reply(&bytes)
            };
            pieces.push(Piece { bytes, frame });
        }
        if self.raw {
            pieces.extend(self.rest(way));
        }
        pieces
    }

    /// What is left of an incomplete frame.
    pub(crate) fn rest(&mut self, way: usize) -> Option<Piece> {
        let bytes = std::mem::take(&mut self.buffers[way]);
        (!bytes.is_empty()).then_some(Piece { bytes, frame: None })
    }

    fn request(&mut self, bytes: &[u8]) -> Option<Frame> {
        let mut reader = Reader(&bytes[4..]);
        if !self.connect_seen[0] {
            self.connect_seen[0] = true;
            let (_protocol, _zxid, _timeout) = (reader.int()?, reader.long()?, reader.int()?);
            let session = reader.long()?;
            return Some(Frame {
                what: What::Request {
                    op: Op::Connect,
                    xid: 0,
                    path: None,
                    bytes: bytes.len(),
                    session: Some(session),
                    dropped: false,
                },
                message: Some(Message::Request(Some(Op::Connect))),
            });
        }
        let xid = reader.int()?;
        let op = Op::from_code(reader.int()?);
        self.pending.entry(xid).or_default().push_back(op);
        let path = match op {
            // The header of the first operation: type, done, error.
            Op::Multi | Op::MultiRead => reader.skip(9).and_then(|()| reader.string()),
            _ if op.starts_with_path() => reader.string(),
            _ => None,
        };
        Some(Frame {
            what: What::Request {
                op,
                xid,
                path,
                bytes: bytes.len(),
                session: None,
                dropped: false,
            },
            message: Some(Message::Request(Some(op))),
        })
    }

    fn reply(&mut self, bytes: &[u8]) -> Option<Frame> {
        let mut reader = Reader(&bytes[4..]);
        if !self.connect_seen[1] {
            self.connect_seen[1] = true;
            let (_protocol, _timeout) = (reader.int()?, reader.int()?);
            let session = reader.long()?;
            return Some(Frame {
                what: What::Reply {
                    op: Op::Connect,
                    xid: 0,
                    err: 0,
                    zxid: 0,
                    bytes: bytes.len(),
                    session: Some(session),
                    dropped: false,
                },
                message: Some(Message::Reply(Some(Op::Connect))),
            });
        }
        let (xid, zxid, err) = (reader.int()?, reader.long()?, reader.int()?);
        if xid == NOTIFICATION_XID {
            let kind = reader.int()?;
            let _state = reader.int()?;
            return Some(Frame {
                what: What::Event {
                    kind,
                    path: reader.string().unwrap_or_default(),
                    zxid,
                    dropped: false,
                },
                message: None,
            });
        }
        let op = self.answered(xid);
        Some(Frame {
            what: What::Reply {
                op,
                xid,
                err,
                zxid,
                bytes: bytes.len(),
                session: None,
                dropped: false,
            },
            message: Some(Message::Reply(Some(op))),
        })
    }

    fn answered(&mut self, xid: i32) -> Op {
        let Some(ops) = self.pending.get_mut(&xid) else {
            return Op::Other(0);
        };
        let op = ops.pop_front().unwrap_or(Op::Other(0));
        if ops.is_empty() {
            self.pending.remove(&xid);
        }
        op
    }
}

/// Reads ZooKeeper's serialisation; `None` past the end.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn skip(&mut self, count: usize) -> Option<()> {
        self.0 = self.0.get(count..)?;
        Some(())
    }

    fn int(&mut self) -> Option<i32> {
        let (head, tail) = self.0.split_first_chunk()?;
        self.0 = tail;
        Some(i32::from_be_bytes(*head))
    }

    fn long(&mut self) -> Option<i64> {
        let (head, tail) = self.0.split_first_chunk()?;
        self.0 = tail;
        Some(i64::from_be_bytes(*head))
    }

    fn string(&mut self) -> Option<String> {
        let length = usize::try_from(self.int()?).ok()?;
        let bytes = self.0.get(..length)?;
        self.0 = &self.0[length..];
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(body: &[u8]) -> Vec<u8> {
        let mut bytes = (body.len() as u32).to_be_bytes().to_vec();
        bytes.extend(body);
        bytes
    }

    fn connected() -> Frames {
        let mut frames = Frames::default();
        assert_eq!(frames.feed(0, &frame(&[0; 45])).len(), 1);
        assert_eq!(frames.feed(1, &frame(&[0; 37])).len(), 1);
        frames
    }

    #[test]
    fn a_reply_is_named_by_its_request() {
        let mut frames = connected();
        let mut request = [7i32.to_be_bytes(), 15i32.to_be_bytes()].concat();
        request.extend(2i32.to_be_bytes());
        request.extend(b"/a");
        let pieces = frames.feed(0, &frame(&request));
        let Some(Frame {
            what: What::Request { op, path, .. },
            ..
        }) = &pieces[0].frame
        else {
            panic!("{pieces:?}");
        };
        assert_eq!((*op, path.as_deref()), (Op::Create2, Some("/a")));
        let mut reply = 7i32.to_be_bytes().to_vec();
        reply.extend([0; 12]);
        let pieces = frames.feed(1, &frame(&reply));
        let message = pieces[0].frame.as_ref().and_then(|frame| frame.message);
        assert_eq!(message, Some(Message::Reply(Some(Op::Create2))));
    }

    #[test]
    fn frames_arrive_in_any_portions() {
        let mut frames = Frames::default();
        let bytes = [frame(&[0; 45]), frame(&[0, 0, 0, 1, 0, 0, 0, 11])].concat();
        let mut pieces = Vec::new();
        for byte in &bytes {
            pieces.extend(frames.feed(0, &[*byte]));
        }
        assert_eq!(pieces.len(), 2);
        let forwarded: Vec<u8> = pieces.into_iter().flat_map(|piece| piece.bytes).collect();
        assert_eq!(forwarded, bytes);
    }

    #[test]
    fn a_four_letter_word_is_forwarded_as_it_is() {
        let mut frames = Frames::default();
        assert_eq!(frames.feed(0, b"srvr")[0].bytes, b"srvr");
        assert_eq!(frames.feed(1, b"Mode")[0].bytes, b"Mode");
        assert!(frames.is_raw());
    }

    #[test]
    fn an_unfinished_frame_is_not_lost_at_the_end() {
        let mut frames = Frames::default();
        assert!(frames.feed(0, &[0, 0, 0, 9, 1]).is_empty());
        assert_eq!(
            frames.rest(0).map(|piece| piece.bytes),
            Some(vec![0, 0, 0, 9, 1])
        );
    }
}
