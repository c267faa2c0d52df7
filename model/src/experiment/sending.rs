//! Connection settings of a load and the responses that it expects: everything but the requests and their number.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use threadcount_load::plan::{
    AddressOverride, Arrivals, ClientIdentity, ExpectedStatus, LoadPlan, Pacing, ProtocolChoice, Stop,
};
use threadcount_load::request::RequestSource;
use threadcount_load::response::{BodyCheck, Capture};

/// Default timeout of a request.
pub const TIMEOUT: Duration = Duration::from_secs(30);
/// Default timeout of connecting.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Connection settings and expected responses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sending {
    /// Distribution of the due times of an open load.
    #[schemars(with = "String")]
    pub arrivals: Arrivals,
    /// The seed of everything random. Each round uses the next seed, so all variants of a round get the same load.
    pub seed: u64,
    /// Timeout of a request from sent to its last byte, in seconds.
    pub timeout_s: f64,
    /// Timeout of connecting, TLS included, in seconds.
    pub connect_timeout_s: f64,
    /// Expected status codes.
    #[schemars(with = "Vec<(u16, u16)>")]
    pub expect: ExpectedStatus,
    /// Version of HTTP.
    #[schemars(with = "String")]
    pub http: ProtocolChoice,
    /// Concurrent requests per HTTP/2 connection.
    pub streams: NonZeroU32,
    /// The server's certificate is not verified.
    pub insecure: bool,
    /// Generator threads; `None`: half of the cores.
    pub threads: Option<NonZeroU32>,
    /// Cores of the generator's threads; empty: not pinned.
    pub cores: Vec<usize>,
    /// Address to connect to instead of the host and port of the URL.
    #[schemars(with = "Vec<BTreeMap<String, serde_json::Value>>")]
    pub resolve: Vec<AddressOverride>,
    /// Unix socket to connect to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unix_socket: Option<PathBuf>,
    /// The name in the TLS handshake; `None`: the host of the URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sni: Option<String>,
    /// Files of authorities to trust; empty: the system's.
    pub ca_files: Vec<PathBuf>,
    /// The client certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, PathBuf>>")]
    pub identity: Option<ClientIdentity>,
    /// TLS sessions are resumed.
    pub tls_resumption: bool,
    /// Longest delay of a request that is sent together with others, in seconds.
    pub lateness_s: f64,
    /// How long the load goes on before it is measured, in seconds; `None`: as long as its experiment needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lead_in_s: Option<f64>,
    /// How long requests in flight may still complete after the end of sending, in seconds.
    pub grace_s: f64,
    /// Log file with one line per request. In an experiment it is in the folder of each run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    /// The text or pattern that the body of a response must contain.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub expect_body: Option<BodyCheck>,
    /// Redirects are followed.
    pub follow: bool,
    /// A response is complete with the first byte of its body.
    pub first_byte: bool,
    /// Connections return cookies that the server has set.
    pub cookies: bool,
    /// Values of responses to use in later requests.
    #[schemars(with = "Vec<String>")]
    pub captures: Vec<Capture>,
}

impl Default for Sending {
    fn default() -> Self {
        Self {
            arrivals: Arrivals::Constant,
            seed: 1,
            timeout_s: TIMEOUT.as_secs_f64(),
            connect_timeout_s: CONNECT_TIMEOUT.as_secs_f64(),
            expect: ExpectedStatus::default(),
            http: ProtocolChoice::Auto,
            streams: NonZeroU32::MIN,
            insecure: false,
            threads: None,
            cores: Vec::new(),
            resolve: Vec::new(),
            unix_socket: None,
            sni: None,
            ca_files: Vec::new(),
            identity: None,
            tls_resumption: true,
            lateness_s: 0.0,
            lead_in_s: None,
            grace_s: 0.0,
            log: None,
            expect_body: None,
            follow: false,
            first_byte: false,
            cookies: false,
            captures: Vec::new(),
        }
    }
}

impl Sending {
    /// The load generator's plan.
    #[must_use]
    pub fn plan(
        &self,
        requests: Arc<RequestSource>,
        pacing: Pacing,
        connections: NonZeroU32,
        stop: Stop,
        keep_alive: bool,
    ) -> LoadPlan {
        LoadPlan::closed(requests, connections, stop).with(|plan| {
            plan.pacing = pacing;
            // One thread per core by default.
            plan.threads = self.threads.or_else(|| NonZeroU32::new(self.cores.len() as u32));
            plan.cores.clone_from(&self.cores);
            plan.protocol = self.http;
            plan.streams_per_connection = self.streams;
            plan.keep_alive = keep_alive;
            plan.connect_timeout = Duration::from_secs_f64(self.connect_timeout_s);
            plan.request_timeout = Duration::from_secs_f64(self.timeout_s);
            plan.expected_status = self.expect.clone();
            plan.insecure = self.insecure;
            plan.seed = self.seed;
            plan.resolve.clone_from(&self.resolve);
            plan.unix_socket.clone_from(&self.unix_socket);
            plan.sni.clone_from(&self.sni);
            plan.tls.ca_files.clone_from(&self.ca_files);
            plan.tls.identity.clone_from(&self.identity);
            plan.tls.resumption = self.tls_resumption;
            plan.lateness = Duration::from_secs_f64(self.lateness_s);
            plan.real_time = true;
            plan.lead_in = Duration::from_secs_f64(self.lead_in_s.unwrap_or_default());
            plan.grace = Duration::from_secs_f64(self.grace_s);
            plan.log.clone_from(&self.log);
            plan.expected_body.clone_from(&self.expect_body);
            plan.follow_redirects = self.follow;
            plan.first_byte = self.first_byte;
            plan.keep_cookies = self.cookies;
            plan.captures.clone_from(&self.captures);
        })
    }

    /// Settings that differ from the defaults, in words.
    #[must_use]
    pub fn unusual(&self) -> Vec<(&'static str, String)> {
        let usual = Self::default();
        let seconds = |seconds: f64| format!("{seconds} s");
        let cores = || self.cores.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let http = match self.http {
            ProtocolChoice::Http1 => "HTTP/1.1 only",
            ProtocolChoice::Http2 => "HTTP/2 only (without TLS with prior knowledge)",
            _ => "HTTP/1.1, or over TLS what the server chooses",
        };
        let facts = [
            (
                self.arrivals != usual.arrivals,
                "arrivals",
                "Poisson: as independent users make them".to_owned(),
            ),
            (self.seed != usual.seed, "seed", format!("{}, in each round the next", self.seed)),
            (self.timeout_s != usual.timeout_s, "time limit of a request", seconds(self.timeout_s)),
            (
                self.connect_timeout_s != usual.connect_timeout_s,
                "time limit of a connection",
                seconds(self.connect_timeout_s),
            ),
            (self.expect != usual.expect, "expected status", self.expect.to_string()),
            (self.http != usual.http, "protocol asked for", http.to_owned()),
            (self.streams != usual.streams, "requests at once on a connection", self.streams.to_string()),
            (self.insecure, "certificate", "not verified".to_owned()),
            (
                self.threads.is_some(),
                "generator threads asked for",
                self.threads.map_or(0, u32::from).to_string(),
            ),
            (!self.cores.is_empty(), "generator pinned to cores", cores()),
        ];
        let facts = facts.into_iter().chain(self.unusual_connections()).chain(self.unusual_responses());
        facts.filter(|(is_unusual, ..)| *is_unusual).map(|(_, what, text)| (what, text)).collect()
    }
}

/// A setting: whether it differs from the default, its name and its value.
type Fact = (bool, &'static str, String);

impl Sending {
    fn unusual_connections(&self) -> [Fact; 5] {
        let file =
            |file: &Option<PathBuf>| file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
        let files: Vec<String> = self.ca_files.iter().map(|file| file.display().to_string()).collect();
        [
            (!self.resolve.is_empty(), "connects to", joined(&self.resolve)),
            (self.unix_socket.is_some(), "Unix socket", file(&self.unix_socket)),
            (self.sni.is_some(), "SNI", self.sni.clone().unwrap_or_default()),
            (!self.ca_files.is_empty(), "trusted authorities", files.join(", ")),
            (!self.tls_resumption, "TLS sessions", "not resumed: each handshake is a full one".to_owned()),
        ]
    }

    fn unusual_responses(&self) -> [Fact; 9] {
        let certificate = self.identity.as_ref().map(|identity| identity.certificate.display().to_string());
        let body = self.expect_body.as_ref().map(ToString::to_string);
        [
            (certificate.is_some(), "client certificate", certificate.unwrap_or_default()),
            (self.lateness_s > 0.0, "requests sent together", format!("up to {} s late", self.lateness_s)),
            (
                self.lead_in_s.is_some(),
                "lead-in",
                format!("{} s before it is measured", self.lead_in_s.unwrap_or_default()),
            ),
            (self.grace_s > 0.0, "grace time", format!("{} s", self.grace_s)),
            (body.is_some(), "expected body", body.unwrap_or_default()),
            (self.follow, "redirects", "followed".to_owned()),
            (self.first_byte, "end of a response", "the first byte of its body".to_owned()),
            (self.cookies, "cookies", "sent back on each connection".to_owned()),
            (!self.captures.is_empty(), "captured values", joined(&self.captures)),
        ]
    }
}

fn joined(values: &[impl ToString]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_load::request::Target;

    #[test]
    fn the_usual_is_what_the_generator_does_by_default_with_real_time_priority() {
        let source = Arc::new(RequestSource::new(vec![Target::get("http://h/").unwrap()]).unwrap());
        let (one, stop) = (NonZeroU32::MIN, Stop::Duration(TIMEOUT));
        let by_default = LoadPlan::closed(source.clone(), one, stop).with(|plan| plan.real_time = true);
        let usual = Sending::default().plan(source, Pacing::Closed, one, stop, true);
        assert_eq!(format!("{usual:?}"), format!("{by_default:?}"));
        assert!(Sending::default().unusual().is_empty());
    }

    #[test]
    fn a_result_keeps_it() {
        let sending = Sending {
            arrivals: Arrivals::Poisson,
            http: ProtocolChoice::Http2,
            expect: ExpectedStatus::ranges(vec![(404, 404)]),
            cores: vec![0, 1],
            resolve: vec![AddressOverride::connect_to("a:80:b:81").unwrap()],
            unix_socket: Some("/run/x.sock".into()),
            sni: Some("other.host".to_owned()),
            ca_files: vec!["ca.pem".into()],
            identity: Some(ClientIdentity::new("c.pem".into(), "k.pem".into())),
            tls_resumption: false,
            lateness_s: 0.001,
            lead_in_s: Some(3.0),
            grace_s: 2.0,
            log: Some("requests.csv".into()),
            expect_body: Some(BodyCheck::contains("ok")),
            follow: true,
            first_byte: true,
            cookies: true,
            captures: vec!["id=json:/id".parse().unwrap()],
            ..Sending::default()
        };
        let json = serde_json::to_string(&sending).unwrap();
        assert_eq!(serde_json::from_str::<Sending>(&json).unwrap(), sending);
        let usual = serde_json::to_string(&Sending::default()).unwrap();
        assert_eq!(serde_json::from_str::<Sending>(&usual).unwrap(), Sending::default());
        let texts: Vec<String> =
            sending.unusual().into_iter().map(|(what, text)| format!("{what}: {text}")).collect();
        assert_eq!(
            texts,
            [
                "arrivals: Poisson: as independent users make them",
                "expected status: 404",
                "protocol asked for: HTTP/2 only (without TLS with prior knowledge)",
                "generator pinned to cores: 0,1",
                "connects to: a:80:b:81",
                "Unix socket: /run/x.sock",
                "SNI: other.host",
                "trusted authorities: ca.pem",
                "TLS sessions: not resumed: each handshake is a full one",
                "client certificate: c.pem",
                "requests sent together: up to 0.001 s late",
                "lead-in: 3 s before it is measured",
                "grace time: 2 s",
                "expected body: ok",
                "redirects: followed",
                "end of a response: the first byte of its body",
                "cookies: sent back on each connection",
                "captured values: id=json:/id",
            ]
        );
    }
}
