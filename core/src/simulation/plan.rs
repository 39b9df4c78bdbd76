//! What a seed stands for: how many take part, how fast everything is, and what kind of trouble comes.

use std::time::Duration;

use super::faults::Kind;

pub(super) const MILLI: u64 = 1_000_000;

/// What a schedule is about. Each has faults of its own weights, so that rare meetings of several happen often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Family {
    /// A bit of everything.
    Mixed,
    /// No fault at all: requests are counted.
    Quiet,
    /// Connections break at every message; callers leave at every message.
    Broken,
    /// Clients that were silent, on followers that are then cut off.
    Silent,
    /// Leaders cut off from their majority, with clients.
    Deposed,
    /// Followers behind their leader, and clients that change between them.
    Lagging,
    /// Others delete contenders, write to them, end sessions, and put children of their own there.
    Meddled,
    /// Servers that refuse requests, stop, or are killed and started.
    Busy,
    /// Sequence numbers that run out.
    Exhausted,
    /// Leases renewed by writes, where majorities may restart behind a leader's back.
    ByWrite,
    /// Paths on which rights are taken away and given back.
    Denied,
    /// Handles that are closed and opened, and processes that are killed.
    Leaving,
    /// Locks that keep their contenders.
    Kept,
}

impl Family {
    pub(super) const ALL: [Family; 13] = [
        Family::Mixed,
        Family::Quiet,
        Family::Broken,
        Family::Silent,
        Family::Deposed,
        Family::Lagging,
        Family::Meddled,
        Family::Busy,
        Family::Exhausted,
        Family::ByWrite,
        Family::Denied,
        Family::Leaving,
        Family::Kept,
    ];

    /// The rules that its schedules show, as the names of tests carry them.
    pub(super) fn rules(self) -> &'static str {
        match self {
            Family::Quiet => "r01_r02_r07_r08_r10_",
            Family::Silent | Family::Deposed | Family::ByWrite => "r01_r03_r04_r05_r09_",
            Family::Broken | Family::Lagging => "r01_r02_r05_r07_r09_r10_",
            Family::Meddled => "r01_r04_r07_r09_r13_",
            Family::Exhausted => "r01_r05_r14_",
            Family::Mixed => "r01_r02_r03_r04_r05_r06_r07_r09_r10_",
            Family::Busy => "r01_r05_r06_r09_",
            Family::Denied => "r01_r05_r09_r10_r20_",
            Family::Leaving => "r01_r04_r05_r09_r11_r17_",
            Family::Kept => "r01_r02_r03_r04_r05_r07_r09_r17_",
        }
    }

    /// The faults, each as often as its number says.
    pub(super) fn faults(self) -> &'static [(u8, Kind)] {
        use Kind::*;
        match self {
            Family::Quiet => &[],
            Family::Mixed => &[
                (4, Reset),
                (2, Stray),
                (2, Freeze),
                (3, Thaw),
                (3, Pause),
                (2, StopServer),
                (3, StartServer),
                (1, PauseServer),
                (2, ResumeServer),
                (2, CutOff),
                (2, Rejoin),
                (1, Lag),
                (1, Elect),
                (1, ExpireIdle),
                (1, Slow),
                (1, Throttle),
                (1, Stranger),
                (1, Foreign),
                (2, ForeignGoes),
                (1, Touch),
                (1, DeleteWaiter),
            ],
            Family::Broken => &[
                (8, Reset),
                (5, Stray),
                (1, Freeze),
                (2, Thaw),
                (1, Slow),
                (1, Lag),
                (1, StopServer),
                (2, StartServer),
                (1, ExpireIdle),
            ],
            Family::Silent => &[
                (6, Silence),
                (2, Strand),
                (4, Numb),
                (2, Pause),
                (2, CutOff),
                (2, Rejoin),
                (1, Freeze),
                (1, Thaw),
                (1, Reset),
            ],
            Family::Deposed => &[
                (4, Depose),
                (3, Reset),
                (2, Rejoin),
                (1, CutOff),
                (1, Pause),
                (1, Freeze),
                (2, Thaw),
                (1, Lag),
            ],
            Family::Lagging => &[
                (6, Lag),
                (5, Reset),
                (2, Stray),
                (1, Pause),
                (1, Elect),
                (1, CutOff),
                (2, Rejoin),
                (1, PauseServer),
                (2, ResumeServer),
            ],
            Family::Meddled => &[
                (6, DeleteWaiter),
                (4, Undercut),
                (3, Usurp),
                (3, DeleteHolder),
                (1, ExpireHolder),
                (2, Touch),
                (5, Reset),
                (1, Pause),
                (1, Stranger),
                (2, Foreign),
                (3, ForeignGoes),
                (1, Lag),
            ],
            Family::Busy => &[
                (5, Throttle),
                (2, StopServer),
                (4, StartServer),
                (2, PauseServer),
                (4, ResumeServer),
                (1, Reset),
                (1, Slow),
                (2, Stranger),
                (1, Pause),
            ],
            Family::Exhausted => &[(4, Exhaust), (2, Reset), (1, Stray), (1, Pause), (1, Elect)],
            Family::ByWrite => &[
                (4, Depose),
                (3, Lure),
                (3, Elect),
                (2, Reset),
                (1, CutOff),
                (3, Rejoin),
                (1, StopServer),
                (2, StartServer),
                (1, Pause),
            ],
            Family::Denied => &[
                (6, Deny),
                (3, Reset),
                (1, Stray),
                (1, Pause),
                (1, Throttle),
                (1, Lag),
                (1, ExpireIdle),
            ],
            Family::Kept => &[
                (3, Foreign),
                (4, ForeignGoes),
                (3, DeleteFirst),
                (2, Reset),
                (1, Stray),
                (2, Pause),
                (1, Silence),
                (2, CloseHandle),
                (3, OpenHandle),
                (1, ExpireIdle),
                (1, Lag),
                (1, Throttle),
                (1, Stranger),
                (1, CutOff),
                (2, Rejoin),
                (1, Deny),
            ],
            Family::Leaving => &[
                (6, CloseHandle),
                (5, OpenHandle),
                (3, Kill),
                (2, Reset),
                (1, Stray),
                (1, Pause),
                (1, Lag),
                (1, StopServer),
                (2, StartServer),
            ],
        }
    }
}

/// See the module. Times are nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) family: Family,
    pub(super) servers: usize,
    pub(super) clients: usize,
    pub(super) tick: u64,
    pub(super) session: u64,
    pub(super) length: u64,
    pub(super) base_delay: u64,
    /// One of so many messages takes much longer; 0 for none.
    pub(super) straggler_one_in: u32,
    pub(super) mean_step: u64,
    pub(super) mean_fault: u64,
    /// After how many of a thousand messages one of the client's callers leaves.
    pub(super) cancels: u16,
    /// Some clients have the locks behind a chroot, the others give the whole path.
    pub(super) chroot: bool,
    pub(super) by_write: bool,
    pub(super) sequence_sticks: bool,
}

impl Plan {
    /// How long what a client keeps may be idle, if it keeps anything.
    pub(super) fn keep(&self, random: &mut fastrand::Rng) -> Option<Duration> {
        if self.family != Family::Kept || random.u8(..5) == 0 {
            return None;
        }
        let idle = self.session / 10 + random.u64(..self.session * 3);
        Some(Duration::from_nanos(idle))
    }

    pub(super) fn from_seed(seed: u64) -> Plan {
        let mut random = fastrand::Rng::with_seed(seed);
        // The families of neighbouring seeds go round, so that any run of seeds has all of them.
        let at = usize::try_from(seed % 13).unwrap_or(0);
        let family = Family::ALL.get(at).copied().unwrap_or(Family::Mixed);
        let servers = match (family, random.u8(..8)) {
            (Family::Deposed | Family::ByWrite, 0) | (_, 7) => 5,
            (Family::Silent | Family::Deposed | Family::Lagging | Family::ByWrite, _) => 3,
            (_, 0..=1) => 1,
            _ => 3,
        };
        let tick = random.u64(200..1000) * MILLI;
        let ticks = match family {
            // Shorter than a leader takes to find that nobody hears it.
            Family::ByWrite => 2 + random.u64(..2),
            _ => 2 + random.u64(..4),
        };
        let session = tick * ticks;
        let cancels = match family {
            Family::Quiet => 0,
            Family::Broken => 30,
            _ if random.u8(..4) == 0 => 10,
            _ => 0,
        };
        Plan {
            seed,
            family,
            servers,
            clients: match random.usize(2..5) {
                clients if family == Family::Kept => clients - 1,
                clients => clients,
            },
            tick,
            session,
            length: session * 12,
            base_delay: random.u64(10_000..5 * MILLI),
            straggler_one_in: match family {
                Family::Quiet => 0,
                _ => [0, 0, 20, 100][random.usize(..4)],
            },
            mean_step: session / random.u64(8..60),
            mean_fault: match family {
                // One after the other: each takes its time.
                Family::Silent => session * random.u64(1..4) / 2,
                _ => session / random.u64(1..8),
            },
            cancels,
            chroot: random.u8(..3) == 0,
            by_write: family == Family::ByWrite || family == Family::Mixed && random.u8(..8) == 0,
            sequence_sticks: family != Family::Exhausted || random.bool(),
        }
    }
}
