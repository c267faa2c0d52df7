//! What takes from the trust in figures, as data. The sentences are made by the reports.

use crate::model::metric::Metric;
use crate::model::record::interference::Interference;
use crate::model::record::{SteadyBy, WarmUpFigure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing that is wrong with the runs of a variant under a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Doubt {
    /// The variant.
    pub variant: String,
    /// The load.
    pub load: String,
    /// In how many of its runs. The figures of the reason are those of the first.
    pub runs: u32,
    /// What is wrong.
    pub reason: DoubtReason,
}

/// How far the figures of a result may be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrustGrade {
    /// Nothing is doubtful.
    Good,
    /// The figures are true; something limits what follows from them.
    Fair,
    /// No verdict may be drawn.
    Poor,
}

/// What is wrong. The first ones end the trust, see [`DoubtReason::is_serious`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are the figures of the reason")]
pub enum DoubtReason {
    /// A run failed; `why` is the failure's own text.
    RunFailed { why: String },
    /// A run was cut short by the user.
    RunInterrupted,
    /// Planned, and not started.
    NeverRan,
    /// The load generator was the bottleneck; `why` is what it reports of itself.
    GeneratorBottleneck { why: Option<String> },
    /// The load generator was the bottleneck of a capacity search above this rate.
    GeneratorBelowCapacity { above_per_s: f64 },
    /// Requests failed; the cause is the most frequent one.
    RequestsFailed { failed: u64, sent: u64, cause: Option<String> },
    /// The kernel had no room for connections that the server had not accepted.
    AcceptQueueOverflow { overflows: u64 },
    /// A run with interference that the figures rest on. `kept`: leaving it out would have left too few.
    Interference { by: Interference, kept: bool },
    /// A run with interference that the figures leave out.
    LeftOut { by: Interference },
    /// The asked rate was not reached.
    RateMissed { asked_per_s: f64, sent_per_s: f64, completed_per_s: f64 },
    /// The warm-up ended before the server had reached a steady state.
    NotSteady {
        judged_by: SteadyBy,
        after_s: f64,
        #[serde(default)]
        unsteady: Vec<WarmUpFigure>,
    },
    /// The JVM's compiler took this share of the server's CPU in the measured window: CPU per request is not that of a
    /// warm server.
    CompilerBusy { share: f64 },
    /// The runs differ by this share.
    WideSpread { metric: Metric, share: f64 },
    /// One valid run has no spread, and so no interval.
    SingleRun,
}

impl DoubtReason {
    /// The order of importance; reasons of one rank are of one kind.
    #[must_use]
    pub const fn rank(&self) -> u8 {
        match self {
            Self::RunFailed { .. } | Self::RunInterrupted | Self::NeverRan => 0,
            Self::GeneratorBottleneck { .. } | Self::GeneratorBelowCapacity { .. } => 1,
            Self::RequestsFailed { .. } => 2,
            Self::AcceptQueueOverflow { .. } => 3,
            Self::Interference { .. } => 4,
            Self::LeftOut { .. } => 5,
            Self::RateMissed { .. } => 6,
            Self::NotSteady { .. } => 7,
            Self::WideSpread { .. } => 8,
            Self::SingleRun => 9,
            Self::CompilerBusy { .. } => 10,
        }
    }

    /// Does it end the trust? The figures are then not the server's own.
    #[must_use]
    pub const fn is_serious(&self) -> bool {
        self.rank() <= 4
    }

    /// Is it about single runs, and not about all runs of a variant under a load?
    #[must_use]
    pub const fn is_about_a_run(&self) -> bool {
        !matches!(self, Self::WideSpread { .. } | Self::SingleRun)
    }

    /// Does it concern this figure? A busy compiler changes what a request costs, and is part of the rate that was
    /// really served.
    #[must_use]
    pub fn concerns(&self, metric: Metric) -> bool {
        !matches!(self, Self::CompilerBusy { .. }) || metric == Metric::CpuPerRequest
    }

    /// Is it the load generator's doing?
    #[must_use]
    pub const fn is_of_generator(&self) -> bool {
        matches!(self, Self::GeneratorBottleneck { .. } | Self::GeneratorBelowCapacity { .. })
    }
}
