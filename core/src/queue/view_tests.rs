use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::names::{Family, parse};
use super::*;

fn position(kind: Kind, number: i64) -> Position {
    Position {
        number,
        kind,
        name: format!("{kind:?}-{number}").into(),
    }
}

fn stranger() -> Seen {
    Seen::default()
}

fn ours(node: u64) -> Seen {
    Seen {
        node: Some(NodeId(node)),
        watch: Watch::None,
    }
}

/// A view with contenders `(kind, number)`, each ours with its number as node.
fn view(contenders: &[(Kind, i64)]) -> View {
    let mut view = View::default();
    for (kind, number) in contenders {
        view.insert(
            position(*kind, *number),
            ours(u64::try_from(*number).unwrap()),
        );
    }
    view
}

fn nodes(nodes: Vec<NodeId>) -> Vec<u64> {
    nodes.into_iter().map(|node| node.0).collect()
}

use Kind::{Exclusive, Read, Write};

#[test]
fn r07_a_mutex_waits_for_the_nearest_earlier_contender() {
    let view = view(&[
        (Exclusive, 1),
        (Exclusive, 5),
        (Exclusive, 9),
        (Exclusive, 10),
    ]);
    let blocker = |number| {
        view.blocker(&position(Exclusive, number))
            .map(|at| at.number)
    };
    assert_eq!(blocker(1), None);
    assert_eq!(blocker(5), Some(1));
    // By number: as text 10 would come before 9.
    assert_eq!(blocker(10), Some(9));
    assert_eq!(view.blockers(&position(Exclusive, 10), 2), 2);
    assert_eq!(view.blockers(&position(Exclusive, 5), 9), 1);
}

#[test]
fn r07_a_reader_waits_for_the_nearest_earlier_writer_only() {
    let view = view(&[
        (Read, 1),
        (Write, 2),
        (Read, 3),
        (Read, 4),
        (Write, 5),
        (Read, 6),
    ]);
    let blocker = |kind, number| view.blocker(&position(kind, number)).map(|at| at.number);
    assert_eq!(blocker(Read, 1), None);
    assert_eq!(blocker(Read, 3), Some(2));
    assert_eq!(blocker(Read, 4), Some(2));
    assert_eq!(blocker(Read, 6), Some(5));
    // A writer waits for readers too.
    assert_eq!(blocker(Write, 2), Some(1));
    assert_eq!(blocker(Write, 5), Some(4));
    assert_eq!(view.blockers_of_newcomer(Read, 9), 2);
    assert_eq!(view.blockers_of_newcomer(Write, 9), 6);
}

#[test]
fn r12_a_downgraded_read_stands_right_behind_its_write() {
    let view = view(&[(Write, 2), (Read, 2), (Write, 3)]);
    let blocker = |kind, number| view.blocker(&position(kind, number));
    assert_eq!(blocker(Read, 2), Some(&position(Write, 2)));
    assert_eq!(blocker(Write, 3), Some(&position(Read, 2)));
    assert_eq!(blocker(Write, 2), None);
}

#[test]
fn r08_a_departure_concerns_those_whose_turn_it_may_bring() {
    let view = view(&[
        (Write, 1),
        (Read, 2),
        (Read, 3),
        (Write, 4),
        (Read, 5),
        (Write, 6),
    ]);
    // A writer makes way for the readers right behind it, and for the writer behind them to look again.
    assert_eq!(nodes(view.behind(&position(Write, 1))), [2, 3, 4]);
    // A reader makes way for a writer only.
    assert_eq!(nodes(view.behind(&position(Read, 3))), [4]);
    assert_eq!(nodes(view.behind(&position(Read, 2))), [4]);
    assert_eq!(nodes(view.behind(&position(Write, 4))), [5, 6]);
    assert_eq!(nodes(view.behind(&position(Write, 6))), [0; 0]);
}

#[test]
fn a_listing_replaces_what_was_seen_and_keeps_what_is_known() {
    let mut view = view(&[(Exclusive, 1), (Exclusive, 2)]);
    let theirs = position(Exclusive, 3);
    view.insert(theirs.clone(), stranger());
    view.set_watch(&theirs, Watch::Armed);
    view.set_watch(&position(Exclusive, 2), Watch::Requested(1));
    let gone = view.replace(
        [2, 3, 4]
            .into_iter()
            .map(|number| position(Exclusive, number)),
    );
    assert_eq!(nodes(gone), [1]);
    assert_eq!(view.len(), 3);
    assert_eq!(view.watch_of(&theirs), Some(Watch::Armed));
    assert_eq!(
        view.watch_of(&position(Exclusive, 2)),
        Some(Watch::Requested(1))
    );
    assert_eq!(view.watch_of(&position(Exclusive, 4)), Some(Watch::None));
    assert_eq!(
        view.get(&position(Exclusive, 2)).and_then(|seen| seen.node),
        Some(NodeId(2))
    );
    assert_eq!(view.watched_strangers(), std::slice::from_ref(&theirs));
    assert_eq!(nodes(view.replace(std::iter::empty())), [2]);
    assert_eq!(view.watched_strangers(), []);
}

#[test]
fn r13_a_contender_learnt_to_be_ours_is_no_stranger_any_more() {
    let mut view = View::default();
    let at = position(Exclusive, 1);
    view.insert(at.clone(), stranger());
    view.set_watch(&at, Watch::Armed);
    assert_eq!(view.watched_strangers(), std::slice::from_ref(&at));
    view.insert(at.clone(), ours(7));
    assert_eq!(view.watched_strangers(), []);
    assert_eq!(view.remove(&at).and_then(|seen| seen.node), Some(NodeId(7)));
    assert!(view.remove(&at).is_none());
    view.set_watch(&at, Watch::Armed);
    assert_eq!(view.watch_of(&at), None);
}

#[test]
fn r13_names_of_every_library_stand_in_one_order() {
    let names = [
        "zzz-lock-0000000002",
        "_c_a-lock-0000000010",
        "3c5c__lock__0000000009",
        "aaa__rlock__-0000000001",
    ];
    let mut view = View::default();
    for name in names {
        let parsed = parse(Family::Mutex, name.as_bytes()).expect("a contender");
        view.insert(Position::from(parsed), stranger());
    }
    let last = parse(Family::Mutex, names[1].as_bytes())
        .map(Position::from)
        .unwrap();
    let blocker = view.blocker(&last).unwrap();
    assert_eq!(&*blocker.name, names[2]);
    assert_eq!(view.blockers(&last, 9), 3);
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Read), Just(Write)]
}

proptest! {
    /// Everything the view says follows from the plain list of who is there.
    #[test]
    fn the_view_agrees_with_a_plain_list(
        steps in proptest::collection::vec((0..3_u8, kinds(), 0..12_i64), 1..80),
    ) {
        let mut view = View::default();
        let mut plain: BTreeSet<(i64, Kind)> = BTreeSet::new();
        for (step, kind, number) in steps {
            let at = position(kind, number);
            match step {
                0 => {
                    view.insert(at, ours(1));
                    plain.insert((number, kind));
                }
                1 => {
                    prop_assert_eq!(view.remove(&at).is_some(), plain.remove(&(number, kind)));
                }
                _ => {
                    plain.retain(|(other, _)| other % 3 != number % 3);
                    view.replace(plain.iter().map(|(number, kind)| position(*kind, *number)));
                }
            }
            prop_assert_eq!(view.len(), plain.len());
            for (number, kind) in &plain {
                let excludes = |other: &&(i64, Kind)| {
                    **other < (*number, *kind) && (*kind != Read || other.1 != Read)
                };
                let before: Vec<_> = plain.iter().filter(excludes).collect();
                let at = position(*kind, *number);
                let blocker = view.blocker(&at).map(|at| (at.number, at.kind));
                prop_assert_eq!(blocker, before.last().map(|last| **last));
                prop_assert_eq!(view.blockers(&at, 99), before.len());
                prop_assert_eq!(view.blockers(&at, 2), before.len().min(2));
            }
            let writers = plain.iter().filter(|(_, kind)| *kind == Write).count();
            prop_assert_eq!(view.blockers_of_newcomer(Read, 99), writers);
            prop_assert_eq!(view.blockers_of_newcomer(Write, 99), plain.len());
        }
    }
}
