//! The arguments of `threadcount compare`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::experiment::warm_up::WarmUpTime;

/// All arguments, after parsing.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareAsked {
    /// The first `--url`. For commands: scheme, host, port (or `{port}`) and path of the request; for a service only the path.
    pub url: String,
    pub compared: Compared,
    pub surroundings: Surroundings,
    /// The load, from its flags.
    pub load: LoadSpec,
    /// The exact number of rounds (`--runs`); `None`: until the result is conclusive.
    pub runs: Option<u32>,
    /// Whether kinds of thread are compared inside the same JVMs.
    pub crossover: bool,
    pub budget_s: Option<f64>,
    pub warmup: WarmUpTime,
    /// `--health`: the path that responds when the server is ready; `None`: the path of the URL.
    pub ready: Option<String>,
}

/// The servers to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// `--variant NAME='COMMAND'`, in their order; the first is the baseline.
    Commands(Vec<(String, String)>),
    /// `--target-url NAME=URL`: servers that run already, in their order; the first is the baseline.
    Targets(Vec<(String, String)>),
    /// `--spring-boot`: the runnable jar of an application.
    SpringBoot(PathBuf),
    /// `--war`: a web application for a Tomcat of ours.
    War(PathBuf),
    /// `--quarkus NAME=APP.jar`: builds of one Quarkus application, in their order; the first is the baseline.
    Quarkus(Vec<(String, PathBuf)>),
    /// `--helidon`: the runnable jar of an application.
    Helidon(PathBuf),
}

impl Compared {
    /// The flag that names the servers.
    #[must_use]
    pub const fn flag(&self) -> &'static str {
        match self {
            Self::Commands(_) => "--variant",
            Self::Targets(_) => "--target-url",
            Self::SpringBoot(_) => "--spring-boot",
            Self::War(_) => "--war",
            Self::Quarkus(_) => "--quarkus",
            Self::Helidon(_) => "--helidon",
        }
    }

    /// Whether `--url` is only a path, because we choose the address or each variant has its own.
    #[must_use]
    pub const fn has_addresses(&self) -> bool {
        !matches!(self, Self::Commands(_))
    }

    /// Whether we know how to make the variants.
    #[must_use]
    pub const fn is_service(&self) -> bool {
        matches!(self, Self::SpringBoot(_) | Self::War(_) | Self::Quarkus(_) | Self::Helidon(_))
    }
}

/// The common settings of all variants' starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The JDKs on which each variant runs; empty: the command's own, or the newest of this machine.
    pub jdks: Vec<u16>,
    pub jvm: Vec<String>,
    /// Arguments of the application.
    pub args: Option<String>,
    pub env: BTreeMap<String, String>,
    pub workdir: Option<PathBuf>,
    pub before: Option<String>,
    pub after: Option<String>,
    /// The limit of a further variant on virtual threads, in concurrent requests; `None`: no such variant, except for Helidon.
    pub limit: Option<u32>,
}
