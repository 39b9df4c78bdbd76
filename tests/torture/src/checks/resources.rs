//! R1 and R2 as the resources saw them, in their own order and without any clock of the workers'.

use std::collections::HashMap;

use crate::checks::Violation;
use crate::history::{Entry, History};
use crate::message::HoldId;
use crate::recipe::Resource;
use crate::register::Access;

/// No section of a believer's was in another one's way, and no fenced update was lost.
pub(crate) fn lost_updates(history: &History) -> Vec<Violation> {
    let mut violations = Vec::new();
    for resource in Resource::ALL {
        let accesses = numbered(history, resource);
        interleaved(history, resource, &accesses, &mut violations);
        fenced(history, resource, &accesses, &mut violations);
    }
    violations
}

/// Nobody who was refused for his token believed afterwards: the one with the higher token must not have been granted.
pub(crate) fn refused_believers(history: &History) -> Vec<Violation> {
    let mut violations = Vec::new();
    for entry in &history.accesses {
        let Some(highest) = entry.access.refusal() else {
            continue;
        };
        let hold = history.hold(entry.hold);
        if hold.is_some_and(|hold| hold.believes_after(entry.at)) {
            violations.push(violation(
                history,
                entry,
                &format!("was refused, since {highest} had been there, and still believed"),
            ));
        }
    }
    violations
}

fn numbered(history: &History, resource: Resource) -> Vec<(usize, &Entry)> {
    let all = history.accesses.iter().enumerate();
    all.filter(|(_, entry)| entry.resource == resource)
        .collect()
}

fn violation(history: &History, entry: &Entry, what: &str) -> Violation {
    Violation {
        resource: entry.resource,
        at: entry.at,
        text: format!("{} {what}", history.who(entry.hold)),
    }
}

/// From a read of the counter to what it is for: the write, or a reader's second read.
struct Section<'a> {
    first: usize,
    last: usize,
    entry: &'a Entry,
    shared: bool,
}

/// The sections whose holder says that it believed behind their end. A process that was stopped between its question
/// and its write, and lost the lock meanwhile, spoils the counter: nothing but a fence could hold it back.
fn sections<'a>(history: &History, accesses: &[(usize, &'a Entry)]) -> Vec<Section<'a>> {
    let mut open: HashMap<HoldId, usize> = HashMap::new();
    let mut sections = Vec::new();
    for &(number, entry) in accesses {
        let shared = history.jobs[entry.hold.job]
            .recipe
            .is_shared(entry.hold.name);
        let ends = match entry.access {
            Access::Read { .. } => shared,
            Access::Write { .. } => true,
            _ => continue,
        };
        let first = open.remove(&entry.hold);
        match first {
            Some(first) if ends => {
                let hold = history.hold(entry.hold);
                if hold.is_some_and(|hold| hold.believes_after(entry.at)) {
                    sections.push(Section {
                        first,
                        last: number,
                        entry,
                        shared,
                    });
                }
            }
            _ => {
                open.insert(entry.hold, number);
            }
        }
    }
    sections.sort_by_key(|section| section.first);
    sections
}

fn interleaved(
    history: &History,
    resource: Resource,
    accesses: &[(usize, &Entry)],
    violations: &mut Vec<Violation>,
) {
    let later = |a: Option<(usize, HoldId)>, b: (usize, HoldId)| a.max(Some(b));
    let (mut writers, mut all) = (None, None);
    for section in sections(history, accesses) {
        let before = if section.shared { writers } else { all };
        if let Some((last, other)) = before
            && last > section.first
        {
            let what = format!("was in its section while {} was", history.who(other));
            let mut found = violation(history, section.entry, &what);
            found.resource = resource;
            violations.push(found);
        }
        let this = (section.last, section.entry.hold);
        all = later(all, this);
        if !section.shared {
            writers = later(writers, this);
        }
    }
}

fn fenced(
    history: &History,
    _resource: Resource,
    accesses: &[(usize, &Entry)],
    violations: &mut Vec<Violation>,
) {
    let (mut highest, mut count) = (0, 0);
    for (_, entry) in accesses {
        let (token, written) = match entry.access {
            Access::FencedRead {
                token,
                answer: Ok(_),
            } => (token, None),
            Access::FencedWrite {
                token,
                value,
                answer: Ok(()),
            } => (token, Some(value)),
            _ => continue,
        };
        if token < highest {
            let what = format!("came through the fence with {token} behind {highest}");
            violations.push(violation(history, entry, &what));
        }
        highest = highest.max(token);
        if let Some(value) = written {
            count += 1;
            if value != count {
                let what = format!("made update {count} and wrote {value}");
                violations.push(violation(history, entry, &what));
                count = value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::sample::{history, hold, lost};
    use crate::recipe::Recipe::{Mutex, Read, Write};

    fn read(value: u64) -> Access {
        Access::Read { value }
    }

    fn write(value: u64) -> Access {
        Access::Write { value }
    }

    fn fenced_read(token: i64, value: u64) -> Access {
        let answer = Ok(value);
        Access::FencedRead { token, answer }
    }

    fn fenced_write(token: i64, value: u64) -> Access {
        Access::FencedWrite {
            token,
            value,
            answer: Ok(()),
        }
    }

    #[test]
    fn sections_one_after_the_other_are_good() {
        let history = history()
            .with(Mutex, [hold('a', 5, 10, 20)])
            .with(Mutex, [hold('a', 7, 30, 40)])
            .access(11, 0, 'a', fenced_read(5, 0))
            .access(12, 0, 'a', fenced_write(5, 1))
            .access(15, 0, 'a', read(0))
            .access(16, 0, 'a', write(1))
            .access(31, 1, 'a', fenced_read(7, 1))
            .access(32, 1, 'a', fenced_write(7, 2))
            .access(35, 1, 'a', read(1))
            .access(36, 1, 'a', write(2));
        assert_eq!(lost_updates(&history), []);
    }

    #[test]
    fn a_lost_update_of_the_counter_is_found() {
        let history = history()
            .with(Mutex, [hold('a', 5, 10, 20)])
            .with(Mutex, [hold('a', 7, 13, 40)])
            .access(15, 0, 'a', read(0))
            .access(16, 1, 'a', read(0))
            .access(17, 0, 'a', write(1))
            .access(18, 1, 'a', write(1));
        assert_eq!(lost_updates(&history).len(), 1);
    }

    #[test]
    fn what_a_stopped_process_spoiled_before_it_saw_its_loss_is_not_held_against_the_lock() {
        let history = history()
            .with(Mutex, [lost('a', 5, 10, 15)])
            .with(Mutex, [hold('a', 7, 30, 40)])
            .access(14, 0, 'a', read(0))
            .access(31, 1, 'a', read(0))
            .access(32, 0, 'a', write(1))
            .access(33, 1, 'a', write(1));
        assert_eq!(lost_updates(&history), []);
    }

    #[test]
    fn a_write_under_a_reader_is_found_and_readers_are_not_in_each_others_way() {
        let readers = history()
            .with(Read, [hold('a', 5, 10, 50)])
            .with(Read, [hold('a', 6, 10, 50)])
            .access(20, 0, 'a', read(0))
            .access(21, 1, 'a', read(0))
            .access(30, 0, 'a', read(0))
            .access(31, 1, 'a', read(0));
        assert_eq!(lost_updates(&readers), []);
        let history = history()
            .with(Read, [hold('a', 5, 10, 50)])
            .with(Write, [hold('a', 6, 10, 50)])
            .access(20, 0, 'a', read(0))
            .access(21, 1, 'a', read(0))
            .access(22, 1, 'a', write(1))
            .access(30, 0, 'a', read(1));
        assert_eq!(lost_updates(&history).len(), 1);
    }

    #[test]
    fn a_stale_token_that_was_accepted_is_found() {
        let history = history()
            .with(Mutex, [hold('a', 5, 10, 20)])
            .with(Mutex, [hold('a', 7, 30, 40)])
            .access(31, 1, 'a', fenced_read(7, 0))
            .access(32, 0, 'a', fenced_write(5, 1));
        assert_eq!(lost_updates(&history).len(), 1);
    }

    #[test]
    fn a_lost_fenced_update_is_found() {
        let history = history()
            .with(Mutex, [hold('a', 5, 10, 20)])
            .with(Mutex, [hold('a', 5, 30, 40)])
            .access(31, 0, 'a', fenced_write(5, 1))
            .access(32, 1, 'a', fenced_write(5, 1));
        assert_eq!(lost_updates(&history).len(), 1);
    }

    #[test]
    fn a_believer_who_was_refused_is_found_and_one_who_had_lost_is_not() {
        let refused = Access::FencedWrite {
            token: 5,
            value: 1,
            answer: Err(7),
        };
        let believer = history()
            .with(Mutex, [hold('a', 5, 10, 20)])
            .access(15, 0, 'a', refused);
        assert_eq!(refused_believers(&believer).len(), 1);
        let loser = history()
            .with(Mutex, [lost('a', 5, 10, 20)])
            .access(60, 0, 'a', refused);
        assert_eq!(refused_believers(&loser), []);
    }
}
