use super::*;
use crate::error::ErrorKind;

fn refused(options: &SessionOptions) -> String {
    let error = SessionConfig::new(Some("h:1"), options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    error.message().to_owned()
}

#[test]
fn r20_each_bad_option_is_named() {
    let base = SessionOptions::default();
    let zero = Duration::ZERO;
    let century = Duration::from_secs(100 * 366 * 86_400);
    for (argument, options) in [
        (
            "session_timeout",
            SessionOptions {
                session_timeout: zero,
                ..base.clone()
            },
        ),
        (
            "session_timeout",
            SessionOptions {
                session_timeout: century,
                ..base.clone()
            },
        ),
        (
            "connect_timeout",
            SessionOptions {
                connect_timeout: zero,
                ..base.clone()
            },
        ),
        (
            "connect_timeout",
            SessionOptions {
                connect_timeout: century,
                ..base.clone()
            },
        ),
        (
            "auth",
            SessionOptions {
                auth: vec![(String::new(), Secret(vec![]))],
                ..base.clone()
            },
        ),
        (
            "acl",
            SessionOptions {
                acl: Some(Acl::Creator),
                ..base.clone()
            },
        ),
        (
            "acl",
            SessionOptions {
                acl: Some(Acl::List(vec![])),
                ..base.clone()
            },
        ),
        (
            "backoff",
            SessionOptions {
                backoff: Backoff::Exponential {
                    base: zero,
                    max: zero,
                    retries: None,
                },
                ..base.clone()
            },
        ),
    ] {
        let message = refused(&options);
        assert!(message.starts_with(&format!("{argument}: ")), "{message}");
    }
}

#[test]
fn r20_timeouts_in_each_unit() {
    assert_eq!(Wait::from_seconds("lock", -1.0).unwrap(), Wait::Forever);
    assert_eq!(Wait::from_seconds("lock", 0.0).unwrap(), Wait::Try);
    assert_eq!(
        Wait::from_seconds("lock", 1.5).unwrap(),
        Wait::UpTo(Duration::from_millis(1500))
    );
    assert_eq!(Wait::from_millis("lock", -1).unwrap(), Wait::Forever);
    assert_eq!(Wait::from_millis("lock", 0).unwrap(), Wait::Try);
    for bad in [-2.0, -0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e18] {
        let error = Wait::from_seconds("lock", bad).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{bad}");
        assert!(error.message().starts_with("timeout: "), "{error}");
    }
    for bad in [-2, i64::MIN, i64::MAX] {
        let error = Wait::from_millis("lock", bad).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{bad}");
        assert!(error.message().starts_with("timeout_ms: "), "{error}");
    }
}

#[test]
fn r19_credentials_are_not_in_the_debug_form() {
    let options = SessionOptions {
        auth: vec![("digest".into(), Secret(b"user:sesame".to_vec()))],
        ..SessionOptions::default()
    };
    let config = SessionConfig::new(Some("h:1"), &options).unwrap();
    assert!(!format!("{config:?}").contains("sesame"));
    assert_eq!(config.acl, Acl::Creator);
}

#[test]
fn exponential_backoff_doubles_up_to_its_maximum() {
    let backoff = Backoff::Exponential {
        base: Duration::from_millis(100),
        max: Duration::from_millis(350),
        retries: None,
    };
    let pauses: Vec<u128> = (1..5).map(|n| backoff.pause(n).as_millis()).collect();
    assert_eq!(pauses, [100, 200, 350, 350]);
}

#[test]
fn r19_what_looks_like_credentials_is_not_shown_as_a_scheme() {
    let given = |schemes: &[&str]| {
        let auth = |scheme: &&str| ((*scheme).to_owned(), Secret(b"user:secret".to_vec()));
        let options = SessionOptions {
            auth: schemes.iter().map(auth).collect(),
            ..SessionOptions::default()
        };
        options.schemes()
    };
    assert_eq!(given(&["digest"]), "digest");
    assert_eq!(given(&["digest", "x509"]), "digest, x509");
    assert_eq!(given(&["user:secret"]), "(hidden)");
    assert_eq!(given(&[&"x".repeat(33)]), "(hidden)");
}
