//! Clients of different identities in one queue.

use zoolock_ensemble::{Acl, NodeKind, Permission};

use crate::cases::access::check_acls;
use crate::client::Who;
use crate::scene::{Scene, wait};
use crate::stage::{ALICE, BOB};

/// Two by `digest`, one by certificate, one who is nobody. The parent lets them all queue: CREATE and DELETE are rights on
/// it (Z13). The contenders are each their creator's own.
pub fn mixed(scene: &mut Scene<'_>) -> Result<(), String> {
    let stage = scene.stage;
    let failed = |error: zoolock_ensemble::Error| error.to_string();
    let observer = stage.observer()?;
    let path = scene.path("lock");
    let (above, _) = path.rsplit_once('/').unwrap_or_default();
    observer.ensure(above).map_err(failed)?;
    let queue = Permission::READ | Permission::CREATE | Permission::DELETE;
    let acl = vec![Acl::new(queue, "world", "anyone")];
    observer
        .create_with_acl(&path, b"", NodeKind::Persistent, acl)
        .map_err(failed)?;
    let count = |wanted: usize| {
        wait(&format!("{wanted} contenders"), || {
            observer
                .children(&path)
                .is_ok_and(|names| names.len() == wanted)
        })
    };

    let ca = stage.authority.ca();
    let (plain, secure) = (stage.open.direct(), stage.open.secure_hosts());
    let people = [
        ("alice", &plain, Who::digest(ALICE)),
        ("bob", &secure, Who::digest(BOB).tls(&ca)),
        ("carol", &secure, Who::trusting(&ca).certified(&stage.carol)),
        ("nobody", &plain, Who::anonymous()),
    ];
    let mut clients = Vec::new();
    for (name, hosts, who) in &people {
        let mut client = scene.client(name)?;
        client.connect(hosts, who)?;
        client.mutex("m", &path, &[])?;
        clients.push(client);
    }
    let [alice, bob, carol, nobody] = &mut clients[..] else {
        return Err("there are not four".into());
    };

    let (first, of_alice) = alice.lock("m", "g")?;
    let bob_waits = bob.begin_lock("m", "g")?;
    count(2)?;
    let carol_waits = carol.begin_lock("m", "g")?;
    count(3)?;
    let fields = [("lock", "m"), ("guard", "n"), ("cancel", "c")];
    let nobody_waits = nobody.begin("lock", &fields)?;
    count(4)?;

    // A waiter's session is over: it queues again, behind the others.
    let sessions = alice.sessions("m")?;
    let [_, of_bob, of_carol, _] = sessions[..] else {
        return Err(format!("not four contenders: {sessions:?}"));
    };
    stage.open.expire(of_bob).map_err(failed)?;
    wait("bob is the last", || {
        alice
            .sessions("m")
            .is_ok_and(|now| now.len() == 4 && now[1] == of_carol && !now.contains(&of_bob))
    })?;

    // A waiter gives up, and comes back.
    nobody.ask("cancel", &[("cancel", "c")])?;
    nobody.has_failed(&nobody_waits, "Cancelled", &[])?;
    count(3)?;
    let nobody_waits = nobody.begin_lock("m", "g")?;
    count(4)?;

    if carol.has_answered(&carol_waits) {
        return Err("carol was granted while alice holds".into());
    }
    alice.release("g")?;
    let (second, node) = carol.granted(&carol_waits)?;
    check_acls(scene, &[(&node, "1 world anyone;31 x509 CN=carol")])?;
    for other in [&mut *alice, &mut *bob] {
        // Whose it is does not matter to who waits behind it.
        if other.sessions("m")?.first() != Some(&of_carol) {
            return Err("carol does not hold".into());
        }
    }
    let outsider = stage.open.observer(1).map_err(failed)?;
    match outsider.set(&node, b"mine") {
        Err(error) if error.to_string().contains("NoAuth") => {}
        other => return Err(format!("a stranger could write to a contender: {other:?}")),
    }

    // The holder's session is over: it is told, and the next one has the lock.
    stage.open.expire(of_carol).map_err(failed)?;
    carol.told("g")?;
    let (third, _) = bob.granted(&bob_waits)?;
    bob.release("g")?;
    let (fourth, node) = nobody.granted(&nobody_waits)?;
    check_acls(scene, &[(&node, "31 world anyone")])?;
    nobody.release("g")?;
    let tokens = [first, second, third, fourth];
    if !tokens.is_sorted_by(|one, next| one < next) {
        return Err(format!("tokens do not rise: {tokens:?} (R2), {of_alice}"));
    }
    count(0)?;
    clients.iter_mut().try_for_each(|client| client.exit())
}
