//! Settings of a plan that exclude each other.

use super::{LoadPlan, Pacing};
use crate::setting::{Setting, SettingName};
use std::fmt;

/// Settings of a plan that exclude each other.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// There would be more concurrent requests than can be kept apart.
    Places {
        /// The product of connections and streams.
        places: u64,
        /// The most that it may be.
        most: u64,
    },
    /// A request sends a value that no capture provides.
    UnknownCapture {
        /// The name in the request.
        name: String,
    },
    /// Two captures have the same name.
    DuplicateCapture { name: String },
    /// A Unix socket has no address to override.
    UnixSocketAndResolve,
    /// The setting needs TLS, which the load does not use.
    NeedsTls { setting: Setting },
    /// The name cannot be sent in TLS.
    Sni {
        /// The text as the user wrote it.
        name: String,
    },
    /// A closed loop has no due times, so it cannot have a lateness.
    LatenessOfClosedLoop,
    /// A load that ends after a number of requests cannot have a lead-in, because its requests are not counted.
    LeadInOfCountedRequests,
    /// A changing rate cannot have a lead-in, because the rate would already have changed when counting begins.
    LeadInOfChangingRate,
    /// Each share of a load needs a connection, and a request for it.
    ShareWithoutConnection {
        /// The number of connections of the whole load, or of its requests if that is smaller.
        connections: u32,
        /// The number of processes that share the load.
        shares: u32,
    },
    /// The setting needs connections that are kept, because captured values and cookies are lost with a connection.
    NeedsKeepAlive { setting: Setting },
}

impl PlanError {
    /// The setting that the error is about.
    #[must_use]
    pub const fn setting(&self) -> Setting {
        match self {
            Self::Places { .. } => Setting::Streams,
            Self::UnknownCapture { .. } | Self::DuplicateCapture { .. } => Setting::Captures,
            Self::UnixSocketAndResolve => Setting::Resolve,
            Self::NeedsTls { setting } | Self::NeedsKeepAlive { setting } => *setting,
            Self::Sni { .. } => Setting::Sni,
            Self::LatenessOfClosedLoop => Setting::Lateness,
            Self::LeadInOfCountedRequests | Self::LeadInOfChangingRate => Setting::LeadIn,
            Self::ShareWithoutConnection { .. } => Setting::Connections,
        }
    }

    /// The sentence that tells which settings exclude each other, and what to change.
    #[must_use]
    pub fn sentence(&self, name: SettingName) -> String {
        match self {
            Self::Places { places, most } => format!(
                "{} times {} is {places}. At most {most} requests can be in flight at once: lower one of them",
                name(Setting::Connections),
                name(Setting::Streams)
            ),
            Self::UnknownCapture { name: value } => format!(
                "{{capture:{value}}} is sent and not captured: write {captures} {value}=header:FIELD, {value}=regex:PATTERN \
                 or {value}=json:/POINTER",
                captures = name(Setting::Captures)
            ),
            Self::DuplicateCapture { name: value } => {
                format!("{} has {value} twice: give each a name of its own", name(Setting::Captures))
            }
            Self::UnixSocketAndResolve => format!(
                "{} has no host and port: leave out {}",
                name(Setting::UnixSocket),
                name(Setting::Resolve)
            ),
            Self::NeedsTls { setting } => {
                format!("{} is for https: write https:// in the URL, or leave it out", name(*setting))
            }
            Self::Sni { name: host } => {
                format!("{} {host}: not a host name, write one like example.com", name(Setting::Sni))
            }
            Self::LatenessOfClosedLoop => format!(
                "{} needs {}: a closed loop sends as soon as it has its response",
                name(Setting::Lateness),
                name(Setting::Rate)
            ),
            Self::LeadInOfCountedRequests => format!(
                "{} is for loads that a time ends: leave it out, or {}",
                name(Setting::LeadIn),
                name(Setting::Requests)
            ),
            Self::LeadInOfChangingRate => format!(
                "{} is for closed loops and constant rates: a changing rate is counted from its beginning",
                name(Setting::LeadIn)
            ),
            Self::ShareWithoutConnection { connections, shares } => format!(
                "{connections} connections cannot be shared by {shares} processes: each needs one of its own, and a request to send"
            ),
            Self::NeedsKeepAlive { setting } => format!(
                "{} needs connections that are kept alive: leave out {}",
                name(*setting),
                name(Setting::CloseAfterResponse)
            ),
        }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.sentence(Setting::field))
    }
}

impl std::error::Error for PlanError {}

/// The largest number of concurrent requests; each has a place of its own in memory.
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
            (Setting::Sni, plan.sni.is_some()),
            (Setting::CaFiles, !plan.tls.ca_files.is_empty()),
            (Setting::Identity, plan.tls.identity.is_some()),
            (Setting::NoResumption, !plan.tls.resumption),
        ];
        if let Some(&(setting, _)) = of_tls.iter().find(|(_, is_set)| *is_set) {
            return Err(PlanError::NeedsTls { setting });
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
    let learned = [(Setting::Captures, !names.is_empty()), (Setting::KeepCookies, plan.keep_cookies)];
    match learned.iter().find(|(_, is_set)| *is_set) {
        Some(&(setting, _)) if !plan.keep_alive => Err(PlanError::NeedsKeepAlive { setting }),
        _ => Ok(()),
    }
}

/// Whether the name can be used in TLS. Addresses count too: they are looked up in the certificate but not sent (RFC 6066 section 3).
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
        assert!(
            refused(url, |_| {})
                .contains("{capture:token} is sent and not captured: write `captures` token=header")
        );
        assert!(
            refused("http://h/", |plan| plan.captures = vec![token(), token()])
                .contains("`captures` has token twice")
        );
    }

    #[test]
    fn what_a_connection_learns_needs_a_second_request_on_it() {
        let with_cookies = refused("http://h/", |plan| (plan.keep_cookies, plan.keep_alive) = (true, false));
        assert!(
            with_cookies.starts_with("`keep_cookies` needs connections that are kept alive"),
            "{with_cookies}"
        );
    }

    #[test]
    fn a_unix_socket_has_no_address() {
        let error = refused("http://h/", |plan| {
            plan.unix_socket = Some("/run/x".into());
            plan.resolve = vec![AddressOverride::resolve("h:80:127.0.0.1").unwrap()];
        });
        assert!(error.contains("`unix_socket` has no host and port: leave out `resolve`"), "{error}");
    }

    #[test]
    fn tls_options_need_tls() {
        let url = "http://h/";
        assert!(refused(url, |plan| plan.sni = Some("a".into())).starts_with("`sni` is for https"));
        assert!(refused(url, |plan| plan.tls.ca_files = vec!["a".into()]).starts_with("`tls.ca_files` is"));
        assert!(refused(url, |plan| plan.tls.resumption = false).starts_with("`tls.resumption: false` is"));
        let identity = ClientIdentity { certificate: "a".into(), key: "b".into() };
        assert!(refused(url, |plan| plan.tls.identity = Some(identity)).starts_with("`tls.identity` is"));
        assert!(refused("https://h/", |plan| plan.sni = Some("a b".into())).contains("a b: not a host name"));
        assert_eq!(plan("https://h/").with(|plan| plan.sni = Some("other.host".into())).check(), Ok(()));
    }

    #[test]
    fn only_an_open_load_can_be_late() {
        let late = |plan: &mut LoadPlan| plan.lateness = Duration::from_millis(1);
        assert!(refused("http://h/", late).contains("`lateness` needs `rate`"));
        let shape = RateShape::Constant { rate_per_s: 5.0 };
        let LoadPlan { requests, connections, stop, .. } = plan("http://h/");
        let open = LoadPlan::open(requests, shape, crate::plan::Arrivals::Poisson, connections, stop);
        assert_eq!(open.with(late).check(), Ok(()));
    }
}
