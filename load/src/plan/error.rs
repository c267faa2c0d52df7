//! Fields of a plan that do not go together.

use super::{LoadPlan, Pacing};
use std::fmt;

/// Fields of a plan that do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// More requests at once than can be kept apart.
    #[error(
        "`connections` times `streams_per_connection` is {places}. At most {most} requests can be in flight \
         at once: lower one of them"
    )]
    Places {
        /// Their product.
        places: u64,
        /// The most that it may be.
        most: u64,
    },
    /// A request sends a value that nothing captures.
    #[error("a request sends `{{capture:{name}}}`, and `captures` has no `{name}`")]
    UnknownCapture {
        /// What the request calls it.
        name: String,
    },
    /// Two captures of one name.
    #[error("`captures` has `{name}` twice: give each a name of its own")]
    DuplicateCapture {
        /// Their name.
        name: String,
    },
    /// A Unix socket has no address to override.
    #[error("`unix_socket` and `resolve` exclude each other: a Unix socket has no host and port")]
    UnixSocketAndResolve,
    /// A field that is for TLS.
    #[error("`{field}` is for https, and the targets are http: write https:// or leave it out")]
    NeedsTls {
        /// Which.
        field: TlsField,
    },
    /// A name that TLS cannot send.
    #[error("`sni`: `{name}` is not a host name")]
    Sni {
        /// As it was written.
        name: String,
    },
    /// Nothing is due in a closed loop.
    #[error("`lateness` is for open loads: a closed loop sends as soon as it has its response")]
    LatenessOfClosedLoop,
    /// Requests that are not counted have no number.
    #[error("`lead_in` is for loads that a time ends, and `stop` counts requests: leave one of them out")]
    LeadInOfCountedRequests,
    /// A course that begins before it is counted is another course.
    #[error(
        "`lead_in` is for closed loops and constant rates: a changing rate is counted from its beginning"
    )]
    LeadInOfChangingRate,
    /// Each share of a load needs a connection, and a request for it.
    #[error(
        "{shares} processes cannot share a load of {connections} connections: each needs one of its own, and a request to \
         send"
    )]
    ShareWithoutConnection {
        /// Connections of the whole load, or its requests, where those are fewer.
        connections: u32,
        /// How many processes share it.
        shares: u32,
    },
    /// A new connection per request loses captured values and cookies.
    #[error(
        "`{field}` needs `keep_alive`: values and cookies belong to a connection, and each has one request"
    )]
    NeedsKeepAlive {
        /// Which.
        field: LearnedField,
    },
}

/// A field that only https has a use for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are those of the plan")]
pub enum TlsField {
    Sni,
    CaFiles,
    Identity,
    Resumption,
}

impl fmt::Display for TlsField {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Sni => "sni",
            Self::CaFiles => "tls.ca_files",
            Self::Identity => "tls.identity",
            Self::Resumption => "tls.resumption",
        })
    }
}

/// A field that keeps something of a response for later requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are those of the plan")]
pub enum LearnedField {
    Captures,
    KeepCookies,
}

impl fmt::Display for LearnedField {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Captures => "captures",
            Self::KeepCookies => "keep_cookies",
        })
    }
}

/// Requests that can be under way at once: each has a place of its own in memory.
const MOST_PLACES: u64 = 1 << 24;

pub(super) fn check(plan: &LoadPlan) -> Result<(), PlanError> {
    check_captures(plan)?;
    let places = u64::from(plan.connections.get()) * u64::from(plan.streams_per_connection.get());
    if places > MOST_PLACES {
        return Err(PlanError::Places { places, most: MOST_PLACES });
    }
    if plan.share.count() > plan.all_connections() {
        let (connections, shares) = (plan.all_connections(), plan.share.count());
        return Err(PlanError::ShareWithoutConnection { connections, shares });
    }
    if plan.unix_socket.is_some() && !plan.resolve.is_empty() {
        return Err(PlanError::UnixSocketAndResolve);
    }
    if !plan.requests.origin().tls {
        let of_tls = [
            (TlsField::Sni, plan.sni.is_some()),
            (TlsField::CaFiles, !plan.tls.ca_files.is_empty()),
            (TlsField::Identity, plan.tls.identity.is_some()),
            (TlsField::Resumption, !plan.tls.resumption),
        ];
        if let Some(&(field, _)) = of_tls.iter().find(|(_, is_set)| *is_set) {
            return Err(PlanError::NeedsTls { field });
        }
    }
    if let Some(name) = plan.sni.as_ref().filter(|name| !is_host_name(name)) {
        return Err(PlanError::Sni { name: name.clone() });
    }
    if !plan.lateness.is_zero() && plan.pacing == Pacing::Closed {
        return Err(PlanError::LatenessOfClosedLoop);
    }
    match plan.lead_in.is_zero() {
        false if plan.stop.requests().is_some() => return Err(PlanError::LeadInOfCountedRequests),
        false if !plan.is_steady() => return Err(PlanError::LeadInOfChangingRate),
        _ => {}
    }
    Ok(())
}

fn check_captures(plan: &LoadPlan) -> Result<(), PlanError> {
    let names: Vec<&str> = plan.captures.iter().map(|capture| capture.name.as_str()).collect();
    let is_twice = |&(place, name): &(usize, &&str)| names[..place].contains(name);
    if let Some((_, &name)) = names.iter().enumerate().find(is_twice) {
        return Err(PlanError::DuplicateCapture { name: name.to_owned() });
    }
    if let Some(name) = plan.requests.captures_sent().find(|name| !names.contains(name)) {
        return Err(PlanError::UnknownCapture { name: name.to_owned() });
    }
    let learned =
        [(LearnedField::Captures, !names.is_empty()), (LearnedField::KeepCookies, plan.keep_cookies)];
    match learned.iter().find(|(_, is_set)| *is_set) {
        Some(&(field, _)) if !plan.keep_alive => Err(PlanError::NeedsKeepAlive { field }),
        _ => Ok(()),
    }
}

/// Addresses are names too: they are looked for in the certificate and not sent (RFC 6066 section 3).
fn is_host_name(name: &str) -> bool {
    rustls::pki_types::ServerName::try_from(name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{AddressOverride, ClientIdentity, RateShape, Stop};
    use crate::request::{RequestSource, Target};
    use std::num::NonZeroU32;
    use std::sync::Arc;
    use std::time::Duration;

    fn plan(url: &str) -> LoadPlan {
        let requests = Arc::new(RequestSource::new(vec![Target::get(url).unwrap()]).unwrap());
        LoadPlan::closed(requests, NonZeroU32::MIN, Stop::Duration(Duration::from_secs(1)))
    }

    fn refused(url: &str, change: impl FnOnce(&mut LoadPlan)) -> String {
        plan(url).with(change).check().unwrap_err().to_string()
    }

    #[test]
    fn a_plan_as_it_is_made_goes_together() {
        assert_eq!(plan("http://h/").check(), Ok(()));
        assert_eq!(plan("https://h/").check(), Ok(()));
        assert!(!plan("http://h/").reads_responses());
    }

    #[test]
    fn more_requests_at_once_than_have_a_place_are_refused() {
        let most = |plan: &mut LoadPlan| {
            plan.connections = NonZeroU32::new(1 << 14).unwrap();
            plan.streams_per_connection = NonZeroU32::new(1 << 10).unwrap();
        };
        assert_eq!(plan("http://h/").with(most).check(), Ok(()));
        let more = refused("http://h/", |plan| plan.streams_per_connection = NonZeroU32::MAX);
        assert!(more.contains("is 4294967295. At most 16777216 requests"), "{more}");
    }

    #[test]
    fn each_captured_value_has_one_source() {
        let token = || "token=header:X-Token".parse().unwrap();
        let url = "http://h/{capture:token}";
        assert_eq!(plan(url).with(|plan| plan.captures.push(token())).check(), Ok(()));
        assert!(plan(url).with(|plan| plan.captures.push(token())).reads_responses());
        assert!(refused(url, |_| {}).contains("sends `{capture:token}`, and `captures` has no `token`"));
        assert!(
            refused("http://h/", |plan| plan.captures = vec![token(), token()]).contains("`token` twice")
        );
    }

    #[test]
    fn what_a_connection_learns_needs_a_second_request_on_it() {
        let with_cookies = refused("http://h/", |plan| (plan.keep_cookies, plan.keep_alive) = (true, false));
        assert!(with_cookies.starts_with("`keep_cookies` needs `keep_alive`"), "{with_cookies}");
    }

    #[test]
    fn a_unix_socket_has_no_address() {
        let error = refused("http://h/", |plan| {
            plan.unix_socket = Some("/run/x".into());
            plan.resolve = vec![AddressOverride::resolve("h:80:127.0.0.1").unwrap()];
        });
        assert!(error.contains("exclude each other"), "{error}");
    }

    #[test]
    fn tls_options_need_tls() {
        let url = "http://h/";
        assert!(refused(url, |plan| plan.sni = Some("a".into())).starts_with("`sni` is for https"));
        assert!(refused(url, |plan| plan.tls.ca_files = vec!["a".into()]).starts_with("`tls.ca_files` is"));
        assert!(refused(url, |plan| plan.tls.resumption = false).starts_with("`tls.resumption` is"));
        let identity = ClientIdentity { certificate: "a".into(), key: "b".into() };
        assert!(refused(url, |plan| plan.tls.identity = Some(identity)).starts_with("`tls.identity` is"));
        assert!(
            refused("https://h/", |plan| plan.sni = Some("a b".into())).contains("`a b` is not a host name")
        );
        assert_eq!(plan("https://h/").with(|plan| plan.sni = Some("other.host".into())).check(), Ok(()));
    }

    #[test]
    fn only_an_open_load_can_be_late() {
        let late = |plan: &mut LoadPlan| plan.lateness = Duration::from_millis(1);
        assert!(refused("http://h/", late).contains("`lateness` is for open loads"));
        let shape = RateShape::Constant { rate_per_s: 5.0 };
        let LoadPlan { requests, connections, stop, .. } = plan("http://h/");
        let open = LoadPlan::open(requests, shape, crate::plan::Arrivals::Poisson, connections, stop);
        assert_eq!(open.with(late).check(), Ok(()));
    }
}
