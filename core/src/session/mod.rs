pub(crate) mod driver;
pub(crate) mod lease;
