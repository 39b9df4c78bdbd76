//! What has to hold after every step, and what when all is calm again.

use super::client::{Client, Held};
use super::workload::PATHS;
use crate::error::ErrorKind;
use crate::queue::names::{self, Kind, Position};
use crate::state::GuardState;

/// A broken rule, in words.
pub(super) type Violation = String;

fn believes(client: &Client, held: &Held, now: u64) -> bool {
    matches!(
        held.guard.cell().state(client.clock(now)),
        GuardState::Held | GuardState::Suspended
    )
}

/// R1, R2, R4, R7 for a guard that was just granted, and the children of its path as the leader
/// has them.
pub(super) fn granted(
    clients: &[Client],
    at: (usize, usize),
    now: u64,
    children: Option<&[String]>,
    last_token: &mut i64,
) -> Result<(), Violation> {
    let (client_index, held_index) = at;
    let Some(client) = clients.get(client_index) else {
        return Ok(());
    };
    let held = &client.held[held_index];
    let (path, family) = PATHS[held.path];
    let token = held.guard.fencing_token();
    let mut repeats = false;
    for (other_index, other_client) in clients.iter().enumerate() {
        for (other_held_index, other) in other_client.held.iter().enumerate() {
            if (other_index, other_held_index) == at || other.path != held.path {
                continue;
            }
            let same_owner =
                other_index == client_index && other.owner.is_some() && other.owner == held.owner;
            if same_owner {
                repeats |= other.guard.fencing_token() == token;
                continue;
            }
            if other.kind == Kind::Read && held.kind == Kind::Read {
                continue;
            }
            if believes(other_client, other, now) {
                return Err(format!(
                    "R1: client {client_index} was granted {path} while client {other_index} \
                     believes: {:?} beside {:?}",
                    held.guard.node_path(),
                    other.guard.node_path()
                ));
            }
            if !other_client.is_paused() && !other.guard.cell().lost.is_fired() {
                return Err(format!(
                    "R4: client {client_index} was granted {path} before client {other_index} \
                     was told of its loss"
                ));
            }
        }
    }
    if held.kind != Kind::Read && !repeats {
        if token <= *last_token {
            return Err(format!(
                "R2: token {token} on {path} is not above {last_token}"
            ));
        }
        *last_token = token;
    }
    let Some(children) = children else {
        // Nobody leads: there is no truth to compare with at the moment.
        return Ok(());
    };
    if repeats {
        // No new grant: it rests on the lease alone.
        return Ok(());
    }
    let name = held.guard.node_path().rsplit('/').next().unwrap_or("");
    let Some(position) = names::parse(family, name.as_bytes()).map(Position::from) else {
        return Err(format!("granted with the name {name:?}"));
    };
    if !children.iter().any(|child| child == name) {
        return Err(format!(
            "R1: client {client_index} was granted {path} with {name}, which is gone"
        ));
    }
    for child in children {
        let Some(other) = names::parse(family, child.as_bytes()).map(Position::from) else {
            continue;
        };
        let excludes = held.kind != Kind::Read || other.kind != Kind::Read;
        // A downgraded read has the number of its own write node, which may be on its way out.
        let own = other.number == position.number
            || clients.get(client_index).is_some_and(|client| {
                client
                    .held
                    .iter()
                    .any(|held| held.guard.node_path().ends_with(child.as_str()))
            });
        if other < position && excludes && !own {
            return Err(format!(
                "R7: client {client_index} was granted {path} with {name}, before {child}"
            ));
        }
    }
    Ok(())
}

/// R4: what was lost once is lost for ever.
pub(super) fn finality(client: &mut Client, now: u64) -> Result<(), Violation> {
    let time = client.clock(now);
    for held in &mut client.held {
        let lost = held.guard.cell().state(time) == GuardState::Lost;
        if held.seen_lost && !lost {
            return Err(format!(
                "R4: {} was lost and is held again",
                held.guard.node_path()
            ));
        }
        held.seen_lost |= lost;
    }
    Ok(())
}

/// How a call may fail.
pub(super) fn may_fail(kind: ErrorKind, cancelled: bool, timed: bool, owned: bool) -> bool {
    match kind {
        ErrorKind::Cancelled => cancelled,
        ErrorKind::Timeout | ErrorKind::Unavailable => timed,
        ErrorKind::WouldDeadlock | ErrorKind::LockLost => owned,
        _ => false,
    }
}
