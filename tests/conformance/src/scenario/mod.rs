//! A scenario as its file says it; the form is described in the README.

mod parse;

use std::time::Duration;

/// One scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The rules it shows, the main one first, and the file's name: `r01_exclusion`.
    pub name: String,
    /// One line on what is shown.
    pub about: String,
    /// How many servers it needs.
    pub servers: usize,
    /// The actors, in the order in which languages are dealt to them.
    pub actors: Vec<String>,
    /// The only languages in which it can be said, if not all.
    pub only: Option<Vec<String>>,
    /// The languages in which it cannot be said.
    pub not: Vec<String>,
    /// The other libraries in which it can be said, if not in all.
    pub peers: Option<Vec<String>>,
    /// For each actor, whether another library plays it; if not, both sides play every role.
    pub roles: Option<Vec<bool>>,
    /// What happens.
    pub steps: Vec<Step>,
}

/// One line of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number in the file.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// What is done.
    pub action: Action,
    /// How long it may take, if not the usual time.
    pub within: Option<Duration>,
}

/// What a step does. Words still contain their `{variables}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// An actor makes a call and answers.
    Call(Call, Outcome),
    /// An actor makes a call whose answer is awaited later.
    Start { name: String, call: Call },
    /// The answer to a call that was started.
    Await { name: String, outcome: Outcome },
    /// No answer to a call that was started has come so far.
    Pending { name: String },
    /// An actor is told that a guard was lost.
    Told { actor: String, guard: String },
    /// An actor is told these session states, in this order, others between them or not.
    Saw { actor: String, states: Vec<String> },
    /// A signal to an actor's process.
    Process { actor: String, fate: Fate },
    /// The contenders on a path, by their data, in order.
    Queue { path: String, wanted: Vec<String> },
    /// The number of a node's children, contenders or not.
    Children { path: String, count: usize },
    /// The number of sessions that the contenders on a path belong to.
    Sessions { path: String, count: usize },
    /// Whether a node exists.
    Exists { path: String, wanted: bool },
    /// A node's name matches a pattern.
    Named { node: String, pattern: String },
    /// Somebody else creates a node.
    Create {
        path: String,
        data: String,
        ephemeral: bool,
        sequential: bool,
    },
    /// Somebody else deletes a node.
    Delete { node: String },
    /// The session that owns a node is ended.
    Expire { node: String },
    /// Notes which server the owner of a node is connected to.
    Find { variable: String, node: String },
    /// Notes which server leads.
    Leader { variable: String },
    /// Every server that runs serves.
    Serving,
    /// Requests of locks are counted from here on.
    MarkRequests,
    /// No more than so many requests of locks since then.
    Requests { most: u64 },
    /// Something is done to the link between clients and a server.
    Link { server: String, fault: Fault },
    /// The link is cut at the next reply to an operation, which does not arrive.
    Cut { server: String, op: String },
    /// The cut has happened.
    CutDone,
    /// Something is done to a server.
    Server { server: String, fate: ServerFate },
}

/// A call that an actor makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Who.
    pub actor: String,
    /// On which thread, or as which owner.
    pub thread: Option<String>,
    /// What.
    pub verb: String,
    /// With what.
    pub fields: Vec<(String, String)>,
}

/// What a call has to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Success.
    Ok,
    /// A lock, with a token above those before; or that of another guard of the same owner.
    Granted { same: Option<String> },
    /// A lock, with the kept contender of another guard: its token, and a higher count.
    GrantedAgain { of: String },
    /// No lock, after a try.
    None,
    /// An error of a kind, whose message names something.
    Error { kind: String, names: Option<String> },
    /// Success or an error: libraries differ in it.
    Ended,
    /// A state, or who queues.
    Values(Vec<String>),
}

/// What becomes of an actor's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Stopped where it stands.
    Pause,
    /// Going on.
    Continue,
    /// Killed.
    Kill,
    /// Asked to end as programs do, with locks held or not, and waited for.
    Exit,
}

/// What becomes of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing passes; connections stay open.
    Freeze,
    /// The end of a freeze.
    Thaw,
    /// Open connections are reset.
    Reset,
    /// New connections are refused.
    Refuse,
    /// New connections are accepted again.
    Accept,
}

/// What becomes of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerFate {
    /// Killed.
    Kill,
    /// Started again.
    Start,
    /// Stopped where it stands.
    Pause,
    /// Going on.
    Continue,
}

impl Scenario {
    /// Reads a scenario's text; `stem` is its file's name without the ending.
    ///
    /// # Errors
    /// The line and what is wrong with it.
    pub fn parse(stem: &str, text: &str) -> Result<Scenario, String> {
        parse::scenario(stem, text)
    }

    /// Whether it disturbs what other scenarios on the same ensemble use.
    pub fn disturbs(&self) -> bool {
        self.steps.iter().any(|step| {
            matches!(
                step.action,
                Action::Link { .. }
                    | Action::Cut { .. }
                    | Action::Server { .. }
                    | Action::MarkRequests
            )
        })
    }
}
