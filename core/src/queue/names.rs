//! The names of contenders: what we write, and what of other libraries' names counts.

use std::collections::HashMap;
use std::sync::Arc;

use uuid::Uuid;

use crate::mutant::{Mutant, broken};

/// Whose names a lock writes, so that this library's locks exclude ours. It decides only what is written: contenders
/// with names of either kind count for every lock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Naming {
    /// The names of Apache Curator's `InterProcessMutex` and `InterProcessReadWriteLock`, which go-zookeeper's `Lock`
    /// understands too.
    #[default]
    Curator,
    /// The names of kazoo's `Lock`, `ReadLock` and `WriteLock`.
    Kazoo,
}

/// The recipes that count the same names in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    /// The plain and the re-entrant mutex.
    Mutex,
    ReadWrite,
}

/// What a contender wants.
///
/// In the order of precedence for one number: a write lock and the read lock it was downgraded to share theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// A mutex.
    Exclusive,
    Write,
    Read,
}

/// What stands in front of the digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    CuratorLock,
    CuratorRead,
    CuratorWrite,
    /// Kazoo's mutex and its write lock have the same names.
    KazooLock,
    KazooRead,
}

impl Marker {
    const ALL: [Marker; 5] = [
        Marker::CuratorLock,
        Marker::CuratorRead,
        Marker::CuratorWrite,
        Marker::KazooLock,
        Marker::KazooRead,
    ];

    fn text(self) -> &'static str {
        match self {
            Marker::CuratorLock => "-lock-",
            Marker::CuratorRead => "__READ__",
            Marker::CuratorWrite => "__WRIT__",
            Marker::KazooLock => "__lock__",
            Marker::KazooRead => "__rlock__",
        }
    }

    fn kind(self, family: Family) -> Option<Kind> {
        match (family, self) {
            (Family::Mutex, Marker::CuratorLock | Marker::KazooLock | Marker::KazooRead) => {
                Some(Kind::Exclusive)
            }
            (Family::Mutex, Marker::CuratorRead | Marker::CuratorWrite) => None,
            (Family::ReadWrite, Marker::CuratorRead | Marker::KazooRead) => Some(Kind::Read),
            (Family::ReadWrite, Marker::CuratorWrite | Marker::KazooLock) => Some(Kind::Write),
            (Family::ReadWrite, Marker::CuratorLock) => None,
        }
    }

    fn is_read(self) -> bool {
        matches!(self, Marker::CuratorRead | Marker::KazooRead)
    }

    fn written_for(naming: Naming, kind: Kind) -> Marker {
        match (naming, kind) {
            (Naming::Curator, Kind::Exclusive) => Marker::CuratorLock,
            (Naming::Curator, Kind::Write) => Marker::CuratorWrite,
            (Naming::Curator, Kind::Read) => Marker::CuratorRead,
            (Naming::Kazoo, Kind::Exclusive | Kind::Write) => Marker::KazooLock,
            (Naming::Kazoo, Kind::Read) => Marker::KazooRead,
        }
    }
}

/// The name of a contender, understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parsed<'a> {
    pub(crate) kind: Kind,
    pub(crate) number: i64,
    pub(crate) name: &'a str,
    marker: Marker,
}

/// Understands the name of a child of a lock path; `None` for a stranger (R13).
///
/// The digits are required, right behind the marker and up to the end: a marker alone makes no contender. Names that
/// are not UTF-8 are strangers: no ZooKeeper server keeps such a name.
pub(crate) fn parse(family: Family, name: &[u8]) -> Option<Parsed<'_>> {
    let name = str::from_utf8(name).ok()?;
    let front = name.trim_end_matches(|char: char| char.is_ascii_digit());
    // The dash in front of the digits may be the marker's last one, or a sign (Z1).
    let front = match marker_at_end(front) {
        Some(_) => front,
        None => front.strip_suffix('-')?,
    };
    let marker = marker_at_end(front)?;
    Some(Parsed {
        kind: marker.kind(family)?,
        number: name.get(front.len()..)?.parse().ok()?,
        name,
        marker,
    })
}

fn marker_at_end(front: &str) -> Option<Marker> {
    Marker::ALL
        .into_iter()
        .find(|marker| front.ends_with(marker.text()))
}

/// The name to create a sequential node with.
pub(crate) fn prefix(naming: Naming, kind: Kind, guid: &Uuid) -> String {
    let marker = Marker::written_for(naming, kind);
    let text = marker.text();
    let guid = guid_text(naming, guid);
    match (naming, marker) {
        (Naming::Kazoo, _) | (_, Marker::CuratorLock) => [&guid, text].concat(),
        // Curator's read and write markers bring no dash of their own.
        (Naming::Curator, _) => [&guid, "-", text].concat(),
    }
}

/// The name of the plain ephemeral node by which the owner of a write lock reads: in the place of its write node, whose
/// number it repeats (R12).
pub(crate) fn downgrade_name(naming: Naming, guid: &Uuid, write_number: i64) -> String {
    format!("{}{write_number:010}", prefix(naming, Kind::Read, guid))
}

/// Whether a name carries this GUID, in either naming.
pub(crate) fn owned_by(name: &[u8], guid: &Uuid) -> bool {
    let follows = |naming, separator: &[u8]| {
        name.strip_prefix(guid_text(naming, guid).as_bytes())
            .is_some_and(|rest| rest.starts_with(separator))
    };
    follows(Naming::Curator, b"-") || follows(Naming::Kazoo, b"__")
}

/// The names by the GUIDs that they carry: a look for many of them must not read the list once for each.
pub(crate) fn by_guid(names: &[Vec<u8>]) -> HashMap<Uuid, &[u8]> {
    let guid = |name: &[u8]| {
        let text = match name.strip_prefix(b"_c_") {
            Some(rest) => rest.get(..uuid::fmt::Hyphenated::LENGTH),
            None => name.get(..uuid::fmt::Simple::LENGTH),
        };
        let guid = Uuid::try_parse_ascii(text?).ok()?;
        owned_by(name, &guid).then_some(guid)
    };
    names
        .iter()
        .filter_map(|name| Some((guid(name)?, name.as_slice())))
        .collect()
}

fn guid_text(naming: Naming, guid: &Uuid) -> String {
    match naming {
        Naming::Curator => {
            let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
            ["_c_", guid.hyphenated().encode_lower(&mut text)].concat()
        }
        Naming::Kazoo => {
            let mut text = [0; uuid::fmt::Simple::LENGTH];
            guid.simple().encode_lower(&mut text).to_owned()
        }
    }
}

/// Whether the contenders of a path show that its sequence is used up, so that their numbers tell no order (Z1, R14).
///
/// Numbers do not repeat otherwise, except those of readers: a downgrade's read node repeats its write node's number, and
/// so does the next one when the first is still being cleaned up. That is seen by the names, not by the kinds, because to
/// a mutex kazoo's readers are exclusive.
pub(crate) fn exhausted<'a>(contenders: impl Iterator<Item = Parsed<'a>>) -> bool {
    let used_up = |number: i64| number < 0 || number == i64::from(i32::MAX);
    let mut numbers = Vec::new();
    for contender in contenders {
        if used_up(contender.number) {
            return true;
        }
        if !contender.marker.is_read() {
            numbers.push(contender.number);
        }
    }
    numbers.sort_unstable();
    numbers
        .windows(2)
        .any(|pair| matches!(pair, [one, next] if one == next))
}

/// A contender's place in the queue. The order is that of the fields; the name is only there to make it total.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Position {
    pub(crate) number: i64,
    pub(crate) kind: Kind,
    pub(crate) name: Arc<str>,
}

impl From<Parsed<'_>> for Position {
    fn from(parsed: Parsed<'_>) -> Self {
        let number = if broken(Mutant::StringOrder) {
            // The first letters of the name are a number for its place among names.
            let letters = parsed.name.trim_start_matches("_c_").bytes().take(7);
            letters.fold(0, |number, letter| number << 8 | i64::from(letter))
        } else {
            parsed.number
        };
        Position {
            number,
            kind: parsed.kind,
            name: parsed.name.into(),
        }
    }
}

#[cfg(test)]
mod tests;
