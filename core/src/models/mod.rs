//! Models of what threads hand to each other. loom runs each in every order of steps, and with
//! every value that the atomics' orderings allow, in which two or three threads can meet; a wait
//! that nothing ends any more is a failure.
//!
//! Built by `tests/threads` alone.

mod calls;
mod completion;
mod follow;
mod guards;
mod kept;
mod latch;
mod lease;
mod mailbox;
mod process;
mod seat;
mod sessions;
mod states;

type Model = (&'static str, fn());

/// Every model, with its name.
pub fn all() -> impl Iterator<Item = (String, fn())> {
    let modules: [(&str, &[Model]); 12] = [
        ("calls", calls::MODELS),
        ("completion", completion::MODELS),
        ("follow", follow::MODELS),
        ("guards", guards::MODELS),
        ("latch", latch::MODELS),
        ("kept", kept::MODELS),
        ("lease", lease::MODELS),
        ("mailbox", mailbox::MODELS),
        ("process", process::MODELS),
        ("seat", seat::MODELS),
        ("sessions", sessions::MODELS),
        ("states", states::MODELS),
    ];
    modules.into_iter().flat_map(|(module, models)| {
        models
            .iter()
            .map(move |(name, model)| (format!("{module}::{name}"), *model))
    })
}

/// A module's list. A model that is missing in it is never called, which the compiler tells.
macro_rules! models {
    ($($name:ident),* $(,)?) => {
        pub(super) const MODELS: &[super::Model] = &[$((stringify!($name), $name)),*];
    };
}
use models;

/// How often a thread may be interrupted where it could have gone on, in the models that have too
/// many orders to try all. Most mistakes need one or two interruptions.
const INTERRUPTIONS: usize = 3;

/// The same, in the models with the longest threads.
const FEW_INTERRUPTIONS: usize = 2;

fn every_order(model: impl Fn() + Send + Sync + 'static) {
    loom::model(model);
}

fn most_orders(model: impl Fn() + Send + Sync + 'static) {
    interrupted(INTERRUPTIONS, model);
}

fn many_orders(model: impl Fn() + Send + Sync + 'static) {
    interrupted(FEW_INTERRUPTIONS, model);
}

fn interrupted(times: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(times);
    builder.check(model);
}

/// Counts what happens, without being a point where threads meet.
#[derive(Clone, Default)]
struct Count(std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl Count {
    fn add(&self) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }

    fn take_back(&self) {
        self.0.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
    }

    fn get(&self) -> usize {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

/// Counts its own end.
struct Dropped(Count);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.add();
    }
}
