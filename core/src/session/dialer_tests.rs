use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const S: Duration = Duration::from_secs(12);

/// A dialer with a clock.
struct Rig {
    dialer: Dialer,
    random: fastrand::Rng,
    now: Time,
    believing: bool,
    refusable: bool,
    first_connect: Option<Backoff>,
    session_timeout: Duration,
    rounds: Vec<u32>,
}

type Open = (DialId, usize, Time);

impl Rig {
    fn new(servers: usize) -> Rig {
        Rig {
            dialer: Dialer::new(servers),
            random: fastrand::Rng::with_seed(7),
            now: Time(1_000_000_000_000),
            believing: false,
            refusable: true,
            first_connect: None,
            session_timeout: S,
            rounds: Vec::new(),
        }
    }

    fn looking(servers: usize, lost: Option<usize>) -> Rig {
        let mut rig = Rig::new(servers);
        rig.start(lost);
        rig
    }

    fn start(&mut self, lost: Option<usize>) {
        self.dialer.start(self.now, lost, &mut self.random);
    }

    fn situation(&self) -> Situation<'_> {
        Situation {
            now: self.now,
            session_timeout: self.session_timeout,
            believing: self.believing,
            refusable: self.refusable,
            first_connect: self.first_connect.as_ref(),
        }
    }

    fn step(&mut self) -> Step {
        let mut random = self.random.clone();
        let mut dialer = std::mem::replace(&mut self.dialer, Dialer::new(0));
        let step = dialer.step(&self.situation(), &mut random);
        (self.dialer, self.random) = (dialer, random);
        self.rounds
            .extend(step.round_failed.map(|round| round.rounds));
        step
    }

    /// The next attempt, whenever it comes.
    fn next(&mut self) -> Open {
        for _ in 0..100 {
            if let Some(open) = self.step().dial.first().copied() {
                return open;
            }
            self.wait();
        }
        panic!("no server is tried");
    }

    fn wait(&mut self) {
        let next = self.dialer.next_timeout(&self.situation());
        assert_ne!(next, Time::NEVER);
        self.now = self.now.max(next);
    }

    fn fail(&mut self, id: DialId) {
        self.dialer.failed(self.now, id, Failure::Other);
    }

    /// The server took the connection and hung up instead of answering.
    fn refuse(&mut self, id: DialId) {
        self.dialer.failed(self.now, id, Failure::ClosedInHandshake);
    }

    fn is_fresh(&mut self, id: DialId) -> bool {
        self.dialer.get_mut(id).is_some_and(|dial| dial.fresh)
    }
}

#[test]
fn r16_after_a_drop_the_other_servers_come_first_and_at_once() {
    for lost in 0..5 {
        let mut rig = Rig::looking(5, Some(lost));
        let start = rig.now;
        let mut tried = Vec::new();
        for _ in 0..5 {
            let (id, server, _) = rig.next();
            tried.push(server);
            rig.fail(id);
        }
        assert_eq!(rig.now, start, "without a pause");
        assert_eq!(tried.last(), Some(&lost));
        assert_eq!(tried.iter().collect::<BTreeSet<_>>().len(), 5);
    }
}

#[test]
fn r16_rounds_begin_anywhere() {
    let mut first = BTreeSet::new();
    let mut rig = Rig::new(3);
    for _ in 0..50 {
        rig.start(None);
        first.insert(rig.next().1);
        rig.dialer.stop();
    }
    assert_eq!(first.len(), 3);
}

#[test]
fn r16_the_next_is_tried_beside_one_that_does_not_answer_while_a_guard_believes() {
    let mut rig = Rig::looking(3, None);
    rig.believing = true;
    let start = rig.now;
    let mut times = Vec::new();
    for _ in 0..3 {
        let (_, _, deadline) = rig.next();
        times.push(rig.now.saturating_since(start));
        assert_eq!(deadline, rig.now + S / 12, "one attempt's time");
    }
    assert_eq!(times, [Duration::ZERO, S / 24, S / 24 * 2]);
}

#[test]
fn r16_without_a_guard_servers_are_tried_one_by_one() {
    let mut rig = Rig::looking(3, None);
    let start = rig.now;
    let (first, _, deadline) = rig.next();
    assert_eq!(deadline, start + S / 3);
    // Not before the first is given up.
    rig.now = deadline.minus(Duration::from_nanos(1));
    assert!(rig.step().dial.is_empty());
    rig.now = deadline;
    let step = rig.step();
    assert_eq!(step.give_up, [first]);
    assert_eq!(step.dial.len(), 1);
}

#[test]
fn r16_pauses_begin_after_a_full_round_and_are_bounded() {
    for session_timeout in [Duration::from_secs(2), S, Duration::from_secs(60)] {
        let cap = Duration::from_secs(1).min(session_timeout / 10);
        let mut rig = Rig::looking(3, None);
        rig.session_timeout = session_timeout;
        let mut pauses = Vec::new();
        for _ in 0..20 {
            let begin = rig.now;
            for server in 0..3 {
                let (id, _, _) = rig.next();
                if server == 0 {
                    pauses.push(rig.now.saturating_since(begin));
                } else {
                    assert_eq!(rig.dialer.resume_at.max(rig.now), rig.now, "within a round");
                }
                rig.fail(id);
            }
        }
        assert_eq!(pauses[0], Duration::ZERO);
        assert!(
            pauses[1..]
                .iter()
                .all(|pause| *pause > Duration::ZERO && *pause <= cap)
        );
        // Grown, and with jitter.
        let late = &pauses[12..];
        assert!(late.iter().all(|pause| *pause >= cap / 2), "{late:?}");
        assert!(late.iter().collect::<BTreeSet<_>>().len() > 4, "{late:?}");
        assert_eq!(rig.rounds, (1..20).collect::<Vec<u32>>());
    }
}

#[test]
fn r16_the_first_connect_pauses_as_it_was_told_to() {
    let mut rig = Rig::looking(2, None);
    rig.first_connect = Some(Backoff::Exponential {
        base: Duration::from_millis(100),
        max: Duration::from_millis(500),
        retries: None,
    });
    let mut pauses = Vec::new();
    for _ in 0..6 {
        let begin = rig.now;
        for _ in 0..2 {
            let (id, _, _) = rig.next();
            rig.fail(id);
        }
        pauses.push(rig.now.saturating_since(begin).as_millis());
    }
    assert_eq!(pauses, [0, 100, 200, 400, 500, 500]);
}

#[test]
fn r16_when_every_server_has_refused_for_four_thirds_a_new_session_is_asked_for() {
    let mut rig = Rig::looking(3, None);
    let start = rig.now;
    let mut first_fresh = None;
    let mut kinds = Vec::new();
    while rig.now.saturating_since(start) < S * 2 {
        let (id, _, _) = rig.next();
        let fresh = rig.is_fresh(id);
        if fresh && first_fresh.is_none() {
            first_fresh = Some(rig.now.saturating_since(start));
        }
        if first_fresh.is_some() {
            kinds.push(fresh);
        }
        rig.refuse(id);
        rig.now = rig.now + Duration::from_millis(10);
    }
    let first = first_fresh.expect("asked for");
    assert!(first >= S * 4 / 3, "{first:?}");
    assert!(first <= S * 4 / 3 + Duration::from_secs(3), "{first:?}");
    // In turns with the old one: servers without a quorum close connections too.
    assert!(
        kinds
            .chunks(2)
            .all(|pair| pair[0] && pair.get(1) != Some(&true))
    );
}

#[test]
fn r16_one_server_that_does_not_refuse_keeps_the_session() {
    for other in [true, false] {
        let mut rig = Rig::looking(3, None);
        let start = rig.now;
        while rig.now.saturating_since(start) < S * 3 {
            let (id, server, _) = rig.next();
            assert!(!rig.is_fresh(id));
            // One is down, or silent; or nothing can be refused since there is no session yet.
            if server == 1 && other {
                rig.fail(id);
            } else {
                rig.refusable = other;
                rig.refuse(id);
            }
            rig.now = rig.now + Duration::from_millis(10);
        }
    }
}

#[test]
fn r16_a_found_server_ends_all_other_attempts() {
    let mut rig = Rig::looking(3, None);
    rig.believing = true;
    let (first, ..) = rig.next();
    let (second, ..) = rig.next();
    let mut open = rig.dialer.stop();
    open.sort_by_key(|dial| dial.0);
    assert_eq!(open, [first, second]);
    assert_eq!(rig.dialer.next_timeout(&rig.situation()), Time::NEVER);
    assert!(rig.step().dial.is_empty());
    // What they report now is about nothing.
    rig.fail(first);
    rig.refuse(second);
    assert!(rig.step().dial.is_empty());
}

proptest! {
    /// Whatever happens, there is a next time, steps bring it about, and no server is left out of a round.
    #[test]
    fn r16_it_never_stalls_and_never_spins(
        servers in 1..6_usize,
        lost in proptest::option::of(0..6_usize),
        events in proptest::collection::vec((0..4_u8, 0..9_usize, 0..5_000_u64), 1..120),
    ) {
        let mut rig = Rig::looking(servers, lost.filter(|lost| *lost < servers));
        let mut open: Vec<Open> = Vec::new();
        let mut dialed = 0;
        for (event, which, millis) in events {
            for spins in 0.. {
                let step = rig.step();
                open.retain(|(id, ..)| !step.give_up.contains(id));
                dialed += step.dial.len();
                open.extend(step.dial);
                if rig.dialer.next_timeout(&rig.situation()) > rig.now {
                    break;
                }
                prop_assert!(spins < 10 + servers);
            }
            prop_assert!(open.len() <= servers + 1);
            prop_assert!(open.iter().all(|(_, server, _)| *server < servers));
            match event {
                0 | 1 if !open.is_empty() => {
                    let (id, ..) = open.swap_remove(which % open.len());
                    if event == 0 { rig.fail(id) } else { rig.refuse(id) }
                }
                2 => rig.believing = !rig.believing,
                _ => rig.now = rig.now + Duration::from_millis(millis),
            }
        }
        // Left alone it goes on.
        for (id, ..) in open {
            rig.fail(id);
        }
        rig.next();
        prop_assert!(dialed > 0);
    }
}
