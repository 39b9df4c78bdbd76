//! Which runs there are, and which of them may share an ensemble at the same time.

use std::fs;
use std::path::Path;

use crate::cast::Cast;
use crate::languages::Languages;
use crate::options::Options;
use crate::scenario::Scenario;

/// One scenario with one cast.
pub struct Job {
    /// What is run.
    pub scenario: Scenario,
    /// Who plays it.
    pub cast: Cast,
}

/// Jobs for one ensemble.
pub struct Group {
    /// How many servers it has.
    pub servers: usize,
    /// How many jobs run at the same time: one, where they disturb the ensemble.
    pub at_once: usize,
    /// The jobs.
    pub jobs: Vec<Job>,
}

/// Runs wait more than they compute, so two processors carry more than two.
const AT_ONCE: usize = 4;
/// Runs that cannot share an ensemble are dealt to so many of them.
const DISTURBED: usize = 2;

impl Job {
    /// The name in reports, for example `r01_exclusion[c+node]`.
    pub fn name(&self) -> String {
        format!("{}[{}]", self.scenario.name, self.cast.label())
    }
}

/// All scenarios in a folder, by name.
pub fn read(folder: &Path) -> Result<Vec<Scenario>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut scenarios = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == "scenario") {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let text = fs::read_to_string(&path).map_err(failed)?;
            scenarios.push(Scenario::parse(&stem, &text)?);
        }
    }
    scenarios.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(scenarios)
}

/// The jobs that were asked for.
pub fn jobs(scenarios: Vec<Scenario>, languages: &Languages, options: &Options) -> Vec<Job> {
    let mut jobs = Vec::new();
    for scenario in scenarios {
        let named = |part: &String| scenario.name.contains(part.as_str());
        if !options.scenarios.is_empty() && !options.scenarios.iter().any(named) {
            continue;
        }
        let mut names = languages.names();
        if let Some(only) = &scenario.only {
            names.retain(|name| only.contains(name));
        }
        names.retain(|name| !scenario.not.contains(name) && !options.without.contains(name));
        let wanted = |cast: &Cast| {
            let label = if cast.is_mixed() {
                "mixed".into()
            } else {
                cast.label()
            };
            let plays = |language: &String| cast.parts().iter().any(|part| part.1 == *language);
            options.languages.is_empty()
                || options.languages.contains(&label)
                || !options.peers.is_empty() && options.languages.iter().all(plays)
        };
        let casts = if languages.peers().is_empty() {
            Cast::all(&scenario.actors, &names)
        } else {
            let mut peers = languages.peers().to_vec();
            if let Some(those) = &scenario.peers {
                peers.retain(|peer| those.contains(peer));
            }
            peers.retain(|peer| !Languages::is_left_out(&options.cannot, peer, &scenario.name));
            let roles = scenario.roles.as_deref();
            Cast::pairs(&scenario.actors, &names, &peers, roles)
        };
        for cast in casts {
            if wanted(&cast) {
                let scenario = scenario.clone();
                jobs.push(Job { scenario, cast });
            }
        }
    }
    jobs
}

/// Deals the jobs to ensembles.
pub fn groups(jobs: Vec<Job>) -> Vec<Group> {
    let group = |servers, at_once| Group {
        servers,
        at_once,
        jobs: Vec::new(),
    };
    let mut calm = group(1, AT_ONCE);
    let mut disturbed: Vec<_> = (0..DISTURBED).map(|_| group(1, 1)).collect();
    let mut several = group(3, 1);
    let mut turn = 0;
    for job in jobs {
        let group = match (job.scenario.servers, job.scenario.disturbs()) {
            (1, false) => &mut calm,
            (1, true) => {
                turn += 1;
                &mut disturbed[turn % DISTURBED]
            }
            _ => &mut several,
        };
        group.jobs.push(job);
    }
    let all = disturbed.into_iter().chain([several, calm]);
    all.filter(|group| !group.jobs.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_can_be_read() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios"));
        let scenarios = read(folder).unwrap();
        assert!(scenarios.len() > 60);
    }
}
