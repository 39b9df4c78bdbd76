//! The handle with which a test disturbs a link.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::error::{Context, Error, Result};
use crate::eventually::eventually;
use crate::proxy::cut::{Action, Cut, Message, Moment, Rule};
use crate::proxy::faults::{Direction, Fault, Scope, WayFaults};
use crate::proxy::run::Shared;
use crate::proxy::state::LinkState;

/// A link, or several that are disturbed together: all of a server's links to the other servers.
#[derive(Clone, Debug)]
pub struct Link {
    shared: Arc<Shared>,
    /// Indices, and whether the link leads *away* from the server this handle is about.
    parts: Vec<(usize, bool)>,
}

impl Link {
    pub(crate) fn new(shared: Arc<Shared>, parts: Vec<(usize, bool)>) -> Self {
        Link { shared, parts }
    }

    /// Begins a fault.
    pub fn begin(&self, fault: Fault, direction: Direction, scope: Scope) {
        self.change(fault, true, direction, scope);
    }

    /// Takes a fault back (of a delay, whatever its length).
    pub fn end(&self, fault: Fault, direction: Direction, scope: Scope) {
        self.change(fault, false, direction, scope);
    }

    /// Freezes both ways of all connections, present and future.
    pub fn freeze(&self) {
        self.begin(Fault::Freeze, Direction::Both, Scope::All);
    }

    /// Ends every freeze and hold, and forwards what was held.
    pub fn thaw(&self) {
        self.end(Fault::Freeze, Direction::Both, Scope::All);
    }

    /// Delays both ways of all connections by `delay` each.
    pub fn delay(&self, delay: Duration) {
        self.begin(Fault::Delay(delay), Direction::Both, Scope::All);
    }

    /// Throws away what travels in `direction`.
    pub fn drop_bytes(&self, direction: Direction) {
        self.begin(Fault::Drop, direction, Scope::All);
    }

    /// Resets (RST) all open connections. Further ones are accepted.
    pub fn reset(&self) {
        self.end_connections(true, "reset");
    }

    /// Closes (FIN) all open connections. Further ones are accepted.
    pub fn close(&self) {
        self.end_connections(false, "closed by the test");
    }

    fn end_connections(&self, reset: bool, why: &str) {
        let mut state = self.shared.lock();
        for (index, _) in &self.parts {
            state.end_all(*index, reset, why);
        }
        drop(state);
        self.shared.wake();
    }

    /// Refuses new connections. Open ones stay.
    pub fn refuse(&self) {
        // Closing a listener cannot fail.
        let _ = self.set_flags(|link, _| link.refusing = true);
    }

    /// Accepts connections again.
    pub fn accept(&self) -> Result<()> {
        self.set_flags(|link, _| link.refusing = false)
    }

    /// Whether the server is down: the proxies that lead to it must refuse in its stead.
    pub(crate) fn set_down(&self, down: bool) -> Result<()> {
        self.set_flags(|link, leads_away| {
            if !leads_away {
                link.down = down;
            }
        })
    }

    fn set_flags(&self, change: impl Fn(&mut LinkState, bool)) -> Result<()> {
        let mut state = self.shared.lock();
        for (index, leads_away) in &self.parts {
            change(&mut state.links[*index], *leads_away);
            state.links[*index]
                .update_listener()
                .context(|| "cannot open a proxy's port again".into())?;
        }
        drop(state);
        self.shared.wake();
        Ok(())
    }

    /// Takes back every fault and every cut that has not fired.
    pub fn heal(&self) -> Result<()> {
        let mut state = self.shared.lock();
        for (index, _) in &self.parts {
            state.links[*index].faults = [WayFaults::default(); 2];
            state.links[*index].rules.clear();
        }
        for connection in state.connections.values_mut() {
            if self
                .parts
                .iter()
                .any(|(index, _)| *index == connection.link)
            {
                for way in &mut connection.ways {
                    way.faults = WayFaults::default();
                }
            }
        }
        drop(state);
        self.accept()
    }

    /// Cuts the connection that carries the `nth` message (from 1) of a kind, counted from now over all connections.
    pub fn cut(&self, message: Message, nth: u32, moment: Moment, action: Action) -> Result<Cut> {
        self.add_cut(message, nth, moment, action, false)
    }

    /// As [`cut`](Self::cut), and from that moment on the link refuses new connections, until [`accept`](Self::accept).
    pub fn cut_and_refuse(
        &self,
        message: Message,
        nth: u32,
        moment: Moment,
        action: Action,
    ) -> Result<Cut> {
        self.add_cut(message, nth, moment, action, true)
    }

    fn add_cut(
        &self,
        message: Message,
        nth: u32,
        moment: Moment,
        action: Action,
        then_refuse: bool,
    ) -> Result<Cut> {
        if nth == 0 {
            return Err(Error::new("messages are counted from 1"));
        }
        if action == Action::Hold && then_refuse {
            return Err(Error::new(
                "a held connection stays open: hold cannot refuse",
            ));
        }
        let [(index, _)] = self.parts[..] else {
            return Err(Error::new("only a client link can be cut at a message"));
        };
        let fired = Arc::new(AtomicBool::new(false));
        let rule = Rule {
            message,
            remaining: nth,
            moment,
            action,
            then_refuse,
            fired: fired.clone(),
        };
        self.shared.lock().links[index].rules.push(rule);
        let what = format!("{moment:?} {message:?} number {nth}");
        Ok(Cut { fired, what })
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        let state = self.shared.lock();
        let ours = |link: usize| self.parts.iter().any(|(index, _)| *index == link);
        state
            .connections
            .values()
            .filter(|connection| ours(connection.link))
            .count()
    }

    /// Waits until `wanted` says yes to the number of open connections.
    pub fn wait_connections(
        &self,
        deadline: Duration,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<()> {
        if eventually(deadline, || wanted(self.connections())) {
            Ok(())
        } else {
            Err(Error::new(format!(
                "{} connections are open after {} ms",
                self.connections(),
                deadline.as_millis()
            )))
        }
    }

    fn change(&self, fault: Fault, on: bool, direction: Direction, scope: Scope) {
        let mut state = self.shared.lock();
        for (index, flipped) in &self.parts {
            let ways = direction.ways(*flipped);
            for way in [0, 1] {
                if !ways[way] {
                    continue;
                }
                if scope != Scope::Existing {
                    state.links[*index].faults[way].apply(fault, on);
                }
                if scope != Scope::New {
                    for connection in state.connections.values_mut() {
                        if connection.link == *index {
                            connection.ways[way].faults.apply(fault, on);
                        }
                    }
                }
            }
        }
        drop(state);
        self.shared.wake();
    }
}
