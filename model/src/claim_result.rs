//! A claim and what was measured.

use crate::doubt::Doubt;
use crate::interval::Interval;
use crate::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A claim and what was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimResult {
    /// The claim as it is written in the file.
    pub claim: String,
    /// The study's statement, in our words.
    pub says: Option<String>,
    /// The left side, calculated with the published figures; `None`: not all were published.
    pub published: Option<f64>,
    /// The left side, calculated with the measured figures; `None`: not measured.
    pub measured: Option<f64>,
    /// The interval of the left side; `None`: fewer than two rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The right side, with which it is compared; `None`: not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// Whether the claim holds; `None`: not tested.
    pub holds: Option<bool>,
    /// The reason why it was not tested.
    pub why: Option<NotTried>,
    /// Whether not only the means but also the intervals agree with `holds`.
    pub decided: bool,
    /// Whether the interval contains the bound, so that more runs may decide either way.
    pub undecided: bool,
    /// The rounds that would decide the claim if they spread as those so far; `None`: it is decided, has no interval, or is too close to
    /// its bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds_needed: Option<u32>,
    /// Whether figures of the claim are lower bounds, because the load generator was the bottleneck, and no larger ones would change the
    /// verdict.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_lower_bound: bool,
    /// Whether a load of the claim was made smaller in proportion, because the study's machine had more cores.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_scaled: bool,
    /// Why no conclusion may be drawn from the figures in the claim.
    pub doubt: Option<Doubt>,
}

/// Why a claim was not tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields say what is missing")]
pub enum NotTried {
    /// The variant or the load cannot be tested on this machine.
    Skipped {
        why: String,
    },
    /// The load was not run.
    NoSuchLoad {
        load: String,
    },
    NoCompleteRun {
        variant: String,
        load: String,
    },
    NotMeasured {
        metric: Metric,
        variant: String,
        load: String,
    },
    DividesByZero,
    /// The claim names variants or loads that this result does not contain.
    Unreadable {
        why: String,
    },
}

/// Verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum ClaimVerdict {
    Holds,
    DoesNotHold,
    /// There is one run and so no interval; its figures satisfy or contradict the claim.
    Indicative,
    NotDecided,
    NotTried,
}

impl ClaimResult {
    /// The verdict by the intervals, or by the figures of a single run.
    #[must_use]
    pub const fn verdict(&self) -> ClaimVerdict {
        match (self.holds, self.undecided, self.decided) {
            (None, _, _) => ClaimVerdict::NotTried,
            (Some(_), true, _) => ClaimVerdict::NotDecided,
            (Some(_), false, false) => ClaimVerdict::Indicative,
            (Some(true), false, true) => ClaimVerdict::Holds,
            (Some(false), false, true) => ClaimVerdict::DoesNotHold,
        }
    }

    /// Whether the claim holds, if its interval decides that and nothing puts its figures in doubt.
    #[must_use]
    pub const fn decision(&self) -> Option<bool> {
        match self.verdict() {
            _ if self.doubt.is_some() => None,
            ClaimVerdict::Holds => Some(true),
            ClaimVerdict::DoesNotHold => Some(false),
            ClaimVerdict::Indicative | ClaimVerdict::NotDecided | ClaimVerdict::NotTried => None,
        }
    }

    /// Whether the figures contradict the claim: by their interval, or the figures of a single run.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        self.holds == Some(false)
            && matches!(self.verdict(), ClaimVerdict::DoesNotHold | ClaimVerdict::Indicative)
    }
}
