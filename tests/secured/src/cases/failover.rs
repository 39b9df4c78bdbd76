//! Three servers that speak TLS, killed one after the other; all languages at the same time.

use crate::cases::Failure;
use crate::client::{Client, LONG, Who};
use crate::scene::{Scene, wait};

/// R16: each session goes on, with its lock.
pub fn each_server_in_turn(scenes: &mut [Scene<'_>]) -> Result<(), Failure> {
    let Some(stage) = scenes.first().map(|scene| scene.stage) else {
        return Ok(());
    };
    // So that a lease outlasts an election, however busy the machine.
    let who = Who::trusting(&stage.authority.ca()).with("session_timeout_ms", "60000");
    let mut clients = Vec::new();
    for (at, scene) in scenes.iter().enumerate() {
        let begun = begin(scene, &stage.trio.secure_hosts(), &who);
        clients.push(begun.map_err(|why| (at, why))?);
    }
    for server in 1..=3 {
        let ensemble = |outcome: zoolock_ensemble::Result<()>| {
            outcome.map_err(|error| (0, format!("server {server}: {error}")))
        };
        ensemble(stage.trio.kill(server))?;
        for (at, (client, _)) in clients.iter_mut().enumerate() {
            still_works(client, server).map_err(|why| (at, why))?;
        }
        ensemble(stage.trio.restart(server))?;
        ensemble(stage.trio.wait_serving(LONG))?;
    }
    for (at, (client, session)) in clients.iter_mut().enumerate() {
        end(client, session).map_err(|why| (at, why))?;
    }
    Ok(())
}

fn begin(scene: &Scene<'_>, hosts: &str, who: &Who) -> Result<(Client, Vec<i64>), String> {
    let mut client = scene.client("client")?;
    client.connect(hosts, who)?;
    client.mutex("kept", &scene.path("kept"), &[])?;
    client.mutex("other", &scene.path("other"), &[])?;
    client.lock("kept", "k")?;
    let session = client.sessions("kept")?;
    Ok((client, session))
}

/// A write is answered, so there is a leader again, and a way to it.
fn still_works(client: &mut Client, server: usize) -> Result<(), String> {
    let guard = format!("after-{server}");
    client.lock("other", &guard)?;
    client.release(&guard)
}

fn end(client: &mut Client, session: &[i64]) -> Result<(), String> {
    wait("held", || {
        client.guard_state("k").is_ok_and(|state| state == "held")
    })?;
    if client.has_lost() || client.sessions("kept")? != session {
        return Err("the lock did not outlast the servers".into());
    }
    client.release("k")?;
    client.exit()
}
