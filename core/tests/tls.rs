//! Sessions over TLS with servers that demand it (R1 to R20 hold as without), and every way in which
//! TLS goes wrong: told clearly, at once, and without a storm of connections.

mod support;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use support::{LONG, S, granted, path};
use zoolock::{Acl, Error, ErrorKind, Session, SessionBuilder, Tls};
use zoolock_ensemble::{Authority, ClientCertificate, Ensemble, Tls as ServerTls};

fn authority() -> Authority {
    Authority::create().expect("an authority")
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
            client_certificate: if client_certificate {
                ClientCertificate::Needed
            } else {
                ClientCertificate::Ignored
            },
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
    let authority = authority();
    authority.issue("server", "localhost").expect("issued");
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
    let authority = authority();
    authority.issue("server", "localhost").expect("issued");
    let ensemble = Ensemble::builder()
        .servers(3)
        .tls(ServerTls {
            identity: authority.file("server.pem"),
            authorities: authority.ca(),
            client_certificate: ClientCertificate::Ignored,
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
    let authority = authority();
    authority.issue("server", "localhost").expect("issued");
    authority
        .issue("payments", "payments.example")
        .expect("issued");
    authority
        .issue("reports", "reports.example")
        .expect("issued");
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
    let (authority, stranger) = (authority(), authority());
    authority.issue("server", "localhost").expect("issued");
    stranger.issue("client", "client.example").expect("issued");
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
    let (authority, other) = (authority(), authority());
    authority.issue("server", "localhost").expect("issued");
    authority
        .issue("elsewhere", "elsewhere.example")
        .expect("issued");
    authority
        .issue_expired("expired", "localhost")
        .expect("issued");
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
    let authority = authority();
    authority.issue("server", "localhost").expect("issued");
    let ensemble = serve(&authority, "server", false);
    let error = refused(options(trusting(&authority)), &ensemble.direct());
    says(&error, ErrorKind::Unavailable, "TLS");
    let plain = Session::builder().connect_timeout(LONG).exclusive(true);
    let error = refused(plain, &ensemble.secure_hosts());
    says(&error, ErrorKind::Unavailable, "TLS");
}

#[test]
fn r20_bad_files_are_named() {
    let authority = authority();
    authority.issue("a", "a.example").expect("issued");
    authority.issue("b", "b.example").expect("issued");
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
    let authority = authority();
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
