//! R19: what must not be seen anywhere.

mod rig;
mod support;

use std::fmt::{Debug, Write};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use rig::forward::Forwarder;
use rig::{Outcome, assert_kind, observe, unhurried};
use support::{LONG, eventually, one, path};
use tracing::field::{Field, Visit};
use tracing::span;
use zoolock::{
    Acl, AclEntry, Cancel, ErrorKind, LockOptions, Owner, SessionBuilder, SessionState, Tls,
};
use zoolock_ensemble::{NodeKind, Permission};

/// Everything that was logged at any level, by anyone.
struct Capture;

fn captured() -> &'static Mutex<String> {
    static TEXT: OnceLock<Mutex<String>> = OnceLock::new();
    TEXT.get_or_init(|| {
        tracing::subscriber::set_global_default(Capture).expect("the only subscriber");
        Mutex::default()
    })
}

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        writeln!(self.0, "{field}={value:?}").unwrap();
    }
}

impl tracing::Subscriber for Capture {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
        attributes.record(&mut Fields(&mut captured().lock().unwrap()));
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        values.record(&mut Fields(&mut captured().lock().unwrap()));
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut text = captured().lock().unwrap();
        writeln!(text, "[{}]", event.metadata().level()).unwrap();
        event.record(&mut Fields(&mut text));
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

const USER: &str = "keeper";
const PASSWORD: &str = "sesame-7f3a";
/// What a `digest` entry of an access control list has of it: the hash of user and password.
const HASH: &str = "bfdgMdNL8HxSt4Ex8beZy3B0vEs=";

fn options() -> SessionBuilder {
    unhurried().auth("digest", format!("{USER}:{PASSWORD}"))
}

/// Every form in which bytes may be shown.
fn forms(secret: &[u8]) -> Vec<String> {
    let hex = |format: fn(&u8) -> String, between: &str| {
        let bytes: Vec<String> = secret.iter().map(format).collect();
        bytes.join(between)
    };
    vec![
        String::from_utf8_lossy(secret).into_owned(),
        secret.escape_ascii().to_string(),
        hex(|byte| format!("{byte}"), ", "),
        hex(|byte| (*byte as i8).to_string(), ", "),
        hex(|byte| format!("{byte:02x}"), ""),
        hex(|byte| format!("{byte:02X}"), ""),
        hex(|byte| format!("{byte:02x}"), " "),
        hex(|byte| format!("{byte:x}"), ", "),
        hex(|byte| format!("0x{byte:02x}"), ", "),
    ]
}

#[track_caller]
fn assert_clean(text: &str, secret: &[u8]) {
    for form in forms(secret) {
        assert!(!text.contains(&form), "{form} is in:\n{text}");
    }
}

/// The password in a server's answer to a handshake: the last buffer of the first message.
fn session_password(sent_by_server: &[u8]) -> Option<Vec<u8>> {
    // Length, version, timeout, session, length of the password.
    sent_by_server.get(24..40).map(<[u8]>::to_vec)
}

#[test]
fn r19_no_secret_is_logged_shown_or_told() {
    let ensemble = one();
    captured();
    let observer = observe(&ensemble);
    observer.ensure("/locks").unwrap();
    // Beside the proxies one that shows the bytes: the password that proves the session.
    let forwarder = Forwarder::start("127.0.0.1:0", &ensemble.hosts()).unwrap();
    let address = forwarder.address().to_string();
    let mut seen = String::new();
    let mut show = |what: &dyn Debug| writeln!(seen, "{what:?}\n{what:#?}").unwrap();

    let digest = Acl::List(vec![AclEntry {
        permissions: 31,
        scheme: "digest".into(),
        id: format!("{USER}:{HASH}"),
    }]);
    let lock_options = LockOptions::new().acl(digest.clone());
    show(&options());
    show(&options().acl(digest.clone()));
    // Both words in the place of one.
    show(&unhurried().auth(format!("{USER}:{PASSWORD}"), ""));
    show(&digest);
    show(&lock_options);

    // A whole life: connect, lock, wait, move to another connection, lose the session, close.
    let mut connecting = options().connect(&address);
    show(&connecting);
    let session = connecting.wait_for(LONG).expect("connected").unwrap();
    drop(connecting);
    let top = path("secrets");
    let mutex = session.mutex_with(&top, lock_options).unwrap();
    let guard = mutex.lock().done();
    let waiting = mutex.lock();
    let lock = session.rwlock(&format!("{top}-rw")).unwrap();
    let owner = Owner::new();
    let write = lock.write().lock(&owner).done();
    let read = lock.read().lock(&owner).done();
    show(&session);
    show(&mutex);
    show(&guard);
    show(&waiting);
    show(&lock);
    show(&lock.read());
    show(&owner);
    show(&Cancel::new());
    show(&mutex.contenders().done());
    show(&mutex.statistics());
    let link = ensemble.client_link(1).unwrap();
    link.reset();
    eventually("it is connected again", || forwarder.to_client().len() > 1);
    eventually("it is connected again", || {
        session.state() == SessionState::Connected
    });
    drop((read, write));
    ensemble.expire(session.session_id()).unwrap();
    assert!(guard.wait_lost(Some(LONG)));
    show(&guard);
    waiting.done().release().done();

    // Errors of each kind that has to do with rights.
    let errors = [
        unhurried()
            .auth("nonsense", format!("{USER}:{PASSWORD}"))
            .connect(&address)
            .refused(),
        unhurried()
            .auth("", format!("{USER}:{PASSWORD}"))
            .connect(&address)
            .refused(),
        options()
            .session_timeout(Duration::ZERO)
            .connect(&address)
            .refused(),
        options().connect("").refused(),
        options()
            .tls(Tls {
                key: Some("key.pem".into()),
                ..Tls::default()
            })
            .connect(&address)
            .refused(),
        options()
            .connect_timeout(Duration::from_millis(50))
            .connect("127.0.0.1:1")
            .refused(),
        {
            let closed = zoolock_ensemble::Acl::new(Permission::READ, "world", "anyone");
            let path = format!("{top}-closed");
            observer
                .create_with_acl(&path, b"", NodeKind::Persistent, vec![closed])
                .unwrap();
            let error = session.mutex(&path).unwrap().lock().refused();
            assert_kind(&error, ErrorKind::NoAuth);
            error
        },
    ];
    for error in &errors {
        show(error);
        let mut source = std::error::Error::source(error);
        while let Some(error) = source {
            show(&error.to_string());
            source = error.source();
        }
        show(&error.to_string());
        show(&error.message());
    }
    session.close().done();
    show(&session);

    let logged = captured().lock().unwrap().clone();
    assert!(logged.contains("connected"), "nothing was captured");
    let mut passwords = 0;
    for sent in forwarder.to_client() {
        let Some(password) = session_password(&sent) else {
            continue;
        };
        // All zeros where no session was given.
        if password.iter().any(|byte| *byte != 0) {
            passwords += 1;
            assert_clean(&logged, &password);
            assert_clean(&seen, &password);
        }
    }
    assert!(passwords >= 2, "the forwarder saw none");
    for secret in [PASSWORD, HASH] {
        assert_clean(&logged, secret.as_bytes());
        assert_clean(&seen, secret.as_bytes());
    }
}
