//! What is played in every language.

mod access;
mod canaries;
mod enforced;
mod failover;
mod identities;
mod links;
mod queue;
mod refusals;
mod rotation;

use crate::scene::Scene;

/// One of them.
pub struct Case {
    /// With the numbers of the rules that it shows.
    pub name: &'static str,
    /// Plays it.
    pub play: Play,
}

/// What went wrong, and in which of several scenes.
pub type Failure = (usize, String);

/// How a case is played.
#[derive(Clone, Copy)]
pub enum Play {
    /// In each language by itself.
    Each(fn(&mut Scene<'_>) -> Result<(), String>),
    /// In all languages at the same time; an error is that of one of the scenes.
    Together(fn(&mut [Scene<'_>]) -> Result<(), Failure>),
}

const fn case(name: &'static str, play: fn(&mut Scene<'_>) -> Result<(), String>) -> Case {
    Case {
        name,
        play: Play::Each(play),
    }
}

/// All of them, the long ones first: they run at the same time.
pub const CASES: &[Case] = &[
    Case {
        name: "r16_tls_ensemble_loses_each_server_in_turn",
        play: Play::Together(failover::each_server_in_turn),
    },
    case(
        "r03_r04_r16_tls_links_reset_frozen_cut_and_slow",
        links::faults,
    ),
    case(
        "r16_renewed_certificates_without_a_storm",
        rotation::renewed,
    ),
    case("r07_r09_mixed_identities_in_one_queue", queue::mixed),
    case("r19_no_secret_is_shown", canaries::whole_life),
    case("r06_a_server_that_never_speaks_tls", links::never_tls),
    case("tls_by_authority_and_name", identities::authority_and_name),
    case(
        "tls_client_certificate_is_the_creator",
        identities::certificate,
    ),
    case(
        "tls_client_certificate_and_digest_together",
        identities::both,
    ),
    case("tls_lists_of_certificates", identities::lists),
    case("digest_creator_by_default", access::creator),
    case("digest_acl_open", access::open),
    case("digest_acl_list", access::list),
    case("acl_of_one_lock", access::of_one_lock),
    case("acl_keeps_strangers_out", access::strangers),
    case("enforced_digest", enforced::digest),
    case("enforced_digest_without", enforced::digest_without),
    case("enforced_x509", enforced::x509),
    case("enforced_x509_without", enforced::x509_without),
    case("refused_wrong_password", refusals::wrong_password),
    case("refused_unknown_authority", refusals::unknown_authority),
    case(
        "refused_unknown_to_the_platform",
        refusals::unknown_to_the_platform,
    ),
    case("refused_expired_server", refusals::expired_server),
    case("refused_expired_client", refusals::expired_client),
    case("refused_unknown_client", refusals::unknown_client),
    case(
        "refused_no_client_certificate",
        refusals::no_client_certificate,
    ),
    case("refused_wrong_host_name", refusals::wrong_host_name),
    case("refused_plaintext_to_tls", refusals::plaintext_to_tls),
    case("refused_tls_to_plaintext", refusals::tls_to_plaintext),
    case(
        "r20_refused_key_of_another_certificate",
        refusals::other_key,
    ),
    case(
        "r20_refused_files_that_cannot_be_read",
        refusals::unreadable,
    ),
    case("r20_refused_locked_key", refusals::locked_key),
    case(
        "r20_refused_creator_without_identity",
        refusals::creator_of_nobody,
    ),
];
