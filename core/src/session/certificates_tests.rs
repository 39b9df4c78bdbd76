use std::fs;

use zoolock_ensemble::Authority;

use super::*;

struct Rig {
    authority: Authority,
    certificates: Certificates,
}

impl Rig {
    fn new() -> Rig {
        let authority = Authority::create().unwrap();
        let identity = authority.issue("client", "client.example").unwrap();
        let text = |path: &std::path::Path| Some(path.to_str().unwrap().to_owned());
        let options = Tls {
            ca: text(&authority.ca()),
            cert: text(&identity.cert),
            key: text(&identity.key),
            ..Tls::default()
        };
        let trust = Trust::read(&options).unwrap();
        Rig {
            certificates: Certificates::new(options, trust).unwrap(),
            authority,
        }
    }

    /// Waits for the reading itself, which may take longer than a connection waits.
    async fn read_again(&self) -> Arc<ClientConfig> {
        let reading = self.certificates.read_again();
        reading.0.expect("no other reading").await.unwrap();
        self.certificates.present()
    }

    fn problem(&self) -> Option<String> {
        self.certificates.0.state.lock().problem.clone()
    }
}

#[tokio::test]
async fn r16_what_has_not_changed_is_kept_with_what_it_remembers_of_servers() {
    let rig = Rig::new();
    let before = rig.certificates.present();
    assert!(Arc::ptr_eq(&before, &rig.read_again().await));
}

#[tokio::test]
async fn r16_renewed_certificates_are_used() {
    let rig = Rig::new();
    let before = rig.certificates.present();
    rig.authority.issue("client", "client.example").unwrap();
    let renewed = rig.read_again().await;
    assert!(!Arc::ptr_eq(&before, &renewed));
    let other = Authority::create().unwrap();
    fs::copy(other.ca(), rig.authority.ca()).unwrap();
    assert!(!Arc::ptr_eq(&renewed, &rig.read_again().await));
}

#[tokio::test]
async fn r16_a_renewal_that_is_half_done_changes_nothing_until_it_is_done() {
    let rig = Rig::new();
    let before = rig.certificates.present();
    let key = fs::read(rig.authority.file("client.key.pem")).unwrap();
    rig.authority.issue("client", "client.example").unwrap();
    let new_key = fs::read(rig.authority.file("client.key.pem")).unwrap();
    fs::write(rig.authority.file("client.key.pem"), key).unwrap();
    assert!(Arc::ptr_eq(&before, &rig.read_again().await));
    let problem = rig.problem().expect("a problem");
    assert!(problem.contains("does not belong to"), "{problem}");
    fs::write(rig.authority.file("client.key.pem"), new_key).unwrap();
    assert!(!Arc::ptr_eq(&before, &rig.read_again().await));
    assert_eq!(rig.problem(), None);
}

#[tokio::test]
async fn r16_files_that_are_gone_change_nothing() {
    let rig = Rig::new();
    let before = rig.certificates.present();
    fs::remove_file(rig.authority.ca()).unwrap();
    assert!(Arc::ptr_eq(&before, &rig.read_again().await));
    let problem = rig.problem().expect("a problem");
    assert!(problem.contains("tls.ca"), "{problem}");
}

/// A named pipe without a writer: opening it takes for ever, as a file on a server that is gone.
#[tokio::test]
async fn r16_a_disk_that_hangs_holds_up_one_thread_and_no_connection() {
    let rig = Rig::new();
    let before = rig.certificates.present();
    let ca = rig.authority.ca();
    fs::remove_file(&ca).unwrap();
    let path = std::ffi::CString::new(ca.to_str().unwrap()).unwrap();
    // SAFETY: the path is a string that ends in a zero.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    let began = std::time::Instant::now();
    rig.certificates.read_again().finish().await;
    for _ in 0..10 {
        let reading = rig.certificates.read_again();
        assert!(reading.0.is_none(), "another thread");
        reading.finish().await;
    }
    assert!(began.elapsed() < PATIENCE * 10);
    assert!(Arc::ptr_eq(&before, &rig.certificates.present()));
    // Lets the reader go: it finds no certificate.
    drop(fs::OpenOptions::new().write(true).open(&ca).unwrap());
}
