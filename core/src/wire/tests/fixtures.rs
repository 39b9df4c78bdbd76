//! Access to the recorded frames.

const RECORDED: &str = include_str!("../fixtures/zookeeper-3.9.5.txt");

/// One message and its answer, as whole frames.
pub(super) struct Exchange {
    pub(super) name: &'static str,
    pub(super) sent: Vec<u8>,
    pub(super) received: Vec<u8>,
}

impl Exchange {
    /// What a frame buffer would give for the answer.
    pub(super) fn message(&self) -> &[u8] {
        &self.received[4..]
    }
}

pub(super) fn all() -> Vec<Exchange> {
    RECORDED
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let mut words = line.split(' ');
            let name = words.next().unwrap();
            let sent = from_hex(words.next().unwrap());
            let received = from_hex(words.next().unwrap());
            Exchange {
                name,
                sent,
                received,
            }
        })
        .collect()
}

pub(super) fn exchange(name: &str) -> Exchange {
    all()
        .into_iter()
        .find(|exchange| exchange.name == name)
        .unwrap_or_else(|| panic!("no exchange named {name}"))
}

fn from_hex(text: &str) -> Vec<u8> {
    if text == "-" {
        return Vec::new();
    }
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}
