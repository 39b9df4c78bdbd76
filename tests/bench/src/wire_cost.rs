//! What a cycle costs the server and the network, counted by a proxy between them.

use serde::Serialize;
use zoolock_ensemble::{Entry, Op, What};

/// Requests, and flights: requests that leave without waiting for an answer in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct WireCost {
    pub(crate) requests: f64,
    pub(crate) flights: f64,
}

/// The cost of one of `cycles` cycles. Pings and handshakes are the session's, not the lock's.
pub(crate) fn per_cycle(entries: &[Entry], cycles: usize) -> WireCost {
    let (mut requests, mut flights, mut answered) = (0, 0, true);
    for entry in entries {
        match &entry.what {
            What::Request { op, .. } if is_counted(*op) => {
                requests += 1;
                flights += usize::from(answered);
                answered = false;
            }
            What::Reply { op, .. } if is_counted(*op) => answered = true,
            _ => {}
        }
    }
    WireCost {
        requests: requests as f64 / cycles as f64,
        flights: flights as f64 / cycles as f64,
    }
}

fn is_counted(op: Op) -> bool {
    !matches!(op, Op::Ping | Op::Connect)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(what: What) -> Entry {
        Entry {
            at_ms: 0.0,
            server: 1,
            connection: 1,
            what,
        }
    }

    fn request(op: Op) -> Entry {
        entry(What::Request {
            op,
            xid: 1,
            path: None,
            bytes: 10,
            session: None,
            dropped: false,
        })
    }

    fn reply(op: Op) -> Entry {
        entry(What::Reply {
            op,
            xid: 1,
            err: 0,
            zxid: 1,
            bytes: 10,
            session: None,
            dropped: false,
        })
    }

    #[test]
    fn two_requests_in_one_flight_count_as_one() {
        let cycle = [
            request(Op::Create2),
            request(Op::GetChildren2),
            reply(Op::Create2),
            reply(Op::GetChildren2),
            request(Op::Ping),
            request(Op::Delete),
            reply(Op::Ping),
            reply(Op::Delete),
        ];
        let expected = WireCost {
            requests: 3.0,
            flights: 2.0,
        };
        assert_eq!(per_cycle(&cycle, 1), expected);
        let twice: Vec<Entry> = cycle.iter().chain(&cycle).cloned().collect();
        assert_eq!(per_cycle(&twice, 2), expected);
    }

    #[test]
    fn waiting_in_between_costs_a_flight() {
        let cycle = [
            request(Op::Create2),
            reply(Op::Create2),
            request(Op::GetChildren2),
            reply(Op::GetChildren2),
        ];
        assert_eq!(per_cycle(&cycle, 1).flights, 2.0);
    }
}
