//! Certificates for tests: one authority, and what it has signed, as files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};

use crate::error::{Context, Error, Result};
use crate::tempdir::TempDir;

static NEXT: AtomicUsize = AtomicUsize::new(1);

/// An authority with a directory of its own, which goes with it.
pub struct Authority {
    dir: TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// The files of one certificate.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The certificate.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Both, as servers want them.
    pub both: PathBuf,
}

impl Authority {
    /// A new one, whose certificate is in [`ca`](Self::ca).
    pub fn create() -> Result<Self> {
        let mut params = CertificateParams::new([]).map_err(failed)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        // Of one name only one key is looked for.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("test authority {} {number}", std::process::id());
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().map_err(failed)?;
        let issuer = CertifiedIssuer::self_signed(params, key).map_err(failed)?;
        let dir = TempDir::create()?;
        let authority = Authority { dir, issuer };
        write(&authority.ca(), &authority.issuer.pem())?;
        Ok(authority)
    }

    /// A file in its directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The file with its own certificate.
    pub fn ca(&self) -> PathBuf {
        self.file("ca.pem")
    }

    /// Signs a certificate for `CN=<name>` at a host, with a new key. One of this name is replaced.
    pub fn issue(&self, name: &str, host: &str) -> Result<Identity> {
        self.sign(name, host, |_| ())
    }

    /// As [`issue`](Self::issue), but it was good in 2020 only.
    pub fn issue_expired(&self, name: &str, host: &str) -> Result<Identity> {
        self.sign(name, host, |params| {
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(2021, 1, 1);
        })
    }

    fn sign(
        &self,
        name: &str,
        host: &str,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Result<Identity> {
        let mut params = CertificateParams::new([host.to_owned()]).map_err(failed)?;
        params.distinguished_name.push(DnType::CommonName, name);
        change(&mut params);
        let key = KeyPair::generate().map_err(failed)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(failed)?;
        let (certificate, key) = (certificate.pem(), key.serialize_pem());
        let identity = Identity {
            cert: self.file(&format!("{name}.cert.pem")),
            key: self.file(&format!("{name}.key.pem")),
            both: self.file(&format!("{name}.pem")),
        };
        write(&identity.cert, &certificate)?;
        write(&identity.key, &key)?;
        write(&identity.both, &(key + &certificate))?;
        Ok(identity)
    }
}

fn failed(error: rcgen::Error) -> Error {
    Error::new(format!("no certificate: {error}"))
}

fn write(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).context(|| format!("cannot write {}", file.display()))
}
