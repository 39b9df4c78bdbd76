//! Who queued on a path, from first to last, as the servers' logs tell it.

use std::collections::{BTreeMap, HashMap};

use crate::txnlog::{Change, Transaction};

/// A contender's life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contender {
    pub(crate) node: String,
    pub(crate) shared: bool,
    /// Its creation's zxid, which is its token.
    pub(crate) created: i64,
    /// Its place in the queue: `created`, but a downgraded read stands where its writer does.
    pub(crate) place: i64,
    pub(crate) created_ms: i64,
    /// Zxid and time of its deletion.
    pub(crate) deleted: Option<(i64, i64)>,
}

/// The contenders on one path, in the order of their creation.
pub(crate) fn contenders(path: &str, log: &BTreeMap<i64, Transaction>) -> Vec<Contender> {
    let mut all: Vec<Contender> = Vec::new();
    let mut present: HashMap<&str, usize> = HashMap::new();
    for (&zxid, transaction) in log {
        for change in &transaction.changes {
            match change {
                Change::Created(node) => {
                    let Some(name) = child(path, node) else {
                        continue;
                    };
                    let writer = downgraded_from(name, &all, &present);
                    present.insert(node, all.len());
                    all.push(Contender {
                        node: node.clone(),
                        shared: name.contains("-__READ__"),
                        created: zxid,
                        place: writer.unwrap_or(zxid),
                        created_ms: transaction.wall_ms,
                        deleted: None,
                    });
                }
                Change::Deleted(node) => {
                    if let Some(index) = present.remove(node.as_str()) {
                        all[index].deleted = Some((zxid, transaction.wall_ms));
                    }
                }
            }
        }
    }
    all
}

fn child<'a>(path: &str, node: &'a str) -> Option<&'a str> {
    let name = node.strip_prefix(path)?.strip_prefix('/')?;
    (!name.contains('/')).then_some(name)
}

/// A reader with a number that a writer has at that moment stands in the writer's place.
fn downgraded_from(name: &str, all: &[Contender], present: &HashMap<&str, usize>) -> Option<i64> {
    let (_, digits) = name.split_once("-__READ__")?;
    let mut writers = present.values().map(|index| &all[*index]);
    let ending = format!("-__WRIT__{digits}");
    writers
        .find(|other| other.node.ends_with(&ending))
        .map(|writer| writer.created)
}

/// For each contender, by node: when its turn came, that is, when the last one before it that excludes it went.
/// `None` if one never went.
pub(crate) fn turns(contenders: &[Contender]) -> HashMap<&str, Option<i64>> {
    let mut order: Vec<&Contender> = contenders.iter().collect();
    order.sort_by_key(|contender| (contender.place, contender.created));
    // When the last of the writers so far, and the last of all so far, went.
    let (mut writers_gone, mut all_gone) = (Some(i64::MIN), Some(i64::MIN));
    let mut turns = HashMap::new();
    for contender in order {
        let before = if contender.shared {
            // Its own writer does not stand in the way of a downgraded read.
            if contender.place == contender.created {
                writers_gone
            } else {
                Some(contender.created_ms)
            }
        } else {
            all_gone
        };
        turns.insert(
            contender.node.as_str(),
            before.map(|gone| gone.max(contender.created_ms)),
        );
        let gone = contender.deleted.map(|(_, ms)| ms);
        let later = |so_far: Option<i64>| Some(so_far?.max(gone?));
        all_gone = later(all_gone);
        if !contender.shared {
            writers_gone = later(writers_gone);
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(changes: &[(i64, Change)]) -> BTreeMap<i64, Transaction> {
        let transaction = |(zxid, change): &(i64, Change)| {
            let transaction = Transaction {
                wall_ms: zxid * 10,
                session: 1,
                changes: vec![change.clone()],
            };
            (*zxid, transaction)
        };
        changes.iter().map(transaction).collect()
    }

    fn created(node: &str) -> Change {
        Change::Created(node.into())
    }

    fn deleted(node: &str) -> Change {
        Change::Deleted(node.into())
    }

    #[test]
    fn a_turn_comes_when_all_before_have_gone() {
        let log = log(&[
            (1, created("/l")),
            (2, created("/l/_c_x-lock-0000000000")),
            (3, created("/l/_c_y-lock-0000000001")),
            (4, created("/l/_c_z-lock-0000000002")),
            (5, created("/elsewhere/_c_z-lock-0000000002")),
            (6, deleted("/l/_c_y-lock-0000000001")),
            (7, deleted("/l/_c_x-lock-0000000000")),
        ]);
        let contenders = contenders("/l", &log);
        assert_eq!(contenders.len(), 3);
        assert_eq!(contenders[2].deleted, None);
        let turns = turns(&contenders);
        assert_eq!(turns["/l/_c_x-lock-0000000000"], Some(20));
        assert_eq!(turns["/l/_c_y-lock-0000000001"], Some(70));
        assert_eq!(turns["/l/_c_z-lock-0000000002"], Some(70));
    }

    #[test]
    fn readers_wait_for_writers_only_and_a_downgraded_read_for_nobody() {
        let writer = "/l/_c_w-__WRIT__0000000000";
        let downgraded = "/l/_c_d-__READ__0000000000";
        let second = "/l/_c_v-__WRIT__0000000001";
        let reader = "/l/_c_r-__READ__0000000002";
        let reader_too = "/l/_c_s-__READ__0000000003";
        let log = log(&[
            (2, created(writer)),
            (3, created(second)),
            (4, created(reader)),
            (5, created(reader_too)),
            (6, created(downgraded)),
            (7, deleted(writer)),
            (8, deleted(downgraded)),
            (9, deleted(second)),
        ]);
        let contenders = contenders("/l", &log);
        let turns = turns(&contenders);
        assert_eq!(turns[downgraded], Some(60));
        assert_eq!(turns[second], Some(80));
        assert_eq!(turns[reader], Some(90));
        assert_eq!(turns[reader_too], Some(90));
    }

    #[test]
    fn a_turn_behind_one_that_stays_never_comes() {
        let log = log(&[
            (2, created("/l/_c_x-lock-0000000000")),
            (3, created("/l/_c_y-lock-0000000001")),
        ]);
        let contenders = contenders("/l", &log);
        assert_eq!(turns(&contenders)["/l/_c_y-lock-0000000001"], None);
    }
}
