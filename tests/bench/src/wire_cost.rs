//! What a grant costs the server and the network, counted by a proxy between them.

use zoolock_ensemble::{Entry, Op, What};

/// Requests, and flights: requests that leave without waiting for an answer in between (of one client). Bytes of requests and
/// replies, without those of events.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WireCost {
    pub(crate) requests: f64,
    pub(crate) flights: f64,
    pub(crate) events: f64,
    pub(crate) bytes: f64,
}

/// The cost of one of so many grants. Pings and handshakes are the session's, not the lock's.
pub(crate) fn per_grant(entries: &[Entry], grants: usize) -> WireCost {
    let mut sum = WireCost::default();
    let mut answered = true;
    for entry in entries {
        match &entry.what {
            What::Request { op, bytes, .. } if is_counted(*op) => {
                sum.requests += 1.0;
                sum.flights += f64::from(u8::from(answered));
                sum.bytes += *bytes as f64;
                answered = false;
            }
            What::Reply { op, bytes, .. } if is_counted(*op) => {
                sum.bytes += *bytes as f64;
                answered = true;
            }
            What::Event { .. } => sum.events += 1.0,
            _ => {}
        }
    }
    let grants = grants as f64;
    WireCost {
        requests: sum.requests / grants,
        flights: sum.flights / grants,
        events: sum.events / grants,
        bytes: sum.bytes / grants,
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
            events: 0.0,
            bytes: 60.0,
        };
        assert_eq!(per_grant(&cycle, 1), expected);
        let twice: Vec<Entry> = cycle.iter().chain(&cycle).cloned().collect();
        assert_eq!(per_grant(&twice, 2), expected);
    }

    #[test]
    fn waiting_in_between_costs_a_flight() {
        let cycle = [
            request(Op::Create2),
            reply(Op::Create2),
            request(Op::GetChildren2),
            reply(Op::GetChildren2),
        ];
        assert_eq!(per_grant(&cycle, 1).flights, 2.0);
    }
}
