//! Who queues on a lock path.

/// A contender as the server shows it: holder or waiter, of this library or another; see
/// [`Mutex::contenders`](crate::Mutex::contenders).
///
/// ```
/// # fn main() -> zoolock::Result<()> {
/// # let server = zoolock::testing::Server::start()?;
/// # let session = zoolock::blocking::Session::connect(&server.hosts())?;
/// let mutex = session.mutex("/locks/report")?;
/// let guard = mutex.lock()?;
/// for contender in mutex.contenders()? {
///     let verb = if contender.holds { "holds" } else { "waits" };
///     println!("{} {verb}", contender.identity);
/// }
/// # guard.release()?;
/// # session.close()
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contender {
    /// Its node, without the session's chroot.
    pub node_path: String,
    /// The number that the server gave it.
    pub sequence: i64,
    /// The node's data as text: zoolock writes the holder's identity there.
    pub identity: String,
    /// The session that owns the node.
    pub session_id: i64,
    /// Whether the lock is its own by the order of the queue.
    pub holds: bool,
}
