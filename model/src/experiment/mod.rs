//! The plan of a session: [`Experiment`] and [`plan`], the list of its runs in their interleaved order.

mod backend;
pub mod benchmark;
pub mod capacity;
pub mod claim;
pub mod estimate;
pub mod explaining;
pub mod health;
pub mod open_files;
pub mod pairs;
pub mod plan;
pub mod protocol;
pub mod request;
pub mod role_cores;
mod scale;
pub mod sending;
mod server;
mod session_size;
pub mod shape;
mod subject;
pub mod thread_settings;
pub mod warm_up;
mod workload;

pub use super::probe_level::ProbeLevel;
pub use super::thread_kind::ThreadKind;
pub use backend::{Backend, ONLY as ONLY_BACKEND};
pub use protocol::Protocol;
pub use request::{Body, RequestSpec, VariablesIn};
pub use role_cores::RoleCores;
pub use scale::Scale;
pub use sending::Sending;
pub use server::{
    CommandServer, DropIn, JarServer, JettyServer, PeerServer, PoolSize, RequestLimit, Server, Threads,
    TomcatServer,
};
pub use session_size::SessionSize;
pub use shape::{Shape, ShapeStep};
pub use subject::{BenchmarkMethod, RemoteTarget, Subject};
pub use workload::{ExternalTool, LoadKind, Losses, Tool, Workload};

use super::environment;
use super::masked::{NotMasked, Secrets};
use claim::Claim;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A question with its variants, loads, published figures and claims. All defaults are filled in, and the sizes are those of the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experiment {
    /// The file name without its extension, or `compare`.
    pub name: String,
    /// The question as a sentence.
    pub question: String,
    pub study: Option<Study>,
    /// The variants; the first is the baseline of every comparison.
    pub variants: Vec<Variant>,
    pub loads: Vec<LoadSpec>,
    /// The longest warm-up, with the same load, in seconds; the warm-up ends earlier at the steady state.
    pub warmup_s: f64,
    /// The warm-up ends at the steady state, and `warmup_s` is only its usual length.
    pub warmup_auto: bool,
    /// A crossover compares kinds of thread inside two JVMs of the first variant; where the server cannot be switched, fresh JVMs are compared.
    pub crossover: bool,
    /// Time budget in seconds; `None`: unlimited.
    pub budget_s: Option<f64>,
    /// Figures that were published before.
    pub published: Vec<Published>,
    /// Statements about the measured figures.
    pub claims: Vec<StatedClaim>,
    /// Statements of the study that cannot be tested.
    pub unavailable: Vec<Unavailable>,
    /// Cores by role; `None`: no role is pinned to cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<RoleCores>,
    /// The sizes that are used.
    #[serde(default, alias = "quick", deserialize_with = "session_size::read")]
    pub size: SessionSize,
}

/// A claim with its text, and the statement of the study behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatedClaim {
    /// The claim as it is written in the file.
    pub claim: String,
    /// The claim after parsing.
    pub expression: Claim,
    /// The statement of the study, in our words.
    pub says: Option<String>,
}

/// A statement of the study that cannot be tested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unavailable {
    /// The statement, in our words.
    pub what: String,
    /// The reason.
    pub why: String,
}

/// The source of the question and of the published figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Study {
    pub title: String,
    pub date: Option<String>,
    pub authors: Option<String>,
    pub url: Option<String>,
    /// The study's machine, in words.
    pub machine: Option<String>,
}

impl Experiment {
    /// An experiment that nobody planned: nothing is published about it, and it has no warm-up.
    #[must_use]
    pub fn unplanned(name: &str, variants: Vec<Variant>, loads: Vec<LoadSpec>) -> Self {
        Self {
            name: name.to_owned(),
            question: String::new(),
            study: None,
            variants,
            loads,
            warmup_s: 0.0,
            warmup_auto: false,
            crossover: false,
            budget_s: None,
            published: Vec::new(),
            claims: Vec::new(),
            unavailable: Vec::new(),
            cores: None,
            size: SessionSize::AsWritten,
        }
    }

    /// The experiment as it is written into a result: without secrets, which are added to `secrets`.
    ///
    /// # Errors
    /// The data is no experiment without its secrets.
    pub fn without_secrets(&self, secrets: &mut Secrets) -> Result<Self, NotMasked> {
        crate::masked::masked(self, secrets)
    }

    #[must_use]
    pub fn load(&self, name: &str) -> Option<&LoadSpec> {
        self.loads.iter().find(|load| load.name == name)
    }

    /// Whether the experiment starts a server or a benchmark itself.
    #[must_use]
    pub fn starts_any(&self) -> bool {
        let runs = |variant: &Variant| self.loads.iter().any(|load| load.includes(&variant.name));
        self.variants.iter().any(|variant| variant.target().is_none() && runs(variant))
    }

    #[must_use]
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// Length of a load's warm-up in seconds.
    #[must_use]
    pub fn warmup_s(&self, load: &LoadSpec) -> f64 {
        load.warmup_s.unwrap_or(self.warmup_s)
    }
}

/// The most characters of a label; more would not fit beside the figures.
pub const LONGEST_LABEL: usize = 24;

/// One way to run the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Variant {
    /// The variant's name in every table.
    pub name: String,
    /// A few words beside its name in tables; `None`: derived from its threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// One line for the reader, if the name is not enough.
    pub note: Option<String>,
    #[serde(rename = "server")]
    pub subject: Subject,
    /// The file names the readiness path, rather than leaving it to be derived from the requests.
    pub ready_is_written: bool,
    /// Java feature version; `None`: no JVM, or the JVM that the command starts.
    pub jdk: Option<u16>,
    pub jvm: Vec<String>,
    /// Environment variables added for the server.
    pub env: BTreeMap<String, String>,
    /// The server's working folder; `None`: the default of its kind, or ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workdir: Option<PathBuf>,
    /// A command that is run before each start of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// A command that is run each time the server has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Servers behind this one, started before it in their order.
    pub backends: Vec<Backend>,
    /// Cores to which its processes are pinned; empty: not pinned.
    pub cores: Vec<usize>,
    /// The kind of thread that must handle requests; `None`: not specified, or given by `threads`.
    pub answers_on: Option<ThreadKind>,
    /// The level of the probe; `None`: as on the command line.
    pub probe: Option<ProbeLevel>,
    /// Another variant, differing in a single setting, with which this one is compared besides the baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare_with: Option<String>,
    /// The reason why the variant cannot run on this machine; checked when a session begins.
    pub skipped: Option<String>,
}

impl Variant {
    /// A variant with defaults for the rest.
    #[must_use]
    pub fn new(name: &str, subject: impl Into<Subject>) -> Self {
        Self {
            name: name.to_owned(),
            label: None,
            note: None,
            subject: subject.into(),
            ready_is_written: false,
            jdk: None,
            jvm: Vec::new(),
            env: BTreeMap::new(),
            workdir: None,
            before: None,
            after: None,
            backends: Vec::new(),
            cores: Vec::new(),
            answers_on: None,
            probe: None,
            compare_with: None,
            skipped: None,
        }
    }

    /// A text of the server or its backends, without the values that their `env` took from our environment.
    #[must_use]
    pub fn without_values(&self, text: &str) -> String {
        let behind = self.backends.iter().flat_map(|it| it.env.values());
        environment::secrets(self.env.values().chain(behind).map(String::as_str)).hidden_in(text)
    }

    /// The server; `None`: a benchmark, or a server that somebody else starts.
    #[must_use]
    pub const fn server(&self) -> Option<&Server> {
        match &self.subject {
            Subject::Server(server) => Some(server),
            Subject::Benchmark { .. } | Subject::Target(_) => None,
        }
    }

    /// The target, if the variant is a server that runs elsewhere.
    #[must_use]
    pub const fn target(&self) -> Option<&RemoteTarget> {
        match &self.subject {
            Subject::Target(target) => Some(target),
            Subject::Server(_) | Subject::Benchmark { .. } => None,
        }
    }
}

/// A load: the requests, their number and rate, and the rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadSpec {
    /// Name in tables and claims: as written, or `c400` (400 clients), `r5000` (5,000/s).
    pub name: String,
    /// The kind of workload with its size.
    #[serde(flatten)]
    pub workload: Workload,
    /// Number of measured requests; with `duration_s`, whichever comes first.
    pub requests: Option<u64>,
    /// Length of the measured window, in seconds.
    pub duration_s: Option<f64>,
    /// The length of a turn in seconds: the servers of a round run side by side and are measured in turns. `None`: one server after the
    /// other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interleave_s: Option<f64>,
    /// The cores that it was written for, if fewer send less. `None`: it is sent as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// The request, or the first of several.
    pub request: RequestSpec,
    /// The other requests, sent in turn with the first.
    pub more_requests: Vec<RequestSpec>,
    /// The changing rate of an open load, whose mean is in [`LoadKind::Open`]; `None`: constant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// Connection settings, and the expected responses.
    pub sending: Sending,
    /// The most rounds, each with one run of every variant.
    pub runs: u32,
    /// The rule by which the rounds end.
    pub protocol: Protocol,
    /// The variants that run under the load; empty: all.
    pub only_variants: Vec<String>,
    /// The warm-up in seconds; `None`: the experiment's.
    pub warmup_s: Option<f64>,
    /// Take a dump of all threads in the middle of the explaining window.
    pub thread_dump: bool,
    /// `false`: a new connection for each request.
    pub keep_alive: bool,
    /// The reason why the load cannot be sent on this machine; checked when a session begins.
    pub skipped: Option<String>,
}

impl LoadSpec {
    /// The number of turns in which the load is measured; 1 if servers do not take turns.
    #[must_use]
    pub fn turns(&self) -> u32 {
        let turns = self.interleave_s.zip(self.duration_s).map(|(turn_s, duration_s)| duration_s / turn_s);
        // The remainder of the division is not a turn of its own.
        turns.map_or(1, |turns| (turns - 1e-6).ceil().max(1.0) as u32)
    }

    /// An endless load with defaults for the rest.
    #[must_use]
    pub fn new(name: &str, workload: impl Into<Workload>, request: RequestSpec) -> Self {
        Self {
            name: name.to_owned(),
            workload: workload.into(),
            requests: None,
            duration_s: None,
            interleave_s: None,
            scale: None,
            request,
            more_requests: Vec::new(),
            shape: None,
            sending: Sending::default(),
            runs: protocol::AT_MOST,
            protocol: Protocol::adaptive(false),
            only_variants: Vec::new(),
            warmup_s: None,
            thread_dump: false,
            keep_alive: true,
            skipped: None,
        }
    }

    pub fn all_requests(&self) -> impl Iterator<Item = &RequestSpec> {
        std::iter::once(&self.request).chain(&self.more_requests)
    }
}

/// Published figures of one variant under one load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    pub variant: String,
    /// The load; `None`: the first load.
    pub load: Option<String>,
    /// The place in the study where the figures are published, in words.
    pub source: Option<String>,
    /// The figures by metric name ([`Metric`](crate::metric::Metric)).
    pub figures: BTreeMap<String, f64>,
}
