//! Servers that take nobody without an identity (`enforce.auth.enabled`).

use std::net::SocketAddr;
use std::time::Duration;

use zoolock_ensemble::Relay;

use crate::client::Who;
use crate::scene::{Scene, stays};
use crate::stage::ALICE;

pub fn digest(scene: &mut Scene<'_>) -> Result<(), String> {
    works(scene, &scene.stage.expired.direct(), &Who::digest(ALICE))
}

pub fn digest_without(scene: &mut Scene<'_>) -> Result<(), String> {
    let server = scene.stage.expired.direct_address(1);
    let server = server.map_err(|error| error.to_string())?;
    fails(scene, server, &Who::anonymous())
}

pub fn x509(scene: &mut Scene<'_>) -> Result<(), String> {
    let stage = scene.stage;
    let who = Who::trusting(&stage.authority.ca()).certified(&stage.carol);
    works(scene, &stage.strict.secure_hosts(), &who)?;
    // One identity more does no harm.
    let who = Who::digest(ALICE)
        .tls(&stage.authority.ca())
        .certified(&stage.dave);
    works(scene, &stage.strict.secure_hosts(), &who)
}

/// The plain port of that server, with an identity of another scheme.
pub fn x509_without(scene: &mut Scene<'_>) -> Result<(), String> {
    let server = scene.stage.strict.direct_address(1);
    fails(
        scene,
        server.map_err(|error| error.to_string())?,
        &Who::digest(ALICE),
    )
}

fn works(scene: &Scene<'_>, hosts: &str, who: &Who) -> Result<(), String> {
    let mut client = scene.client("client")?;
    client.connect(hosts, who)?;
    client.mutex("m", &scene.path("lock"), &[("acl", "open")])?;
    client.lock("m", "g")?;
    client.release("g")?;
    client.exit()
}

/// The handshake says nothing of it: the first request that counts does, and ends it.
fn fails(scene: &Scene<'_>, server: SocketAddr, who: &Who) -> Result<(), String> {
    let relay = Relay::start(server).map_err(|error| error.to_string())?;
    let mut client = scene.client("client")?;
    client.connect(&relay.address(), who)?;
    client.mutex("m", &scene.path("lock"), &[])?;
    let fields = [("lock", "m"), ("guard", "g")];
    client.refused("lock", &fields, "AuthFailed", &["demands an identity"])?;
    // Nor is it asked again and again.
    let calls = relay.accepted();
    client.refused("lock", &fields, "AuthFailed", &["demands an identity"])?;
    stays("no more connections", Duration::from_secs(2), || {
        relay.accepted() <= calls.min(4)
    })?;
    client.exit()
}
