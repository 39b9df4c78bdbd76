//! Children of a lock's node that are no contenders, of names that sort before all contenders.

use std::time::Duration;

use zoolock_ensemble::NodeKind;

use super::{Seen, Stage};
use crate::member::{Granted, granted};

/// A lock that nobody holds is granted in far less.
const ANSWER: Duration = Duration::from_secs(4);
const NAMES: [&str; 3] = ["0", "lock-", "some-lock-x"];

/// One process takes a lock that nobody holds.
pub fn play(stage: &Stage) -> Result<Vec<Seen>, String> {
    stage.each(|library| one(stage, library))
}

fn one(stage: &Stage, library: String) -> Result<Seen, String> {
    let path = format!("/foreign/{library}");
    let failed = |error: zoolock_ensemble::Error| error.to_string();
    let observer = stage.observer()?;
    observer.ensure(&path).map_err(failed)?;
    for name in NAMES {
        let node = format!("{path}/{name}");
        observer
            .create(&node, b"", NodeKind::Persistent)
            .map_err(failed)?;
    }
    let mut members = stage.members(&library, 1, &path, 30_000)?;
    let call = members[0].send("lock", &[("lock", "mutex"), ("guard", "g")])?;
    let answer = members[0].answer(&call, ANSWER);
    let left = observer.children(&path).map_err(failed)?.len() - NAMES.len();
    let (what, kept) = match answer.as_ref().map(granted) {
        Ok(Granted::Yes { .. }) => ("granted at once".to_owned(), true),
        Ok(Granted::No(answer)) => {
            let orphan = if left > 0 {
                ", and its contender stays while the session lasts"
            } else {
                ""
            };
            (format!("fails{orphan}: {answer}"), false)
        }
        Err(_) => ("waits for what will never go".to_owned(), false),
    };
    Ok(Seen {
        library,
        what,
        kept,
    })
}
