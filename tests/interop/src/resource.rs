//! What the locks guard: a counter that notices when two are at it at once, out of order, or with an older token.

use std::collections::BTreeMap;
use std::time::Duration;

/// How somebody is at the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Alone.
    Alone,
    /// With other readers.
    Shared,
}

/// A section under way.
pub struct Section {
    number: u64,
    side: Side,
    read: u64,
}

/// The counter, and who is at it.
#[derive(Default)]
pub struct Resource {
    value: u64,
    sections: u64,
    increments: u64,
    inside: BTreeMap<u64, (String, Side)>,
    highest_token: i64,
    last_alone: Option<i64>,
    last: Option<i64>,
    violations: Vec<String>,
}

/// The number at the end of a node.
fn sequence(node: &str) -> Option<i64> {
    let digits = node.len().checked_sub(10)?;
    node.get(digits..)?.parse().ok()
}

impl Resource {
    /// Somebody was granted the lock and comes in.
    pub fn enter(&mut self, who: &str, side: Side, token: i64, node: &str) -> Section {
        let mut wrong = Vec::new();
        for (other, its_side) in self.inside.values() {
            if side == Side::Alone || *its_side == Side::Alone {
                wrong.push(format!("{who} is in beside {other}"));
            }
        }
        match sequence(node) {
            None => wrong.push(format!("{node} has no sequence number")),
            Some(sequence) => {
                // A reader may pass readers; nobody passes a writer, and a writer nobody.
                let before = match side {
                    Side::Alone => self.last,
                    Side::Shared => self.last_alone,
                };
                if let Some(before) = before
                    && sequence <= before
                {
                    wrong.push(format!("{who} with {sequence} comes after {before}"));
                }
                self.last = self.last.max(Some(sequence));
                if side == Side::Alone {
                    self.last_alone = self.last_alone.max(Some(sequence));
                }
            }
        }
        if side == Side::Alone {
            if token <= self.highest_token {
                let highest = self.highest_token;
                wrong.push(format!("{who}'s token {token} is not above {highest}"));
            }
            self.highest_token = self.highest_token.max(token);
        }
        self.violations.extend(wrong);
        self.sections += 1;
        self.inside.insert(self.sections, (who.to_owned(), side));
        Section {
            number: self.sections,
            side,
            read: self.value,
        }
    }

    /// Somebody leaves: who was alone writes one more than it read when it came.
    pub fn leave(&mut self, section: &Section) {
        self.inside.remove(&section.number);
        if section.side == Side::Alone {
            self.value = section.read + 1;
            self.increments += 1;
        } else if self.value != section.read {
            self.violations
                .push("the counter changed while it was read".into());
        }
    }

    /// What went wrong, an update that was lost included.
    pub fn violations(&self) -> Vec<String> {
        let mut violations = self.violations.clone();
        if self.value != self.increments {
            let (value, increments) = (self.value, self.increments);
            violations.push(format!(
                "the counter is {value} after {increments} increments"
            ));
        }
        violations
    }
}

/// How long a section lasts: long enough to be met in, short enough for many.
pub const SECTION: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    fn node(sequence: u32) -> String {
        format!("/p/_c_x-lock-{sequence:010}")
    }

    #[test]
    fn turns_are_no_violation() {
        let mut resource = Resource::default();
        let first = resource.enter("a", Side::Alone, 5, &node(0));
        resource.leave(&first);
        let reader = resource.enter("b", Side::Shared, 7, &node(3));
        let other = resource.enter("c", Side::Shared, 6, &node(2));
        resource.leave(&reader);
        resource.leave(&other);
        assert_eq!(resource.violations(), Vec::<String>::new());
    }

    #[test]
    fn two_at_once_are_noticed_and_so_is_the_lost_update() {
        let mut resource = Resource::default();
        let first = resource.enter("a", Side::Alone, 5, &node(1));
        let second = resource.enter("b", Side::Alone, 6, &node(2));
        resource.leave(&first);
        resource.leave(&second);
        assert_eq!(
            resource.violations(),
            ["b is in beside a", "the counter is 1 after 2 increments"]
        );
    }

    #[test]
    fn an_older_token_and_a_number_out_of_turn_are_noticed() {
        let mut resource = Resource::default();
        let first = resource.enter("a", Side::Alone, 5, &node(2));
        resource.leave(&first);
        let second = resource.enter("b", Side::Alone, 4, &node(1));
        resource.leave(&second);
        assert_eq!(resource.violations().len(), 2);
    }

    #[test]
    fn a_reader_that_passes_a_writer_is_noticed() {
        let mut resource = Resource::default();
        let writer = resource.enter("a", Side::Alone, 9, &node(4));
        resource.leave(&writer);
        let late = resource.enter("b", Side::Shared, 3, &node(3));
        resource.leave(&late);
        assert_eq!(resource.violations(), ["b with 3 comes after 4"]);
    }
}
