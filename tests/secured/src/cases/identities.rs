//! Who one is over TLS, and what the nodes say of it.

use crate::cases::access::check_acls;
use crate::client::Who;
use crate::scene::Scene;
use crate::stage::ALICE;

pub fn authority_and_name(scene: &mut Scene<'_>) -> Result<(), String> {
    let who = Who::trusting(&scene.stage.authority.ca());
    locked_as(scene, &who, "31 world anyone", "31 world anyone")
}

pub fn certificate(scene: &mut Scene<'_>) -> Result<(), String> {
    let stage = scene.stage;
    let who = Who::trusting(&stage.authority.ca()).certified(&stage.carol);
    let contender = "1 world anyone;31 x509 CN=carol";
    locked_as(scene, &who, contender, "31 x509 CN=carol")
}

pub fn both(scene: &mut Scene<'_>) -> Result<(), String> {
    let stage = scene.stage;
    let who = Who::digest(ALICE)
        .tls(&stage.authority.ca())
        .certified(&stage.carol);
    let creators = format!("31 digest {};31 x509 CN=carol", ALICE.id);
    let contender = format!("1 world anyone;{creators}");
    locked_as(scene, &who, &contender, &creators)
}

pub fn lists(scene: &mut Scene<'_>) -> Result<(), String> {
    let stage = scene.stage;
    let list = "1 world anyone;13 x509 CN=dave;31 x509 CN=carol";
    let who = |identity| {
        Who::trusting(&stage.authority.ca())
            .certified(identity)
            .with("acl", list)
    };
    locked_as(scene, &who(&stage.carol), list, list)?;
    // The list lets the other one in as well, below the same parents.
    locked_as(scene, &who(&stage.dave), list, list)
}

fn locked_as(
    scene: &mut Scene<'_>,
    who: &Who,
    contender: &str,
    parents: &str,
) -> Result<(), String> {
    let mut client = scene.client("client")?;
    client.connect(&scene.stage.open.secure_hosts(), who)?;
    let path = scene.path("lock");
    client.mutex("m", &path, &[])?;
    let (_, node) = client.lock("m", "g")?;
    check_acls(scene, &[(&node, contender), (&path, parents)])?;
    client.release("g")?;
    client.exit()
}
