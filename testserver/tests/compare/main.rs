//! The model against a real server: the same random requests of several sessions to both, as bytes, and the same
//! answers and watch events from both.
//!
//! Runs for `ZOOLOCK_COMPARE_SECONDS` (10). A failure prints the seed of its sequence; `ZOOLOCK_COMPARE_SEED` runs that
//! one alone.

mod canonical;
#[path = "../common/mod.rs"]
mod common;
mod generate;
mod pair;
mod random;
mod read_only;
mod real;

use std::time::{Duration, Instant, SystemTime};

use common::encode::*;
use common::simulation::Simulation;
use generate::Generator;
use pair::{Counts, Pair};
use random::Random;
use real::Client;
use zoolock_ensemble::{Builder, Ensemble};
use zoolock_testserver::model::{NodeKind, Settings, Version};

/// Of `super:admin`, for cleaning up.
const SUPER: &str = "super:xQJmxLMiHGwaqBvst5y6rkB6HQs=";

const STEPS: usize = 250;

/// 3.8.0.
const OLD: &str = "debian";

#[test]
fn the_model_answers_as_a_real_server_does() {
    compare(1, Ensemble::builder());
}

/// The clients connect to different servers, and move between them.
#[test]
fn the_model_answers_as_a_real_ensemble_does() {
    compare(3, Ensemble::builder());
}

#[test]
#[ignore = "needs Debian's package, which test.sh looks for"]
fn the_model_of_3_8_answers_as_a_real_server_does() {
    compare(1, Ensemble::builder().version(OLD));
}

fn compare(servers: usize, ensemble: Builder) {
    let ensemble = ensemble
        .servers(servers)
        .proxied(false)
        .tick_ms(2_000)
        .property("znode.container.checkIntervalMs", "86400000")
        .property("zookeeper.DigestAuthenticationProvider.superDigest", SUPER)
        .start()
        .unwrap();
    let addresses = (1..=servers)
        .map(|server| ensemble.direct_address(server).unwrap())
        .collect();
    let leader = ensemble.leader().map_or(0, |number| number - 1);
    let settings = Settings {
        servers,
        ..settings(&ensemble)
    };
    let mut pair = Pair::new(addresses, leader, settings);
    let variable = |name: &str| std::env::var(name).ok().map(|text| text.parse().unwrap());
    let seconds = variable("ZOOLOCK_COMPARE_SECONDS").unwrap_or(10);
    let end = Instant::now() + Duration::from_secs(seconds);
    match variable("ZOOLOCK_COMPARE_SEED") {
        Some(seed) => sequence(&mut pair, seed),
        None => {
            let mut seed = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
            while pair.counts.sequences == 0 || Instant::now() < end {
                sequence(&mut pair, seed);
                seed += 1;
            }
        }
    }
    let Counts {
        sequences,
        requests,
        events,
        by_code,
    } = &pair.counts;
    println!(
        "{servers} server(s) of {}: {sequences} sequences, {requests} requests, {events} events, codes {by_code:?}",
        ensemble.version()
    );
    assert!(*requests > 100);
}

/// Those of the servers that were found.
fn settings(ensemble: &Ensemble) -> Settings {
    let old = ensemble.version().starts_with("3.8.");
    Settings {
        version: if old { Version::V3_8 } else { Version::V3_9 },
        max_session_timeout: Some(Duration::from_secs(60)),
        super_digest: Some(SUPER.to_owned()),
        ..Settings::default()
    }
}

fn sequence(pair: &mut Pair, seed: u64) {
    println!("seed {seed}");
    let mut random = Random::new(seed);
    pair.begin(3);
    for step in 0..STEPS {
        let client = random.below(3);
        let is_old = pair.version() == Version::V3_8;
        let action = Generator::new(&mut random, pair.is_standalone(), is_old).action();
        pair.act(client, &action, &format!("seed {seed}, step {step}"));
    }
    pair.finish(&format!("seed {seed}, end"));
}

/// Z1: what the counter does at its end.
#[test]
fn a_sequence_ends_as_on_a_real_server() {
    a_sequence_ends(Ensemble::builder());
}

#[test]
#[ignore = "needs Debian's package, which test.sh looks for"]
fn a_sequence_of_3_8_ends_as_on_a_real_server() {
    a_sequence_ends(Ensemble::builder().version(OLD));
}

fn a_sequence_ends(ensemble: Builder) {
    let ensemble = ensemble
        .proxied(false)
        .snapshot([("/full", i32::MAX - 1)])
        .start()
        .unwrap();
    let mut real = Client::connect(ensemble.direct_address(1).unwrap());
    let mut sim = Simulation::new(settings(&ensemble), 1);
    sim.cluster
        .create_node(0, "/full", b"", NodeKind::Persistent)
        .unwrap();
    sim.cluster.set_next_sequence("/full", i32::MAX - 1);
    real.handshake(0, None).unwrap();
    let (model, _) = sim.connect(0, 10_000);
    let mut names = Vec::new();
    for name in ["a-", "a-", "b-", "b-", "c-"] {
        let body = create(&format!("/full/{name}"), b"", &open(), EPHEMERAL_SEQUENTIAL);
        let expected = real.ask(1, CREATE2, &body);
        let got = sim.ask(model, CREATE2, &body);
        assert_eq!(got.code, expected.code, "{name}");
        if expected.code == 0 {
            assert_eq!(got.path(), expected.path());
            names.push(got.path());
        }
        let path = path_and_flag("/full", false);
        let (mut got, mut expected) = (sim.ask(model, EXISTS, &path), real.ask(2, EXISTS, &path));
        let stat = got.fields().stat();
        assert_eq!(stat.cversion, expected.fields().stat().cversion, "{name}");
        got.body.clear();
        expected.body.clear();
    }
    let suffixes = [
        "a-2147483646",
        "a-2147483647",
        "b-2147483647",
        "c-2147483647",
    ];
    assert_eq!(names, suffixes.map(|name| format!("/full/{name}")));
}
