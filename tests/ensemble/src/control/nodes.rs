//! Commands about nodes, as the observer sees them.

use std::sync::{Arc, PoisonError};

use serde_json::{Value, json};

use super::words::Words;
use super::{Answer, Control, field};
use crate::ensemble::Role;
use crate::error::{Error, Result};
use crate::observer::{NodeKind, Observer};
use crate::{Permission, Stat};

pub(super) fn obey(control: &Control, command: &str, words: &mut Words) -> Result<Option<Answer>> {
    if !matches!(
        command,
        "children" | "get" | "exists" | "create" | "ensure" | "set" | "delete" | "acl"
    ) {
        return Ok(None);
    }
    let path = words.next("a path")?;
    if !path.starts_with('/') {
        return Err(Error::new(format!("a path begins with /, unlike `{path}`")));
    }
    let answer = match command {
        "children" => field("children", observer(control, words)?.children(path)?),
        "get" => {
            let (data, stat) = observer(control, words)?.get(path)?;
            let mut answer = field("data", String::from_utf8_lossy(&data));
            answer.insert("stat".into(), stat_value(&stat));
            answer
        }
        "exists" => {
            let found = observer(control, words)?.exists(path)?;
            let mut answer = field("exists", found.is_some());
            if let Some(stat) = found {
                answer.insert("stat".into(), stat_value(&stat));
            }
            answer
        }
        "create" => {
            let data = data(words);
            let kind = kind(words)?;
            let created = observer(control, words)?.create(path, data.as_bytes(), kind)?;
            field("path", created)
        }
        "ensure" => {
            observer(control, words)?.ensure(path)?;
            Answer::new()
        }
        "set" => {
            let data = words.next("data (- for none)")?;
            let data = if data == "-" { "" } else { data };
            let stat = observer(control, words)?.set(path, data.as_bytes())?;
            field("stat", stat_value(&stat))
        }
        "delete" => {
            observer(control, words)?.delete(path)?;
            Answer::new()
        }
        _ => {
            let acl = observer(control, words)?.acl(path)?.into_iter().map(|acl| {
                let can = |permission| acl.perms.can(permission);
                json!({
                    "scheme": acl.scheme,
                    "id": acl.id,
                    "read": can(Permission::READ),
                    "write": can(Permission::WRITE),
                    "create": can(Permission::CREATE),
                    "delete": can(Permission::DELETE),
                    "admin": can(Permission::ADMIN),
                })
            });
            field("acl", acl.collect::<Vec<_>>())
        }
    };
    Ok(Some(answer))
}

fn data<'a>(words: &mut Words<'a>) -> &'a str {
    match words.next_if_any() {
        None | Some("-") => "",
        Some(data) => data,
    }
}

fn kind(words: &mut Words) -> Result<NodeKind> {
    Ok(match words.next_if_any() {
        None | Some("persistent") => NodeKind::Persistent,
        Some("persistent-sequential") => NodeKind::PersistentSequential,
        Some("ephemeral") => NodeKind::Ephemeral,
        Some("ephemeral-sequential") => NodeKind::EphemeralSequential,
        Some("container") => NodeKind::Container,
        Some(other) => return Err(Error::new(format!("`{other}` is no kind of node"))),
    })
}

/// The observer of the server named by a last word `at N`, else of the leader, else of any server that runs.
fn observer(control: &Control, words: &mut Words) -> Result<Arc<Observer>> {
    let ensemble = &control.ensemble;
    let server = if words.take("at") {
        words.number("a server's number")?
    } else {
        ensemble
            .leader()
            .or_else(|| {
                let usable = |role: &Role| !matches!(role, Role::Down | Role::Paused);
                let roles = ensemble.roles();
                roles
                    .into_iter()
                    .find_map(|(n, role)| usable(&role).then_some(n))
            })
            .ok_or_else(|| Error::new("no server runs"))?
    };
    words.end()?;
    let mut observers = control
        .observers
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(observer) = observers.get(&server)
        && observer.exists("/").is_ok()
    {
        return Ok(observer.clone());
    }
    // A server that was restarted, or an expired session: begin anew.
    let observer = Arc::new(ensemble.observer(server)?);
    observers.insert(server, observer.clone());
    Ok(observer)
}

fn stat_value(stat: &Stat) -> Value {
    json!({
        "czxid": stat.czxid,
        "mzxid": stat.mzxid,
        "pzxid": stat.pzxid,
        "version": stat.version,
        "cversion": stat.cversion,
        "ephemeral_owner": format!("0x{:x}", stat.ephemeral_owner),
        "data_length": stat.data_length,
        "num_children": stat.num_children,
    })
}
