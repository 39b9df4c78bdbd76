//! The synchronous face: the same nouns and verbs, blocking the calling thread. The owner of
//! re-entrant and read-write locks is the calling thread, unless one is named.
//!
//! Everything here blocks the calling thread, and only that: it may be called on any thread but an
//! asynchronous executor's. Every wait for a lock can be ended from another thread by a [`Cancel`](crate::Cancel).
//! Handles, locks and guards are [`Send`] and [`Sync`].
//!
//! Handles, locks and guards convert from the asynchronous form by [`From`]; sessions and guards also back.
//!
//! ```
//! use std::time::Duration;
//! use zoolock::blocking::Session;
//! use zoolock::{ErrorKind, GuardState};
//!
//! # fn main() -> zoolock::Result<()> {
//! # let server = zoolock::testing::Server::start()?;
//! # let hosts = server.hosts();
//! // let hosts = "zk1:2181,zk2:2181,zk3:2181/chroot";
//! let session = Session::connect(&hosts)?;
//! let mutex = session.mutex("/locks/order/user-123")?;
//! let guard = match mutex.lock_timeout(Duration::from_secs(3)) {
//!     Ok(guard) => guard,
//!     Err(error) if error.kind() == ErrorKind::Timeout => return Ok(()), // order in progress
//!     Err(error) => return Err(error),
//! };
//! println!("fencing token {}", guard.fencing_token());
//! assert_eq!(guard.state(), GuardState::Held);
//! guard.release()?;
//! session.close()
//! # }
//! ```

mod guard;
mod locks;
mod session;

pub use guard::Guard;
pub use locks::{Mutex, ReentrantMutex, RwLock, RwLockSide};
pub use session::Session;
