//! The result codes that the model answers with.

/// The `err` field of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub i32);

#[allow(missing_docs)]
impl Code {
    pub const OK: Code = Code(0);
    pub const RUNTIME_INCONSISTENCY: Code = Code(-2);
    pub const CONNECTION_LOSS: Code = Code(-4);
    pub const MARSHALLING_ERROR: Code = Code(-5);
    pub const UNIMPLEMENTED: Code = Code(-6);
    pub const BAD_ARGUMENTS: Code = Code(-8);
    pub const NO_NODE: Code = Code(-101);
    pub const NO_AUTH: Code = Code(-102);
    pub const BAD_VERSION: Code = Code(-103);
    pub const NO_CHILDREN_FOR_EPHEMERALS: Code = Code(-108);
    pub const NODE_EXISTS: Code = Code(-110);
    pub const NOT_EMPTY: Code = Code(-111);
    pub const SESSION_EXPIRED: Code = Code(-112);
    pub const INVALID_ACL: Code = Code(-114);
    pub const AUTH_FAILED: Code = Code(-115);
    pub const SESSION_MOVED: Code = Code(-118);
    pub const NOT_READ_ONLY: Code = Code(-119);
    pub const NO_WATCHER: Code = Code(-121);
    pub const THROTTLED_OP: Code = Code(-127);
}
