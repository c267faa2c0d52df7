//! Reasons to doubt figures, as data; reports turn them into sentences.

use crate::backend_limit::BackendLimit;
use crate::metric::Metric;
use crate::record::interference::Interference;
use crate::record::resource_limits::SharedGroup;
use crate::record::{SteadyBy, WarmUpFigure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One problem of the runs of a variant under a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Doubt {
    pub variant: String,
    pub load: String,
    /// Number of runs with this problem. The figures of the reason are those of the worst run.
    pub runs: u32,
    pub reason: DoubtReason,
}

/// Whether conclusions may be drawn from a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrustGrade {
    /// No doubts.
    Good,
    /// The figures are valid; a doubt limits the conclusions.
    Fair,
    /// No conclusion may be drawn.
    Poor,
}

/// The problem, the serious ones first, see [`DoubtReason::is_serious`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are the figures of the reason")]
pub enum DoubtReason {
    /// A run failed; `why` is the failure's own text.
    RunFailed { why: String },
    /// The user interrupted a run. The figures rest on the runs before it.
    RunInterrupted,
    /// A planned run was never started, so nothing is known about it.
    NeverRan,
    /// The load generator was the bottleneck; `why` is its own report.
    GeneratorBottleneck { why: Option<String> },
    /// The load generator was the bottleneck of a capacity search above this rate.
    GeneratorBelowCapacity { above_per_s: f64 },
    /// A backend was the limit, so the figures do not show what the server's threads can do.
    BackendLimit { backend: String, by: BackendLimit },
    /// Requests failed; `cause` is the most frequent cause.
    RequestsFailed { failed: u64, sent: u64, cause: Option<String> },
    /// Requests got no response for the last half of the measured window or longer, while all others were much faster.
    NoResponse { oldest_s: f64 },
    /// The kernel dropped connections that the server had not accepted yet.
    AcceptQueueOverflow { overflows: u64 },
    /// A run with interference counts. `kept`: without it fewer than two runs would remain.
    Interference { by: Interference, kept: bool },
    /// A run counts although other processes were busy, because at least a quarter of the machine stayed idle.
    SharedMachine { by: Interference },
    /// A server that uses half of the CPU or more shares a scheduling group with the load generator, which favours many threads.
    SharedSchedulingGroup { group: SharedGroup },
    /// A run with interference is excluded from the figures.
    LeftOut { by: Interference },
    /// The load was meant to exceed what the servers can do, but every server kept up.
    NoOverload,
    /// The requested rate was not reached.
    RateMissed { asked_per_s: f64, sent_per_s: f64, completed_per_s: f64 },
    /// The warm-up ended before the steady state.
    NotSteady { judged_by: SteadyBy, after_s: f64, unsteady: Vec<WarmUpFigure> },
    /// The warm-up of this variant ended before the steady state, while the variants compared with it were steady: the difference may
    /// be between a warm and a cold JVM.
    UnequallyWarm { than: Vec<String>, judged_runs: u32 },
    /// The JIT compiler used this share of the server's CPU during the measured window, so CPU per request is not that of a warm server.
    CompilerBusy { share: f64 },
    /// The runs differ by this share in this metric.
    WideSpread { metric: Metric, share: f64 },
    /// There is one valid run, and so no interval.
    SingleRun,
}

impl DoubtReason {
    /// The order of importance; reasons of the same rank are reported together.
    #[must_use]
    pub const fn rank(&self) -> u8 {
        match self {
            Self::RunFailed { .. } => 0,
            Self::GeneratorBottleneck { .. } | Self::GeneratorBelowCapacity { .. } => 1,
            Self::BackendLimit { .. } => 2,
            Self::RequestsFailed { .. } => 3,
            Self::NoResponse { .. } => 4,
            Self::AcceptQueueOverflow { .. } => 5,
            Self::Interference { .. } => 6,
            Self::RunInterrupted => 7,
            Self::NeverRan => 8,
            Self::NoOverload => 9,
            Self::SharedMachine { .. } => 10,
            Self::SharedSchedulingGroup { .. } => 11,
            Self::LeftOut { .. } => 12,
            Self::RateMissed { .. } => 13,
            Self::NotSteady { .. } => 14,
            Self::UnequallyWarm { .. } => 15,
            Self::WideSpread { .. } => 16,
            Self::SingleRun => 17,
            Self::CompilerBusy { .. } => 18,
        }
    }

    /// How bad the problem is, to find the worst among reasons of one rank; zero for reasons without such a figure.
    #[must_use]
    pub fn severity(&self) -> f64 {
        match self {
            Self::RequestsFailed { failed, sent, .. } => *failed as f64 / (*sent).max(1) as f64,
            Self::NoResponse { oldest_s } => *oldest_s,
            Self::AcceptQueueOverflow { overflows } => *overflows as f64,
            Self::Interference { by, .. } | Self::SharedMachine { by } | Self::LeftOut { by } => match by {
                Interference::Steal { cores, .. } | Interference::OtherProcesses { cores, .. } => *cores,
            },
            Self::RateMissed { asked_per_s, completed_per_s, .. } => 1.0 - completed_per_s / asked_per_s,
            Self::NotSteady { unsteady, .. } => unsteady.len() as f64,
            Self::UnequallyWarm { than, .. } => than.len() as f64,
            Self::CompilerBusy { share } | Self::WideSpread { share, .. } => *share,
            _ => 0.0,
        }
    }

    /// Whether the reason rules out conclusions, because the figures do not show the server alone.
    #[must_use]
    pub const fn is_serious(&self) -> bool {
        self.rank() <= 6
    }

    /// Whether the reason is about single runs rather than all runs of a variant under a load.
    #[must_use]
    pub const fn is_about_a_run(&self) -> bool {
        !matches!(
            self,
            Self::NoOverload | Self::WideSpread { .. } | Self::SingleRun | Self::UnequallyWarm { .. }
        )
    }

    /// Whether a run or requests failed. An overflow of the accept queue is no failure: the connections were accepted later.
    #[must_use]
    pub const fn is_failure(&self) -> bool {
        matches!(self, Self::RunFailed { .. } | Self::RequestsFailed { .. } | Self::NoResponse { .. })
    }

    /// Whether the load generator is the cause.
    #[must_use]
    pub const fn is_of_generator(&self) -> bool {
        matches!(self, Self::GeneratorBottleneck { .. } | Self::GeneratorBelowCapacity { .. })
    }
}
