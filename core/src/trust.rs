//! What the TLS options of a session name: whom it trusts, and who it is. The files are read and
//! checked once, when the session is configured (R20).

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
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore,
    SignatureScheme,
};

use crate::config::Tls;
use crate::error::{Error, Result};

/// See the module. Options of the same text are the same configuration, so all of these are equal.
#[derive(Clone)]
pub(crate) struct Trust(Arc<Files>);

struct Files {
    /// `None`: the platform's authorities.
    authorities: Option<Arc<RootCertStore>>,
    identity: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
    check_server_name: bool,
}

impl Trust {
    pub(crate) fn read(tls: &Tls) -> Result<Trust> {
        let authorities = tls.ca.as_deref().map(authorities).transpose()?;
        let identity = match (&tls.cert, &tls.key) {
            (Some(chain), Some(key)) => Some((certificates("tls.cert", chain)?, private_key(key)?)),
            (None, None) => None,
            (Some(_), None) => return Err(invalid("tls.key", "is missing: a certificate has one")),
            (None, Some(_)) => return Err(invalid("tls.cert", "is missing: a key belongs to one")),
        };
        let trust = Trust(Arc::new(Files {
            authorities,
            identity,
            check_server_name: tls.check_server_name,
        }));
        // What is wrong with the files shows here, and not in the background.
        trust.client_config().map_err(|error| match error {
            TlsError::InconsistentKeys(_) => invalid("tls.key", "does not belong to tls.cert"),
            error => invalid("tls", error),
        })?;
        Ok(trust)
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
            Some((chain, key)) => builder.with_client_auth_cert(chain.clone(), key.clone_key())?,
            None => builder.with_no_client_auth(),
        };
        Ok(Arc::new(config))
    }

    fn verifier(
        &self,
        authorities: &Arc<RootCertStore>,
        provider: Arc<CryptoProvider>,
    ) -> std::result::Result<Arc<dyn ServerCertVerifier>, TlsError> {
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::clone(authorities), provider)
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

fn authorities(file: &str) -> Result<Arc<RootCertStore>> {
    let mut store = RootCertStore::empty();
    for certificate in certificates("tls.ca", file)? {
        store
            .add(certificate)
            .map_err(|error| invalid("tls.ca", format!("{file}: {error}")))?;
    }
    Ok(Arc::new(store))
}

fn private_key(file: &str) -> Result<PrivateKeyDer<'static>> {
    // The error of the parser may quote the file's lines (R19).
    PrivateKeyDer::from_pem_file(Path::new(file)).map_err(|error| {
        use tokio_rustls::rustls::pki_types::pem::Error as PemError;
        let problem = match error {
            PemError::Io(error) => error.to_string(),
            _ => "holds no unencrypted private key in PEM".to_owned(),
        };
        invalid("tls.key", format!("{file}: {problem}"))
    })
}

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
