//! The command line, which the Makefile fills in.

use std::path::PathBuf;

use crate::workloads;

pub(crate) const USAGE: &str = "usage: bench [--rounds N] [--cycles N] [--workloads A,B] [--libraries A,B] \
[--growth] --manifest FILE --out FILE";

/// What to run.
#[derive(Debug)]
pub(crate) struct Settings {
    /// How often every program gets its turn.
    pub(crate) rounds: usize,
    /// Cycles in one turn.
    pub(crate) cycles: usize,
    pub(crate) workloads: Vec<String>,
    /// None: all.
    pub(crate) libraries: Vec<String>,
    pub(crate) manifest: PathBuf,
    pub(crate) out: PathBuf,
}

impl Settings {
    pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Settings, String> {
        let mut args = args.into_iter();
        let (mut rounds, mut cycles, mut growth) = (15, 200, false);
        let (mut workloads, mut libraries) = (Vec::new(), Vec::new());
        let (mut manifest, mut out) = (None, None);
        while let Some(option) = args.next() {
            if option == "--growth" {
                growth = true;
                continue;
            }
            let value = args
                .next()
                .ok_or_else(|| format!("{option} lacks its value; {USAGE}"))?;
            match option.as_str() {
                "--rounds" => rounds = count("ROUNDS", &value)?,
                "--cycles" => cycles = count("CYCLES", &value)?,
                "--workloads" => workloads = names(&value),
                "--libraries" => libraries = names(&value),
                "--manifest" => manifest = Some(PathBuf::from(value)),
                "--out" => out = Some(PathBuf::from(value)),
                _ => return Err(format!("{option} is not known; {USAGE}")),
            }
        }
        let lacks = |option: &str| format!("{option} is missing; {USAGE}");
        Ok(Settings {
            rounds,
            cycles,
            workloads: chosen(&workloads, growth)?,
            libraries,
            manifest: manifest.ok_or_else(|| lacks("--manifest"))?,
            out: out.ok_or_else(|| lacks("--out"))?,
        })
    }

    /// For workloads whose blocks take about a second.
    pub(crate) fn long_rounds(&self) -> usize {
        self.rounds.div_ceil(2)
    }
}

/// Words with commas or spaces between them.
fn names(text: &str) -> Vec<String> {
    let words = text.split([',', ' ']).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

fn chosen(names: &[String], growth: bool) -> Result<Vec<String>, String> {
    let all = if growth {
        workloads::GROWTH
    } else {
        workloads::COMPARED
    };
    let known = [workloads::COMPARED, workloads::GROWTH].concat();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!(
            "WORKLOADS: {unknown} is none of {}",
            known.join(" ")
        ));
    }
    if names.is_empty() {
        return Ok(all.iter().map(|&name| name.to_owned()).collect());
    }
    Ok(names.to_vec())
}

fn count(name: &str, text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=1_000_000) => Ok(count),
        _ => Err(format!("{name}={text} is no number between 1 and 1000000")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Settings, String> {
        let needed = ["--manifest", "m", "--out", "o"];
        let all = needed.iter().chain(words);
        Settings::parse(all.map(|&word| word.to_owned()))
    }

    #[test]
    fn everything_but_growth_is_run_unless_told_otherwise() {
        assert_eq!(parse(&[]).unwrap().workloads, workloads::COMPARED);
        assert_eq!(parse(&["--growth"]).unwrap().workloads, workloads::GROWTH);
        let chosen = parse(&["--workloads", "hand-off,paths-16", "--libraries", "c node"]).unwrap();
        assert_eq!(chosen.workloads, ["hand-off", "paths-16"]);
        assert_eq!(chosen.libraries, ["c", "node"]);
    }

    #[test]
    fn mistakes_are_named() {
        for (words, named) in [
            (&["--workloads", "handoff"][..], "handoff"),
            (&["--rounds", "0"], "ROUNDS=0"),
            (&["--round", "1"], "--round"),
            (&["--cycles"], "--cycles"),
        ] {
            let error = parse(words).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
        assert!(Settings::parse(["--out".to_owned(), "o".to_owned()]).is_err());
    }
}
