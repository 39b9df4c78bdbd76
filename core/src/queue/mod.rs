pub(crate) mod names;
