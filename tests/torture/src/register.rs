//! What the locks guard. It is not zoolock's and knows nothing of locks.

use crate::message::Message;

/// A register that refuses lower tokens than it has seen, beside a counter that takes everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Register {
    highest: i64,
    fenced: u64,
    counter: u64,
}

/// What was asked, with the answer. A refusal names the highest token seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    FencedRead {
        token: i64,
        answer: Result<u64, i64>,
    },
    FencedWrite {
        token: i64,
        value: u64,
        answer: Result<(), i64>,
    },
    Look {
        token: i64,
        answer: Result<u64, i64>,
    },
    Read {
        value: u64,
    },
    Write {
        value: u64,
    },
}

impl Access {
    /// The highest token that the register had seen when it refused this access.
    pub(crate) fn refusal(&self) -> Option<i64> {
        match *self {
            Access::FencedRead { answer, .. } | Access::Look { answer, .. } => answer.err(),
            Access::FencedWrite { answer, .. } => answer.err(),
            Access::Read { .. } | Access::Write { .. } => None,
        }
    }

    /// The line for the worker.
    pub(crate) fn answer(&self) -> String {
        if let Some(highest) = self.refusal() {
            return format!("refused {highest}");
        }
        let value = match *self {
            Access::FencedRead { answer, .. } | Access::Look { answer, .. } => {
                answer.unwrap_or_default()
            }
            Access::FencedWrite { value, .. }
            | Access::Read { value }
            | Access::Write { value } => value,
        };
        format!("ok {value}")
    }
}

impl Register {
    /// Does what a message asks for; `None` if it is about something else.
    pub(crate) fn access(&mut self, message: &Message) -> Option<Access> {
        Some(match *message {
            Message::FencedRead { token, .. } => Access::FencedRead {
                token,
                answer: self.admit(token).map(|()| self.fenced),
            },
            Message::FencedWrite { token, value, .. } => {
                let answer = self.admit(token);
                if answer.is_ok() {
                    self.fenced = value;
                }
                Access::FencedWrite {
                    token,
                    value,
                    answer,
                }
            }
            // Readers' tokens say nothing about each other's order, so they raise nothing.
            Message::Look { token, .. } => Access::Look {
                token,
                answer: if token < self.highest {
                    Err(self.highest)
                } else {
                    Ok(self.fenced)
                },
            },
            Message::Read { .. } => Access::Read {
                value: self.counter,
            },
            Message::Write { value, .. } => {
                self.counter = value;
                Access::Write { value }
            }
            _ => return None,
        })
    }

    fn admit(&mut self, token: i64) -> Result<(), i64> {
        if token < self.highest {
            return Err(self.highest);
        }
        self.highest = token;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::HoldId;

    const HOLD: HoldId = HoldId { job: 0, name: 'a' };

    fn answer(register: &mut Register, message: Message) -> String {
        register.access(&message).unwrap().answer()
    }

    #[test]
    fn lower_tokens_are_refused_once_a_higher_one_was_seen() {
        let mut register = Register::default();
        let (hold, token) = (HOLD, 5);
        let read = Message::FencedRead { hold, token };
        assert_eq!(answer(&mut register, read.clone()), "ok 0");
        let newer = Message::FencedRead { hold, token: 6 };
        assert_eq!(answer(&mut register, newer), "ok 0");
        let value = 1;
        let write = Message::FencedWrite { hold, token, value };
        assert_eq!(answer(&mut register, write), "refused 6");
        assert_eq!(answer(&mut register, read), "refused 6");
        let token = 6;
        let write = Message::FencedWrite { hold, token, value };
        assert_eq!(answer(&mut register, write), "ok 1");
        assert_eq!(
            answer(&mut register, Message::Look { hold, token: 5 }),
            "refused 6"
        );
        assert_eq!(
            answer(&mut register, Message::Look { hold, token: 9 }),
            "ok 1"
        );
        assert_eq!(
            answer(&mut register, Message::Look { hold, token: 6 }),
            "ok 1"
        );
    }

    #[test]
    fn the_counter_takes_everything() {
        let mut register = Register::default();
        let hold = HOLD;
        assert_eq!(
            answer(&mut register, Message::Write { hold, value: 4 }),
            "ok 4"
        );
        assert_eq!(
            answer(&mut register, Message::Write { hold, value: 2 }),
            "ok 2"
        );
        assert_eq!(answer(&mut register, Message::Read { hold }), "ok 2");
        assert_eq!(register.access(&Message::Next), None);
    }
}
