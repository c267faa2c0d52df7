//! What rustls, h2 and the kernel report, as the cause that a user reads.

use crate::failure::{CertificateProblem, FailureCause};
use h2::Reason;
use rustls::{AlertDescription, CertificateError};
use std::io;

/// The server speaks TLS, but not HTTP/2 inside it.
pub(super) const HTTP2_NOT_OFFERED: FailureCause = FailureCause::Http2NotOffered;

/// The connection ended before the TLS handshake did.
pub(super) const ENDED_IN_HANDSHAKE: FailureCause =
    FailureCause::Tls("the server closed the connection during the handshake");

/// On an established connection. `has_begun`: some of the answer had come.
fn of_transfer(error: &io::Error, has_begun: bool) -> FailureCause {
    of_io(error).unwrap_or(if has_begun {
        FailureCause::TruncatedAnswer
    } else {
        FailureCause::ClosedBeforeAnswer
    })
}

fn of_io(error: &io::Error) -> Option<FailureCause> {
    if let Some(errno) = error.raw_os_error() {
        return Some(FailureCause::from_errno(errno));
    }
    if let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return Some(of_tls(tls));
    }
    (error.kind() == io::ErrorKind::ConnectionReset).then_some(FailureCause::ConnectionReset)
}

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

/// While an HTTP/2 connection is being set up, where most errors mean that nobody speaks it there.
pub(super) fn of_http2_preface(error: &h2::Error) -> FailureCause {
    if error.is_remote() {
        return of_http2(error, false);
    }
    match error.get_io().and_then(of_io) {
        Some(cause) => cause,
        None => FailureCause::Http2NotSpoken,
    }
}

/// On an established HTTP/2 connection. `has_begun`: some of the answer had come.
pub(super) fn of_http2(error: &h2::Error, has_begun: bool) -> FailureCause {
    match (error.reason(), error.get_io()) {
        (_, Some(io)) => of_transfer(io, has_begun),
        (Some(reason), None) if error.is_go_away() && error.is_remote() => {
            FailureCause::Http2(of_go_away(reason))
        }
        (Some(reason), None) if error.is_remote() => FailureCause::Http2(of_reset(reason)),
        (Some(reason), None) => FailureCause::Http2(of_breach(reason)),
        (None, None) => FailureCause::Http2("the request cannot be sent over HTTP/2"),
    }
}

/// The error names of RFC 9113 section 7, each with what was received or found before it.
macro_rules! reason_names {
    ($name:ident, $before:literal) => {
        fn $name(reason: Reason) -> &'static str {
            match reason {
                Reason::NO_ERROR => concat!($before, "NO_ERROR"),
                Reason::PROTOCOL_ERROR => concat!($before, "PROTOCOL_ERROR"),
                Reason::INTERNAL_ERROR => concat!($before, "INTERNAL_ERROR"),
                Reason::FLOW_CONTROL_ERROR => concat!($before, "FLOW_CONTROL_ERROR"),
                Reason::SETTINGS_TIMEOUT => concat!($before, "SETTINGS_TIMEOUT"),
                Reason::STREAM_CLOSED => concat!($before, "STREAM_CLOSED"),
                Reason::FRAME_SIZE_ERROR => concat!($before, "FRAME_SIZE_ERROR"),
                Reason::REFUSED_STREAM => concat!($before, "REFUSED_STREAM"),
                Reason::CANCEL => concat!($before, "CANCEL"),
                Reason::COMPRESSION_ERROR => concat!($before, "COMPRESSION_ERROR"),
                Reason::CONNECT_ERROR => concat!($before, "CONNECT_ERROR"),
                Reason::ENHANCE_YOUR_CALM => concat!($before, "ENHANCE_YOUR_CALM"),
                Reason::INADEQUATE_SECURITY => concat!($before, "INADEQUATE_SECURITY"),
                Reason::HTTP_1_1_REQUIRED => concat!($before, "HTTP_1_1_REQUIRED"),
                _ => concat!($before, "an unknown error code"),
            }
        }
    };
}
reason_names!(of_reset, "");
reason_names!(of_go_away, "GOAWAY: ");
reason_names!(of_breach, "the server broke the protocol: ");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resets_goaways_and_breaches_carry_the_names_of_the_rfc() {
        assert_eq!(of_reset(Reason::REFUSED_STREAM), "REFUSED_STREAM");
        assert_eq!(of_go_away(Reason::NO_ERROR), "GOAWAY: NO_ERROR");
        assert_eq!(
            of_breach(Reason::FLOW_CONTROL_ERROR),
            "the server broke the protocol: FLOW_CONTROL_ERROR"
        );
        assert_eq!(of_reset(Reason::from(99)), "an unknown error code");
    }

    #[test]
    fn system_errors_keep_their_names_and_a_cut_is_told_by_what_had_come() {
        let reset = io::Error::from_raw_os_error(libc::ECONNRESET);
        assert_eq!(of_transfer(&reset, true), FailureCause::ConnectionReset);
        let cut = io::Error::from(io::ErrorKind::UnexpectedEof);
        assert_eq!(of_transfer(&cut, false), FailureCause::ClosedBeforeAnswer);
        assert_eq!(of_transfer(&cut, true), FailureCause::TruncatedAnswer);
    }

    #[test]
    fn an_expired_certificate_is_called_expired() {
        let expired = rustls::Error::InvalidCertificate(CertificateError::Expired);
        let words = of_tls(&expired).to_string();
        assert_eq!(words, "TLS: the certificate has expired; `insecure` accepts it");
    }
}
