//! Sessions over TLS with servers that demand it (R1 to R20 hold as without), and every way in which
//! TLS goes wrong: told clearly, at once, and without a storm of connections.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use support::{LONG, S, granted, path};
use zoolock::{Acl, Error, ErrorKind, Session, SessionBuilder, Tls};
use zoolock_ensemble::{Ensemble, Tls as ServerTls};

static NEXT: AtomicUsize = AtomicUsize::new(1);

/// Certificates of one authority, as files in a directory of the test.
struct Authority {
    dir: tempfile::TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Authority {
        let mut params = CertificateParams::new([]).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        // Of one name only one key is looked for.
        let name = format!("test authority {}", NEXT.fetch_add(1, Ordering::Relaxed));
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("an authority");
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("ca.pem"), issuer.pem()).expect("written");
        Authority { dir, issuer }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn ca(&self) -> PathBuf {
        self.file("ca.pem")
    }

    /// `<name>.cert.pem`, `<name>.key.pem`, and both in `<name>.pem`.
    fn issue(&self, name: &str, host: &str, change: impl FnOnce(&mut CertificateParams)) {
        let mut params = CertificateParams::new([host.to_owned()]).expect("parameters");
        params.distinguished_name.push(DnType::CommonName, name);
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("signed");
        let (certificate, key) = (certificate.pem(), key.serialize_pem());
        fs::write(self.file(&format!("{name}.cert.pem")), &certificate).expect("written");
        fs::write(self.file(&format!("{name}.key.pem")), &key).expect("written");
        fs::write(self.file(&format!("{name}.pem")), key + &certificate).expect("written");
    }
}

fn name(file: &Path) -> Option<String> {
    Some(file.to_str().expect("UTF-8").to_owned())
}

fn trusting(authority: &Authority) -> Tls {
    Tls {
        ca: name(&authority.ca()),
        ..Tls::default()
    }
}

fn certified(authority: &Authority, client: &str) -> Tls {
    Tls {
        cert: name(&authority.file(&format!("{client}.cert.pem"))),
        key: name(&authority.file(&format!("{client}.key.pem"))),
        ..trusting(authority)
    }
}

fn serve(authority: &Authority, identity: &str, client_certificate: bool) -> Ensemble {
    Ensemble::builder()
        .tls(ServerTls {
            identity: authority.file(&format!("{identity}.pem")),
            authorities: authority.ca(),
            client_certificate,
        })
        .start()
        .expect("servers")
}

fn options(tls: Tls) -> SessionBuilder {
    Session::builder()
        .session_timeout(S)
        .connect_timeout(LONG)
        .exclusive(true)
        .tls(tls)
}

/// It is told long before the time to connect is over, and few connections were made for it.
#[track_caller]
fn refused(builder: SessionBuilder, hosts: &str) -> Error {
    let began = Instant::now();
    let error = builder.connect(hosts).wait().expect_err("refused");
    assert!(began.elapsed() < LONG / 4, "{error} came late");
    error
}

#[track_caller]
fn says(error: &Error, kind: ErrorKind, text: &str) {
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(text), "{error}");
}

#[test]
fn a_lock_over_tls() {
    let authority = Authority::new();
    authority.issue("server", "localhost", |_| ());
    let ensemble = serve(&authority, "server", false);
    let session = options(trusting(&authority))
        .connect(&ensemble.secure_hosts())
        .wait()
        .expect("connect");
    let plain = Session::builder()
        .exclusive(true)
        .connect(&ensemble.direct())
        .wait()
        .expect("connect");
    let path = path("tls");
    let held = session
        .mutex(&path)
        .expect("path")
        .lock()
        .wait()
        .expect("lock");
    let waiting = plain.mutex(&path).expect("path").lock();
    held.release().wait().expect("release");
    let (held, _) = granted(waiting);
    // Larger than a record of TLS, and than a socket's buffer takes at once.
    let many: Vec<_> = (0..3_000)
        .map(|_| session.mutex(&path).expect("path").lock())
        .collect();
    held.release().wait().expect("release");
    for pending in many {
        granted(pending).0.release().wait().expect("release");
    }
    session.close().wait().expect("close");
}

/// The same session goes on over a new connection (R16).
#[test]
fn r16_a_session_over_tls_survives_a_stop_of_its_server() {
    let authority = Authority::new();
    authority.issue("server", "localhost", |_| ());
    let ensemble = Ensemble::builder()
        .servers(3)
        .tls(ServerTls {
            identity: authority.file("server.pem"),
            authorities: authority.ca(),
            client_certificate: false,
        })
        .start()
        .expect("servers");
    let session = options(trusting(&authority))
        .session_timeout(S * 4)
        .connect(&ensemble.secure_hosts())
        .wait()
        .expect("connect");
    let id = session.session_id();
    let held = session
        .mutex(&path("survives"))
        .expect("path")
        .lock()
        .wait()
        .expect("lock");
    for server in 1..=3 {
        ensemble.kill(server).expect("kill");
        ensemble.restart(server).expect("start");
        ensemble.wait_serving(LONG).expect("serving");
    }
    assert_eq!(session.session_id(), id);
    held.release().wait().expect("release");
}

#[test]
fn a_client_certificate_is_an_identity() {
    let authority = Authority::new();
    authority.issue("server", "localhost", |_| ());
    authority.issue("payments", "payments.example", |_| ());
    authority.issue("reports", "reports.example", |_| ());
    let ensemble = serve(&authority, "server", true);
    let hosts = ensemble.secure_hosts();
    let payments = options(certified(&authority, "payments"))
        .connect(&hosts)
        .wait()
        .expect("connect");
    let reports = options(certified(&authority, "reports"))
        .connect(&hosts)
        .wait()
        .expect("connect");
    let path = path("identity");
    let open = payments
        .mutex_with(&path, zoolock::LockOptions::default().acl(Acl::Open))
        .expect("path");
    // The parents are everybody's, the contenders their creator's own (Z14): both can queue.
    open.lock()
        .wait()
        .expect("lock")
        .release()
        .wait()
        .expect("release");
    let held = payments
        .mutex(&path)
        .expect("path")
        .lock()
        .wait()
        .expect("lock");
    let waiting = reports.mutex(&path).expect("path").lock();
    let observer = ensemble.observer(1).expect("observer");
    let acl = observer.acl(held.node_path()).expect("its ACL");
    assert!(
        acl.iter()
            .any(|entry| entry.scheme == "x509" && entry.id.contains("payments")),
        "{acl:?}"
    );
    held.release().wait().expect("release");
    granted(waiting).0.release().wait().expect("release");
}

#[test]
fn a_server_that_asks_for_a_certificate_refuses_who_has_none() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    authority.issue("server", "localhost", |_| ());
    stranger.issue("client", "client.example", |_| ());
    let ensemble = serve(&authority, "server", true);
    let none = options(trusting(&authority));
    says(
        &refused(none, &ensemble.secure_hosts()),
        ErrorKind::AuthFailed,
        "certificate",
    );
    let unknown = Tls {
        ca: name(&authority.ca()),
        ..certified(&stranger, "client")
    };
    says(
        &refused(options(unknown), &ensemble.secure_hosts()),
        ErrorKind::AuthFailed,
        "certificate",
    );
}

#[test]
fn servers_that_cannot_be_trusted_are_named_so() {
    let (authority, other) = (Authority::new(), Authority::new());
    authority.issue("server", "localhost", |_| ());
    authority.issue("elsewhere", "elsewhere.example", |_| ());
    authority.issue("expired", "localhost", |params| {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
    });
    let ensemble = serve(&authority, "server", false);
    let error = refused(options(trusting(&other)), &ensemble.secure_hosts());
    says(&error, ErrorKind::AuthFailed, "none of the authorities");
    // The platform does not know it either.
    let error = refused(options(Tls::default()), &ensemble.secure_hosts());
    says(&error, ErrorKind::AuthFailed, "not trusted");
    drop(ensemble);
    let ensemble = serve(&authority, "expired", false);
    let error = refused(options(trusting(&authority)), &ensemble.secure_hosts());
    says(&error, ErrorKind::AuthFailed, "expired");
    drop(ensemble);
    let ensemble = serve(&authority, "elsewhere", false);
    let hosts = ensemble.secure_hosts();
    let error = refused(options(trusting(&authority)), &hosts);
    says(&error, ErrorKind::AuthFailed, "another name");
    let unchecked = Tls {
        check_server_name: false,
        ..trusting(&authority)
    };
    options(unchecked).connect(&hosts).wait().expect("connect");
    let unchecked = Tls {
        check_server_name: false,
        ..trusting(&other)
    };
    says(
        &refused(options(unchecked), &hosts),
        ErrorKind::AuthFailed,
        "none of the authorities",
    );
}

#[test]
fn who_speaks_tls_and_who_does_not_is_told() {
    let authority = Authority::new();
    authority.issue("server", "localhost", |_| ());
    let ensemble = serve(&authority, "server", false);
    let error = refused(options(trusting(&authority)), &ensemble.direct());
    says(&error, ErrorKind::Unavailable, "TLS");
    let plain = Session::builder().connect_timeout(LONG).exclusive(true);
    let error = refused(plain, &ensemble.secure_hosts());
    says(&error, ErrorKind::Unavailable, "TLS");
}

#[test]
fn r20_bad_files_are_named() {
    let authority = Authority::new();
    authority.issue("a", "a.example", |_| ());
    authority.issue("b", "b.example", |_| ());
    fs::write(authority.file("empty.pem"), "").expect("written");
    fs::write(
        authority.file("broken.pem"),
        "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
    )
    .expect("written");
    let file = |file: &str| name(&authority.file(file));
    let ca = |file| Tls {
        ca: file,
        ..Tls::default()
    };
    let pair = |cert, key| Tls {
        cert,
        key,
        ..trusting(&authority)
    };
    let cases = [
        ("tls.ca", ca(file("missing.pem"))),
        ("tls.ca", ca(file("empty.pem"))),
        ("tls.ca", ca(file("broken.pem"))),
        ("tls.ca", ca(file("a.key.pem"))),
        ("tls.ca", ca(Some(String::new()))),
        ("tls.cert", pair(None, file("a.key.pem"))),
        ("tls.cert", pair(file("missing.pem"), file("a.key.pem"))),
        ("tls.key", pair(file("a.cert.pem"), None)),
        ("tls.key", pair(file("a.cert.pem"), file("a.cert.pem"))),
        ("tls.key", pair(file("a.cert.pem"), file("b.key.pem"))),
    ];
    for (argument, tls) in cases {
        let error = options(tls.clone())
            .connect("127.0.0.1:1")
            .wait()
            .expect_err("refused");
        says(&error, ErrorKind::InvalidArgument, argument);
        let key = fs::read_to_string(authority.file("a.key.pem")).expect("a key");
        let line = key.lines().nth(1).expect("a line");
        assert!(!format!("{error} {error:?} {tls:?}").contains(line), "R19");
    }
}

/// R3: a server that does not answer in the handshake of TLS costs an attempt, and not the session.
#[test]
fn a_silent_server_is_given_up() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let hosts = listener.local_addr().expect("its address").to_string();
    let authority = Authority::new();
    let error = Session::builder()
        .session_timeout(S)
        .connect_timeout(Duration::from_millis(500))
        .exclusive(true)
        .tls(trusting(&authority))
        .connect(&hosts)
        .wait()
        .expect_err("nobody answers");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
}
