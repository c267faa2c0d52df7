//! Translates errors of rustls into failure causes.

use crate::failure::{CertificateProblem, FailureCause};
use crate::plan::ProtocolChoice;
use rustls::{AlertDescription, CertificateError};

/// The server supports TLS, but not HTTP/2.
pub(super) const HTTP2_NOT_OFFERED: FailureCause = FailureCause::Http2NotOffered;

/// The connection ended before the TLS handshake did.
pub(super) const ENDED_IN_HANDSHAKE: FailureCause =
    FailureCause::Tls("the server closed the connection during the handshake");

/// The cause if the server supports none of the offered protocols.
pub(super) fn of_refused(cause: FailureCause, offered: ProtocolChoice) -> FailureCause {
    match offered {
        _ if cause != HTTP2_NOT_OFFERED => cause,
        ProtocolChoice::Http2 => cause,
        ProtocolChoice::Http1 => FailureCause::Http1NotOffered,
        ProtocolChoice::Auto => FailureCause::Tls("the server offers neither HTTP/2 nor HTTP/1.1 (ALPN)"),
    }
}

pub(super) fn of_tls(error: &rustls::Error) -> FailureCause {
    use rustls::Error;
    FailureCause::Tls(match error {
        Error::InvalidCertificate(why) => return FailureCause::Certificate(of_certificate(why)),
        Error::AlertReceived(AlertDescription::NoApplicationProtocol) | Error::NoApplicationProtocol => {
            return HTTP2_NOT_OFFERED;
        }
        Error::AlertReceived(alert) => of_alert(*alert),
        Error::InvalidMessage(_) => "the response is not TLS (is this an http:// port?)",
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

fn of_certificate(why: &CertificateError) -> CertificateProblem {
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
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            CertificateProblem::OtherPurpose
        }
        CertificateError::BadEncoding => CertificateProblem::BadEncoding,
        CertificateError::UnhandledCriticalExtension => CertificateProblem::UnknownExtension,
        CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            CertificateProblem::UnsupportedSignature
        }
        CertificateError::Other(other) => of_webpki(&other.0.to_string()),
        _ => CertificateProblem::Other,
    }
}

/// The problem for an error without a name of its own in rustls, by the error's name in the library that verifies certificates.
fn of_webpki(name: &str) -> CertificateProblem {
    match name {
        "CaUsedAsEndEntity" => CertificateProblem::Authority,
        "UnsupportedCertVersion" => CertificateProblem::OldVersion,
        _ => CertificateProblem::Other,
    }
}

/// The text for an alert from the server (RFC 8446 section 6.2), with advice if there is any.
fn of_alert(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::CertificateRequired => {
            "the server sent the alert certificate_required (it wants a client certificate)"
        }
        AlertDescription::UnknownCA => {
            "the server sent the alert unknown_ca (it does not trust the issuer of the client certificate)"
        }
        AlertDescription::BadCertificate => {
            "the server sent the alert bad_certificate (it refuses the client certificate, or wants one)"
        }
        AlertDescription::UnsupportedCertificate => {
            "the server sent the alert unsupported_certificate (it takes no client certificate of this kind)"
        }
        AlertDescription::CertificateRevoked => {
            "the server sent the alert certificate_revoked (the client certificate was revoked)"
        }
        AlertDescription::CertificateExpired => {
            "the server sent the alert certificate_expired (the client certificate is not valid now)"
        }
        AlertDescription::CertificateUnknown => {
            "the server sent the alert certificate_unknown (it refuses the client certificate)"
        }
        AlertDescription::AccessDenied => {
            "the server sent the alert access_denied (the client certificate gives no access)"
        }
        AlertDescription::UnrecognisedName => {
            "the server sent the alert unrecognized_name (it does not serve the host of the SNI)"
        }
        AlertDescription::ProtocolVersion => {
            "the server sent the alert protocol_version (it has neither TLS 1.2 nor 1.3)"
        }
        AlertDescription::HandshakeFailure => "the server sent the alert handshake_failure",
        AlertDescription::InsufficientSecurity => "the server sent the alert insufficient_security",
        AlertDescription::UnexpectedMessage => "the server sent the alert unexpected_message",
        AlertDescription::BadRecordMac => "the server sent the alert bad_record_mac",
        AlertDescription::RecordOverflow => "the server sent the alert record_overflow",
        AlertDescription::IllegalParameter => "the server sent the alert illegal_parameter",
        AlertDescription::DecodeError => "the server sent the alert decode_error",
        AlertDescription::DecryptError => "the server sent the alert decrypt_error",
        AlertDescription::InternalError => "the server sent the alert internal_error",
        AlertDescription::InappropriateFallback => "the server sent the alert inappropriate_fallback",
        AlertDescription::UserCanceled => "the server sent the alert user_canceled",
        AlertDescription::MissingExtension => "the server sent the alert missing_extension",
        AlertDescription::UnsupportedExtension => "the server sent the alert unsupported_extension",
        AlertDescription::BadCertificateStatusResponse => {
            "the server sent the alert bad_certificate_status_response"
        }
        AlertDescription::UnknownPSKIdentity => "the server sent the alert unknown_psk_identity",
        _ => "the server sent an alert without a name in TLS 1.2 and 1.3",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alerts_have_the_names_of_the_rfc() {
        for (code, name) in [
            (42, "bad_certificate"),
            (45, "certificate_expired"),
            (48, "unknown_ca"),
            (47, "illegal_parameter"),
        ] {
            let words = of_tls(&rustls::Error::AlertReceived(AlertDescription::from(code))).to_string();
            let alert = format!("TLS: the server sent the alert {name}");
            assert!(words == alert || words.starts_with(&format!("{alert} (")), "{words}");
        }
    }

    #[test]
    fn a_certificate_of_version_1_is_refused_by_its_version() {
        let name = std::io::Error::other("UnsupportedCertVersion");
        let other = CertificateError::Other(rustls::OtherError(std::sync::Arc::new(name)));
        let words = of_tls(&rustls::Error::InvalidCertificate(other)).to_string();
        assert!(words.contains("version 1 of X.509"), "{words}");
    }

    #[test]
    fn an_expired_certificate_is_called_expired() {
        let expired = rustls::Error::InvalidCertificate(CertificateError::Expired);
        let words = of_tls(&expired).to_string();
        assert_eq!(words, "TLS: the certificate has expired; `insecure` accepts it");
    }
}
