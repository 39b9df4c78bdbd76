//! The children of a lock path, whoever made them (R13).

use uuid::Uuid;

use crate::queue::names::{self, Family, Naming, Parsed, Position};

/// Names, separated by line ends.
pub(super) fn run(input: &[u8]) {
    for family in [Family::Mutex, Family::ReadWrite] {
        let contenders: Vec<Parsed<'_>> = input
            .split(|byte| *byte == b'\n')
            .filter_map(|name| names::parse(family, name))
            .collect();
        for contender in &contenders {
            understood(family, contender);
        }
        let numbers = contenders.iter().map(|contender| contender.number);
        let is_used_up = |number: i64| number < 0 || number == i64::from(i32::MAX);
        let by_number = numbers.clone().any(is_used_up);
        let exhausted = names::exhausted(contenders.iter().copied());
        assert!(exhausted || !by_number, "R14");
        let mut queue: Vec<Position> = contenders.into_iter().map(Position::from).collect();
        queue.sort();
        assert!(queue.is_sorted_by_key(|position| position.number), "R7");
    }
    let guid = Uuid::from_u128(7);
    for name in input.split(|byte| *byte == b'\n') {
        let _ours = names::owned_by(name, &guid);
    }
}

fn understood(family: Family, contender: &Parsed<'_>) {
    let digits = contender
        .name
        .trim_start_matches(|char: char| !char.is_ascii_digit());
    assert!(!digits.is_empty(), "a marker alone is a stranger");
    // Order is by the number, so the same name has to have the same one each time.
    let again = names::parse(family, contender.name.as_bytes());
    assert_eq!(again.as_ref(), Some(contender));
    let ours = names::prefix(Naming::Curator, contender.kind, &Uuid::from_u128(7));
    let created = format!("{ours}{:010}", contender.number);
    let read = names::parse(family, created.as_bytes()).expect("what we write we understand");
    assert_eq!((read.kind, read.number), (contender.kind, contender.number));
}
