use proptest::prelude::*;

use crate::wire::codec::{Reader, WireError, Writer};

#[test]
fn null_is_empty() {
    let bytes = (-1i32).to_be_bytes();
    assert_eq!(Reader::new(&bytes).buffer(), Ok(&[][..]));
    assert_eq!(Reader::new(&bytes).string(), Ok(""));
    assert_eq!(Reader::new(&bytes).count(4), Ok(0));
}

#[test]
fn other_negative_lengths_are_errors() {
    let bytes = (-2i32).to_be_bytes();
    let error = WireError::NegativeLength { len: -2 };
    assert_eq!(Reader::new(&bytes).buffer(), Err(error.clone()));
    assert_eq!(Reader::new(&bytes).count(4), Err(error));
}

#[test]
fn a_count_that_cannot_fit_is_refused() {
    let mut bytes = 3i32.to_be_bytes().to_vec();
    bytes.extend_from_slice(&[0; 11]);
    assert_eq!(Reader::new(&bytes).count(4), Err(WireError::Truncated));
    bytes.push(0);
    assert_eq!(Reader::new(&bytes).count(4), Ok(3));
}

#[test]
fn strings_are_utf8() {
    let bytes = [0, 0, 0, 2, 0xc3, 0x28];
    assert_eq!(Reader::new(&bytes).string(), Err(WireError::Utf8));
}

proptest! {
    #[test]
    fn values_survive(a: i32, b: i64, c: bool, d: Vec<u8>, e: String) {
        let mut writer = Writer::frame();
        writer.i32(a).i64(b).bool(c).buffer(&d).string(&e);
        let frame = writer.finish();
        let mut reader = Reader::new(&frame);
        prop_assert_eq!(reader.i32(), Ok(i32::try_from(frame.len() - 4).unwrap()));
        prop_assert_eq!(reader.i32(), Ok(a));
        prop_assert_eq!(reader.i64(), Ok(b));
        prop_assert_eq!(reader.bool(), Ok(c));
        prop_assert_eq!(reader.buffer(), Ok(&d[..]));
        prop_assert_eq!(reader.string(), Ok(&e[..]));
        prop_assert_eq!(reader.i32(), Err(WireError::Truncated));
        prop_assert!(reader.remaining().is_empty());
    }
}
