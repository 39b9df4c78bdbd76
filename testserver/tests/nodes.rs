//! Nodes: kinds, numbers, versions, zxids and errors.
mod common;

use common::decode::Part;
use common::encode::*;
use common::simulation::{Simulation, one_server};
use zoolock_testserver::model::{Settings, permission};

#[test]
fn zxids_and_versions_count_what_the_server_counts() {
    let mut sim = one_server();
    let (a, session) = sim.connect(0, 10_000);
    let reply = sim.ask(a, CREATE2, &create("/a", b"x", &open(), EPHEMERAL));
    assert_eq!(reply.zxid, 2, "the session took 1");
    let mut fields = reply.fields();
    assert_eq!(fields.string(), "/a");
    let stat = fields.stat();
    assert_eq!((stat.czxid, stat.mzxid, stat.pzxid), (2, 2, 2));
    assert_eq!(stat.ephemeral_owner, session.id);
    assert_eq!(
        (stat.data_length, stat.num_children, stat.version),
        (1, 0, 0)
    );

    assert_eq!(
        sim.ask(a, CREATE2, &create("/a", b"", &open(), 0)).code,
        -110
    );
    let stat = sim
        .ask(a, SET_DATA, &set_data("/a", b"yy", 0))
        .fields()
        .stat();
    assert_eq!((stat.czxid, stat.mzxid), (2, 4), "the failed create took 3");
    assert_eq!((stat.version, stat.data_length), (1, 2));
    assert_eq!(sim.ask(a, SET_DATA, &set_data("/a", b"", 0)).code, -103);

    sim.ask(a, CREATE, &create("/p", b"", &open(), 0));
    sim.ask(a, CREATE, &create("/p/c", b"", &open(), 0));
    sim.ask(a, DELETE, &path_and_number("/p/c", -1));
    let mut stat = sim.ask(a, EXISTS, &path_and_flag("/p", false));
    let parent = stat.fields().stat();
    assert_eq!((parent.cversion, parent.num_children), (2, 0));
    assert_eq!(parent.pzxid, stat.zxid);
    stat = sim.ask(a, EXISTS, &path_and_flag("/p/c", false));
    assert_eq!((stat.code, stat.body.len()), (-101, 0));
}

#[test]
fn a_sequence_has_ten_digits_and_does_not_count_deletions() {
    let mut sim = one_server();
    let (a, _) = sim.connect(0, 10_000);
    sim.ask(a, CREATE_CONTAINER, &create("/q", b"", &open(), CONTAINER));
    let body = create("/q/n-", b"", &open(), EPHEMERAL_SEQUENTIAL);
    assert_eq!(sim.ask(a, CREATE2, &body).path(), "/q/n-0000000000");
    sim.ask(a, DELETE, &path_and_number("/q/n-0000000000", -1));
    assert_eq!(sim.ask(a, CREATE2, &body).path(), "/q/n-0000000001");
    sim.ask(a, DELETE, &path_and_number("/q/n-0000000001", -1));
    sim.ask(a, DELETE, &path_and_number("/q", -1));
    sim.ask(a, CREATE_CONTAINER, &create("/q", b"", &open(), CONTAINER));
    assert_eq!(
        sim.ask(a, CREATE2, &body).path(),
        "/q/n-0000000000",
        "a new parent starts afresh"
    );
}

#[test]
fn a_sequence_sticks_at_its_end() {
    let mut sim = one_server();
    let (a, _) = sim.connect(0, 10_000);
    sim.ask(a, CREATE, &create("/q", b"", &open(), 0));
    sim.cluster.set_next_sequence("/q", i32::MAX - 1);
    let body = create("/q/n-", b"", &open(), EPHEMERAL_SEQUENTIAL);
    assert_eq!(sim.ask(a, CREATE2, &body).path(), "/q/n-2147483646");
    assert_eq!(sim.ask(a, CREATE2, &body).path(), "/q/n-2147483647");
    assert_eq!(sim.ask(a, CREATE2, &body).code, -110, "the same name again");
    let other = create("/q/o-", b"", &open(), EPHEMERAL_SEQUENTIAL);
    assert_eq!(sim.ask(a, CREATE2, &other).path(), "/q/o-2147483647");
}

#[test]
fn a_sequence_wraps_before_3_6() {
    let settings = Settings {
        sequence_sticks: false,
        ..Settings::default()
    };
    let mut sim = Simulation::new(settings, 1);
    let (a, _) = sim.connect(0, 10_000);
    sim.ask(a, CREATE, &create("/q", b"", &open(), 0));
    sim.cluster.set_next_sequence("/q", i32::MAX);
    let body = create("/q/n-", b"", &open(), EPHEMERAL_SEQUENTIAL);
    assert_eq!(sim.ask(a, CREATE2, &body).path(), "/q/n-2147483647");
    assert_eq!(sim.ask(a, CREATE2, &body).path(), "/q/n--2147483648");
}

#[test]
fn errors_come_in_the_servers_order() {
    let mut sim = one_server();
    let (a, _) = sim.connect(0, 10_000);
    sim.ask(a, CREATE, &create("/e", b"", &open(), EPHEMERAL));
    for (code, op, body) in [
        (-101, CREATE, create("/x/y", b"", &open(), 0)),
        (-108, CREATE, create("/e/y", b"", &open(), 0)),
        (-114, CREATE, create("/x/y", b"", &[], 0)),
        (-8, CREATE, create("x", b"", &open(), 0)),
        (-8, CREATE, create("/x/", b"", &open(), 9)),
        (-8, CREATE, create("/.", b"", &open(), 0)),
        (-6, CREATE, create("/t", b"", &open(), 5)),
        (-110, CREATE, create("/", b"", &open(), 0)),
        (-101, DELETE, path_and_number("/x", -1)),
        (-8, DELETE, path_and_number("/", -1)),
        (-8, DELETE, path_and_number("/zookeeper", -1)),
        (-103, DELETE, path_and_number("/e", 7)),
        (-8, SET_DATA, set_data("x", b"", -1)),
        (-101, SET_DATA, set_data("/x", b"", -1)),
        (-101, GET_DATA, path_and_flag("/x", true)),
        (-101, GET_CHILDREN2, path_and_flag("/x", true)),
        (-101, GET_ACL, record().string("/x")),
    ] {
        let reply = sim.ask(a, op, &body);
        assert_eq!(
            (reply.code, reply.body.len()),
            (code, 0),
            "{op} {:?}",
            body.0
        );
    }
    sim.ask(a, CREATE, &create("/p", b"", &open(), 0));
    sim.ask(a, CREATE, &create("/p/c", b"", &open(), 0));
    assert_eq!(sim.ask(a, DELETE, &path_and_number("/p", -1)).code, -111);
    assert_eq!(
        sim.cluster.watch_count(0),
        0,
        "getData leaves no watch on a missing node"
    );
}

#[test]
fn a_multi_is_applied_whole_or_not_at_all() {
    let mut sim = one_server();
    let (a, _) = sim.connect(0, 10_000);
    sim.ask(a, CREATE, &create("/p", b"", &open(), 0));
    let good = multi(&[
        (CHECK, path_and_number("/p", 0)),
        (CREATE2, create("/p/a-", b"", &open(), EPHEMERAL_SEQUENTIAL)),
        (CREATE, create("/p/a-", b"", &open(), SEQUENTIAL)),
        (SET_DATA, set_data("/p", b"z", 0)),
        (DELETE, path_and_number("/p/a-0000000001", 0)),
    ]);
    let reply = sim.ask(a, MULTI, &good);
    assert_eq!(reply.code, 0);
    let parts = reply.fields().multi();
    assert_eq!(parts[0], Part::Checked);
    let Part::Created(path, Some(stat)) = &parts[1] else {
        panic!("{parts:?}");
    };
    assert_eq!((path.as_str(), stat.czxid), ("/p/a-0000000000", reply.zxid));
    assert_eq!(parts[2], Part::Created("/p/a-0000000001".into(), None));
    assert_eq!(parts[4], Part::Deleted);
    assert_eq!(sim.cluster.children("/p").unwrap(), ["a-0000000000"]);

    let bad = multi(&[
        (CREATE2, create("/p/b", b"", &open(), 0)),
        (CHECK, path_and_number("/p/none", -1)),
        (CREATE2, create("/p/c", b"", &open(), 0)),
    ]);
    let reply = sim.ask(a, MULTI, &bad);
    assert_eq!(reply.code, 0, "the header of a failed one says nothing");
    let codes = [Part::Failed(0), Part::Failed(-101), Part::Failed(-2)];
    assert_eq!(reply.fields().multi(), codes);
    assert_eq!(sim.cluster.children("/p").unwrap(), ["a-0000000000"]);
    assert_eq!(
        sim.ask(a, MULTI, &record().i32(77).bool(false).i32(-1))
            .code,
        -5
    );
}

#[test]
fn rights_are_checked() {
    let mut sim = one_server();
    let (a, _) = sim.connect(0, 10_000);
    let (b, _) = sim.connect(0, 10_000);
    let creator = acl("auth", "", permission::ALL);
    assert_eq!(
        sim.ask(a, CREATE, &create("/a", b"", &creator, 0)).code,
        -114
    );
    assert_eq!(sim.ask(a, AUTH, &auth("digest", b"me:secret")).code, 0);
    assert_eq!(sim.ask(a, CREATE, &create("/a", b"", &creator, 0)).code, 0);
    let reply = sim.ask(a, GET_ACL, &record().string("/a"));
    let mine = reply.fields().acl();
    assert_eq!(mine[0].id.scheme, "digest");
    assert!(mine[0].id.id.starts_with("me:"), "{mine:?}");

    for (op, body) in [
        (EXISTS, path_and_flag("/a", true)),
        (GET_DATA, path_and_flag("/a", true)),
        (GET_CHILDREN, path_and_flag("/a", true)),
        (GET_ACL, record().string("/a")),
        (SET_DATA, set_data("/a", b"", -1)),
        (SET_ACL, set_acl("/a", &open(), -1)),
        (CREATE, create("/a/b", b"", &open(), 0)),
        (DELETE, path_and_number("/a/b", -1)),
    ] {
        assert_eq!(sim.ask(b, op, &body).code, -102, "{op}");
    }
    assert_eq!(sim.cluster.watch_count(0), 0);
    assert_eq!(
        sim.ask(b, DELETE, &path_and_number("/a", -1)).code,
        0,
        "a right on the parent"
    );

    let look_but_not_touch = [
        acl("digest", "you:hash", permission::ALL),
        acl("world", "anyone", permission::READ),
    ];
    sim.ask(
        a,
        CREATE,
        &create("/c", b"", &look_but_not_touch.concat(), 0),
    );
    let shown = sim.ask(b, GET_ACL, &record().string("/c")).fields().acl();
    assert_eq!(shown[0].id.id, "you:x", "others' digests are masked");
    assert_eq!(sim.ask(b, AUTH, &auth("world", b"")).code, -115);
    assert!(sim.is_closed(b));
}

#[test]
fn containers_are_reaped_when_empty() {
    let mut sim = one_server();
    let (a, _) = sim.connect(0, 40_000);
    for path in ["/used", "/new", "/full"] {
        sim.ask(a, CREATE_CONTAINER, &create(path, b"", &open(), CONTAINER));
    }
    sim.ask(a, CREATE, &create("/used/x", b"", &open(), 0));
    sim.ask(a, DELETE, &path_and_number("/used/x", -1));
    sim.ask(a, CREATE, &create("/full/x", b"", &open(), 0));
    assert!(sim.cluster.node("/new").unwrap().is_container);
    sim.pass_ms(59_999);
    assert!(sim.cluster.node("/used").is_some());
    sim.pass_ms(1);
    assert!(sim.cluster.node("/used").is_none());
    sim.pass_ms(300_000);
    assert!(
        sim.cluster.node("/new").is_none(),
        "a never used one goes after five minutes"
    );
    assert!(sim.cluster.node("/full").is_some());
}

#[test]
fn sessions_can_ask_for_what_is_theirs_and_for_counts() {
    let mut sim = one_server();
    let (a, _) = sim.connect(0, 40_000);
    let (b, _) = sim.connect(0, 40_000);
    for path in ["/locks", "/locks/a", "/lockstep"] {
        sim.ask(a, CREATE, &create(path, b"", &open(), PERSISTENT));
    }
    sim.ask(a, CREATE, &create("/locks/a/mine", b"", &open(), EPHEMERAL));
    sim.ask(a, CREATE, &create("/mine", b"", &open(), EPHEMERAL));
    sim.ask(
        b,
        CREATE,
        &create("/locks/a/yours", b"", &open(), EPHEMERAL),
    );
    let ask = |sim: &mut Simulation, prefix: &str| {
        let reply = sim.ask(a, GET_EPHEMERALS, &record().string(prefix));
        reply.fields().strings()
    };
    assert_eq!(ask(&mut sim, ""), ["/locks/a/mine", "/mine"]);
    assert_eq!(ask(&mut sim, "/locks"), ["/locks/a/mine"]);
    let count = |sim: &mut Simulation, path: &str| {
        let reply = sim.ask(a, GET_ALL_CHILDREN_NUMBER, &record().string(path));
        reply.fields().i32()
    };
    assert_eq!(count(&mut sim, "/locks"), 3);
    assert_eq!(count(&mut sim, "/mine"), 0);
    let none = record().string("/none");
    assert_eq!(sim.ask(a, GET_ALL_CHILDREN_NUMBER, &none).code, -101);
    sim.ask(a, AUTH, &auth("digest", b"me:secret"));
    let reply = sim.ask(a, WHO_AM_I, &record());
    let expected = [("ip", "127.0.0.1"), ("digest", "me")];
    let expected = expected.map(|(scheme, user)| (scheme.to_owned(), user.to_owned()));
    assert_eq!(reply.fields().identities(), expected);
}
