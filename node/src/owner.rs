//! Who re-entrancy counts for (R11).

use napi_derive::napi;

/// An owner of re-entrant and read-write locks; each one is somebody else.
#[napi]
pub struct Owner(pub(crate) zoolock::Owner);

#[napi]
impl Owner {
    /// A new owner, different from every other.
    #[napi(constructor)]
    pub fn new() -> Owner {
        Owner(zoolock::Owner::new())
    }
}
