//! Access control lists, as an independent client sees them on the nodes.

use crate::client::Who;
use crate::scene::Scene;
use crate::stage::{ALICE, BOB, text};

/// That nodes have exactly these lists.
pub fn check_acls(scene: &Scene<'_>, expected: &[(&str, &str)]) -> Result<(), String> {
    let observer = scene.stage.observer()?;
    for (node, acl) in expected {
        let found = observer.acl(node).map_err(|error| error.to_string())?;
        if text(&found) != *acl {
            return Err(format!("{node} has `{}` and not `{acl}`", text(&found)));
        }
    }
    Ok(())
}

pub fn creator(scene: &mut Scene<'_>) -> Result<(), String> {
    let parents = format!("31 digest {}", ALICE.id);
    let contender = format!("1 world anyone;{parents}");
    locked_as(scene, &Who::digest(ALICE), &[], &contender, &parents)?;
    let said = Who::digest(ALICE).with("acl", "creator");
    locked_as(scene, &said, &[], &contender, &parents)
}

pub fn open(scene: &mut Scene<'_>) -> Result<(), String> {
    let who = Who::digest(ALICE).with("acl", "open");
    locked_as(scene, &who, &[], "31 world anyone", "31 world anyone")
}

pub fn list(scene: &mut Scene<'_>) -> Result<(), String> {
    let list = format!("1 world anyone;13 digest {};31 digest {}", BOB.id, ALICE.id);
    let who = Who::digest(ALICE).with("acl", &list);
    locked_as(scene, &who, &[], &list, &list)
}

pub fn of_one_lock(scene: &mut Scene<'_>) -> Result<(), String> {
    let list = format!("1 world anyone;31 digest {}", BOB.id);
    let mut client = scene.client("client")?;
    let who = Who::digest(BOB).with("acl", "open");
    client.connect(&scene.stage.open.direct(), &who)?;
    let (own, usual) = (scene.path("own/lock"), scene.path("usual/lock"));
    client.mutex("usual", &usual, &[])?;
    client.mutex("own", &own, &[("acl", &list)])?;
    let (_, of_usual) = client.lock("usual", "u")?;
    let (_, of_own) = client.lock("own", "o")?;
    let open = "31 world anyone";
    check_acls(
        scene,
        &[
            (&usual, open),
            (&of_usual, open),
            (&scene.path("own"), &list),
            (&own, &list),
            (&of_own, &list),
        ],
    )?;
    client.exit()
}

/// Who is not in the list neither queues nor disturbs who does.
pub fn strangers(scene: &mut Scene<'_>) -> Result<(), String> {
    let stage = scene.stage;
    let list = format!("31 digest {};13 digest {};1 world anyone", ALICE.id, BOB.id);
    let who = Who::digest(ALICE).with("acl", &list);
    let mut alice = scene.client("alice")?;
    alice.connect(&stage.open.direct(), &who)?;
    let path = scene.path("lock");
    alice.mutex("m", &path, &[])?;
    let (_, node) = alice.lock("m", "g")?;

    let mut bob = scene.client("bob")?;
    bob.connect(&stage.open.direct(), &Who::digest(BOB).with("acl", &list))?;
    bob.mutex("m", &path, &[])?;
    let waits = bob.begin_lock("m", "g")?;

    let mut anonymous = scene.client("anonymous")?;
    anonymous.connect(&stage.open.direct(), &Who::anonymous())?;
    anonymous.mutex("m", &path, &[])?;
    let fields = [("lock", "m"), ("guard", "g")];
    anonymous.refused("lock", &fields, "NoAuth", &["CREATE"])?;
    anonymous.refused("try", &fields, "NoAuth", &["CREATE"])?;
    // It may look, as the list says.
    anonymous.ask("contenders", &[("lock", "m")])?;

    let outsider = stage.open.observer(1).map_err(|error| error.to_string())?;
    for (what, tried) in [
        ("delete", outsider.delete(&node).map(drop)),
        ("write to", outsider.set(&node, b"mine").map(drop)),
    ] {
        match tried {
            Err(error) if error.to_string().contains("NoAuth") => {}
            other => return Err(format!("a stranger could {what} a contender: {other:?}")),
        }
    }
    alice.release("g")?;
    bob.granted(&waits)?;
    bob.release("g")?;
    [alice, bob, anonymous]
        .iter_mut()
        .try_for_each(|client| client.exit())
}

fn locked_as(
    scene: &mut Scene<'_>,
    who: &Who,
    more: &[(&str, &str)],
    contender: &str,
    parents: &str,
) -> Result<(), String> {
    let mut client = scene.client("client")?;
    client.connect(&scene.stage.open.direct(), who)?;
    let path = scene.path("lock");
    client.mutex("m", &path, more)?;
    let (_, node) = client.lock("m", "g")?;
    check_acls(scene, &[(&node, contender), (&path, parents)])?;
    client.release("g")?;
    client.exit()
}
