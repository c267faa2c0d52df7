//! How the requests of a load are carried and their answers judged: everything but what is asked, and how much.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;
use threadcount_load::plan::{
    Arrivals, DriverChoice, ExpectedStatus, LoadPlan, Pacing, ProtocolChoice, Stop,
};
use threadcount_load::request::RequestSource;

/// How long a request may take, if nothing is said.
pub const TIMEOUT: Duration = Duration::from_secs(30);
/// How long a connection may take to be made, if nothing is said.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How requests are carried and answers judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Sending {
    /// How the due times of an open load are spread.
    #[schemars(with = "String")]
    pub arrivals: Arrivals,
    /// Seed of everything random. Each round has the next one: the variants of a round get the same load, and no two
    /// rounds do.
    pub seed: u64,
    /// How long a request may take, from being sent to its last byte, in seconds.
    pub timeout_s: f64,
    /// How long a connection may take to be made, TLS included, in seconds.
    pub connect_timeout_s: f64,
    /// Status codes that count as an answer.
    #[schemars(with = "Vec<(u16, u16)>")]
    pub expect: ExpectedStatus,
    /// Which HTTP.
    #[schemars(with = "String")]
    pub http: ProtocolChoice,
    /// Requests at once on one HTTP/2 connection.
    pub streams: NonZeroU32,
    /// The server's certificate is not verified.
    pub insecure: bool,
    /// Generator threads; `None`: half of the cores.
    pub threads: Option<NonZeroU32>,
    /// Cores the generator's threads are pinned to; empty: none.
    pub cores: Vec<usize>,
    /// What carries plain HTTP/1.1.
    #[schemars(with = "String")]
    pub driver: DriverChoice,
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
            driver: DriverChoice::Auto,
        }
    }
}

impl Sending {
    /// The generator's plan for these requests.
    #[must_use]
    pub fn plan(
        &self,
        requests: Arc<RequestSource>,
        pacing: Pacing,
        connections: NonZeroU32,
        stop: Stop,
        keep_alive: bool,
    ) -> LoadPlan {
        LoadPlan {
            requests,
            pacing,
            connections,
            stop,
            // Threads that share a core are only asked for on purpose.
            threads: self.threads.or_else(|| NonZeroU32::new(self.cores.len() as u32)),
            cores: self.cores.clone(),
            driver: self.driver,
            protocol: self.http,
            streams_per_connection: self.streams,
            keep_alive,
            connect_timeout: Duration::from_secs_f64(self.connect_timeout_s),
            request_timeout: Duration::from_secs_f64(self.timeout_s),
            expected_status: self.expect.clone(),
            insecure: self.insecure,
            seed: self.seed,
        }
    }

    /// What was asked for beyond the usual, in words, for those who want to repeat it.
    #[must_use]
    pub fn unusual(&self) -> Vec<(&'static str, String)> {
        let usual = Self::default();
        let seconds = |seconds: f64| format!("{seconds} s");
        let cores = || self.cores.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let http = match self.http {
            ProtocolChoice::Auto => "HTTP/1.1, or over TLS what the server chooses",
            ProtocolChoice::Http1 => "HTTP/1.1 only",
            ProtocolChoice::Http2 => "HTTP/2 only (without TLS with prior knowledge)",
        };
        let driver = match self.driver {
            DriverChoice::Auto => "io_uring or epoll",
            DriverChoice::IoUring => "io_uring",
            DriverChoice::Epoll => "epoll",
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
            (self.driver != usual.driver, "carried by, as asked", driver.to_owned()),
        ];
        facts.into_iter().filter(|(is_unusual, ..)| *is_unusual).map(|(_, what, text)| (what, text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_load::request::Target;

    #[test]
    fn the_usual_is_what_the_generator_does_by_default() {
        let source = Arc::new(RequestSource::new(vec![Target::get("http://h/").unwrap()]).unwrap());
        let (one, stop) = (NonZeroU32::MIN, Stop::Duration(TIMEOUT));
        let by_default = LoadPlan::closed(source.clone(), one, stop);
        let usual = Sending::default().plan(source, Pacing::Closed, one, stop, true);
        assert_eq!(format!("{usual:?}"), format!("{by_default:?}"));
        assert!(Sending::default().unusual().is_empty());
    }

    #[test]
    fn a_result_keeps_it_and_an_older_one_has_the_usual() {
        let sending = Sending {
            arrivals: Arrivals::Poisson,
            http: ProtocolChoice::Http2,
            expect: ExpectedStatus::ranges(vec![(404, 404)]),
            cores: vec![0, 1],
            ..Sending::default()
        };
        let json = serde_json::to_string(&sending).unwrap();
        assert_eq!(serde_json::from_str::<Sending>(&json).unwrap(), sending);
        assert_eq!(serde_json::from_str::<Sending>("{}").unwrap(), Sending::default());
        let told: Vec<String> =
            sending.unusual().into_iter().map(|(what, text)| format!("{what}: {text}")).collect();
        assert_eq!(
            told,
            [
                "arrivals: Poisson: as independent users make them",
                "expected status: 404",
                "protocol asked for: HTTP/2 only (without TLS with prior knowledge)",
                "generator pinned to cores: 0,1",
            ]
        );
    }
}
