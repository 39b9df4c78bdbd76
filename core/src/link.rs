//! The side of a managed session that callers on any thread share with the network thread.

use std::sync::Arc;
use std::time::Duration;

use crate::command::Command;
use crate::error::{Error, ErrorKind};
use crate::kept::KeptSlots;
use crate::runtime::Callbacks;
use crate::state::StateCell;
use crate::sync::primitive::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use crate::sync::{Disconnected, Limit, Mailbox, Receiver, Seat};

/// See the module.
pub(crate) struct Link {
    /// The process that made it; no other may touch what is inside (R18).
    process: u64,
    mailbox: Mailbox<Command>,
    pub(crate) seat: Seat<Command>,
    pub(crate) states: StateCell,
    pub(crate) callbacks: Callbacks,
    pub(crate) kept: KeptSlots,
    connected: AtomicBool,
    session_id: AtomicI64,
    negotiated_millis: AtomicU64,
}

impl Link {
    pub(crate) fn new(callbacks: Callbacks) -> Arc<Link> {
        Arc::new(Link {
            process: crate::process::id(),
            mailbox: Mailbox::new(),
            seat: Seat::new(),
            states: StateCell::new(),
            callbacks,
            kept: KeptSlots::default(),
            connected: AtomicBool::new(false),
            session_id: AtomicI64::new(0),
            negotiated_millis: AtomicU64::new(0),
        })
    }

    /// Whether the calling process made this link.
    pub(crate) fn is_ours(&self) -> bool {
        self.process == crate::process::id()
    }

    /// Sends a command, on this thread if the seat is free; one for a session that has ended is
    /// answered here.
    pub(crate) fn send(&self, command: Command) {
        match self.mailbox.leave(command) {
            Ok(()) => self.seat.serve(&self.mailbox),
            Err(command) => refuse(command),
        }
    }

    /// Waits for an outcome of a command, at most `limit`, and reads it itself if nobody else waits.
    pub(crate) fn wait<T>(
        &self,
        receiver: &Receiver<T>,
        limit: Option<Duration>,
    ) -> Option<std::result::Result<T, Disconnected>> {
        let limit = Limit::starting_now(limit);
        self.seat.wait(&self.mailbox, receiver, &limit)
    }

    /// An outcome is awaited by somebody who cannot read it.
    pub(crate) fn attend(&self) {
        self.seat.attend(&self.mailbox);
    }

    /// Leaves a command to the network thread: for callers that have a lock.
    pub(crate) fn post(&self, command: Command) {
        match self.mailbox.leave(command) {
            Ok(()) => self.mailbox.wake(),
            Err(command) => refuse(command),
        }
    }

    pub(crate) fn mailbox(&self) -> &Mailbox<Command> {
        &self.mailbox
    }

    /// The session has ended: nothing will read the mailbox any more.
    pub(crate) fn close_mailbox(&self) {
        for command in self.mailbox.close() {
            refuse(command);
        }
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.connected.load(Ordering::Acquire)
    }

    pub(crate) fn set_connected(&self, connected: bool) {
        self.connected.store(connected, Ordering::Release);
    }

    pub(crate) fn set_session(&self, id: i64, negotiated: Duration) {
        self.session_id.store(id, Ordering::Release);
        let millis = u64::try_from(negotiated.as_millis()).unwrap_or(u64::MAX);
        self.negotiated_millis.store(millis, Ordering::Release);
    }

    pub(crate) fn session_id(&self) -> i64 {
        self.session_id.load(Ordering::Acquire)
    }

    pub(crate) fn negotiated_timeout(&self) -> Duration {
        Duration::from_millis(self.negotiated_millis.load(Ordering::Acquire))
    }
}

pub(crate) fn closed(operation: &'static str) -> Error {
    Error::new(ErrorKind::Closed, operation, "the session is closed")
}

/// Answers a command that comes too late.
pub(crate) fn refuse(command: Command) {
    match command {
        Command::Lock(request) => {
            let path = request.target.path.clone();
            request.to.fail(closed("lock").with_path(path));
        }
        Command::Connect { then, .. } => then(Err(closed("connect"))),
        Command::Contenders { then, .. } => then(Err(closed("contenders"))),
        // What was to be released or closed went with the session.
        Command::Release { then, .. } => {
            if let Some(then) = then {
                then(Ok(()));
            }
        }
        Command::Close { then, .. } | Command::Shutdown { then } => then(Ok(())),
        Command::Open { .. } | Command::Cancel { .. } | Command::KeptFreed { .. } => {}
    }
}
