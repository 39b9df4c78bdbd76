//! R19: a whole life with every kind of secret, and what is said of it. That nothing was shown in answers and logs is
//! checked at the end of every case; this one makes sure that there is much to show.

use std::fs;

use crate::client::{Client, Who};
use crate::scene::{Scene, wait};
use crate::secrets::{Secret, session_password};
use crate::stage::ALICE;

/// Languages whose library says what it does, so that their logs cannot be empty.
const TALKATIVE: [&str; 2] = ["rust", "python"];

pub fn whole_life(scene: &mut Scene<'_>) -> Result<(), String> {
    let stage = scene.stage;
    let pem = fs::read_to_string(&stage.carol.key).map_err(|error| error.to_string())?;
    let lines: Vec<String> = pem
        .lines()
        .filter(|line| !line.starts_with("-----"))
        .map(str::to_owned)
        .collect();
    for line in &lines {
        scene.hides(Secret::new("a line of a key's file", line.as_bytes()));
    }
    scene.hides(Secret::new("a private key", &private_number(&lines)?));

    let relay = scene.relay()?;
    let hosts = relay.host();
    let who = Who::digest(ALICE)
        .tls(&stage.authority.ca())
        .certified(&stage.carol);
    let mut client = scene.client("client")?;
    client.connect(&hosts, &who)?;
    client.mutex("m", &scene.path("lock"), &[])?;
    client.lock("m", "g")?;
    client.mutex(
        "list",
        &scene.path("list"),
        &[("acl", &format!("31 digest {}", ALICE.id))],
    )?;
    client.lock("list", "l")?;
    let waits = client.begin_lock("m", "n")?;
    let session = client.sessions("m")?;
    let session = *session.first().ok_or("no contender")?;
    scene.hides(Secret::new(
        "a session's password",
        &session_password(session),
    ));
    client.show()?;

    relay.link().reset();
    wait("connected again", || {
        client
            .session_state()
            .is_ok_and(|state| state == "connected")
    })?;
    mistakes(scene, &mut client, &hosts, &who)?;
    client.show()?;

    stage
        .open
        .expire(session)
        .map_err(|error| error.to_string())?;
    client.told("g")?;
    client.granted(&waits)?;
    let now = client.sessions("m")?;
    let now = *now.first().ok_or("no contender")?;
    if now == session {
        return Err("the session is not over".into());
    }
    scene.hides(Secret::new("a session's password", &session_password(now)));
    client.refused("release", &[("guard", "g")], "LockLost", &[])?;
    client.show()?;
    client.release("n")?;
    client.ask("close", &[("session", "s")])?;
    client.show()?;
    client.exit()?;

    let logs = scene.trace.lines();
    let connected = |line: &&String| line.contains(" stderr: ") && line.contains("connected");
    if TALKATIVE.contains(&scene.language.as_str()) && logs.iter().filter(connected).count() < 2 {
        return Err("there is no log to search".into());
    }
    Ok(())
}

/// Errors of all kinds that have to do with secrets.
fn mistakes(scene: &Scene<'_>, client: &mut Client, hosts: &str, who: &Who) -> Result<(), String> {
    let stage = scene.stage;
    let with_password = format!("{}@{hosts}", ALICE.credentials);
    let key = stage.carol.key.to_string_lossy();
    let other_key = stage.dave.key.to_string_lossy();
    let invalid = "InvalidArgument";
    let wrong = [
        (with_password.as_str(), who.clone(), invalid),
        (
            hosts,
            who.clone().with("auth_scheme", ALICE.credentials),
            "AuthFailed",
        ),
        (hosts, who.clone().with("auth_scheme", ""), invalid),
        (
            hosts,
            who.clone().with("acl", &format!("99 digest {}", ALICE.id)),
            invalid,
        ),
        (hosts, who.clone().with("session_timeout_ms", "0"), invalid),
        (hosts, who.clone().with("tls_ca", &key), invalid),
        (hosts, who.clone().with("tls_cert", &key), invalid),
        (hosts, who.clone().with("tls_key", &other_key), invalid),
        (
            hosts,
            who.clone()
                .with("tls_key", &stage.locked_key.to_string_lossy()),
            invalid,
        ),
        (
            hosts,
            who.clone()
                .with("tls_ca", &stage.stranger.ca().to_string_lossy()),
            "AuthFailed",
        ),
        (
            "127.0.0.1:1",
            who.clone().with("connect_timeout_ms", "50"),
            "Unavailable",
        ),
    ];
    for (hosts, who, kind) in &wrong {
        let mut fields = Client::connecting(hosts, who);
        fields.retain(|(key, _)| *key != "session");
        fields.push(("session", "other"));
        client.refused("connect", &fields, kind, &[])?;
    }
    Ok(())
}

/// The secret number of a key for P-256, as PKCS #8 has it.
fn private_number(lines: &[String]) -> Result<Vec<u8>, String> {
    use base64::Engine;
    const BEFORE: [u8; 5] = [2, 1, 1, 4, 32];
    let der = base64::engine::general_purpose::STANDARD
        .decode(lines.concat())
        .map_err(|error| error.to_string())?;
    let at = der
        .windows(BEFORE.len())
        .position(|window| window == BEFORE);
    at.and_then(|at| der.get(at + BEFORE.len()..at + BEFORE.len() + 32))
        .map(<[u8]>::to_vec)
        .ok_or_else(|| "the key is none for P-256".into())
}
