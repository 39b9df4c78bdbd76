//! The result codes of a server.

use std::fmt;

/// The `err` of a reply. Codes that we do not know are kept as they came.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Code(pub(crate) i32);

impl Code {
    pub(crate) const OK: Code = Code(0);
    pub(crate) const SYSTEM_ERROR: Code = Code(-1);
    pub(crate) const RUNTIME_INCONSISTENCY: Code = Code(-2);
    pub(crate) const DATA_INCONSISTENCY: Code = Code(-3);
    pub(crate) const CONNECTION_LOSS: Code = Code(-4);
    pub(crate) const MARSHALLING_ERROR: Code = Code(-5);
    pub(crate) const UNIMPLEMENTED: Code = Code(-6);
    pub(crate) const OPERATION_TIMEOUT: Code = Code(-7);
    pub(crate) const BAD_ARGUMENTS: Code = Code(-8);
    pub(crate) const NO_NODE: Code = Code(-101);
    pub(crate) const NO_AUTH: Code = Code(-102);
    pub(crate) const BAD_VERSION: Code = Code(-103);
    pub(crate) const NO_CHILDREN_FOR_EPHEMERALS: Code = Code(-108);
    pub(crate) const NODE_EXISTS: Code = Code(-110);
    pub(crate) const NOT_EMPTY: Code = Code(-111);
    pub(crate) const SESSION_EXPIRED: Code = Code(-112);
    pub(crate) const INVALID_CALLBACK: Code = Code(-113);
    pub(crate) const INVALID_ACL: Code = Code(-114);
    pub(crate) const AUTH_FAILED: Code = Code(-115);
    pub(crate) const SESSION_MOVED: Code = Code(-118);
    pub(crate) const NOT_READ_ONLY: Code = Code(-119);
    pub(crate) const EPHEMERAL_ON_LOCAL_SESSION: Code = Code(-120);
    pub(crate) const NO_WATCHER: Code = Code(-121);
    pub(crate) const REQUEST_TIMEOUT: Code = Code(-122);
    pub(crate) const RECONFIG_DISABLED: Code = Code(-123);
    pub(crate) const SESSION_CLOSED_REQUIRE_SASL_AUTH: Code = Code(-124);
    pub(crate) const QUOTA_EXCEEDED: Code = Code(-125);
    pub(crate) const THROTTLED_OP: Code = Code(-127);

    /// Whether a write can get this answer from the leader only, so that it confirms our session (R3). A follower
    /// gives all others by itself: it checks rights, ACLs and load before it asks anyone.
    pub(crate) fn confirmed_by_leader(self) -> bool {
        matches!(
            self,
            Code::OK
                | Code::NO_NODE
                | Code::BAD_VERSION
                | Code::NO_CHILDREN_FOR_EPHEMERALS
                | Code::NODE_EXISTS
                | Code::NOT_EMPTY
        )
    }

    /// ZooKeeper's own name of the code.
    pub(crate) fn name(self) -> &'static str {
        self.describe().0
    }

    /// What it means, in one line.
    pub(crate) fn message(self) -> &'static str {
        self.describe().1
    }

    fn describe(self) -> (&'static str, &'static str) {
        match self {
            Code::OK => ("Ok", "success"),
            Code::SYSTEM_ERROR => ("SystemError", "the server failed inside"),
            Code::RUNTIME_INCONSISTENCY => (
                "RuntimeInconsistency",
                "the server found itself inconsistent, or another part of the transaction failed",
            ),
            Code::DATA_INCONSISTENCY => ("DataInconsistency", "the server's data is inconsistent"),
            Code::CONNECTION_LOSS => ("ConnectionLoss", "the connection was lost"),
            Code::MARSHALLING_ERROR => (
                "MarshallingError",
                "the server could not decode the request",
            ),
            Code::UNIMPLEMENTED => ("Unimplemented", "the server does not know the operation"),
            Code::OPERATION_TIMEOUT => ("OperationTimeout", "the operation took too long"),
            Code::BAD_ARGUMENTS => ("BadArguments", "the server refused the arguments"),
            Code::NO_NODE => ("NoNode", "the node does not exist"),
            Code::NO_AUTH => ("NoAuth", "a right on the node is missing"),
            Code::BAD_VERSION => ("BadVersion", "the node has another version"),
            Code::NO_CHILDREN_FOR_EPHEMERALS => (
                "NoChildrenForEphemerals",
                "an ephemeral node cannot have children",
            ),
            Code::NODE_EXISTS => ("NodeExists", "the node exists already"),
            Code::NOT_EMPTY => ("NotEmpty", "the node has children"),
            Code::SESSION_EXPIRED => ("SessionExpired", "the session has expired"),
            Code::INVALID_CALLBACK => ("InvalidCallback", "the server refused the callback"),
            Code::INVALID_ACL => ("InvalidACL", "the server refused the access control list"),
            Code::AUTH_FAILED => ("AuthFailed", "the server refused the credentials"),
            Code::SESSION_MOVED => ("SessionMoved", "the session has moved to another server"),
            Code::NOT_READ_ONLY => ("NotReadOnly", "the server is in read-only mode"),
            Code::EPHEMERAL_ON_LOCAL_SESSION => (
                "EphemeralOnLocalSession",
                "a local session cannot own ephemeral nodes",
            ),
            Code::NO_WATCHER => ("NoWatcher", "the watch does not exist"),
            Code::REQUEST_TIMEOUT => ("RequestTimeout", "the request took too long"),
            Code::RECONFIG_DISABLED => ("ReconfigDisabled", "reconfiguration is disabled"),
            Code::SESSION_CLOSED_REQUIRE_SASL_AUTH => (
                "SessionClosedRequireSaslAuth",
                "the server demands authentication and closed the session",
            ),
            Code::QUOTA_EXCEEDED => ("QuotaExceeded", "a quota is used up"),
            Code::THROTTLED_OP => (
                "ThrottledOp",
                "the server is overloaded and did not execute the request",
            ),
            _ => ("Unknown", "an error that this version does not know"),
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} {})", self.message(), self.name(), self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name(), self.0)
    }
}
