//! What goes wrong, and when.

/// One fault. Those that last are ended by a later one, at the latest by the calm at the end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// All connections of a client break.
    Reset {
        client: usize,
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
    StopServer(usize),
    StartServer(usize),
    /// The server's process is stopped.
    PauseServer(usize),
    ResumeServer(usize),
    /// A follower is cut off from its leader; its clients stay connected.
    CutOff(usize),
    Rejoin(usize),
    /// Commits reach a follower so much later.
    Lag {
        server: usize,
        nanos: u64,
    },
    Elect(usize),
    /// The server ends a session.
    Expire {
        client: usize,
    },
    /// All links take so much longer.
    Slow {
        nanos: u64,
    },
}

impl Fault {
    pub(super) fn any(random: &mut fastrand::Rng, clients: usize, servers: usize, s: u64) -> Fault {
        let client = random.usize(..clients);
        let server = random.usize(..servers);
        match random.u8(..28) {
            0..=3 => Fault::Reset { client },
            4..=5 => {
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
            6..=8 => Fault::Thaw { client },
            9..=11 => Fault::Pause {
                client,
                nanos: random.u64(s / 20..s * 2),
            },
            12..=13 => Fault::StopServer(server),
            14..=16 => Fault::StartServer(server),
            17 => Fault::PauseServer(server),
            18..=19 => Fault::ResumeServer(server),
            20..=21 => Fault::CutOff(server),
            22..=23 => Fault::Rejoin(server),
            24 => Fault::Lag {
                server,
                nanos: random.u64(0..s / 3),
            },
            25 => Fault::Elect(server),
            26 => Fault::Expire { client },
            _ => Fault::Slow {
                nanos: random.u64(0..s / 40),
            },
        }
    }
}
