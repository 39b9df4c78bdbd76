//! Several processes of each library and of each of our languages take turns on one lock.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use zoolock_conformance::languages::Languages;
use zoolock_ensemble::Ensemble;

use crate::member::{Granted, Member, granted};
use crate::options::Options;
use crate::resource::{Resource, SECTION, Side};

/// Who waits for so long is starved; a round of everybody takes well under a second.
const STARVED: Duration = Duration::from_secs(45);
/// No stall of a busy machine may cost a session here: that is what scenarios are about.
const SESSION_TIMEOUT_MS: u32 = 60_000;

/// Those that meet on one lock.
pub struct Crowd {
    /// Its name in reports.
    pub name: &'static str,
    /// The recipes that everybody uses in turns at random.
    recipes: &'static [(&'static str, Side)],
    /// Language or library, how many processes, and the naming that they are told.
    members: &'static [(&'static str, usize, Option<&'static str>)],
}

const MUTEX: &[(&str, Side)] = &[("mutex", Side::Alone)];
const READ_WRITE: &[(&str, Side)] = &[
    ("read", Side::Shared),
    ("read", Side::Shared),
    ("write", Side::Alone),
];
const KAZOO: Option<&str> = Some("kazoo");

/// Curator does not see kazoo's names, so that the two cannot be on one path; Go's lock sees both.
pub const CROWDS: &[Crowd] = &[
    Crowd {
        name: "r01_r07_mutex_with_curator_and_go",
        recipes: MUTEX,
        members: &[
            ("curator", 2, None),
            ("curator-leader", 1, None),
            ("go", 2, None),
            ("rust", 1, None),
            ("c", 1, None),
            ("python", 1, None),
            ("node", 1, None),
        ],
    },
    Crowd {
        name: "r01_r07_mutex_with_kazoo_and_go",
        recipes: MUTEX,
        members: &[
            ("kazoo", 3, None),
            ("go", 2, None),
            ("rust", 1, None),
            ("c", 1, KAZOO),
            ("python", 1, KAZOO),
            ("node", 1, None),
        ],
    },
    Crowd {
        name: "r01_r07_readers_and_writers_with_curator",
        recipes: READ_WRITE,
        members: &[
            ("curator", 3, None),
            ("rust", 1, None),
            ("c", 1, None),
            ("python", 1, None),
            ("node", 1, None),
        ],
    },
    Crowd {
        name: "r01_r07_readers_and_writers_with_kazoo",
        recipes: READ_WRITE,
        members: &[
            ("kazoo", 3, None),
            ("rust", 1, KAZOO),
            ("c", 1, None),
            ("python", 1, None),
            ("node", 1, KAZOO),
        ],
    },
];

/// What one process got.
struct Share {
    name: String,
    grants: u64,
    longest_wait: Duration,
}

/// Runs a crowd; what was seen, or what was wrong.
pub fn run(
    crowd: &Crowd,
    languages: &Languages,
    ensemble: &Ensemble,
    options: &Options,
) -> Result<Vec<String>, String> {
    let path = format!("/contention/{}", crowd.name);
    let mut members = Vec::new();
    let stays_away = |kind: &str| Languages::is_left_out(&options.cannot, kind, crowd.name);
    for (kind, count, naming) in crowd.members.iter().filter(|member| !stays_away(member.0)) {
        for number in 1..=*count {
            let mut member = Member::start(languages, kind, number)?;
            member.connect(&ensemble.hosts(), SESSION_TIMEOUT_MS)?;
            let mut verbs: Vec<_> = crowd.recipes.iter().map(|(verb, _)| *verb).collect();
            verbs.dedup();
            for verb in verbs {
                member.open(verb, &path, *naming)?;
            }
            members.push(member);
        }
    }
    let resource = Mutex::new(Resource::default());
    let end = Instant::now() + options.length;
    let shares = thread::scope(|scope| {
        let threads: Vec<_> = members
            .into_iter()
            .map(|member| scope.spawn(|| take_turns(member, crowd.recipes, &resource, end)))
            .collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            let panicked = |_| Err("a thread of the runner panicked".to_owned());
            thread.join().unwrap_or_else(panicked)
        };
        threads.into_iter().map(join).collect::<Vec<_>>()
    });
    let shares: Vec<Share> = shares.into_iter().collect::<Result<_, _>>()?;
    let resource = resource
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    judge(&shares, &resource, options.length)
}

fn take_turns(
    mut member: Member,
    recipes: &[(&str, Side)],
    resource: &Mutex<Resource>,
    end: Instant,
) -> Result<Share, String> {
    let lock = |resource: &Mutex<Resource>, act: &mut dyn FnMut(&mut Resource)| {
        act(&mut resource.lock().unwrap_or_else(PoisonError::into_inner));
    };
    let mut share = Share {
        name: member.name.clone(),
        grants: 0,
        longest_wait: Duration::ZERO,
    };
    while Instant::now() < end {
        let (verb, side) = recipes[fastrand::usize(..recipes.len())];
        let guard = format!("g{}", share.grants);
        let began = Instant::now();
        let fields = [("lock", verb), ("guard", &guard), ("thread", "t")];
        let id = member.send("lock", &fields)?;
        let answer = member
            .answer(&id, STARVED)
            .map_err(|problem| format!("{} is starved: {problem}", share.name))?;
        share.longest_wait = share.longest_wait.max(began.elapsed());
        let (token, node) = match granted(&answer) {
            Granted::Yes { token, node } => (token, node),
            Granted::No(answer) => return Err(format!("{}: `{answer}`", share.name)),
        };
        let mut section = None;
        lock(resource, &mut |resource| {
            section = Some(resource.enter(&share.name, side, token, &node));
        });
        thread::sleep(SECTION);
        lock(resource, &mut |resource| {
            if let Some(section) = &section {
                resource.leave(section);
            }
        });
        share.grants += 1;
        member.ask("release", &[("guard", &guard), ("thread", "t")])?;
    }
    member.exit()?;
    Ok(share)
}

fn judge(shares: &[Share], resource: &Resource, length: Duration) -> Result<Vec<String>, String> {
    let violations = resource.violations();
    if let Some(first) = violations.first() {
        return Err(format!("{first} (the first of {})", violations.len()));
    }
    let all: u64 = shares.iter().map(|share| share.grants).sum();
    let mean = all / shares.len().max(1) as u64;
    // Everybody queues again at once, so shares differ only by how long a process takes to come back.
    if let Some(least) = shares.iter().find(|share| share.grants * 10 < mean.max(10)) {
        return Err(format!(
            "{} was granted {} times, of {mean} in the mean",
            least.name, least.grants
        ));
    }
    let rate = all as f64 / length.as_secs_f64();
    let counts = || shares.iter().map(|share| share.grants);
    let fairness = counts().min().unwrap_or_default() as f64
        / counts().max().unwrap_or_default().max(1) as f64;
    // What was wrong has ended the run above, so there was none of it.
    let mut seen = vec![format!(
        "{all} grants in {} s ({rate:.0} a second), no overlap, none out of turn; least to most {fairness:.3}",
        length.as_secs()
    )];
    seen.extend(shares.iter().map(|share| {
        let wait = share.longest_wait.as_millis();
        format!(
            "{:18} {:6} grants, longest wait {wait:5} ms",
            share.name, share.grants
        )
    }));
    Ok(seen)
}
