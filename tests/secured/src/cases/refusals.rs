//! What goes wrong: each with its own error, soon, and without a storm of connections.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use zoolock_ensemble::{Identity, Relay};

use crate::client::{Client, Who};
use crate::scene::{Scene, stays};
use crate::secrets::Secret;
use crate::stage::ALICE;

/// `digest` takes any password at the connect: who one is shows at the first node that is somebody else's.
pub fn wrong_password(scene: &mut Scene<'_>) -> Result<(), String> {
    const WRONG: &str = "pear/11d7+5e6f=";
    scene.hides(Secret::new("the wrong password", WRONG.as_bytes()));
    let hosts = scene.stage.open.direct();
    let path = scene.path("lock");
    let mut alice = scene.client("alice")?;
    alice.connect(&hosts, &Who::digest(ALICE))?;
    alice.mutex("m", &path, &[])?;
    alice.lock("m", "g")?;
    let mut other = scene.client("other")?;
    let who = Who::anonymous().with("auth", &format!("alice:{WRONG}"));
    other.connect(&hosts, &who)?;
    other.mutex("m", &path, &[])?;
    let fields = [("lock", "m"), ("guard", "g")];
    for verb in ["lock", "try"] {
        let answer = other.refused(verb, &fields, "NoAuth", &["CREATE"])?;
        if answer.get("path") != Some(&path) {
            return Err(format!("another path: {answer}"));
        }
    }
    alice.release("g")?;
    other.exit()?;
    alice.exit()
}

pub fn unknown_authority(scene: &mut Scene<'_>) -> Result<(), String> {
    let who = Who::trusting(&scene.stage.stranger.ca());
    let says = ["none of the authorities"];
    refused(scene, secure(scene)?, name, &who, "AuthFailed", &says)
}

pub fn unknown_to_the_platform(scene: &mut Scene<'_>) -> Result<(), String> {
    let who = Who::anonymous().with("tls", "yes");
    let says = ["none of the authorities"];
    refused(scene, secure(scene)?, name, &who, "AuthFailed", &says)
}

pub fn expired_server(scene: &mut Scene<'_>) -> Result<(), String> {
    let server = scene.stage.expired.secure_address(1);
    let server = server.map_err(|error| error.to_string())?;
    let who = Who::trusting(&scene.stage.authority.ca());
    let says = ["the server's certificate", "has expired"];
    refused(scene, server, name, &who, "AuthFailed", &says)
}

pub fn expired_client(scene: &mut Scene<'_>) -> Result<(), String> {
    let late = &scene.stage.late;
    not_taken(scene, Some(late), &["our certificate"])
}

pub fn unknown_client(scene: &mut Scene<'_>) -> Result<(), String> {
    let unknown = &scene.stage.unknown;
    not_taken(scene, Some(unknown), &["our certificate"])
}

pub fn no_client_certificate(scene: &mut Scene<'_>) -> Result<(), String> {
    not_taken(scene, None, &["certificate"])
}

fn not_taken(scene: &Scene<'_>, identity: Option<&Identity>, says: &[&str]) -> Result<(), String> {
    let server = scene.stage.strict.secure_address(1);
    let server = server.map_err(|error| error.to_string())?;
    let who = Who::trusting(&scene.stage.authority.ca());
    let who = identity.map_or(who.clone(), |identity| who.certified(identity));
    refused(scene, server, name, &who, "AuthFailed", says)
}

pub fn wrong_host_name(scene: &mut Scene<'_>) -> Result<(), String> {
    let who = Who::trusting(&scene.stage.authority.ca());
    let says = ["another name"];
    // The certificate is made out to `localhost`.
    refused(
        scene,
        secure(scene)?,
        Relay::address,
        &who,
        "AuthFailed",
        &says,
    )?;
    let mut client = scene.client("careless")?;
    let relay = scene.relay()?;
    client.connect(&relay.address(), &who.with("tls_any_name", "yes"))?;
    client.exit()
}

pub fn plaintext_to_tls(scene: &mut Scene<'_>) -> Result<(), String> {
    let who = Who::anonymous();
    refused(scene, secure(scene)?, name, &who, "Unavailable", &["TLS"])
}

pub fn tls_to_plaintext(scene: &mut Scene<'_>) -> Result<(), String> {
    let server = scene.stage.open.direct_address(1);
    let server = server.map_err(|error| error.to_string())?;
    let who = Who::trusting(&scene.stage.authority.ca());
    refused(scene, server, name, &who, "Unavailable", &["TLS"])
}

pub fn other_key(scene: &mut Scene<'_>) -> Result<(), String> {
    let stage = scene.stage;
    let who = Who::trusting(&stage.authority.ca())
        .certified(&stage.carol)
        .with("tls_key", &stage.dave.key.to_string_lossy());
    invalid(scene, &who, &["tls.key", "does not belong to tls.cert"])
}

pub fn unreadable(scene: &mut Scene<'_>) -> Result<(), String> {
    let stage = scene.stage;
    let carol = Who::trusting(&stage.authority.ca()).certified(&stage.carol);
    let missing = stage.authority.file("missing.pem");
    for option in ["tls_ca", "tls_cert", "tls_key"] {
        let named = option.replace('_', ".");
        for file in [missing.as_path(), Path::new("/")] {
            let file = file.to_string_lossy();
            let who = carol.clone().with(option, &file);
            invalid(scene, &who, &[&named, &file])?;
        }
    }
    // A key where certificates are wanted must not be quoted.
    let key = stage.carol.key.to_string_lossy();
    for option in ["tls_ca", "tls_cert"] {
        let who = carol.clone().with(option, &key);
        invalid(scene, &who, &["holds no certificate"])?;
    }
    Ok(())
}

pub fn locked_key(scene: &mut Scene<'_>) -> Result<(), String> {
    let stage = scene.stage;
    let who = Who::trusting(&stage.authority.ca())
        .certified(&stage.carol)
        .with("tls_key", &stage.locked_key.to_string_lossy());
    invalid(scene, &who, &["tls.key", "encrypted", "pass phrase"])
}

pub fn creator_of_nobody(scene: &mut Scene<'_>) -> Result<(), String> {
    let who = Who::anonymous().with("acl", "creator");
    invalid(scene, &who, &["acl", "needs credentials"])
}

fn secure(scene: &Scene<'_>) -> Result<SocketAddr, String> {
    let server = scene.stage.open.secure_address(1);
    server.map_err(|error| error.to_string())
}

/// By the name that the certificates are made out to.
fn name(relay: &Relay) -> String {
    relay.host()
}

/// Before anything is sent (R20).
fn invalid(scene: &Scene<'_>, who: &Who, says: &[&str]) -> Result<(), String> {
    let relay = scene.relay()?;
    let mut client = scene.client("client")?;
    let (hosts, kind) = (relay.host(), "InvalidArgument");
    client.refused("connect", &Client::connecting(&hosts, who), kind, says)?;
    client.exit()?;
    match relay.accepted() {
        0 => Ok(()),
        some => Err(format!("{some} connections were made")),
    }
}

fn refused(
    scene: &Scene<'_>,
    server: SocketAddr,
    hosts: fn(&Relay) -> String,
    who: &Who,
    kind: &str,
    says: &[&str],
) -> Result<(), String> {
    let relay = Relay::start(server).map_err(|error| error.to_string())?;
    let mut client = scene.client("client")?;
    let hosts = hosts(&relay);
    client.refused("connect", &Client::connecting(&hosts, who), kind, says)?;
    // Three rounds where a server may just be starting, with each a question for its version, and as many again on a
    // busy machine where one of them was not answered in time.
    let calls = relay.accepted();
    if calls > 12 {
        return Err(format!("{calls} connections for one refusal"));
    }
    stays("no more connections", Duration::from_secs(1), || {
        relay.accepted() == calls
    })?;
    client.exit()
}
