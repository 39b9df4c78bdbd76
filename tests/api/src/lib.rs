//! Tests only: see `tests/public_api.rs`.
