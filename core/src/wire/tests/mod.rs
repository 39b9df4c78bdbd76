mod arbitrary_bytes;
mod codec;
mod fixtures;
mod frames;
mod recorded;
mod replies;
mod requests;
mod secrets;
