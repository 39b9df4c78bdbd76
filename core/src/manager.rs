//! One ZooKeeper session per configuration in a process, shared by counted handles (R16).

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use crate::command::{Command, HandleId};
use crate::config::SessionConfig;
use crate::error::Result;
use crate::handle::Attachment;
use crate::link::Link;
use crate::runtime::{self, Callbacks};
use crate::session::driver;
use crate::sync::Completer;
use crate::sync::primitive::Mutex;

/// The sessions of a process.
#[derive(Default)]
pub(crate) struct Registry(Mutex<Sessions>);

#[derive(Default)]
struct Sessions {
    shared: HashMap<SessionConfig, Arc<Link>>,
    /// Every session that may still be open, the exclusive and the closing ones too.
    all: Vec<Weak<Link>>,
}

impl Sessions {
    fn remove(&mut self, config: &SessionConfig, link: &Arc<Link>) {
        let shared = self.shared.get(config);
        if shared.is_some_and(|shared| Arc::ptr_eq(shared, link)) {
            self.shared.remove(config);
        }
    }
}

/// Opens a handle on the session for `config`, starting the session if there is none.
pub(crate) fn attach(config: &SessionConfig) -> Result<Attachment> {
    let runtime = runtime::get()?;
    let config = config.for_this_process();
    let handle = HandleId::next();
    let (link, is_new) = runtime.registry.join(&config, &runtime.callbacks, handle);
    if is_new {
        runtime
            .network
            .spawn(driver::run(config, Arc::clone(&link)));
    }
    Ok(Attachment { handle, link })
}

impl Registry {
    /// Joins the shared session for `config`, or makes a new one: true if so, and the caller has to
    /// serve it.
    pub(crate) fn join(
        &self,
        config: &SessionConfig,
        callbacks: &Callbacks,
        handle: HandleId,
    ) -> (Arc<Link>, bool) {
        let mut sessions = self.0.lock();
        if !config.options.exclusive
            && let Some(link) = sessions.shared.get(config)
        {
            // The entry is removed, under this lock, before the session stops reading.
            link.post(Command::Open { handle });
            return (Arc::clone(link), false);
        }
        let link = Link::new(callbacks.clone());
        link.post(Command::Open { handle });
        sessions.all.retain(|known| known.strong_count() > 0);
        sessions.all.push(Arc::downgrade(&link));
        if !config.options.exclusive {
            sessions.shared.insert(config.clone(), Arc::clone(&link));
        }
        (link, true)
    }

    /// Takes a session whose last handle is closed out of sharing, unless a new handle has just
    /// come: true if nobody can join it any more.
    pub(crate) fn retire(&self, config: &SessionConfig, link: &Arc<Link>) -> bool {
        let mut sessions = self.0.lock();
        if !link.mailbox().is_empty() {
            return false;
        }
        sessions.remove(config, link);
        true
    }

    /// Takes a session out of sharing, whoever may want to join it.
    pub(crate) fn remove(&self, config: &SessionConfig, link: &Arc<Link>) {
        self.0.lock().remove(config, link);
    }

    /// Closes every session; `done` disconnects when all are closed.
    pub(crate) fn shut_down(&self, done: Completer<()>) {
        let done = Arc::new(done);
        let links: Vec<_> = self.0.lock().all.iter().filter_map(Weak::upgrade).collect();
        for link in links {
            let done = Arc::clone(&done);
            link.send(Command::Shutdown {
                then: Box::new(move |_| drop(done)),
            });
        }
    }
}
