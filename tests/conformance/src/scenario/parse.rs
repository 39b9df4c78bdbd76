//! Reads the scenario files.

use std::time::Duration;

use super::{Action, Call, Fate, Fault, Outcome, Scenario, ServerFate, Step};

type Parsed<T> = Result<T, String>;

/// The words after each verb that need no key.
const POSITIONS: &[(&str, &[&str])] = &[
    ("connect", &[]),
    ("mutex", &["lock", "path"]),
    ("reentrant", &["lock", "path"]),
    ("read", &["lock", "path"]),
    ("write", &["lock", "path"]),
    ("lock", &["lock", "guard"]),
    ("try", &["lock", "guard"]),
    ("cancel", &["cancel"]),
    ("release", &["guard"]),
    ("drop", &["guard"]),
    ("state", &["guard"]),
    ("session_state", &[]),
    ("contenders", &["lock"]),
    ("close", &[]),
];

pub(super) fn scenario(stem: &str, text: &str) -> Parsed<Scenario> {
    let mut rules = Vec::new();
    let mut scenario = Scenario {
        name: String::new(),
        about: String::new(),
        servers: 1,
        actors: Vec::new(),
        only: None,
        not: Vec::new(),
        peers: None,
        roles: None,
        steps: Vec::new(),
    };
    for (index, line) in text.lines().enumerate() {
        let line = line.split(" #").next().unwrap_or_default().trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = |problem: String| format!("{stem}.scenario:{}: {problem}", index + 1);
        let list = || words[1..].iter().map(|word| (*word).to_owned()).collect();
        match words[0] {
            "rule:" => rules = list(),
            "about:" => scenario.about = words[1..].join(" "),
            "servers:" => scenario.servers = number(words.get(1)).map_err(at)?,
            "actors:" => scenario.actors = list(),
            "only:" => scenario.only = Some(list()),
            "not:" => scenario.not = list(),
            "peers:" => scenario.peers = Some(list()),
            "roles:" => scenario.roles = Some(roles(&words[1..]).map_err(at)?),
            _ => {
                let (action, within) = step(&words, &scenario.actors).map_err(at)?;
                scenario.steps.push(Step {
                    line: index + 1,
                    text: line.to_owned(),
                    action,
                    within,
                });
            }
        }
    }
    let is_rule = |rule: &String| {
        rule.strip_prefix('R')
            .is_some_and(|digits| digits.len() == 2 && matches!(digits.parse(), Ok(1..=20)))
    };
    if rules.is_empty() || !rules.iter().all(is_rule) {
        return Err(format!("{stem}.scenario: `rule:` wants rules such as R01"));
    }
    if scenario.actors.is_empty() || scenario.steps.is_empty() || scenario.about.is_empty() {
        return Err(format!(
            "{stem}.scenario: `about:`, `actors:` or the steps are missing"
        ));
    }
    if let Some(roles) = &scenario.roles
        && roles.len() != scenario.actors.len()
    {
        return Err(format!(
            "{stem}.scenario: `roles:` wants one for each actor"
        ));
    }
    scenario.name = format!("{}_{stem}", rules[0].to_lowercase());
    Ok(scenario)
}

fn roles(words: &[&str]) -> Parsed<Vec<bool>> {
    let role = |word: &&str| match *word {
        "ours" => Ok(false),
        "peer" => Ok(true),
        other => Err(format!("`{other}` is no role")),
    };
    words.iter().map(role).collect()
}

fn step(words: &[&str], actors: &[String]) -> Parsed<(Action, Option<Duration>)> {
    let (words, within) = match words {
        [before @ .., "within", time] => {
            let time = time.parse().map_err(|_| format!("`{time}` is no number"))?;
            (before, Some(Duration::from_millis(time)))
        }
        _ => (words, None),
    };
    let (words, outcome) = match words.iter().position(|word| *word == "->") {
        Some(arrow) => (&words[..arrow], Some(outcome(&words[arrow + 1..])?)),
        None => (words, None),
    };
    let (who, thread) = match words[0].split_once('.') {
        Some((actor, thread)) => (actor, Some(thread.to_owned())),
        None => (words[0], None),
    };
    let action = if actors.iter().any(|actor| actor == who) {
        act(who, thread, &words[1..], outcome)?
    } else if outcome.is_some() {
        return Err(format!("`{who}` is no actor, and only actors answer"));
    } else {
        observe(words, actors)?
    };
    Ok((action, within))
}

fn act(
    actor: &str,
    thread: Option<String>,
    words: &[&str],
    outcome: Option<Outcome>,
) -> Parsed<Action> {
    let owned = |word: &&str| (*word).to_owned();
    let actor = actor.to_owned();
    Ok(match (words, outcome) {
        (["start", name, rest @ ..], None) => Action::Start {
            name: owned(name),
            call: call(actor, thread, rest)?,
        },
        (["await", name], outcome) => Action::Await {
            name: owned(name),
            outcome: outcome.unwrap_or(Outcome::Granted { same: None }),
        },
        (["pending", name], None) => Action::Pending { name: owned(name) },
        (["told", guard], None) => Action::Told {
            actor,
            guard: owned(guard),
        },
        (["saw", states @ ..], None) if !states.is_empty() => Action::Saw {
            actor,
            states: states.iter().map(owned).collect(),
        },
        (rest, outcome) => {
            let call = call(actor, thread, rest)?;
            let usual = match call.verb.as_str() {
                "lock" | "try" => Outcome::Granted { same: None },
                _ => Outcome::Ok,
            };
            Action::Call(call, outcome.unwrap_or(usual))
        }
    })
}

fn call(actor: String, thread: Option<String>, words: &[&str]) -> Parsed<Call> {
    let verb = *words.first().ok_or("a verb is missing")?;
    let (_, positions) = POSITIONS
        .iter()
        .find(|(known, _)| *known == verb)
        .ok_or_else(|| format!("`{verb}` is no verb"))?;
    let named = |key: &str| {
        let mut keys = words[1..].iter().filter_map(|word| word.split_once('='));
        keys.any(|(given, _)| given == key)
    };
    let mut fields = Vec::new();
    let mut positions = positions.iter().filter(|key| !named(key));
    for word in &words[1..] {
        match word.split_once('=') {
            Some((key, value)) => fields.push((key.to_owned(), value.to_owned())),
            None => {
                let key = positions
                    .next()
                    .ok_or_else(|| format!("`{word}` is one word too many for `{verb}`"))?;
                fields.push(((*key).to_owned(), (*word).to_owned()));
            }
        }
    }
    if let Some(missing) = positions.next() {
        return Err(format!("`{verb}` needs a {missing}"));
    }
    Ok(Call {
        actor,
        thread,
        verb: verb.to_owned(),
        fields,
    })
}

fn outcome(words: &[&str]) -> Parsed<Outcome> {
    Ok(match words {
        [] => return Err("an outcome is missing after `->`".into()),
        ["ok"] => Outcome::Ok,
        ["granted"] => Outcome::Granted { same: None },
        ["granted", "same", guard] => Outcome::Granted {
            same: Some((*guard).to_owned()),
        },
        ["granted", "again", guard] => Outcome::GrantedAgain {
            of: (*guard).to_owned(),
        },
        ["none"] => Outcome::None,
        ["ended"] => Outcome::Ended,
        ["error", kind] => Outcome::Error {
            kind: (*kind).to_owned(),
            names: None,
        },
        ["error", kind, "names", what] => Outcome::Error {
            kind: (*kind).to_owned(),
            names: Some((*what).to_owned()),
        },
        ["ok" | "granted" | "none" | "error", ..] => {
            return Err(format!("`{}` is no outcome", words.join(" ")));
        }
        ["nobody"] => Outcome::Values(Vec::new()),
        values => Outcome::Values(values.iter().map(|value| (*value).to_owned()).collect()),
    })
}

fn observe(words: &[&str], actors: &[String]) -> Parsed<Action> {
    let owned = |word: &&str| (*word).to_owned();
    Ok(match words {
        [verb @ ("pause" | "continue" | "kill" | "exit"), actor] => {
            if !actors.iter().any(|known| known == actor) {
                return Err(format!("`{actor}` is no actor"));
            }
            Action::Process {
                actor: owned(actor),
                fate: match *verb {
                    "pause" => Fate::Pause,
                    "continue" => Fate::Continue,
                    "kill" => Fate::Kill,
                    _ => Fate::Exit,
                },
            }
        }
        ["queue", path, "nobody"] => Action::Queue {
            path: owned(path),
            wanted: Vec::new(),
        },
        ["queue", path, wanted @ ..] if !wanted.is_empty() => Action::Queue {
            path: owned(path),
            wanted: wanted.iter().map(owned).collect(),
        },
        ["children", path, count] => Action::Children {
            path: owned(path),
            count: number(Some(count))?,
        },
        ["sessions", path, count] => Action::Sessions {
            path: owned(path),
            count: number(Some(count))?,
        },
        ["exists", path] => Action::Exists {
            path: owned(path),
            wanted: true,
        },
        ["missing", path] => Action::Exists {
            path: owned(path),
            wanted: false,
        },
        ["named", node, pattern] => Action::Named {
            node: owned(node),
            pattern: owned(pattern),
        },
        ["create", path, options @ ..] => create(path, options)?,
        ["delete", node] => Action::Delete { node: owned(node) },
        ["expire", node] => Action::Expire { node: owned(node) },
        ["find", variable, "server-of", node] => Action::Find {
            variable: owned(variable),
            node: owned(node),
        },
        ["find", variable, "leader"] => Action::Leader {
            variable: owned(variable),
        },
        ["servers", "serve"] => Action::Serving,
        ["requests", "mark"] => Action::MarkRequests,
        ["requests", "at-most", most] => Action::Requests {
            most: most.parse().map_err(|_| format!("`{most}` is no number"))?,
        },
        ["link", server, "cut", op] => Action::Cut {
            server: owned(server),
            op: owned(op),
        },
        ["link", "was", "cut"] => Action::CutDone,
        ["link", server, fault] => Action::Link {
            server: owned(server),
            fault: match *fault {
                "freeze" => Fault::Freeze,
                "thaw" => Fault::Thaw,
                "reset" => Fault::Reset,
                "refuse" => Fault::Refuse,
                "accept" => Fault::Accept,
                _ => return Err(format!("`{fault}` is nothing that a link can do")),
            },
        },
        ["server", server, fate] => Action::Server {
            server: owned(server),
            fate: match *fate {
                "kill" => ServerFate::Kill,
                "start" => ServerFate::Start,
                "pause" => ServerFate::Pause,
                "continue" => ServerFate::Continue,
                _ => return Err(format!("`{fate}` is nothing that a server can do")),
            },
        },
        _ => return Err(format!("`{}` is no step", words.join(" "))),
    })
}

fn create(path: &str, options: &[&str]) -> Parsed<Action> {
    let (mut data, mut ephemeral, mut sequential) = (String::new(), false, false);
    for option in options {
        match option.split_once('=') {
            Some(("data", value)) => value.clone_into(&mut data),
            None if *option == "ephemeral" => ephemeral = true,
            None if *option == "sequential" => sequential = true,
            _ => return Err(format!("`{option}` is no option of `create`")),
        }
    }
    Ok(Action::Create {
        path: path.to_owned(),
        data,
        ephemeral,
        sequential,
    })
}

fn number(word: Option<&&str>) -> Parsed<usize> {
    let word = word.ok_or("a number is missing")?;
    word.parse().map_err(|_| format!("`{word}` is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Parsed<Vec<Step>> {
        scenario("test", &format!("rule: R01\nabout: x\nactors: a b\n{text}")).map(|s| s.steps)
    }

    #[test]
    fn a_call_has_a_thread_fields_an_outcome_and_a_time() {
        let steps = steps("a.t1 lock m g timeout_ms=5 -> error Timeout within 900").unwrap();
        let fields = [("lock", "m"), ("guard", "g"), ("timeout_ms", "5")];
        let call = Call {
            actor: "a".into(),
            thread: Some("t1".into()),
            verb: "lock".into(),
            fields: fields.map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
        };
        let outcome = Outcome::Error {
            kind: "Timeout".into(),
            names: None,
        };
        assert_eq!(steps[0].action, Action::Call(call, outcome));
        assert_eq!(steps[0].within, Some(Duration::from_millis(900)));
    }

    #[test]
    fn a_lock_is_granted_unless_said_otherwise() {
        let steps = steps("a lock m g").unwrap();
        let Action::Call(_, outcome) = &steps[0].action else {
            panic!("no call")
        };
        assert_eq!(*outcome, Outcome::Granted { same: None });
    }

    #[test]
    fn mistakes_are_refused_with_their_line() {
        for mistake in [
            "c connect",
            "a conect",
            "a lock m",
            "a lock m g h",
            "queue /p",
            "link 1 explode",
            "server 1 freeze",
            "create /p lasting",
            "kill c",
            "queue /p a -> ok",
            "a lock m g -> error",
            "a lock m g ->",
        ] {
            let error = steps(mistake).expect_err(mistake);
            assert!(error.starts_with("test.scenario:4: "), "{mistake}: {error}");
        }
    }

    #[test]
    fn a_scenario_without_a_rule_is_refused() {
        assert!(scenario("test", "about: x\nactors: a\na connect").is_err());
        assert!(scenario("test", "rule: R21\nabout: x\nactors: a\na connect").is_err());
    }
}
