//! Reads the servers' own transaction logs: the witness of who queued, and when it went, that neither zoolock nor any
//! other client has a hand in.
//!
//! Only what is about nodes that come and go is kept. Format: `FileTxnLog` of ZooKeeper 3.5 and later.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

const MAGIC: &[u8; 4] = b"ZKLG";
/// Magic, version, database id.
const FILE_HEADER: usize = 16;

const CREATE: i32 = 1;
const DELETE: i32 = 2;
const MULTI: i32 = 14;
const CREATE2: i32 = 15;
const CREATE_CONTAINER: i32 = 19;
const DELETE_CONTAINER: i32 = 20;
const CREATE_TTL: i32 = 21;
const CLOSE_SESSION: i32 = -11;

/// What a transaction did to one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Created(String),
    Deleted(String),
}

/// A transaction that the ensemble decided on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transaction {
    /// Milliseconds of the leader's wall clock, read when it proposed this.
    pub(crate) wall_ms: i64,
    pub(crate) session: i64,
    pub(crate) changes: Vec<Change>,
}

/// Reads the logs below the servers' data directories, by zxid. To be called when all servers serve and nothing is
/// under way.
pub(crate) fn read(data_dirs: &[impl AsRef<Path>]) -> Result<BTreeMap<i64, Transaction>, String> {
    let mut logs = Vec::new();
    for dir in data_dirs {
        let dir = dir.as_ref().join("version-2");
        let at = |error: io::Error| format!("{}: {error}", dir.display());
        let mut log = BTreeMap::new();
        for file in fs::read_dir(&dir).map_err(at)? {
            let path = file.map_err(at)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with("log.") {
                let bytes = fs::read(&path).map_err(at)?;
                let transactions = parse(&bytes);
                log.extend(
                    transactions.map_err(|problem| format!("{}: {problem}", path.display()))?,
                );
            }
        }
        logs.push(log);
    }
    Ok(decided(&logs))
}

/// What a majority has logged. A leader that was cut off keeps in its log what it had proposed in vain, if it comes back
/// by a snapshot; and what a majority has logged every later leader has, so it is decided.
fn decided(logs: &[BTreeMap<i64, Transaction>]) -> BTreeMap<i64, Transaction> {
    let everything = logs.iter().flatten();
    let majority = logs.len() / 2 + 1;
    let is_decided = |(zxid, transaction): &(&i64, &Transaction)| {
        let with = logs.iter().filter(|log| log.get(zxid) == Some(transaction));
        with.count() >= majority
    };
    let decided = everything.filter(is_decided);
    decided
        .map(|(zxid, transaction)| (*zxid, transaction.clone()))
        .collect()
}

/// The transactions in one file. It ends in zeros, or where a killed server was writing.
fn parse(bytes: &[u8]) -> Result<Vec<(i64, Transaction)>, String> {
    if !bytes.starts_with(MAGIC) {
        // A server that was killed before its first write.
        return if bytes.iter().all(|byte| *byte == 0) {
            Ok(Vec::new())
        } else {
            Err("no transaction log".into())
        };
    }
    let mut transactions = Vec::new();
    let mut rest = bytes.get(FILE_HEADER..).unwrap_or_default();
    while let Some((record, behind)) = next_record(rest) {
        rest = behind;
        let transaction = Reader(record).transaction();
        transactions.push(transaction.ok_or("a record is too short")?);
    }
    Ok(transactions)
}

/// A record with its checksum right, and what comes after it.
fn next_record(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut reader = Reader(bytes);
    let checksum = reader.long()?;
    let length = usize::try_from(reader.int()?)
        .ok()
        .filter(|length| *length > 0)?;
    let record = reader.take(length)?;
    let end = reader.take(1)?;
    (end == b"B" && i64::from(adler32(record)) == checksum).then_some((record, reader.0))
}

fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut a, mut b) = (1, 0);
    for byte in bytes {
        a = (a + u32::from(*byte)) % MODULUS;
        b = (b + a) % MODULUS;
    }
    b << 16 | a
}

/// Reads jute.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn int(&mut self) -> Option<i32> {
        Some(i32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn long(&mut self) -> Option<i64> {
        Some(i64::from_be_bytes(self.take(8)?.try_into().ok()?))
    }

    fn buffer(&mut self) -> Option<&'a [u8]> {
        // -1 is an absent one.
        let length = usize::try_from(self.int()?).unwrap_or(0);
        self.take(length)
    }

    fn string(&mut self) -> Option<String> {
        self.buffer()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    fn transaction(mut self) -> Option<(i64, Transaction)> {
        let session = self.long()?;
        let _cxid = self.int()?;
        let zxid = self.long()?;
        let wall_ms = self.long()?;
        let kind = self.int()?;
        let transaction = Transaction {
            wall_ms,
            session,
            changes: self.changes(kind)?,
        };
        Some((zxid, transaction))
    }

    fn changes(&mut self, kind: i32) -> Option<Vec<Change>> {
        Some(match kind {
            CREATE | CREATE2 | CREATE_CONTAINER | CREATE_TTL => {
                vec![Change::Created(self.string()?)]
            }
            DELETE | DELETE_CONTAINER => vec![Change::Deleted(self.string()?)],
            CLOSE_SESSION => {
                let count = self.int()?;
                let paths = (0..count).map(|_| self.string().map(Change::Deleted));
                paths.collect::<Option<_>>()?
            }
            MULTI => {
                let mut changes = Vec::new();
                for _ in 0..self.int()? {
                    let kind = self.int()?;
                    changes.extend(Reader(self.buffer()?).changes(kind)?);
                }
                changes
            }
            _ => Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(text: &str) -> Vec<u8> {
        let length = i32::try_from(text.len()).unwrap();
        [&length.to_be_bytes(), text.as_bytes()].concat()
    }

    fn record(zxid: i64, kind: i32, body: &[u8]) -> Vec<u8> {
        let header = [
            &7_i64.to_be_bytes()[..],
            &1_i32.to_be_bytes(),
            &zxid.to_be_bytes(),
            &1_000_i64.to_be_bytes(),
            &kind.to_be_bytes(),
        ];
        let bytes = [&header.concat(), body].concat();
        let checksum = i64::from(adler32(&bytes));
        let length = i32::try_from(bytes.len()).unwrap();
        [
            &checksum.to_be_bytes()[..],
            &length.to_be_bytes(),
            &bytes,
            b"B",
        ]
        .concat()
    }

    fn file(records: &[Vec<u8>]) -> Vec<u8> {
        let header = [&MAGIC[..], &2_i32.to_be_bytes(), &0_i64.to_be_bytes()].concat();
        [header, records.concat(), vec![0; 64]].concat()
    }

    fn changes(file: &[u8]) -> Vec<(i64, Vec<Change>)> {
        let transactions = parse(file).unwrap().into_iter();
        transactions
            .map(|(zxid, transaction)| (zxid, transaction.changes))
            .collect()
    }

    #[test]
    fn nodes_that_come_and_go_are_seen() {
        let closed = [&2_i32.to_be_bytes()[..], &string("/a"), &string("/b")].concat();
        let created = |path| [string(path), vec![0; 9]].concat();
        let part = |kind: i32, body: &[u8]| {
            let length = i32::try_from(body.len()).unwrap();
            [&kind.to_be_bytes()[..], &length.to_be_bytes(), body].concat()
        };
        let multi = [
            2_i32.to_be_bytes().to_vec(),
            part(13, &string("/a")),
            part(CREATE, &created("/c")),
        ];
        let file = file(&[
            record(5, CREATE2, &created("/a")),
            record(6, 5, &string("/a")),
            record(7, MULTI, &multi.concat()),
            record(8, DELETE, &string("/c")),
            record(9, CLOSE_SESSION, &closed),
        ]);
        let path = |text: &str| text.to_owned();
        assert_eq!(
            changes(&file),
            [
                (5, vec![Change::Created(path("/a"))]),
                (6, vec![]),
                (7, vec![Change::Created(path("/c"))]),
                (8, vec![Change::Deleted(path("/c"))]),
                (
                    9,
                    vec![Change::Deleted(path("/a")), Change::Deleted(path("/b"))]
                ),
            ]
        );
    }

    #[test]
    fn what_one_server_has_alone_was_not_decided() {
        let transaction = |path: &str| Transaction {
            wall_ms: 1,
            session: 1,
            changes: vec![Change::Created(path.into())],
        };
        let all = [(1, transaction("/a")), (2, transaction("/b"))];
        let logs = [
            all.clone().into(),
            all[..1].iter().cloned().collect(),
            [(1, transaction("/a")), (2, transaction("/other"))].into(),
        ];
        let decided = decided(&logs);
        assert_eq!(decided.keys().collect::<Vec<_>>(), [&1]);
    }

    #[test]
    fn a_record_that_was_cut_short_is_the_end() {
        let whole = record(5, DELETE, &string("/a"));
        let half = record(6, DELETE, &string("/b"))[..30].to_vec();
        let mut bytes = file(&[whole, half]);
        bytes.truncate(bytes.len() - 64);
        assert_eq!(changes(&bytes).len(), 1);
    }

    #[test]
    fn a_wrong_checksum_is_the_end() {
        let mut bad = record(6, DELETE, &string("/b"));
        bad[0] ^= 1;
        let bytes = file(&[record(5, DELETE, &string("/a")), bad]);
        assert_eq!(changes(&bytes).len(), 1);
    }

    #[test]
    fn what_is_no_log_is_refused() {
        assert!(parse(b"something else").is_err());
        assert_eq!(parse(&[0; 20]).unwrap(), []);
    }
}
