//! Every input of the corpus through its target, and a fixed number of changed ones, the same in every run.

use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};
use zoolock_fuzz::fuzz::memory::Counting;
use zoolock_fuzz::fuzz::{TARGETS, Target};

#[global_allocator]
static MEMORY: Counting = Counting;

const CHANGED: usize = 20_000;
const LONGEST: usize = 4096;

fn main() {
    let mut trials = Vec::new();
    for target in TARGETS {
        let unchanged = move || -> Result<(), Failed> {
            for (path, input) in corpus(target)? {
                run(target, &input).map_err(|why| format!("{}: {why}", path.display()))?;
            }
            Ok(())
        };
        let changed = move || -> Result<(), Failed> {
            let inputs: Vec<Vec<u8>> = corpus(target)?.into_iter().map(|(_, it)| it).collect();
            let mut random = fastrand::Rng::with_seed(7);
            for _ in 0..CHANGED {
                let input = change(&mut random, &inputs);
                run(target, &input).map_err(|why| format!("{input:02x?}: {why}"))?;
            }
            Ok(())
        };
        trials.push(Trial::test(format!("{}::corpus", target.name), unchanged));
        trials.push(Trial::test(format!("{}::changed", target.name), changed));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn corpus(target: Target) -> Result<Vec<(PathBuf, Vec<u8>)>, Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target.name);
    let mut inputs = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        inputs.push((path.clone(), std::fs::read(path)?));
    }
    if inputs.is_empty() {
        return Err("there is no corpus".into());
    }
    inputs.sort();
    Ok(inputs)
}

fn run(target: Target, input: &[u8]) -> Result<(), String> {
    std::panic::catch_unwind(|| (target.run)(input)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        text.unwrap_or_else(|| "a panic".to_owned())
    })
}

/// One of the inputs, with a few changes of the kinds that fuzzers make.
fn change(random: &mut fastrand::Rng, inputs: &[Vec<u8>]) -> Vec<u8> {
    const EDGES: [i32; 8] = [-1, 0, 1, i32::MIN, i32::MAX, 0x0010_0000, 255, -2];
    let mut input = random.choice(inputs).cloned().unwrap_or_default();
    for _ in 0..random.usize(1..5) {
        let at = random.usize(0..=input.len());
        match random.u8(0..6) {
            0 => input.truncate(at),
            1 => input.insert(at, random.u8(..)),
            2 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << random.u8(0..8);
                }
            }
            3 => {
                let edge = random.choice(EDGES).unwrap_or_default().to_be_bytes();
                for (byte, new) in input.iter_mut().skip(at).zip(edge) {
                    *byte = new;
                }
            }
            4 => {
                let end = random.usize(at..=input.len());
                let copied = input[at..end].to_vec();
                let to = random.usize(0..=input.len());
                input.splice(to..to, copied);
            }
            _ => {
                let other = random.choice(inputs).cloned().unwrap_or_default();
                let from = random.usize(0..=other.len());
                input.truncate(at);
                input.extend(&other[from..]);
            }
        }
        input.truncate(LONGEST);
    }
    input
}
