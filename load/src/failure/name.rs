//! The names of causes in JSON and between processes. They stay the same from version to version.

use super::{CertificateProblem, FailureCause};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The largest number of different reasons that are kept. The generator has only a few fixed sentences; a foreign input with more is cut
/// off.
const MOST_REASONS: usize = 200;
const LONGEST_REASON: usize = 200;

impl From<FailureCause> for String {
    fn from(cause: FailureCause) -> Self {
        name(cause)
    }
}

// Written by hand, because a derived implementation would borrow the reasons from the text.
impl<'de> Deserialize<'de> for FailureCause {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        parse(&name).ok_or_else(|| D::Error::custom(format!("there is no cause of failure `{name}`")))
    }
}

/// `connection-refused`, `unexpected-status:503`.
fn name(cause: FailureCause) -> String {
    let reason = |kind: &str, reason: &str| format!("{kind}:{reason}");
    match cause {
        FailureCause::ConnectionRefused => "connection-refused".to_owned(),
        FailureCause::ConnectTimeout => "connect-timeout".to_owned(),
        FailureCause::RequestTimeout => "request-timeout".to_owned(),
        FailureCause::ConnectionReset => "connection-reset".to_owned(),
        FailureCause::ClosedBeforeAnswer => "closed-before-answer".to_owned(),
        FailureCause::TruncatedAnswer => "truncated-answer".to_owned(),
        FailureCause::UnexpectedBody => "unexpected-body".to_owned(),
        FailureCause::EncodedBody => "encoded-body".to_owned(),
        FailureCause::NoPortLeft => "no-port-left".to_owned(),
        FailureCause::NoFileDescriptorLeft => "no-file-descriptor-left".to_owned(),
        FailureCause::Http1NotOffered => "http1-not-offered".to_owned(),
        FailureCause::Http1NotSpoken => "http1-not-spoken".to_owned(),
        FailureCause::Http2NotOffered => "http2-not-offered".to_owned(),
        FailureCause::Http2NotSpoken => "http2-not-spoken".to_owned(),
        FailureCause::Malformed(why) => reason("malformed", why),
        FailureCause::NotKept(why) => reason("not-kept", why),
        FailureCause::Redirect(why) => reason("redirect", why),
        FailureCause::Tls(why) => reason("tls", why),
        FailureCause::Http2(why) => reason("http2", why),
        FailureCause::Certificate(problem) => reason("certificate", problem_name(problem)),
        FailureCause::UnexpectedStatus(status) => reason("unexpected-status", &status.to_string()),
        FailureCause::System(errno) => reason("system", &errno.to_string()),
    }
}

/// The cause of a name; `None`: this version does not know it.
fn parse(name: &str) -> Option<FailureCause> {
    let (kind, reason) = name.split_once(':').unwrap_or((name, ""));
    Some(match kind {
        "connection-refused" => FailureCause::ConnectionRefused,
        "connect-timeout" => FailureCause::ConnectTimeout,
        "request-timeout" => FailureCause::RequestTimeout,
        "connection-reset" => FailureCause::ConnectionReset,
        "closed-before-answer" => FailureCause::ClosedBeforeAnswer,
        "truncated-answer" => FailureCause::TruncatedAnswer,
        "unexpected-body" => FailureCause::UnexpectedBody,
        "encoded-body" => FailureCause::EncodedBody,
        "no-port-left" => FailureCause::NoPortLeft,
        "no-file-descriptor-left" => FailureCause::NoFileDescriptorLeft,
        "http1-not-offered" => FailureCause::Http1NotOffered,
        "http1-not-spoken" => FailureCause::Http1NotSpoken,
        "http2-not-offered" => FailureCause::Http2NotOffered,
        "http2-not-spoken" => FailureCause::Http2NotSpoken,
        "malformed" => FailureCause::Malformed(interned(reason)),
        "not-kept" => FailureCause::NotKept(interned(reason)),
        "redirect" => FailureCause::Redirect(interned(reason)),
        "tls" => FailureCause::Tls(interned(reason)),
        "http2" => FailureCause::Http2(interned(reason)),
        "certificate" => FailureCause::Certificate(problem(reason)),
        "unexpected-status" => FailureCause::UnexpectedStatus(reason.parse().ok()?),
        "system" => FailureCause::System(reason.parse().ok()?),
        _ => return None,
    })
}

const fn problem_name(problem: CertificateProblem) -> &'static str {
    match problem {
        CertificateProblem::UnknownIssuer => "unknown-issuer",
        CertificateProblem::Expired => "expired",
        CertificateProblem::NotValidYet => "not-valid-yet",
        CertificateProblem::OtherName => "other-name",
        CertificateProblem::Revoked => "revoked",
        CertificateProblem::BadSignature => "bad-signature",
        CertificateProblem::Authority => "authority",
        CertificateProblem::OldVersion => "old-version",
        CertificateProblem::OtherPurpose => "other-purpose",
        CertificateProblem::BadEncoding => "bad-encoding",
        CertificateProblem::UnsupportedSignature => "unsupported-signature",
        CertificateProblem::UnknownExtension => "unknown-extension",
        CertificateProblem::Other => "other",
    }
}

fn problem(name: &str) -> CertificateProblem {
    match name {
        "unknown-issuer" => CertificateProblem::UnknownIssuer,
        "expired" => CertificateProblem::Expired,
        "not-valid-yet" => CertificateProblem::NotValidYet,
        "other-name" => CertificateProblem::OtherName,
        "revoked" => CertificateProblem::Revoked,
        "bad-signature" => CertificateProblem::BadSignature,
        "authority" => CertificateProblem::Authority,
        "old-version" => CertificateProblem::OldVersion,
        "other-purpose" => CertificateProblem::OtherPurpose,
        "bad-encoding" => CertificateProblem::BadEncoding,
        "unsupported-signature" => CertificateProblem::UnsupportedSignature,
        "unknown-extension" => CertificateProblem::UnknownExtension,
        _ => CertificateProblem::Other,
    }
}

/// The reason as a static text. Each different text is kept forever, once.
fn interned(reason: &str) -> &'static str {
    static REASONS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut reasons = REASONS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&known) = reasons.get(reason) {
        return known;
    }
    if reasons.len() >= MOST_REASONS || reason.len() > LONGEST_REASON {
        return "other";
    }
    let kept: &'static str = Box::leak(reason.into());
    reasons.insert(kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_comes_back_as_it_was() {
        let certificates = [
            CertificateProblem::UnknownIssuer,
            CertificateProblem::Expired,
            CertificateProblem::NotValidYet,
            CertificateProblem::OtherName,
            CertificateProblem::Revoked,
            CertificateProblem::BadSignature,
            CertificateProblem::Authority,
            CertificateProblem::OldVersion,
            CertificateProblem::OtherPurpose,
            CertificateProblem::BadEncoding,
            CertificateProblem::UnsupportedSignature,
            CertificateProblem::UnknownExtension,
            CertificateProblem::Other,
        ];
        let causes = [
            FailureCause::ConnectionRefused,
            FailureCause::ConnectTimeout,
            FailureCause::RequestTimeout,
            FailureCause::ConnectionReset,
            FailureCause::ClosedBeforeAnswer,
            FailureCause::TruncatedAnswer,
            FailureCause::Malformed("two: lengths"),
            FailureCause::NotKept("a captured value is too long"),
            FailureCause::Redirect("its Location is no URL"),
            FailureCause::UnexpectedStatus(503),
            FailureCause::UnexpectedBody,
            FailureCause::EncodedBody,
            FailureCause::NoPortLeft,
            FailureCause::NoFileDescriptorLeft,
            FailureCause::Http1NotOffered,
            FailureCause::Http1NotSpoken,
            FailureCause::Http2NotOffered,
            FailureCause::Http2NotSpoken,
            FailureCause::Tls("alert"),
            FailureCause::Http2("ENHANCE_YOUR_CALM"),
            FailureCause::System(113),
        ];
        for cause in causes.into_iter().chain(certificates.map(FailureCause::Certificate)) {
            assert_eq!(parse(&name(cause)), Some(cause));
        }
        assert_eq!(parse("of a later version"), None);
        assert_eq!(parse(&format!("tls:{}", "x".repeat(500))), Some(FailureCause::Tls("other")));
    }
}
