use proptest::prelude::*;

use super::*;

const GUID: Uuid = Uuid::from_u128(0x00112233_4455_6677_8899_aabbccddeeff);

fn understood(family: Family, name: &str) -> Option<(Kind, i64)> {
    parse(family, name.as_bytes()).map(|parsed| (parsed.kind, parsed.number))
}

fn position(number: i64, kind: Kind, name: &str) -> Position {
    Position {
        number,
        kind,
        name: name.into(),
    }
}

#[test]
fn names_of_the_other_libraries() {
    use Kind::*;
    for (name, mutex, read_write) in [
        // Curator's InterProcessMutex.
        (
            "_c_8a1b0e5c-7d07-4f6e-9c0c-6a54f0b4a0de-lock-0000000012",
            Some((Exclusive, 12)),
            None,
        ),
        // go-zookeeper's Lock.
        (
            "_c_8a1b0e5c7d074f6e9c0c6a54f0b4a0de-lock-0000000012",
            Some((Exclusive, 12)),
            None,
        ),
        // Curator's InterProcessReadWriteLock.
        (
            "_c_8a1b0e5c-7d07-4f6e-9c0c-6a54f0b4a0de-__READ__0000000003",
            None,
            Some((Read, 3)),
        ),
        (
            "_c_8a1b0e5c-7d07-4f6e-9c0c-6a54f0b4a0de-__WRIT__0000000004",
            None,
            Some((Write, 4)),
        ),
        // Kazoo's Lock and WriteLock, and its ReadLock.
        (
            "8a1b0e5c7d074f6e9c0c6a54f0b4a0de__lock__0000000005",
            Some((Exclusive, 5)),
            Some((Write, 5)),
        ),
        (
            "8a1b0e5c7d074f6e9c0c6a54f0b4a0de__rlock__0000000006",
            Some((Exclusive, 6)),
            Some((Read, 6)),
        ),
    ] {
        assert_eq!(understood(Family::Mutex, name), mutex, "{name}");
        assert_eq!(understood(Family::ReadWrite, name), read_write, "{name}");
    }
}

#[test]
fn numbers() {
    for (digits, number) in [
        ("0000000000", Some(0)),
        ("2147483647", Some(2_147_483_647)),
        ("-2147483648", Some(-2_147_483_648)),
        ("-000000001", Some(-1)),
        ("7", Some(7)),
        ("10000000000", Some(10_000_000_000)),
        ("9223372036854775807", Some(i64::MAX)),
        ("-9223372036854775808", Some(i64::MIN)),
        ("9223372036854775808", None),
        ("99999999999999999999999999999999", None),
        ("", None),
        ("-", None),
        ("--1", None),
        ("+1", None),
        ("1 ", None),
        ("1x", None),
        ("0x1", None),
        ("١٢", None),
    ] {
        for marker in ["-lock-", "__lock__", "__rlock__"] {
            let name = format!("_c_x{marker}{digits}");
            let parsed = understood(Family::Mutex, &name);
            assert_eq!(parsed.map(|(_, number)| number), number, "{name}");
        }
    }
}

#[test]
fn strangers() {
    for name in [
        "",
        "0",
        "-1",
        "0000000001",
        "lock-",
        "lock-0000000001",
        "-lock-",
        "-lock-abc",
        "_c_x-lock-",
        "_c_x-lock-0000000001-extra",
        "__lock__",
        "_lock__0000000001",
        "__LOCK__0000000001",
        "__read__0000000001",
        "__READ_0000000001",
        "x-lease-0000000001",
        "latch-0000000001",
    ] {
        for family in [Family::Mutex, Family::ReadWrite] {
            assert_eq!(understood(family, name), None, "{name}");
        }
    }
    assert_eq!(parse(Family::Mutex, b"\xff-lock-0000000001"), None);
    assert_eq!(parse(Family::ReadWrite, b"\xed\xa0\x80__READ__1"), None);
}

#[test]
fn the_last_marker_counts() {
    use Kind::*;
    let name = "_c_x-lock-0000000001-__WRIT__0000000002__rlock__0000000003";
    assert_eq!(understood(Family::Mutex, name), Some((Exclusive, 3)));
    assert_eq!(understood(Family::ReadWrite, name), Some((Read, 3)));
    let name = "__lock__-lock-4";
    assert_eq!(understood(Family::Mutex, name), Some((Exclusive, 4)));
    assert_eq!(understood(Family::ReadWrite, name), None);
}

#[test]
fn what_we_write() {
    use Kind::*;
    for (naming, kind, expected) in [
        (
            Naming::Curator,
            Exclusive,
            "_c_00112233-4455-6677-8899-aabbccddeeff-lock-",
        ),
        (
            Naming::Curator,
            Read,
            "_c_00112233-4455-6677-8899-aabbccddeeff-__READ__",
        ),
        (
            Naming::Curator,
            Write,
            "_c_00112233-4455-6677-8899-aabbccddeeff-__WRIT__",
        ),
        (
            Naming::Kazoo,
            Exclusive,
            "00112233445566778899aabbccddeeff__lock__",
        ),
        (
            Naming::Kazoo,
            Read,
            "00112233445566778899aabbccddeeff__rlock__",
        ),
        (
            Naming::Kazoo,
            Write,
            "00112233445566778899aabbccddeeff__lock__",
        ),
    ] {
        assert_eq!(prefix(naming, kind, &GUID), expected);
    }
    assert_eq!(
        downgrade_name(Naming::Curator, &GUID, 7),
        "_c_00112233-4455-6677-8899-aabbccddeeff-__READ__0000000007"
    );
    assert_eq!(
        downgrade_name(Naming::Kazoo, &GUID, 1_234_567_890),
        "00112233445566778899aabbccddeeff__rlock__1234567890"
    );
}

#[test]
fn ownership() {
    for name in [
        "_c_00112233-4455-6677-8899-aabbccddeeff-lock-0000000000",
        "_c_00112233-4455-6677-8899-aabbccddeeff-__READ__0000000000",
        "00112233445566778899aabbccddeeff__lock__0000000000",
        "00112233445566778899aabbccddeeff__rlock__0000000000",
    ] {
        assert!(owned_by(name.as_bytes(), &GUID), "{name}");
        assert!(!owned_by(name.as_bytes(), &Uuid::nil()), "{name}");
    }
    for name in [
        &b""[..],
        b"\xff",
        b"_c_00112233-4455-6677-8899-aabbccddeeff",
        b"_c_00112233-4455-6677-8899-aabbccddeeff0-lock-0000000000",
        b"x_c_00112233-4455-6677-8899-aabbccddeeff-lock-0000000000",
        b"00112233445566778899aabbccddeeff",
        b"00112233445566778899aabbccddeeff-lock-0000000000",
    ] {
        assert!(!owned_by(name, &GUID), "{name:?}");
    }
}

#[test]
fn order_is_by_number_then_writers_first() {
    use Kind::*;
    let mut queue = [
        position(10, Read, "a"),
        position(9, Read, "b"),
        position(9, Write, "z"),
        position(-1, Read, "a"),
        position(9, Read, "a"),
    ];
    queue.sort();
    let expected = [
        position(-1, Read, "a"),
        position(9, Write, "z"),
        position(9, Read, "a"),
        position(9, Read, "b"),
        position(10, Read, "a"),
    ];
    assert_eq!(queue, expected);
}

fn is_exhausted(family: Family, names: &[&str]) -> bool {
    exhausted(
        names
            .iter()
            .filter_map(|name| parse(family, name.as_bytes())),
    )
}

#[test]
fn exhaustion() {
    use Family::*;
    for (family, names, expected) in [
        (Mutex, &[][..], false),
        (Mutex, &["a-lock-0000000001", "b-lock-0000000002"], false),
        (Mutex, &["a-lock-2147483646"], false),
        (Mutex, &["a-lock-2147483647"], true),
        (Mutex, &["a-lock-0000000001", "b-lock--2147483648"], true),
        (Mutex, &["a-lock-0000000001", "b-lock-0000000001"], true),
        (Mutex, &["a-lock-0000000001", "b__lock__0000000001"], true),
        (ReadWrite, &["a__READ__1", "b__WRIT__1"], false),
        (ReadWrite, &["a__READ__1", "b__lock__1"], false),
        // A downgrade that is being cleaned up, and the next one.
        (ReadWrite, &["a__READ__1", "b__READ__1"], false),
        (ReadWrite, &["a__WRIT__1", "b__READ__1", "c__WRIT__1"], true),
        (ReadWrite, &["a__WRIT__1", "b__lock__1"], true),
        // To a mutex both are exclusive, and still a downgrade.
        (Mutex, &["a__lock__1", "b__rlock__1"], false),
        // Strangers have no numbers.
        (Mutex, &["x-2147483647", "a__WRIT__1", "b__WRIT__1"], false),
    ] {
        assert_eq!(is_exhausted(family, names), expected, "{names:?}");
    }
}

fn namings() -> impl Strategy<Value = Naming> {
    prop_oneof![Just(Naming::Curator), Just(Naming::Kazoo)]
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Exclusive), Just(Kind::Write), Just(Kind::Read)]
}

proptest! {
    #[test]
    fn we_understand_what_we_write(
        naming in namings(),
        kind in kinds(),
        guid: u128,
        number: i32,
    ) {
        let guid = Uuid::from_u128(guid);
        let family = match kind {
            Kind::Exclusive => Family::Mutex,
            Kind::Read | Kind::Write => Family::ReadWrite,
        };
        // A server writes numbers so.
        let name = format!("{}{number:010}", prefix(naming, kind, &guid));
        prop_assert_eq!(understood(family, &name), Some((kind, i64::from(number))));
        prop_assert!(owned_by(name.as_bytes(), &guid));
    }

    #[test]
    fn a_downgrade_stands_right_behind_its_write_node(
        naming in namings(),
        guids: [u128; 2],
        number in 0..i32::MAX,
    ) {
        let [write, read] = guids.map(Uuid::from_u128);
        let write = format!("{}{number:010}", prefix(naming, Kind::Write, &write));
        let read = downgrade_name(naming, &read, i64::from(number));
        let parse = |name: &str| Position::from(parse(Family::ReadWrite, name.as_bytes()).unwrap());
        let (write_position, read_position) = (parse(&write), parse(&read));
        prop_assert!(write_position < read_position);
        prop_assert_eq!(write_position.number, read_position.number);
        prop_assert!(!is_exhausted(Family::ReadWrite, &[&write, &read]));
    }

    #[test]
    fn any_name_is_parsed_or_a_stranger(name: Vec<u8>, guid: u128) {
        for family in [Family::Mutex, Family::ReadWrite] {
            let _ = parse(family, &name);
        }
        let _ = owned_by(&name, &Uuid::from_u128(guid));
    }

    #[test]
    fn near_misses(name in r"(-lock-|__r?lock__|__READ__|[-_0-9+ ]|é){0,6}") {
        for family in [Family::Mutex, Family::ReadWrite] {
            if let Some(parsed) = parse(family, name.as_bytes()) {
                prop_assert_eq!(parsed.name, &name[..]);
                prop_assert!(name.ends_with(|char: char| char.is_ascii_digit()));
            }
        }
    }

    #[test]
    fn fresh_sequences_are_not_exhausted(start in 0..1_000_000i64, count in 0..50i64) {
        let names: Vec<String> = (start..start + count)
            .rev()
            .map(|number| format!("x-lock-{number:010}"))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        prop_assert!(!is_exhausted(Family::Mutex, &names));
    }
}

#[test]
fn names_are_found_by_their_guids() {
    let ours = [
        format!(
            "{}0000000001",
            prefix(Naming::Curator, Kind::Exclusive, &GUID)
        ),
        format!(
            "{}0000000002",
            prefix(Naming::Kazoo, Kind::Write, &Uuid::from_u128(7))
        ),
    ];
    let strangers = [
        "",
        "_c_",
        "_c_not-a-guid-lock-0000000003",
        "x-lock-0000000004",
    ];
    let upper = ours[0].to_uppercase();
    let names: Vec<Vec<u8>> = ours
        .iter()
        .map(String::as_str)
        .chain(strangers)
        .chain([upper.as_str()])
        .map(|name| name.as_bytes().to_vec())
        .collect();
    let found = by_guid(&names);
    assert_eq!(found.len(), 2);
    assert_eq!(found[&GUID], ours[0].as_bytes());
    assert_eq!(found[&Uuid::from_u128(7)], ours[1].as_bytes());
}
