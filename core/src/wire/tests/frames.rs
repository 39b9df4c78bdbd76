use proptest::prelude::*;

use crate::wire::codec::WireError;
use crate::wire::frames::{FrameBuffer, MAX_FRAME};

fn stream(bodies: &[Vec<u8>]) -> Vec<u8> {
    let mut stream = Vec::new();
    for body in bodies {
        stream.extend_from_slice(&i32::try_from(body.len()).unwrap().to_be_bytes());
        stream.extend_from_slice(body);
    }
    stream
}

fn drain(buffer: &mut FrameBuffer) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| buffer.next().unwrap())
        .map(|frame| frame.to_vec())
        .collect()
}

#[test]
fn gives_nothing_before_all_has_arrived() {
    let mut buffer = FrameBuffer::new(MAX_FRAME);
    buffer.push(&[0, 0, 0, 3, 1, 2]);
    assert_eq!(buffer.next(), Ok(None));
    buffer.push(&[3, 0]);
    assert_eq!(drain(&mut buffer), [[1, 2, 3]]);
}

#[test]
fn an_empty_frame_is_a_frame() {
    let mut buffer = FrameBuffer::new(MAX_FRAME);
    buffer.push(&[0; 8]);
    assert_eq!(drain(&mut buffer), [[0u8; 0], []]);
}

#[test]
fn wrong_lengths_are_told_after_the_frames_before_them_and_for_ever() {
    let negative = WireError::NegativeLength { len: -5 };
    let large = WireError::TooLarge { len: 11 };
    for (len, error) in [(-5i32, negative), (11, large)] {
        let mut buffer = FrameBuffer::new(10);
        buffer.push(&stream(&[vec![7; 10]]));
        buffer.push(&len.to_be_bytes());
        buffer.push(&stream(&[vec![8]]));
        assert_eq!(buffer.next().unwrap().as_deref(), Some(&[7; 10][..]));
        assert_eq!(buffer.next(), Err(error.clone()));
        assert_eq!(buffer.next(), Err(error));
    }
}

#[test]
fn a_server_of_something_else_is_asked_about() {
    let mut buffer = FrameBuffer::new(MAX_FRAME);
    buffer.push(b"HTTP/1.1 400 Bad Request\r\n");
    assert_eq!(
        buffer.next().unwrap_err().to_string(),
        "a message of 1213486160 bytes is over the limit; is this a ZooKeeper server?"
    );
}

#[test]
fn an_announced_length_reserves_nothing() {
    let mut buffer = FrameBuffer::new(MAX_FRAME);
    buffer.push(&i32::try_from(MAX_FRAME).unwrap().to_be_bytes());
    buffer.push(&[1; 10]);
    assert_eq!(buffer.next(), Ok(None));
    assert!(buffer.reserved() < 1000, "{}", buffer.reserved());
}

proptest! {
    #[test]
    fn every_split_gives_the_same_frames(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..10),
        cuts in prop::collection::vec(1usize..30, 1..50),
    ) {
        let stream = stream(&bodies);
        let mut buffer = FrameBuffer::new(MAX_FRAME);
        let mut frames = Vec::new();
        let mut rest = &stream[..];
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, later) = rest.split_at((*cut).min(rest.len()));
            buffer.push(chunk);
            frames.extend(drain(&mut buffer));
            rest = later;
        }
        prop_assert_eq!(frames, bodies);
    }

    #[test]
    fn arbitrary_bytes_split_anywhere_end_alike(bytes: Vec<u8>, cut: prop::sample::Index) {
        let cut = cut.index(bytes.len() + 1);
        let mut whole = FrameBuffer::new(64);
        whole.push(&bytes);
        let mut split = FrameBuffer::new(64);
        split.push(&bytes[..cut]);
        split.push(&bytes[cut..]);
        loop {
            let next = whole.next();
            prop_assert_eq!(&next, &split.next());
            if !matches!(next, Ok(Some(_))) {
                break;
            }
        }
    }
}
