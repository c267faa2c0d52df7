//! What rustls reports, as the cause that a user reads.

use crate::failure::{CertificateProblem, FailureCause};
use rustls::{AlertDescription, CertificateError};

/// The server has TLS, but not HTTP/2.
pub(super) const HTTP2_NOT_OFFERED: FailureCause = FailureCause::Http2NotOffered;

/// The connection ended before the TLS handshake did.
pub(super) const ENDED_IN_HANDSHAKE: FailureCause =
    FailureCause::Tls("the server closed the connection during the handshake");

pub(super) fn of_tls(error: &rustls::Error) -> FailureCause {
    use rustls::Error;
    FailureCause::Tls(match error {
        Error::InvalidCertificate(why) => return FailureCause::Certificate(of_certificate(why)),
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

const fn of_certificate(why: &CertificateError) -> CertificateProblem {
    match why {
        CertificateError::UnknownIssuer => CertificateProblem::UnknownIssuer,
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => CertificateProblem::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            CertificateProblem::NotValidYet
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            CertificateProblem::OtherName
        }
        CertificateError::Revoked => CertificateProblem::Revoked,
        CertificateError::BadSignature => CertificateProblem::BadSignature,
        _ => CertificateProblem::Other,
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
        assert_eq!(words, "TLS: the certificate has expired; `insecure` accepts it");
    }
}
