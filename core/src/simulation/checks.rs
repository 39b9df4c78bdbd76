//! What has to hold after every step, and what when all is calm again.

use std::collections::BTreeSet;

use super::client::{Call, Client, Held};
use super::workload::{MUTEX, PATHS};
use crate::command::AttemptId;
use crate::error::ErrorKind;
use crate::mutant;
use crate::queue::names::{self, Kind, Position};
use crate::state::GuardState;

/// A broken rule, in words.
pub(super) type Violation = String;

pub(super) fn believes(client: &Client, held: &Held, now: u64) -> bool {
    matches!(
        held.guard.cell().state(client.clock(now)),
        GuardState::Held | GuardState::Suspended
    )
}

/// R1, R2, R4, R7, R14 for a guard that was just granted, and the children of its path as the leader
/// has them.
pub(super) fn granted(
    clients: &[Client],
    at: (usize, usize),
    now: u64,
    children: Option<&[String]>,
    last_token: &mut (i64, u64),
) -> Result<(), Violation> {
    let (client_index, held_index) = at;
    let client = &clients[client_index];
    let held = &client.held[held_index];
    let path = PATHS[held.path].0;
    let token = pair(held);
    let mut repeats = false;
    for (other_index, other_client) in clients.iter().enumerate() {
        for (other_held_index, other) in other_client.held.iter().enumerate() {
            if (other_index, other_held_index) == at || other.path != held.path {
                continue;
            }
            if other_index == client_index && same_owner(other, held) {
                repeats |= pair(other) == token;
                continue;
            }
            if other.kind == Kind::Read && held.kind == Kind::Read || other.meddled {
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
    if token.0 <= 0 {
        return Err(format!("R2: the token {token:?} is not positive"));
    }
    if held.kind != Kind::Read && !repeats {
        if token <= *last_token {
            return Err(format!(
                "R2: token {token:?} on {path} is not above {last_token:?}"
            ));
        }
        *last_token = token;
    }
    match children {
        // It rests on the lease alone.
        _ if repeats => Ok(()),
        Some(children) => in_order(client_index, client, held, children),
        // Nobody leads: there is no truth to compare with at the moment.
        None => Ok(()),
    }
}

/// The token whole (R2).
fn pair(held: &Held) -> (i64, u64) {
    (held.guard.fencing_token(), held.guard.grant_count())
}

/// What has to hold for a guard of a contender that was kept. `call` is what it was granted for.
pub(super) fn kept(
    index: usize,
    client: &mut Client,
    held: &Held,
    call: &Call,
    there: &BTreeSet<String>,
) -> Result<(), Violation> {
    let (path, name) = (PATHS[held.path].0, held.name().to_owned());
    if let Some(state) = client.wrongly_granted {
        return Err(format!(
            "R3: client {index} was granted what it keeps, and the guard was {state:?} at once"
        ));
    }
    // A first grant may have come in one reading with the end of its contender, and before it.
    let first = held.guard.grant_count() == 1;
    if !first && client.ends_told.contains(&name) {
        return Err(format!(
            "R1: client {index} was granted {path} with {name}, of whose end it had been told"
        ));
    }
    if !first && client.kept_in_vain.contains(&name) {
        return Err(format!(
            "R1: client {index} was granted {path} by what it keeps with {name}, which was gone when \
             it was told of a change"
        ));
    }
    let again = client
        .held
        .iter()
        .any(|other| other.guard.node_path() == held.guard.node_path() && same_owner(other, held));
    if first {
        client.since_told[held.path].0.clear();
    }
    if first || again {
        return Ok(());
    }
    let (strangers, grants) = &mut client.since_told[held.path];
    // Who has gone away again was no stranger to make way for.
    strangers.retain(|stranger| there.contains(stranger));
    if !strangers.is_empty() {
        *grants += 1;
        if *grants > 1 {
            return Err(format!(
                "R7: client {index} was granted {path} by what it keeps {grants} times after it \
                 was told that somebody had come"
            ));
        }
    }
    let waits = |other: &&Call| other.path == MUTEX && !other.cancelled && !other.closed;
    let mut before = client.calls.iter().filter(waits);
    if held.path == MUTEX && before.any(|other| other.number < call.number) {
        return Err(format!(
            "R7: client {index} was granted {path} by what it keeps before an earlier call"
        ));
    }
    Ok(())
}

/// What a name stands for, by the rules as they are.
pub(super) fn position(path: usize, name: &str) -> Option<Position> {
    let family = PATHS[path].1;
    mutant::without(|| names::parse(family, name.as_bytes()).map(Position::from))
}

fn same_owner(one: &Held, other: &Held) -> bool {
    one.owner.is_some() && one.owner == other.owner
}

fn in_order(
    index: usize,
    client: &Client,
    held: &Held,
    children: &[String],
) -> Result<(), Violation> {
    let path = PATHS[held.path].0;
    let name = held.name();
    let Some(position) = position(held.path, name) else {
        return Err(format!("R7: granted with the name {name:?}"));
    };
    if position.number < 0 || position.number >= i64::from(i32::MAX) {
        return Err(format!(
            "R14: client {index} was granted {path} with {name}, whose number tells no order"
        ));
    }
    if !children.iter().any(|child| child == name) {
        return Err(format!(
            "R1: client {index} was granted {path} with {name}, which is gone"
        ));
    }
    for child in children {
        let Some(other) = self::position(held.path, child) else {
            continue;
        };
        let excludes = held.kind != Kind::Read || other.kind != Kind::Read;
        // A downgraded read has the number of its own write node, which may be on its way out.
        let own = other.number == position.number
            || client
                .held
                .iter()
                .any(|known| known.name() == child.as_str() && same_owner(known, held));
        // A number that has wrapped is younger than all others, and is never granted.
        let wrapped = other.number < 0;
        if other < position && excludes && !own && !wrapped {
            return Err(format!(
                "R7: client {index} was granted {path} with {name}, before {child}"
            ));
        }
    }
    Ok(())
}

/// R1, R3: whoever believes has its contender. `gone` is one that was just removed.
pub(super) fn gone(clients: &[Client], path: usize, gone: &str, now: u64) -> Result<(), Violation> {
    for (index, client) in clients.iter().enumerate() {
        for held in client.held.iter().filter(|held| held.path == path) {
            if held.name() == gone && !held.meddled && believes(client, held, now) {
                return Err(format!(
                    "R3: client {index} believes in {gone}, which is gone"
                ));
            }
        }
    }
    Ok(())
}

/// R4: what was lost once is lost for ever, and told once, at once; nothing else is told to be lost.
pub(super) fn finality(index: usize, client: &mut Client, now: u64) -> Result<(), Violation> {
    let time = client.clock(now);
    let session = client.engine.session_id();
    for held in &mut client.held {
        let lost = held.guard.cell().state(time) == GuardState::Lost;
        let name = held.guard.node_path();
        if held.seen_lost && !lost {
            return Err(format!("R4: {name} was lost and is held again"));
        }
        if held.told() != u32::from(lost) {
            let told = held.told();
            return Err(format!(
                "R4: client {index} was told {told} times of the loss of {name}, which is {}",
                if lost { "lost" } else { "held" }
            ));
        }
        if !lost && held.closed {
            return Err(format!(
                "R17: client {index} believes in {name}, whose handle was closed"
            ));
        }
        if !lost && held.session != session {
            return Err(format!(
                "R4: client {index} believes in {name} of an earlier session"
            ));
        }
        held.seen_lost |= lost;
    }
    Ok(())
}

/// R9: calls that waited when their session ended are granted in their former order.
pub(super) fn former_order(
    index: usize,
    client: &mut Client,
    granted: AttemptId,
) -> Result<(), Violation> {
    let Some(at) = client.former.iter().position(|known| *known == granted) else {
        return Ok(());
    };
    let waits = |attempt: &AttemptId| {
        let calls = client.calls.iter();
        calls
            .filter(|call| !call.cancelled)
            .any(|call| call.attempt == *attempt)
    };
    if client.former[..at].iter().any(waits) {
        return Err(format!(
            "R9: client {index} was granted {} out of the order that its calls had before its \
             session ended",
            PATHS[MUTEX].0
        ));
    }
    client.former.remove(at);
    Ok(())
}

/// How a call may fail.
pub(super) fn may_fail(kind: ErrorKind, call: &Call, exhausted: bool, denied: bool) -> bool {
    match kind {
        ErrorKind::Cancelled => call.cancelled,
        ErrorKind::Timeout | ErrorKind::Unavailable => call.deadline.is_some(),
        ErrorKind::WouldDeadlock | ErrorKind::LockLost => call.owner.is_some(),
        ErrorKind::SequenceExhausted => exhausted,
        ErrorKind::NoAuth => denied,
        ErrorKind::Closed => call.closed,
        _ => false,
    }
}
