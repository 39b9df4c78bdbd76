//! The permissions of an ACL entry, as ZooKeeper numbers them.

/// Permission to read a node's data and list its children.
pub const ZOOLOCK_PERMISSION_READ: u32 = 1;
/// Permission to set a node's data.
pub const ZOOLOCK_PERMISSION_WRITE: u32 = 2;
/// Permission to create children.
pub const ZOOLOCK_PERMISSION_CREATE: u32 = 4;
/// Permission to delete children.
pub const ZOOLOCK_PERMISSION_DELETE: u32 = 8;
/// Permission to set the ACL.
pub const ZOOLOCK_PERMISSION_ADMIN: u32 = 16;
/// Every permission.
pub const ZOOLOCK_PERMISSION_ALL: u32 = 31;
