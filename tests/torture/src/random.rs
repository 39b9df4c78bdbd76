//! What the seed decides.

use fastrand::Rng;

use crate::recipe::Recipe;

/// A stream of its own for each purpose, so that one's length does not change another's course.
pub(crate) fn stream(seed: u64, purpose: &str) -> Rng {
    // FNV-1a: the same in every build, which std's hasher does not promise.
    let hash = purpose.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Rng::with_seed(seed ^ hash)
}

/// What a thread is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) recipe: Recipe,
    pub(crate) timeout_ms: i64,
    pub(crate) pause_ms: u64,
}

/// Mostly short holds that wait for ever; some long ones, so that faults meet holders.
pub(crate) fn order(rng: &mut Rng) -> Order {
    let recipe = match rng.u32(..100) {
        0..25 => Recipe::Mutex,
        25..45 => Recipe::Reentrant,
        45..60 => Recipe::Write,
        60..80 => Recipe::Read,
        _ => Recipe::Downgrade,
    };
    let timeout_ms = match rng.u32(..100) {
        0..65 => -1,
        65..75 => 0,
        75..90 => rng.i64(20..500),
        _ => rng.i64(500..6_000),
    };
    let pause_ms = match rng.u32(..100) {
        0..2 => rng.u64(500..1_500),
        2..8 => rng.u64(20..200),
        _ => rng.u64(0..5),
    };
    Order {
        recipe,
        timeout_ms,
        pause_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_itself_and_purposes_differ() {
        let orders = |seed, purpose: &str| {
            let mut rng = stream(seed, purpose);
            (0..50).map(|_| order(&mut rng)).collect::<Vec<_>>()
        };
        assert_eq!(orders(1, "rust-1/0"), orders(1, "rust-1/0"));
        assert_ne!(orders(1, "rust-1/0"), orders(1, "rust-1/1"));
        assert_ne!(orders(1, "rust-1/0"), orders(2, "rust-1/0"));
    }

    #[test]
    fn every_recipe_and_every_kind_of_wait_comes_up() {
        let mut rng = stream(1, "any");
        let orders: Vec<_> = (0..500).map(|_| order(&mut rng)).collect();
        for recipe in Recipe::ALL {
            assert!(orders.iter().any(|order| order.recipe == recipe));
        }
        for sign in [-1, 0, 1] {
            assert!(orders.iter().any(|order| order.timeout_ms.signum() == sign));
        }
    }
}
