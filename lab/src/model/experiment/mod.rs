//! What to run: [`Experiment`] and [`plan`], the list of its runs in their interleaved order.

pub mod benchmark;
pub mod capacity;
pub mod claim;
pub mod open_files;
pub mod plan;
pub mod protocol;
pub mod request;
pub mod sending;
mod server;
pub mod shape;
mod subject;
pub mod warm_up;
mod workload;

pub use super::probe_level::ProbeLevel;
pub use super::thread_kind::ThreadKind;
pub use protocol::Protocol;
pub use request::{Body, RequestSpec};
pub use sending::Sending;
pub use server::{
    CommandServer, DropIn, JarServer, JettyServer, PeerServer, PoolSize, Server, Threads, TomcatServer,
};
pub use shape::{Shape, ShapeStep};
pub use subject::{BenchmarkMethod, Subject};
pub use workload::{ExternalTool, LoadKind, Tool, Workload};

use claim::Claim;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// After so many rounds a reason has been seen often enough.
const EXPLAINED_ROUNDS: u32 = 3;

/// A question, its variants, its loads, how often to repeat, what was published before, what is claimed.
///
/// Everything is resolved: defaults are filled in, `quick` is applied where it was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experiment {
    /// The file's name without its ending, or `compare`.
    pub name: String,
    /// The question it answers, as a sentence.
    pub question: String,
    /// Who asked it first.
    pub study: Option<Study>,
    /// The ways to run the server; the first is the baseline of every comparison.
    pub variants: Vec<Variant>,
    /// What is sent.
    pub loads: Vec<LoadSpec>,
    /// How long the same load runs before measuring, at most, in seconds: the warm-up ends when it has levelled off.
    pub warmup_s: f64,
    /// The warm-up ends when the server is warm, and `warmup_s` is only what it usually takes.
    #[serde(default)]
    pub warmup_auto: bool,
    /// How long everything may take, in seconds; `None`: as long as it takes.
    #[serde(default)]
    pub budget_s: Option<f64>,
    /// Figures that were published before.
    pub published: Vec<Published>,
    /// Statements about the records.
    pub claims: Vec<StatedClaim>,
    /// Statements of the study that cannot be tried here.
    #[serde(default)]
    pub unavailable: Vec<Unavailable>,
    /// True when the sizes of `quick:` were used.
    pub quick: bool,
}

/// A claim as it is written and as it is read, and what of the study it stands for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatedClaim {
    /// In the language of claims.
    pub claim: String,
    /// The same as an expression.
    pub expression: Claim,
    /// What the study says, in our words.
    pub says: Option<String>,
}

/// A statement of the study that cannot be tried here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unavailable {
    /// What the study says, in our words.
    pub what: String,
    /// Why it cannot be tried.
    pub why: String,
}

/// Where a question and its published figures come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Study {
    pub title: String,
    pub date: Option<String>,
    pub authors: Option<String>,
    pub url: Option<String>,
    /// The machine it ran on, in words.
    pub machine: Option<String>,
}

impl Experiment {
    /// The load of this name.
    #[must_use]
    pub fn load(&self, name: &str) -> Option<&LoadSpec> {
        self.loads.iter().find(|load| load.name == name)
    }

    /// The variant of this name.
    #[must_use]
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// Are reasons looked for in this round, in a window of their own? In the first that count, since they do not change: with
    /// `quick` in one, so that an answer comes soon.
    #[must_use]
    pub fn explains(&self, load: &LoadSpec, round: u32) -> bool {
        let rounds = if self.quick { 1 } else { EXPLAINED_ROUNDS };
        (1..=rounds).contains(&round.saturating_sub(load.dropped_rounds()))
    }

    /// How long a load runs before it is measured, in seconds.
    #[must_use]
    pub fn warmup_s(&self, load: &LoadSpec) -> f64 {
        load.warmup_s.unwrap_or(self.warmup_s)
    }
}

/// One way to run the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Variant {
    /// Its name in every table.
    pub name: String,
    /// One line for the reader, where the name is not enough.
    pub note: Option<String>,
    /// What is measured.
    #[serde(rename = "server")]
    pub subject: Subject,
    /// The Java feature version it runs on; `None`: no JVM, or whatever the command uses.
    pub jdk: Option<u16>,
    /// JVM flags.
    pub jvm: Vec<String>,
    /// Environment variables added for the server.
    pub env: BTreeMap<String, String>,
    /// A second server that is started before this one, and that this one asks.
    #[serde(default)]
    pub backend: Option<Backend>,
    /// The kind of thread that has to answer; `None`: nobody says, or its `threads` do.
    #[serde(default)]
    pub answers_on: Option<ThreadKind>,
    /// How much the probe watches in it; `None`: as much as the command line says.
    #[serde(default)]
    pub probe: Option<ProbeLevel>,
    /// Why it cannot run on this machine; `None`: it can. Found out when a session begins.
    #[serde(default)]
    pub skipped: Option<String>,
}

impl Variant {
    /// A variant with nothing but what it measures.
    #[must_use]
    pub fn new(name: &str, subject: impl Into<Subject>) -> Self {
        Self {
            name: name.to_owned(),
            note: None,
            subject: subject.into(),
            jdk: None,
            jvm: Vec::new(),
            env: BTreeMap::new(),
            backend: None,
            answers_on: None,
            probe: None,
            skipped: None,
        }
    }

    /// The server that is started for it; `None`: it needs none.
    #[must_use]
    pub const fn server(&self) -> Option<&Server> {
        match &self.subject {
            Subject::Server(server) => Some(server),
            Subject::Benchmark { .. } => None,
        }
    }
}

/// A server behind the server. It is started afresh for each run; what it costs is not counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Backend {
    /// What is started.
    pub server: Server,
    /// The Java feature version it runs on, the same for all variants.
    pub jdk: Option<u16>,
    /// Its own JVM flags.
    pub jvm: Vec<String>,
}

/// What is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadSpec {
    /// Its name in tables and claims: as written, or `c400` (400 clients), `r5000` (5,000/s).
    pub name: String,
    /// What is done, and its size.
    #[serde(flatten)]
    pub workload: Workload,
    /// How many requests are measured; with `duration_s`, whichever comes first.
    pub requests: Option<u64>,
    /// How long is measured, in seconds.
    pub duration_s: Option<f64>,
    /// What is asked, or the first of it.
    pub request: RequestSpec,
    /// What is asked in turn with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_requests: Vec<RequestSpec>,
    /// How the rate of an open load develops; `None`: it stays. [`LoadKind::Open`] then has its mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// How it is carried, and what counts as an answer.
    #[serde(default)]
    pub sending: Sending,
    /// How many rounds (runs of each variant), at most.
    pub runs: u32,
    /// When they end.
    #[serde(default)]
    pub protocol: Protocol,
    /// Which variants run under it; empty: all.
    pub only_variants: Vec<String>,
    /// Its own warm-up, in seconds; `None`: the experiment's.
    #[serde(default)]
    pub warmup_s: Option<f64>,
    /// Keep a dump of all threads, taken in the middle of it.
    #[serde(default)]
    pub thread_dump: bool,
    /// Each client keeps its connection; `false`: a new one for each request.
    #[serde(default = "yes")]
    pub keep_alive: bool,
    /// Why it cannot be sent on this machine; `None`: it can. Found out when a session begins.
    #[serde(default)]
    pub skipped: Option<String>,
}

impl LoadSpec {
    /// A load of this kind with everything else as usual, and without an end.
    #[must_use]
    pub fn new(name: &str, workload: impl Into<Workload>, request: RequestSpec) -> Self {
        Self {
            name: name.to_owned(),
            workload: workload.into(),
            requests: None,
            duration_s: None,
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

    /// All that is asked.
    pub fn all_requests(&self) -> impl Iterator<Item = &RequestSpec> {
        std::iter::once(&self.request).chain(&self.more_requests)
    }
}

const fn yes() -> bool {
    true
}

/// Figures somebody published for one variant under one load. A `None` was not published.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// Which variant.
    pub variant: String,
    /// Which load; `None`: the first.
    pub load: Option<String>,
    /// Where in the study, in words.
    pub source: Option<String>,
    /// The figures by metric name ([`Metric`](crate::model::metric::Metric)).
    pub figures: BTreeMap<String, f64>,
}
