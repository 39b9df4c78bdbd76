//! Connecting to a server over TLS.

use std::io;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{AlertDescription, CertificateError, Error as TlsError};

use super::certificates::Certificates;
use super::dialer::Failure;
use super::tcp::{self, Connector, Lendable};
use crate::connect_string::Server;

/// TLS over TCP.
pub(crate) struct Tls(pub(crate) Certificates);

impl Connector for Tls {
    type Stream = TlsStream<TcpStream>;

    async fn connect(&self, server: Server, turn: usize) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(server.host.clone()).map_err(|_| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "the server's name is none that a certificate can have",
            )
        })?;
        // Beside the connecting, so that it costs no time.
        let reading = self.0.read_again();
        let stream = tcp::connect(&server, turn).await?;
        reading.finish().await;
        let connector = TlsConnector::from(self.0.present());
        connector.connect(name, stream).await.map_err(|error| {
            if error.kind() == io::ErrorKind::UnexpectedEof {
                io::Error::other(NoHandshake)
            } else {
                error
            }
        })
    }
}

/// What the network thread reads is what it decrypts.
impl Lendable for TlsStream<TcpStream> {}

/// A server that was asked for TLS and hung up.
#[derive(Debug, thiserror::Error)]
#[error(
    "the server closed the connection in the TLS handshake: it may not speak TLS on this port, or \
     may refuse our certificate"
)]
struct NoHandshake;

/// What an error says of later attempts.
pub(crate) fn failure(error: &io::Error) -> Failure {
    let Some(cause) = error.get_ref() else {
        return Failure::Other;
    };
    if cause.is::<NoHandshake>() {
        return Failure::NotTls;
    }
    match cause.downcast_ref::<TlsError>() {
        Some(TlsError::InvalidCertificate(_) | TlsError::NoCertificatesPresented) => {
            Failure::Untrusted
        }
        Some(TlsError::AlertReceived(alert)) if is_about_certificates(*alert) => Failure::Untrusted,
        Some(_) => Failure::NotTls,
        None => Failure::Other,
    }
}

/// Why the connection failed, in words.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.get_ref().and_then(|cause| cause.downcast_ref()) {
        Some(TlsError::InvalidCertificate(why)) => {
            format!("the server's certificate is not trusted: {}", distrust(why))
        }
        Some(TlsError::AlertReceived(alert)) if is_about_certificates(*alert) => {
            format!("the server does not accept our certificate: {alert:?}")
        }
        Some(why) => format!("TLS: {why}"),
        None => error.to_string(),
    }
}

fn distrust(why: &CertificateError) -> String {
    match why {
        CertificateError::UnknownIssuer => {
            "none of the authorities that are trusted has issued it".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            format!("it has expired ({why})")
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            format!("it is made out to another name ({why})")
        }
        why => why.to_string(),
    }
}

fn is_about_certificates(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::NoCertificate
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
            | AlertDescription::CertificateRequired
    )
}
