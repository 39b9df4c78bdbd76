//! What all lock objects share: a session, a target, and the call for a lock.

use std::sync::Arc;
use std::time::Duration;

use crate::cancel::Cancel;
use crate::clock;
use crate::command::{AttemptId, Command, Deadline, GrantTo, LockRequest, LockTarget};
use crate::config::{LockOptions, Wait};
use crate::contender::Contender;
use crate::error::{Error, ErrorKind, Result};
use crate::guard::Guard;
use crate::handle::Session;
use crate::kept::{self, Asked};
use crate::owner::Owner;
use crate::path;
use crate::pending::Pending;
use crate::queue::names::{Family, Kind};
use crate::quoted::Quoted;
use crate::stats::{LockStatistics, LockStats};

/// See the module.
#[derive(Clone)]
pub(crate) struct Lock {
    session: Session,
    target: Arc<LockTarget>,
}

impl Lock {
    pub(crate) fn new(
        session: Session,
        operation: &'static str,
        family: Family,
        lock_path: &str,
        options: LockOptions,
    ) -> Result<Lock> {
        path::validate(lock_path).map_err(|why| {
            let problem = format_args!("{}: {why}", Quoted(lock_path));
            Error::invalid_argument(operation, "path", problem)
        })?;
        options.check(operation, !session.config().options.auth.is_empty())?;
        if family == Family::ReadWrite && options.keep.is_some() {
            let problem = "read-write locks are not kept";
            return Err(Error::invalid_argument(operation, "keep", problem));
        }
        if session.is_closed() {
            return Err(crate::link::closed(operation));
        }
        let target = Arc::new(LockTarget {
            path: lock_path.into(),
            family,
            naming: options.naming,
            data: options.data,
            acl: options.acl,
            keep: options.keep,
            stats: LockStats::default(),
        });
        Ok(Lock { session, target })
    }

    pub(crate) fn path(&self) -> &str {
        &self.target.path
    }

    pub(crate) fn statistics(&self) -> LockStatistics {
        self.target.stats.read()
    }

    /// Waits for the lock; a busy try is a `Timeout`.
    pub(crate) fn lock(
        &self,
        kind: Kind,
        owner: Option<&Owner>,
        wait: Wait,
        cancel: Option<&Cancel>,
    ) -> Pending<Guard> {
        let (completer, pending) = Pending::new("lock");
        self.request(kind, owner, wait, cancel, GrantTo::Lock(completer), pending)
    }

    /// Waits for the lock; a busy try is `None`.
    pub(crate) fn acquire(
        &self,
        kind: Kind,
        owner: Option<&Owner>,
        wait: Wait,
        cancel: Option<&Cancel>,
    ) -> Pending<Option<Guard>> {
        let (completer, pending) = Pending::new("lock");
        self.request(kind, owner, wait, cancel, GrantTo::Try(completer), pending)
    }

    pub(crate) fn lock_timeout(
        &self,
        kind: Kind,
        owner: Option<&Owner>,
        timeout: Duration,
    ) -> Pending<Guard> {
        self.lock(kind, owner, Wait::UpTo(timeout), None)
    }

    fn request<T>(
        &self,
        kind: Kind,
        owner: Option<&Owner>,
        wait: Wait,
        cancel: Option<&Cancel>,
        to: GrantTo,
        pending: Pending<T>,
    ) -> Pending<T> {
        let called = clock::now();
        let wait = match wait {
            Wait::UpTo(timeout) => match Wait::from_duration("lock", timeout) {
                Ok(wait) => wait,
                Err(error) => {
                    to.fail(error.with_path(self.path()));
                    return pending;
                }
            },
            wait => wait,
        };
        if cancel.is_some_and(Cancel::is_cancelled) {
            to.fail(
                Error::new(ErrorKind::Cancelled, "lock", "cancelled before it began")
                    .with_path(self.path()),
            );
            return pending;
        }
        let attachment = match self.session.attach("lock") {
            Ok(attachment) => attachment,
            Err(error) => {
                to.fail(error.with_path(self.path()));
                return pending;
            }
        };
        let (link, handle) = (&attachment.link, attachment.handle);
        let is_closed = || self.session.is_closed();
        let owned = owner.is_some();
        let past = match kept::ask(link, &self.target, owned, handle, is_closed, called) {
            Asked::Granted(cell) => {
                to.grant(Guard::new(cell, Some(self.session.clone())));
                return pending;
            }
            Asked::Queue(past) => past,
        };
        let attempt = AttemptId::next();
        let deadline = match wait {
            Wait::Forever => Deadline::Never,
            Wait::UpTo(timeout) => Deadline::At(called + timeout),
            Wait::Try => Deadline::Try(called + self.session.config().options.connect_timeout),
        };
        attachment.link.send(Command::Lock(LockRequest {
            attempt,
            handle: attachment.handle,
            session: Some(self.session.clone()),
            target: Arc::clone(&self.target),
            kind,
            owner: owner.cloned(),
            called,
            deadline,
            past,
            to,
        }));
        let registration = cancel.map(|cancel| cancel.register(&attachment.link, attempt));
        pending.withdrawing(Arc::clone(&attachment.link), attempt, registration)
    }

    pub(crate) fn contenders(&self) -> Pending<Vec<Contender>> {
        let (completer, pending) = Pending::new("contenders");
        let attachment = match self.session.attach("contenders") {
            Ok(attachment) => attachment,
            Err(error) => {
                drop(completer.complete(Err(error.with_path(self.path()))));
                return pending;
            }
        };
        attachment.link.send(Command::Contenders {
            handle: attachment.handle,
            target: Arc::clone(&self.target),
            until: clock::now() + self.session.config().options.connect_timeout,
            then: Box::new(move |outcome| drop(completer.complete(outcome))),
        });
        pending.on(Arc::clone(&attachment.link))
    }
}

impl std::fmt::Debug for Lock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lock")
            .field("path", &self.path())
            .field("session", &self.session)
            .finish()
    }
}
