//! An order service: one order of a user at a time, on however many instances it runs.
//!
//!     cargo run --example order_service -- USER ITEM
//!
//! Tries for 3 s to get the user's lock, and says "order in progress" if somebody else has it. That
//! is no answer to an outage, which is told apart. The servers come from ZOOLOCK_HOSTS. With a
//! database: `examples/rust`.

use std::process::ExitCode;
use std::time::Duration;

use zoolock::{ErrorKind, Result, Session};

/// How long a user waits for an order of theirs that is being placed elsewhere.
const PATIENCE: Duration = Duration::from_secs(3);

/// What the lock protects. A database would refuse a token lower than the last it saw, so that an
/// instance that lost the lock without noticing yet changes nothing.
async fn save_order(_user: &str, _item: &str, _fencing_token: i64) {}

/// Places an order; its token, or None if another one of the user is being placed.
async fn place(session: &Session, user: &str, item: &str) -> Result<Option<i64>> {
    let mutex = session.mutex(&format!("/locks/order/{user}"))?;
    let guard = match mutex.lock_timeout(PATIENCE).await {
        Ok(guard) => guard,
        // One that has a cause is an outage, and nobody's order.
        Err(error) if error.kind() == ErrorKind::Timeout && error.cause().is_none() => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let token = guard.fencing_token();
    tokio::select! {
        () = save_order(user, item, token) => {}
        // Dropped at its next await, the work does not go on without the lock.
        () = guard.lost() => {}
    }
    // Fails if the lock was lost: the order may have met another one.
    guard.release().await?;
    Ok(Some(token))
}

async fn run(user: &str, item: &str) -> Result<ExitCode> {
    let session = Session::builder().connect_default().await?;
    let placed = place(&session, user, item).await;
    session.close().await?;
    Ok(match placed? {
        Some(token) => {
            println!("order placed, token {token}");
            ExitCode::SUCCESS
        }
        None => {
            println!("order in progress");
            ExitCode::FAILURE
        }
    })
}

#[tokio::main]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [user, item] = &args[..] else {
        eprintln!("usage: order_service USER ITEM");
        return ExitCode::from(2);
    };
    run(user, item).await.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}
