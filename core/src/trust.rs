//! What the TLS options of a session name: whom it trusts, and who it is. The files are read and
//! checked when the session is configured (R20), and again before later connections
//! (`session/certificates.rs`).

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use rustls_platform_verifier::BuilderVerifierExt;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, InconsistentKeys,
    RootCertStore, SignatureScheme,
};
use zeroize::{Zeroize, Zeroizing};

use crate::config::Tls;
use crate::error::{Error, Result};

/// See the module. Options of the same text are the same configuration, so all of these are equal.
#[derive(Clone)]
pub(crate) struct Trust(Arc<Files>);

struct Files {
    /// `None`: the platform's authorities.
    authorities: Option<Vec<CertificateDer<'static>>>,
    /// Of the private key no more than what signs (R19).
    identity: Option<Arc<CertifiedKey>>,
    check_server_name: bool,
}

impl Trust {
    /// Reads the files, and makes sure that a session can be opened with them. Blocks as long as the
    /// disk does.
    pub(crate) fn read(tls: &Tls) -> Result<Trust> {
        let trust = Trust::read_files(tls)?;
        // What is wrong with the files shows here, and not in the background.
        trust.client_config().map_err(|error| match &tls.ca {
            Some(file) => invalid("tls.ca", format!("{file}: {error}")),
            None => invalid("tls", error),
        })?;
        Ok(trust)
    }

    /// Reads the files, and nothing of the platform's.
    pub(crate) fn read_files(tls: &Tls) -> Result<Trust> {
        let authorities = tls
            .ca
            .as_deref()
            .map(|file| certificates("tls.ca", file))
            .transpose()?;
        let identity = match (&tls.cert, &tls.key) {
            (Some(chain), Some(key)) => Some(identity(chain, key)?),
            (None, None) => None,
            (Some(_), None) => return Err(invalid("tls.key", "is missing: a certificate has one")),
            (None, Some(_)) => return Err(invalid("tls.cert", "is missing: a key belongs to one")),
        };
        Ok(Trust(Arc::new(Files {
            authorities,
            identity,
            check_server_name: tls.check_server_name,
        })))
    }

    /// Whether both have the same certificates, and with them the same keys.
    pub(crate) fn is_same_as(&self, other: &Trust) -> bool {
        let chain = |trust: &Trust| trust.0.identity.as_ref().map(|own| own.cert.clone());
        self.0.authorities == other.0.authorities && chain(self) == chain(other)
    }

    /// Made anew for every session: what it remembers of servers is guarded by locks, which a
    /// forked child must not find taken (R18).
    pub(crate) fn client_config(&self) -> std::result::Result<Arc<ClientConfig>, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?;
        let builder = match &self.0.authorities {
            Some(authorities) => builder
                .dangerous()
                .with_custom_certificate_verifier(self.verifier(authorities, provider)?),
            None => builder.with_platform_verifier()?,
        };
        let config = match &self.0.identity {
            Some(identity) => builder
                .with_client_cert_resolver(Arc::new(SingleCertAndKey::from(Arc::clone(identity)))),
            None => builder.with_no_client_auth(),
        };
        Ok(Arc::new(config))
    }

    fn verifier(
        &self,
        authorities: &[CertificateDer<'static>],
        provider: Arc<CryptoProvider>,
    ) -> std::result::Result<Arc<dyn ServerCertVerifier>, TlsError> {
        let mut store = RootCertStore::empty();
        for certificate in authorities {
            store.add(certificate.clone())?;
        }
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider)
            .build()
            .map_err(|error| TlsError::General(error.to_string()))?;
        Ok(if self.0.check_server_name {
            verifier
        } else {
            Arc::new(AnyName(verifier))
        })
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trust").finish_non_exhaustive()
    }
}

impl PartialEq for Trust {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Trust {}

impl Hash for Trust {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

fn invalid(argument: &str, problem: impl fmt::Display) -> Error {
    Error::invalid_argument("connect", argument, problem)
}

fn certificates(argument: &str, file: &str) -> Result<Vec<CertificateDer<'static>>> {
    let found: Vec<_> = CertificateDer::pem_file_iter(Path::new(file))
        .and_then(Iterator::collect)
        .map_err(|error| invalid(argument, format!("{file}: {error}")))?;
    if found.is_empty() {
        return Err(invalid(argument, format!("{file}: holds no certificate")));
    }
    Ok(found)
}

fn identity(chain: &str, key_file: &str) -> Result<Arc<CertifiedKey>> {
    let chain = certificates("tls.cert", chain)?;
    let mut key = private_key(key_file)?;
    let signing = ring::sign::any_supported_type(&key);
    key.zeroize();
    let signing = signing.map_err(|_| {
        let problem = "holds no key of a kind that TLS signs with (RSA, ECDSA, Ed25519)";
        invalid("tls.key", format!("{key_file}: {problem}"))
    })?;
    let certified = CertifiedKey::new(chain, signing);
    match certified.keys_match() {
        Ok(()) | Err(TlsError::InconsistentKeys(InconsistentKeys::Unknown)) => {
            Ok(Arc::new(certified))
        }
        Err(TlsError::InconsistentKeys(_)) => Err(invalid(
            "tls.key",
            format!("{key_file}: does not belong to tls.cert"),
        )),
        Err(error) => Err(invalid("tls.cert", error)),
    }
}

fn private_key(file: &str) -> Result<PrivateKeyDer<'static>> {
    let wrong = |problem: &str| invalid("tls.key", format!("{file}: {problem}"));
    let pem = std::fs::read(Path::new(file)).map_err(|error| wrong(&error.to_string()))?;
    let pem = Zeroizing::new(pem);
    PrivateKeyDer::from_pem_slice(&pem).map_err(|error| {
        let encrypted = pem
            .windows(ENCRYPTED.len())
            .any(|window| window == ENCRYPTED);
        // The error of the parser may quote the file's lines (R19).
        wrong(match error {
            PemError::NoItemsFound if encrypted => {
                "holds an encrypted key, and there is nobody to ask for its pass phrase"
            }
            _ => "holds no unencrypted private key in PEM",
        })
    })
}

/// Part of the first line of a private key under a pass phrase.
const ENCRYPTED: &[u8] = b"ENCRYPTED";

/// Trusts whoever an authority has signed, under any name.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, TlsError> {
        let verified =
            self.0
                .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // The name is looked at last, when all else is in order.
            Err(TlsError::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, TlsError> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, TlsError> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
