//! The command line, which the Makefile fills in.

use std::path::PathBuf;

pub(crate) const USAGE: &str = "usage: bench [--rounds N] [--cycles N] --out FILE \
--c PROGRAM --python INTERPRETER --node INTERPRETER --programs FOLDER";

/// What to run.
#[derive(Debug)]
pub(crate) struct Settings {
    /// How often every program gets its turn.
    pub(crate) rounds: usize,
    /// Cycles in one turn.
    pub(crate) cycles: usize,
    pub(crate) out: PathBuf,
    pub(crate) c: String,
    pub(crate) python: String,
    pub(crate) node: String,
    pub(crate) programs: String,
}

impl Settings {
    pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Settings, String> {
        let mut args = args.into_iter();
        let (mut rounds, mut cycles) = (15, 200);
        let (mut out, mut c, mut python, mut node, mut programs) = (None, None, None, None, None);
        while let Some(option) = args.next() {
            let value = args
                .next()
                .ok_or_else(|| format!("{option} lacks its value; {USAGE}"))?;
            match option.as_str() {
                "--rounds" => rounds = count("ROUNDS", &value)?,
                "--cycles" => cycles = count("CYCLES", &value)?,
                "--out" => out = Some(PathBuf::from(value)),
                "--c" => c = Some(value),
                "--python" => python = Some(value),
                "--node" => node = Some(value),
                "--programs" => programs = Some(value),
                _ => return Err(format!("{option} is not known; {USAGE}")),
            }
        }
        let lacks = |option: &str| format!("{option} is missing; {USAGE}");
        Ok(Settings {
            rounds,
            cycles,
            out: out.ok_or_else(|| lacks("--out"))?,
            c: c.ok_or_else(|| lacks("--c"))?,
            python: python.ok_or_else(|| lacks("--python"))?,
            node: node.ok_or_else(|| lacks("--node"))?,
            programs: programs.ok_or_else(|| lacks("--programs"))?,
        })
    }
}

fn count(name: &str, text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=1_000_000) => Ok(count),
        _ => Err(format!("{name}={text} is no number between 1 and 1000000")),
    }
}
