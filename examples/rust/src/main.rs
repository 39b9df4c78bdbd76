//! A shop on several instances: orders of a customer one at a time, and a billing job done once.
//!
//!     shop place ORDER CUSTOMER ITEM
//!     shop bill BATCH
//!
//! The servers come from ZOOLOCK_HOSTS, the database from SHOP_DB: a PostgreSQL URL, or SQLite's
//! file. The lock keeps instances apart. The database refuses one that has lost its lock without
//! knowing: see the stores.

mod store;
mod store_postgres;
mod store_sqlite;

use std::process::ExitCode;
use std::time::Duration;

use store::{Store, StoreError};
use store_postgres::PostgresStore;
use store_sqlite::SqliteStore;
use zoolock::ErrorKind;
use zoolock::blocking::{Mutex, Session};

/// How long a customer waits for an order of theirs that is being placed elsewhere.
const ORDER_PATIENCE: Duration = Duration::from_secs(3);
/// After this an instance leaves a round to another.
const JOB_PATIENCE: Duration = Duration::from_secs(10);

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// Somebody else had the lock for the whole time.
    #[error("busy")]
    Busy,
    #[error(transparent)]
    Lock(#[from] zoolock::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Runs `write` with a fencing token, and returns what it does.
fn under_lock(
    mutex: &Mutex,
    patience: Duration,
    write: impl FnOnce(i64) -> Result<bool, StoreError>,
) -> Result<bool, Failure> {
    let guard = mutex.lock_timeout(patience).map_err(|error| {
        // An outage is not somebody else's lock.
        if error.kind() == ErrorKind::Timeout && error.cause().is_none() {
            Failure::Busy
        } else {
            Failure::Lock(error)
        }
    })?;
    let wrote = write(guard.fencing_token())?;
    match guard.release() {
        // The database had the last word: it took the token, so what it committed stands. Work that
        // no fence guards would have to stop at the loss: see `Guard::on_lost` and `ensure_held`.
        Err(error) if error.kind() == ErrorKind::LockLost => Ok(wrote),
        released => released.map(|()| wrote).map_err(Failure::Lock),
    }
}

fn open_store(database: &str) -> Result<Box<dyn Store>, StoreError> {
    Ok(if database.starts_with("postgresql://") {
        Box::new(PostgresStore::open(database)?)
    } else {
        Box::new(SqliteStore::open(database)?)
    })
}

fn place(args: [&str; 3]) -> Result<&'static str, Failure> {
    let [order, customer, item] = args;
    let (session, mut store) = connect()?;
    let mutex = session.mutex(&format!("/locks/order/{customer}"))?;
    let placed = under_lock(&mutex, ORDER_PATIENCE, |token| {
        store.place(order, customer, item, token)
    })?;
    session.close()?;
    Ok(if placed {
        "order placed"
    } else {
        "was placed before"
    })
}

fn bill(batch: &str) -> Result<&'static str, Failure> {
    let (session, mut store) = connect()?;
    let mutex = session.mutex("/locks/job/billing")?;
    let done = under_lock(&mutex, JOB_PATIENCE, |token| store.bill(batch, token))?;
    session.close()?;
    Ok(if done { "done" } else { "was done before" })
}

fn connect() -> Result<(Session, Box<dyn Store>), Failure> {
    let database = std::env::var("SHOP_DB").unwrap_or_else(|_| "shop.db".to_owned());
    let store = open_store(&database)?;
    Ok((
        Session::connect_default(zoolock::Session::builder())?,
        store,
    ))
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (outcome, busy, busy_code) = match args[..] {
        // A slash would make a lock path of the name.
        ["place", order, customer, item] if !customer.contains('/') => {
            (place([order, customer, item]), "order in progress", 1)
        }
        ["bill", batch] => (bill(batch), "skipped: another instance is at it", 0),
        _ => {
            eprintln!("usage: shop place ORDER CUSTOMER ITEM | bill BATCH");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(Failure::Busy) => {
            println!("{busy}");
            ExitCode::from(busy_code)
        }
        Err(failure) => {
            eprintln!("{failure}");
            let stale = matches!(failure, Failure::Store(StoreError::Stale { .. }));
            ExitCode::from(if stale { 3 } else { 1 })
        }
    }
}
