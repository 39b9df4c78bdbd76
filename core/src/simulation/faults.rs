//! What goes wrong, and when.

use zoolock_testserver::model::permission;

use super::plan::Plan;
use super::workload::PATHS;

/// The kinds of fault. Those that last are ended by a later one, at the latest by the calm at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Reset,
    Stray,
    Freeze,
    Thaw,
    Pause,
    Silence,
    Strand,
    Numb,
    StopServer,
    StartServer,
    PauseServer,
    ResumeServer,
    CutOff,
    Rejoin,
    Depose,
    Lag,
    Elect,
    Lure,
    ExpireIdle,
    ExpireHolder,
    Slow,
    Throttle,
    Stranger,
    Foreign,
    ForeignGoes,
    Touch,
    DeleteWaiter,
    DeleteHolder,
    DeleteFirst,
    Usurp,
    Undercut,
    Exhaust,
    Deny,
    OpenHandle,
    CloseHandle,
    Kill,
}

/// One fault.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// All connections of a client break; what is under way in either direction is lost or not.
    Reset {
        client: usize,
        lose_requests: bool,
        lose_answers: bool,
    },
    /// The client's end breaks. Its bytes still arrive, late, and the servers hear of its end only after that.
    Stray {
        client: usize,
        late: u64,
    },
    /// Bytes of a client stop in one direction or both, connections stay open.
    Freeze {
        client: usize,
        to_server: bool,
        to_client: bool,
    },
    Thaw {
        client: usize,
    },
    /// A client's process is stopped for so many nanoseconds.
    Pause {
        client: usize,
        nanos: u64,
    },
    /// It is stopped, perhaps as it shakes hands with a server, and stranded soon after it goes on.
    Silence {
        client: usize,
        nanos: u64,
        gap: u64,
        reset: bool,
    },
    /// The server that the client is connected to is cut off from the others, and the client from all.
    Strand {
        client: usize,
        nanos: u64,
    },
    /// The server of a client that holds something is cut off, and its callers do nothing.
    Numb {
        which: usize,
        nanos: u64,
    },
    /// The client reaches no server but this one, if any, for so long.
    Confine {
        client: usize,
        server: Option<usize>,
        nanos: u64,
    },
    StopServer(usize),
    StartServer(usize),
    /// The server's process is stopped.
    PauseServer(usize),
    ResumeServer(usize),
    /// A server is cut off from the others; its clients stay connected.
    CutOff(usize),
    Rejoin(usize),
    /// The leader is cut off for so long, perhaps with a client that reaches no other server, or one
    /// that reaches nobody until its session is over there.
    Depose {
        nanos: u64,
        client: usize,
        confine: bool,
    },
    /// Commits reach a follower so much later.
    Lag {
        server: usize,
        nanos: u64,
    },
    Elect(usize),
    /// A client asks the new leader of the majority for a lock, and is then left with the old one.
    Lure {
        client: usize,
        after: u64,
    },
    /// All callers of a client leave.
    Leave {
        client: usize,
    },
    /// The server ends the session of a client, which holds nothing and waits for nothing, or any.
    Expire {
        client: usize,
        idle: bool,
    },
    /// All links take so much longer.
    Slow {
        nanos: u64,
    },
    /// A server refuses so many requests.
    Throttle {
        server: usize,
        requests: u32,
    },
    /// A child that is no contender.
    Stranger {
        path: usize,
        name: usize,
    },
    /// A contender of another library.
    Foreign {
        path: usize,
        reads: bool,
    },
    ForeignGoes,
    /// Somebody writes to a contender.
    Touch {
        path: usize,
        which: usize,
    },
    /// Somebody deletes a contender whose turn has not come.
    DeleteWaiter {
        path: usize,
        which: usize,
    },
    /// Somebody deletes the contender of a guard.
    /// Somebody deletes the first contender on the mutex, whether it is held or only kept.
    DeleteFirst,
    DeleteHolder {
        which: usize,
    },
    /// Somebody deletes the contender of a writer, which soon wants to go on reading.
    Usurp {
        which: usize,
    },
    AskToRead {
        client: usize,
        owner: Option<u64>,
    },
    /// While the client of the first waiter is not connected, somebody deletes its contender, and the
    /// lock is released.
    Undercut {
        path: usize,
    },
    /// So few numbers are left on a path.
    Exhaust {
        path: usize,
        left: i32,
    },
    /// Nobody has this right on a path, for so long.
    Deny {
        path: usize,
        right: i32,
        nanos: u64,
    },
    Allow {
        path: usize,
    },
    /// A process opens another handle on its session.
    OpenHandle {
        client: usize,
    },
    /// A process closes one of its handles, and waits so long for that.
    CloseHandle {
        client: usize,
        which: usize,
        nanos: u64,
    },
    /// A process is killed, and another one starts some time later in its place. Where its host dies
    /// with it, the servers do not hear of its end.
    Kill {
        client: usize,
        silently: bool,
        nanos: u64,
    },
}

impl Fault {
    /// Draws one of the plan's.
    pub(super) fn any(random: &mut fastrand::Rng, plan: &Plan) -> Option<Fault> {
        let table = plan.family.faults();
        let total: u32 = table.iter().map(|(weight, _)| u32::from(*weight)).sum();
        if total == 0 {
            return None;
        }
        let mut at = random.u32(..total);
        for (weight, kind) in table {
            match at.checked_sub(u32::from(*weight)) {
                Some(rest) => at = rest,
                None => return Some(Fault::of(*kind, random, plan)),
            }
        }
        None
    }

    fn of(kind: Kind, random: &mut fastrand::Rng, plan: &Plan) -> Fault {
        let s = plan.session;
        let client = random.usize(..plan.clients);
        let server = random.usize(..plan.servers);
        let path = random.usize(..PATHS.len());
        match kind {
            Kind::Reset => Fault::Reset {
                client,
                lose_requests: random.bool(),
                lose_answers: random.u8(..4) > 0,
            },
            Kind::Stray => Fault::Stray {
                client,
                late: random.u64(..s),
            },
            Kind::Freeze => {
                let (to_server, to_client) = match random.u8(..3) {
                    0 => (true, false),
                    1 => (false, true),
                    _ => (true, true),
                };
                Fault::Freeze {
                    client,
                    to_server,
                    to_client,
                }
            }
            Kind::Thaw => Fault::Thaw { client },
            Kind::Pause => Fault::Pause {
                client,
                nanos: random.u64(s / 20..s * 2),
            },
            Kind::Silence => Fault::Silence {
                client,
                nanos: random.u64(s * 11 / 20..s * 11 / 10),
                gap: random.u64(..plan.tick / 2),
                reset: random.bool(),
            },
            Kind::Strand => Fault::Strand {
                client,
                nanos: random.u64(s / 2..s * 2),
            },
            Kind::Numb => Fault::Numb {
                which: random.usize(..),
                nanos: random.u64(s * 3 / 2..s * 3),
            },
            Kind::StopServer => Fault::StopServer(server),
            Kind::StartServer => Fault::StartServer(server),
            Kind::PauseServer => Fault::PauseServer(server),
            Kind::ResumeServer => Fault::ResumeServer(server),
            Kind::CutOff => Fault::CutOff(server),
            Kind::Rejoin => Fault::Rejoin(server),
            Kind::Depose => Fault::Depose {
                nanos: random.u64(plan.tick * 4..plan.tick * 9),
                client,
                confine: random.bool(),
            },
            Kind::Lag => Fault::Lag {
                server,
                nanos: random.u64(0..s / 3),
            },
            Kind::Elect => Fault::Elect(server),
            Kind::Lure => Fault::Lure {
                client,
                after: random.u64(plan.base_delay * 3..plan.base_delay * 8),
            },
            Kind::ExpireIdle => Fault::Expire { client, idle: true },
            Kind::ExpireHolder => Fault::Expire {
                client,
                idle: false,
            },
            Kind::Slow => Fault::Slow {
                nanos: random.u64(0..s / 40),
            },
            Kind::Throttle => Fault::Throttle {
                server,
                requests: random.u32(1..20),
            },
            Kind::Stranger => Fault::Stranger {
                path,
                name: random.usize(..),
            },
            Kind::Foreign => Fault::Foreign {
                path,
                reads: random.bool(),
            },
            Kind::ForeignGoes => Fault::ForeignGoes,
            Kind::Touch => Fault::Touch {
                path,
                which: random.usize(..),
            },
            Kind::DeleteWaiter => Fault::DeleteWaiter {
                path,
                which: random.usize(..),
            },
            Kind::DeleteFirst => Fault::DeleteFirst,
            Kind::DeleteHolder => Fault::DeleteHolder {
                which: random.usize(..),
            },
            Kind::Usurp => Fault::Usurp {
                which: random.usize(..),
            },
            Kind::Undercut => Fault::Undercut { path },
            Kind::Exhaust => Fault::Exhaust {
                path,
                left: random.i32(0..6),
            },
            Kind::Deny => Fault::Deny {
                path,
                right: [permission::CREATE, permission::DELETE, permission::READ]
                    [random.usize(..3)],
                nanos: random.u64(s / 10..s * 3 / 2),
            },
            Kind::OpenHandle => Fault::OpenHandle { client },
            Kind::CloseHandle => Fault::CloseHandle {
                client,
                which: random.usize(..),
                nanos: random.u64(..s * 2),
            },
            Kind::Kill => Fault::Kill {
                client,
                silently: random.bool(),
                nanos: random.u64(..s),
            },
        }
    }
}
