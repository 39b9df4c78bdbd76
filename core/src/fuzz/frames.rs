//! A server's byte stream, in pieces of any size, cut into frames.

use super::memory::most_held;
use crate::wire::frames::{Frame, FrameBuffer};

const LIMIT: usize = 4096;
/// Beyond what follows the bytes: the queue's first place.
const MEMORY: usize = 1024;

/// The first byte is the length of the pieces.
pub(super) fn run(input: &[u8]) {
    let Some((piece, stream)) = input.split_first() else {
        return;
    };
    let ((frames, broken), held) = most_held(|| cut(stream, usize::from(*piece).max(1)));
    // Frames without a body take a place in two lists for their four bytes.
    assert!(held <= stream.len() * 32 + MEMORY, "{held} bytes");

    let mut rest = stream;
    for frame in &frames {
        let (len, behind) = rest.split_first_chunk::<4>().expect("a length");
        let len = usize::try_from(i32::from_be_bytes(*len)).expect("not negative");
        assert!(len <= LIMIT);
        let (body, behind) = behind.split_at_checked(len).expect("a whole frame");
        assert_eq!(&**frame, body);
        rest = behind;
    }
    let next = rest
        .split_first_chunk::<4>()
        .map(|(len, body)| (i32::from_be_bytes(*len), body.len()));
    match next {
        None => assert!(!broken),
        Some((len, arrived)) => match usize::try_from(len) {
            Ok(len) if len <= LIMIT => assert!(!broken && arrived < len),
            _ => assert!(broken, "a wrong length is told"),
        },
    }
}

fn cut(stream: &[u8], piece: usize) -> (Vec<Frame>, bool) {
    let mut buffer = FrameBuffer::new(LIMIT);
    let mut frames = Vec::new();
    let mut broken = false;
    for piece in stream.chunks(piece) {
        buffer.push(piece);
        loop {
            match buffer.next() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(_) => {
                    broken = true;
                    break;
                }
            }
        }
    }
    (frames, broken)
}
