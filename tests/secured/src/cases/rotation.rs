//! Certificates that are renewed while a session lives.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use zoolock_ensemble::{Identity, Relay};

use crate::cases::access::check_acls;
use crate::client::{Client, Who};
use crate::scene::{Scene, stays, wait};

/// The files that the client was given.
struct Files {
    ca: PathBuf,
    identity: Identity,
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    // In one step, as what renews certificates does it.
    let beside = to.with_extension("new");
    fs::copy(from, &beside)
        .and_then(|_| fs::rename(&beside, to))
        .map_err(|error| format!("{}: {error}", to.display()))
}

/// R16: the next connection is made with the files of then.
pub fn renewed(scene: &mut Scene<'_>) -> Result<(), String> {
    let stage = scene.stage;
    let own = scene.path("").replace('/', "_");
    let file = |name: &str| stage.authority.file(&format!("{own}{name}.pem"));
    let files = Files {
        ca: file("ca"),
        identity: Identity {
            cert: file("cert"),
            key: file("key"),
            both: file("both"),
        },
    };
    copy(&stage.authority.ca(), &files.ca)?;
    copy(&stage.carol.cert, &files.identity.cert)?;
    copy(&stage.carol.key, &files.identity.key)?;

    let relay = scene.relay()?;
    let who = Who::trusting(&files.ca).certified(&files.identity);
    let mut client = scene.client("client")?;
    client.connect(&relay.host(), &who)?;
    client.mutex("kept", &scene.path("kept"), &[("acl", "open")])?;
    client.lock("kept", "k")?;
    is_known_as(scene, &mut client, "CN=carol", 1)?;

    copy(&stage.dave.cert, &files.identity.cert)?;
    copy(&stage.dave.key, &files.identity.key)?;
    connect_again(&relay, &mut client)?;
    is_known_as(scene, &mut client, "CN=dave", 2)?;

    // Half of a renewal: a certificate that the key does not belong to.
    copy(&stage.carol.cert, &files.identity.cert)?;
    connect_again(&relay, &mut client)?;
    is_known_as(scene, &mut client, "CN=dave", 3)?;
    copy(&stage.carol.key, &files.identity.key)?;
    connect_again(&relay, &mut client)?;
    is_known_as(scene, &mut client, "CN=carol", 4)?;
    if client.has_lost() || client.guard_state("k")? != "held" {
        return Err("the lock did not outlast the renewal".into());
    }

    // Nobody is trusted any more: the client goes on trying, and does not storm.
    copy(&stage.stranger.ca(), &files.ca)?;
    let before = relay.accepted();
    relay.link().reset();
    wait("an attempt", || relay.accepted() > before)?;
    stays("few connections", Duration::from_secs(3), || {
        relay.accepted() - before <= 20
    })?;
    copy(&stage.authority.ca(), &files.ca)?;
    connected(&mut client)?;
    is_known_as(scene, &mut client, "CN=carol", 5)?;
    client.exit()
}

fn connected(client: &mut Client) -> Result<(), String> {
    wait("connected", || {
        client
            .session_state()
            .is_ok_and(|state| state == "connected")
    })
}

fn connect_again(relay: &Relay, client: &mut Client) -> Result<(), String> {
    let before = relay.accepted();
    relay.link().reset();
    wait("another connection", || relay.accepted() > before)?;
    connected(client)
}

/// Whose a new contender is.
fn is_known_as(
    scene: &Scene<'_>,
    client: &mut Client,
    name: &str,
    time: usize,
) -> Result<(), String> {
    let (lock, path) = (format!("m{time}"), scene.path(&format!("lock-{time}")));
    let acl = [("acl", "31 auth ")];
    client.mutex(&lock, &path, &acl)?;
    let (_, node) = client.lock(&lock, &lock)?;
    check_acls(scene, &[(&node, &format!("31 x509 {name}"))])?;
    client.release(&lock)
}
