//! The operation codes of requests.

pub(crate) const ERROR: i32 = -1;
pub(crate) const CREATE: i32 = 1;
pub(crate) const DELETE: i32 = 2;
pub(crate) const EXISTS: i32 = 3;
pub(crate) const GET_DATA: i32 = 4;
pub(crate) const SET_DATA: i32 = 5;
pub(crate) const GET_ACL: i32 = 6;
pub(crate) const SET_ACL: i32 = 7;
pub(crate) const GET_CHILDREN: i32 = 8;
pub(crate) const SYNC: i32 = 9;
pub(crate) const PING: i32 = 11;
pub(crate) const GET_CHILDREN2: i32 = 12;
pub(crate) const CHECK: i32 = 13;
pub(crate) const MULTI: i32 = 14;
pub(crate) const CREATE2: i32 = 15;
pub(crate) const CHECK_WATCHES: i32 = 17;
pub(crate) const REMOVE_WATCHES: i32 = 18;
pub(crate) const CREATE_CONTAINER: i32 = 19;
pub(crate) const CREATE_TTL: i32 = 21;
pub(crate) const AUTH: i32 = 100;
pub(crate) const SET_WATCHES: i32 = 101;
pub(crate) const GET_EPHEMERALS: i32 = 103;
pub(crate) const GET_ALL_CHILDREN_NUMBER: i32 = 104;
pub(crate) const WHO_AM_I: i32 = 107;
pub(crate) const CLOSE_SESSION: i32 = -11;

/// The xids that are no request's number.
pub(crate) const NOTIFICATION_XID: i32 = -1;
pub(crate) const PING_XID: i32 = -2;

/// Whether the model knows the operation as a request of its own.
pub(crate) fn is_known(op: i32) -> bool {
    is_write(op)
        || matches!(
            op,
            EXISTS
                | GET_DATA
                | GET_ACL
                | GET_CHILDREN
                | SYNC
                | PING
                | GET_CHILDREN2
                | CHECK_WATCHES
                | REMOVE_WATCHES
                | SET_WATCHES
                | GET_EPHEMERALS
                | GET_ALL_CHILDREN_NUMBER
                | WHO_AM_I
        )
}

/// Whether the operation goes through the leader and becomes a transaction.
pub(crate) fn is_write(op: i32) -> bool {
    matches!(
        op,
        CREATE
            | DELETE
            | SET_DATA
            | SET_ACL
            | MULTI
            | CREATE2
            | CREATE_CONTAINER
            | CREATE_TTL
            | CLOSE_SESSION
    )
}

/// Whether an overloaded server may refuse it.
pub(crate) fn is_throttlable(op: i32) -> bool {
    !matches!(op, PING | CLOSE_SESSION)
}
