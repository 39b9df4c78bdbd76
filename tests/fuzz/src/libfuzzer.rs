//! The targets under libFuzzer. `ZOOLOCK_FUZZ_TARGET` chooses one; the arguments are libFuzzer's own.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use zoolock_fuzz::fuzz::memory::Counting;
use zoolock_fuzz::fuzz::{TARGETS, Target};

#[global_allocator]
static MEMORY: Counting = Counting;

static CHOSEN: OnceLock<Target> = OnceLock::new();

fn choose() -> Target {
    let name = std::env::var("ZOOLOCK_FUZZ_TARGET").unwrap_or_default();
    let chosen = TARGETS.into_iter().find(|target| target.name == name);
    chosen.unwrap_or_else(|| {
        let names = TARGETS.map(|target| target.name);
        panic!("ZOOLOCK_FUZZ_TARGET has to be one of {names:?}")
    })
}

fuzz_target!(|input: &[u8]| (CHOSEN.get_or_init(choose).run)(input));
