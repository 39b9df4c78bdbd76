//! The fire: which faults there are, in which order they come, and that the locks go on behind each of them.

pub(crate) mod clients;
pub(crate) mod record;
pub(crate) mod servers;

use fastrand::Rng;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    KillServer,
    PauseServer,
    FreezeClientLink,
    FreezeQuorumLink,
    ResetConnections,
    Latency,
    RollingRestart,
    KillLeaders,
    StopClient,
    KillClient,
}

impl Kind {
    pub(crate) const SERVERS: [Kind; 8] = [
        Kind::KillServer,
        Kind::PauseServer,
        Kind::FreezeClientLink,
        Kind::FreezeQuorumLink,
        Kind::ResetConnections,
        Kind::Latency,
        Kind::RollingRestart,
        Kind::KillLeaders,
    ];
    pub(crate) const CLIENTS: [Kind; 2] = [Kind::StopClient, Kind::KillClient];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::KillServer => "kill-server",
            Kind::PauseServer => "pause-server",
            Kind::FreezeClientLink => "freeze-client-link",
            Kind::FreezeQuorumLink => "freeze-quorum-link",
            Kind::ResetConnections => "reset-connections",
            Kind::Latency => "latency",
            Kind::RollingRestart => "rolling-restart",
            Kind::KillLeaders => "kill-leaders",
            Kind::StopClient => "stop-client",
            Kind::KillClient => "kill-client",
        }
    }
}

/// All of something in random order, again and again, so that none is left out for long.
pub(crate) struct Deck<T> {
    all: Vec<T>,
    left: Vec<T>,
}

impl<T: Clone> Deck<T> {
    pub(crate) fn new(all: &[T]) -> Deck<T> {
        Deck {
            all: all.to_vec(),
            left: Vec::new(),
        }
    }

    pub(crate) fn draw(&mut self, rng: &mut Rng) -> Option<T> {
        if self.left.is_empty() {
            self.left = self.all.clone();
            rng.shuffle(&mut self.left);
        }
        self.left.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deck_gives_everything_before_it_begins_again() {
        let mut rng = Rng::with_seed(3);
        let mut deck = Deck::new(&Kind::SERVERS);
        for _ in 0..3 {
            let mut drawn: Vec<_> = (0..8).filter_map(|_| deck.draw(&mut rng)).collect();
            drawn.sort();
            assert_eq!(drawn, Kind::SERVERS);
        }
    }
}
