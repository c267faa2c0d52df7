//! The arguments of `threadcount compare`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::experiment::warm_up::WarmUpTime;

/// All of them.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareAsked {
    /// `--url`, the first. Of commands scheme, host, port (or `{port}`) and path of the request; of a service the path.
    pub url: String,
    pub compared: Compared,
    pub surroundings: Surroundings,
    /// The load, from its flags.
    pub load: LoadSpec,
    /// `--runs`: exactly so many rounds; `None`: until the result is conclusive.
    pub runs: Option<u32>,
    /// A crossover inside one JVM comes first.
    pub crossover: bool,
    pub budget_s: Option<f64>,
    pub warmup: WarmUpTime,
    /// `--health`: the path that responds when the server is ready; `None`: the path of the URL.
    pub ready: Option<String>,
}

/// What is compared.
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
    /// Its flag.
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

    /// Whether `--url` is only a path: the address is ours to choose, or each variant has its own.
    #[must_use]
    pub const fn has_addresses(&self) -> bool {
        !matches!(self, Self::Commands(_))
    }

    /// Whether its variants are known to us.
    #[must_use]
    pub const fn is_service(&self) -> bool {
        matches!(self, Self::SpringBoot(_) | Self::War(_) | Self::Quarkus(_) | Self::Helidon(_))
    }
}

/// How each variant is started, besides what varies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Each variant runs on each of them; empty: that of a command, or the newest of this machine.
    pub jdks: Vec<u16>,
    pub jvm: Vec<String>,
    /// Arguments of the application.
    pub args: Option<String>,
    pub env: BTreeMap<String, String>,
    pub workdir: Option<PathBuf>,
    pub before: Option<String>,
    pub after: Option<String>,
    /// Requests at once of a further variant on virtual threads; `None`: there is no such variant, but of Helidon.
    pub limit: Option<u32>,
}
