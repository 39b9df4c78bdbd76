//! A process that takes part: the driver of one of our languages or of another library.

use std::path::Path;
use std::time::Duration;

use zoolock_conformance::actor::Actor;
use zoolock_conformance::languages::Languages;
use zoolock_conformance::message::Message;
use zoolock_conformance::trace::Trace;

/// Long, for a busy machine.
const USUAL: Duration = Duration::from_secs(60);

/// A driver's process, with calls that are made one at a time or awaited later.
pub struct Member {
    /// Its language or library, and a number where there are several.
    pub name: String,
    actor: Actor,
}

/// What became of a lock call.
#[derive(Clone, Debug)]
pub enum Granted {
    /// A hold, with the node's zxid and the node.
    Yes { token: i64, node: String },
    /// The answer, which is something else.
    No(String),
}

impl Member {
    /// Starts a driver.
    pub fn start(languages: &Languages, kind: &str, number: usize) -> Result<Member, String> {
        let name = format!("{kind}-{number}");
        let actor = Actor::start(&name, languages.command(kind)?, &Trace::new())?;
        Ok(Member { name, actor })
    }

    /// Sends a request; its id is what the answer is found by.
    pub fn send(&mut self, verb: &str, fields: &[(&str, &str)]) -> Result<String, String> {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let fields: Vec<_> = fields.iter().map(owned).collect();
        self.actor.send(verb, &fields)
    }

    /// The answer to a request, if it comes in time.
    pub fn answer(&self, id: &str, within: Duration) -> Result<Message, String> {
        self.actor.answer(id, within)
    }

    /// Whether the answer has come.
    pub fn has_answered(&self, id: &str) -> bool {
        self.actor.has_answered(id)
    }

    /// The answer to a request, if it has come; it can be looked at again.
    pub fn peek(&self, id: &str) -> Option<Message> {
        self.actor.peek(id)
    }

    /// Asks for something that has to succeed.
    pub fn ask(&mut self, verb: &str, fields: &[(&str, &str)]) -> Result<Message, String> {
        let id = self.send(verb, fields)?;
        let answer = self.answer(&id, USUAL)?;
        if answer.word == "ok" {
            Ok(answer)
        } else {
            Err(format!("{} answers {verb} with `{answer}`", self.name))
        }
    }

    /// Opens a session whose identity is the member's name.
    pub fn connect(&mut self, hosts: &str, session_timeout_ms: u32) -> Result<(), String> {
        let name = self.name.clone();
        let timeout = session_timeout_ms.to_string();
        let fields = [
            ("session", "s"),
            ("hosts", hosts),
            ("identity", &name),
            ("session_timeout_ms", &timeout),
        ];
        self.ask("connect", &fields).map(drop)
    }

    /// Makes a lock object: `verb` is its recipe and its name.
    pub fn open(&mut self, verb: &str, path: &str, naming: Option<&str>) -> Result<(), String> {
        let mut fields = vec![("session", "s"), ("lock", verb), ("path", path)];
        fields.extend(naming.map(|naming| ("naming", naming)));
        self.ask(verb, &fields).map(drop)
    }

    /// What a guard's state is said to be.
    pub fn state(&mut self, guard: &str) -> Result<String, String> {
        let answer = self.ask("state", &[("guard", guard)])?;
        Ok(answer.get("state").unwrap_or_default().to_owned())
    }

    /// Whether the session has been in a state.
    pub fn saw(&self, state: &str) -> bool {
        let events = self.actor.events();
        let mut states = events.iter().filter(|event| event.word == "state");
        states.any(|event| event.get("state") == Some(state))
    }

    /// Stops the process where it stands.
    pub fn pause(&mut self) -> Result<(), String> {
        self.actor.pause()
    }

    /// Lets it go on.
    pub fn resume(&mut self) -> Result<(), String> {
        self.actor.resume()
    }

    /// Ends it as programs end.
    pub fn exit(mut self) -> Result<(), String> {
        self.actor.exit(USUAL)
    }
}

/// Reads the answer to a lock call.
pub fn granted(answer: &Message) -> Granted {
    let token = answer.get("token").and_then(|token| token.parse().ok());
    match (answer.word.as_str(), token, answer.get("node")) {
        ("ok", Some(token), Some(node)) => Granted::Yes {
            token,
            node: node.to_owned(),
        },
        _ => Granted::No(answer.to_string()),
    }
}

/// The drivers that the command line names, and those built beside this program.
pub fn languages(drivers: &[String], peers: &[String]) -> Result<Languages, String> {
    let here = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut languages = Languages::built_beside(Path::new(&here));
    for driver in drivers {
        languages.add(driver)?;
    }
    for peer in peers {
        languages.add_peer(peer)?;
    }
    Ok(languages)
}
