//! The numbers and strings of the protocol.

use std::io::{self, Read};

pub(crate) fn put_int(out: &mut Vec<u8>, value: i32) {
    out.extend(value.to_be_bytes());
}

pub(crate) fn put_long(out: &mut Vec<u8>, value: i64) {
    out.extend(value.to_be_bytes());
}

pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u32).to_be_bytes());
    out.extend(bytes);
}

pub(crate) fn put_string(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

fn take<const N: usize>(from: &mut &[u8]) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn take_int(from: &mut &[u8]) -> io::Result<i32> {
    take(from).map(i32::from_be_bytes)
}

pub(crate) fn take_long(from: &mut &[u8]) -> io::Result<i64> {
    take(from).map(i64::from_be_bytes)
}

pub(crate) fn take_string(from: &mut &[u8]) -> io::Result<String> {
    let length = usize::try_from(take_int(from)?).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}
