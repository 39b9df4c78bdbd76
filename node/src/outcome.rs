//! What a synchronous call returns to JavaScript: its value, or the failure to be thrown there.

use napi::bindgen_prelude::Either;
use zoolock::Result;

use crate::failure::Failure;

pub fn outcome<T>(made: Result<T>) -> Either<T, Failure> {
    match made {
        Ok(made) => Either::A(made),
        Err(error) => Either::B(error.into()),
    }
}

/// Of a call without a value.
pub fn failure(done: Result<()>) -> Option<Failure> {
    done.err().map(Failure::from)
}
