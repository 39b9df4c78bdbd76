//! ZooKeeper's operations by the names that its documentation uses.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::error::{Error, Result};

macro_rules! ops {
    ($($variant:ident = $code:literal, $name:literal;)*) => {
        /// A kind of request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum Op {
            /// The handshake, which has no code.
            Connect,
            $($variant,)*
            /// A code that is not in this list.
            Other(i32),
        }

        impl Op {
            pub(crate) fn from_code(code: i32) -> Op {
                match code {
                    $($code => Op::$variant,)*
                    other => Op::Other(other),
                }
            }

            /// The name, for example `create2`.
            pub fn name(self) -> &'static str {
                match self {
                    Op::Connect => "connect",
                    $(Op::$variant => $name,)*
                    Op::Other(_) => "other",
                }
            }
        }

        impl FromStr for Op {
            type Err = Error;

            fn from_str(name: &str) -> Result<Op> {
                match name {
                    "connect" => Ok(Op::Connect),
                    $($name => Ok(Op::$variant),)*
                    _ => Err(Error::new(format!(
                        "`{name}` is no operation; known are {}",
                        ["connect", $($name),*].join(" ")
                    ))),
                }
            }
        }
    };
}

ops! {
    Create = 1, "create";
    Delete = 2, "delete";
    Exists = 3, "exists";
    GetData = 4, "getData";
    SetData = 5, "setData";
    GetAcl = 6, "getACL";
    SetAcl = 7, "setACL";
    GetChildren = 8, "getChildren";
    Sync = 9, "sync";
    Ping = 11, "ping";
    GetChildren2 = 12, "getChildren2";
    Check = 13, "check";
    Multi = 14, "multi";
    Create2 = 15, "create2";
    Reconfig = 16, "reconfig";
    CheckWatches = 17, "checkWatches";
    RemoveWatches = 18, "removeWatches";
    CreateContainer = 19, "createContainer";
    CreateTtl = 21, "createTTL";
    MultiRead = 22, "multiRead";
    Auth = 100, "auth";
    SetWatches = 101, "setWatches";
    Sasl = 102, "sasl";
    GetEphemerals = 103, "getEphemerals";
    GetAllChildrenNumber = 104, "getAllChildrenNumber";
    SetWatches2 = 105, "setWatches2";
    AddWatch = 106, "addWatch";
    WhoAmI = 107, "whoAmI";
    Close = -11, "close";
}

impl Op {
    /// Whether the request's body begins with the path it is about.
    pub(crate) fn starts_with_path(self) -> bool {
        !matches!(
            self,
            Op::Connect
                | Op::Ping
                | Op::Multi
                | Op::MultiRead
                | Op::Reconfig
                | Op::Auth
                | Op::SetWatches
                | Op::SetWatches2
                | Op::Sasl
                | Op::WhoAmI
                | Op::Close
                | Op::Other(_)
        )
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Other(code) => write!(f, "other({code})"),
            op => f.write_str(op.name()),
        }
    }
}

impl Serialize for Op {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
