//! What rustls reports, as the cause that a user reads.

use crate::failure::FailureCause;
use rustls::{AlertDescription, CertificateError};

/// The server speaks TLS, but not HTTP/2 inside it.
pub(super) const HTTP2_NOT_OFFERED: FailureCause =
    FailureCause::Http2("the server does not offer it (ALPN); use --http1.1");

/// The connection ended before the TLS handshake did.
pub(super) const ENDED_IN_HANDSHAKE: FailureCause =
    FailureCause::Tls("the server closed the connection during the handshake");

pub(super) fn of_tls(error: &rustls::Error) -> FailureCause {
    use rustls::Error;
    FailureCause::Tls(match error {
        Error::InvalidCertificate(why) => of_certificate(why),
        Error::AlertReceived(AlertDescription::NoApplicationProtocol) | Error::NoApplicationProtocol => {
            return HTTP2_NOT_OFFERED;
        }
        Error::AlertReceived(alert) => of_alert(*alert),
        Error::InvalidMessage(_) => "the answer is not TLS; is this a plain http:// port?",
        Error::PeerIncompatible(_) => "the server offers no TLS version or cipher that is acceptable",
        Error::PeerMisbehaved(_) | Error::InappropriateHandshakeMessage { .. } => {
            "the server broke the protocol"
        }
        Error::InappropriateMessage { .. } => "the server sent a message out of order",
        Error::DecryptError => "a record could not be decrypted",
        Error::PeerSentOversizedRecord => "the server sent an oversized record",
        _ => "the connection failed",
    })
}

fn of_certificate(why: &CertificateError) -> &'static str {
    match why {
        CertificateError::UnknownIssuer => {
            "the certificate's issuer is unknown (self-signed?); --insecure accepts it"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the certificate has expired; --insecure accepts it"
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the certificate is not valid yet; --insecure accepts it"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the certificate is for another name; --insecure accepts it"
        }
        CertificateError::Revoked => "the certificate is revoked",
        CertificateError::BadSignature => "the certificate's signature is wrong",
        _ => "the certificate is not acceptable; --insecure accepts it",
    }
}

/// The alerts that a server sends to a client (RFC 8446 section 6.2).
fn of_alert(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::HandshakeFailure => "the server sent the alert handshake_failure",
        AlertDescription::ProtocolVersion => "the server sent the alert protocol_version",
        AlertDescription::InsufficientSecurity => "the server sent the alert insufficient_security",
        AlertDescription::UnrecognisedName => "the server sent the alert unrecognized_name (SNI)",
        AlertDescription::CertificateRequired => "the server sent the alert certificate_required",
        AlertDescription::AccessDenied => "the server sent the alert access_denied",
        AlertDescription::DecodeError => "the server sent the alert decode_error",
        AlertDescription::DecryptError => "the server sent the alert decrypt_error",
        AlertDescription::BadRecordMac => "the server sent the alert bad_record_mac",
        AlertDescription::UnexpectedMessage => "the server sent the alert unexpected_message",
        AlertDescription::InternalError => "the server sent the alert internal_error",
        _ => "the server sent an alert",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expired_certificate_is_called_expired() {
        let expired = rustls::Error::InvalidCertificate(CertificateError::Expired);
        let words = of_tls(&expired).to_string();
        assert_eq!(words, "TLS: the certificate has expired; --insecure accepts it");
    }
}
