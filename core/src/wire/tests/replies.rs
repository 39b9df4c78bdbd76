//! Replies that the recorded server did not give.

use proptest::prelude::*;

use crate::wire::code::Code;
use crate::wire::codec::{Reader, WireError, Writer};
use crate::wire::reply::*;
use crate::wire::request::Operation;
use crate::wire::stat::Stat;

fn encode_stat(writer: &mut Writer, stat: &Stat) {
    writer
        .i64(stat.czxid)
        .i64(stat.mzxid)
        .i64(stat.ctime)
        .i64(stat.mtime)
        .i32(stat.version)
        .i32(stat.cversion)
        .i32(stat.aversion)
        .i64(stat.ephemeral_owner)
        .i32(stat.data_length)
        .i32(stat.num_children)
        .i64(stat.pzxid);
}

fn body(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut writer = Writer::frame();
    write(&mut writer);
    writer.finish().split_off(4)
}

fn stats() -> impl Strategy<Value = Stat> {
    (any::<[i64; 6]>(), any::<[i32; 5]>()).prop_map(|(long, int)| Stat {
        czxid: long[0],
        mzxid: long[1],
        ctime: long[2],
        mtime: long[3],
        version: int[0],
        cversion: int[1],
        aversion: int[2],
        ephemeral_owner: long[4],
        data_length: int[3],
        num_children: int[4],
        pzxid: long[5],
    })
}

proptest! {
    #[test]
    fn stats_survive(stat in stats()) {
        let body = body(|writer| encode_stat(writer, &stat));
        prop_assert_eq!(body.len(), 68);
        prop_assert_eq!(Stat::decode(&mut Reader::new(&body)), Ok(stat));
    }

    #[test]
    fn children_survive_in_any_encoding(names: Vec<Vec<u8>>, stat in stats()) {
        let body = body(|writer| {
            writer.len(names.len());
            for name in &names {
                writer.buffer(name);
            }
            encode_stat(writer, &stat);
        });
        let reply = Reply::decode(Operation::GetChildren2, &body);
        prop_assert_eq!(reply, Ok(Reply::Children { names, stat }));
    }

    #[test]
    fn headers_survive(xid: i32, zxid: i64, code: i32, rest: Vec<u8>) {
        let mut frame = body(|writer| {
            writer.i32(xid).i64(zxid).i32(code);
        });
        frame.extend_from_slice(&rest);
        let header = ReplyHeader { xid, zxid, code: Code(code) };
        prop_assert_eq!(ReplyHeader::decode(&frame), Ok((header, &rest[..])));
    }

    #[test]
    fn events_survive(kind: i32, state: i32, path: String) {
        let body = body(|writer| {
            writer.i32(kind).i32(state).string(&path);
        });
        let event = WatchEvent::decode(&body).unwrap();
        prop_assert_eq!((event.state, event.path), (state, path));
    }
}

#[test]
fn a_count_alone_reserves_nothing() {
    let body = body(|writer| {
        writer.i32(i32::MAX).i32(0);
    });
    assert_eq!(
        Reply::decode(Operation::GetChildren2, &body),
        Err(WireError::Truncated)
    );
}

#[test]
fn data_may_be_null() {
    let body = body(|writer| {
        writer.i32(-1);
        encode_stat(writer, &Stat::default());
    });
    let reply = Reply::decode(Operation::GetData, &body);
    let data = Vec::new();
    let stat = Stat::default();
    assert_eq!(reply, Ok(Reply::Data { data, stat }));
}

#[test]
fn fields_of_the_future_are_passed_over() {
    let body = body(|writer| {
        writer.buffer(b"data");
        encode_stat(writer, &Stat::default());
        writer.i64(1);
    });
    let reply = Reply::decode(Operation::GetData, &body);
    let (data, stat) = (b"data".to_vec(), Stat::default());
    assert_eq!(reply, Ok(Reply::Data { data, stat }));
}

#[test]
fn parts_of_unknown_type_are_errors() {
    let body = body(|writer| {
        writer.i32(77).bool(false).i32(0);
    });
    assert_eq!(
        Reply::decode(Operation::Multi, &body),
        Err(WireError::UnknownOperation(77))
    );
}

/// As 3.8.0 sent it.
#[test]
fn before_3_9_a_transaction_creates_without_a_stat() {
    let body = body(|writer| {
        writer.i32(13).bool(false).i32(-1);
        writer.i32(1).bool(false).i32(-1).string("/l/x");
        writer.i32(-1).bool(true).i32(-1);
    });
    let created = MultiResult::Created {
        path: "/l/x".to_owned(),
        stat: None,
    };
    assert_eq!(
        Reply::decode(Operation::Multi, &body),
        Ok(Reply::Multi(vec![MultiResult::Checked, created]))
    );
}

#[test]
fn a_failed_transaction_names_the_part_that_failed() {
    let errors =
        |codes: &[Code]| -> Vec<_> { codes.iter().copied().map(MultiResult::Error).collect() };
    let failure = |codes| multi_failure(&errors(codes));
    assert_eq!(failure(&[]), None);
    assert_eq!(
        failure(&[Code::OK, Code::NO_NODE, Code::RUNTIME_INCONSISTENCY]),
        Some((1, Code::NO_NODE))
    );
    assert_eq!(failure(&[Code::OK, Code::OK]), Some((0, Code::OK)));
    assert_eq!(multi_failure(&[MultiResult::Checked]), None);
}

#[test]
fn codes() {
    assert_eq!(
        Code(-101).to_string(),
        "the node does not exist (NoNode -101)"
    );
    assert_eq!(format!("{:?}", Code(-999)), "Unknown(-999)");
    let confirmed: Vec<i32> = (-1000..1000)
        .filter(|code| Code(*code).confirmed_by_leader())
        .collect();
    assert_eq!(confirmed, [-111, -110, -108, -103, -101, 0]);
    let known = (-1000..=0).filter(|code| Code(*code).name() != "Unknown");
    assert_eq!(known.count(), 28);
}
