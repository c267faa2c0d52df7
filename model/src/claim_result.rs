//! A claim and what was measured.

use crate::doubt::Doubt;
use crate::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A claim and what was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimResult {
    /// As written.
    pub claim: String,
    /// What the study says, in our words.
    pub says: Option<String>,
    /// Left side with the published figures; `None`: not all were published.
    pub published: Option<f64>,
    /// Left side with the measured figures; `None`: not measured.
    pub measured: Option<f64>,
    /// `None`: not tested.
    pub holds: Option<bool>,
    /// Why it was not tested.
    pub why: Option<NotTried>,
    /// The intervals agree with `holds`, not only the means.
    pub decided: bool,
    /// The interval contains the bound: more runs may decide either way.
    pub undecided: bool,
    /// Why no conclusion may be drawn from the figures in it.
    pub doubt: Option<Doubt>,
}

/// Why a claim was not tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields say what is missing")]
pub enum NotTried {
    /// The variant or the load is not testable on this machine.
    Skipped {
        why: String,
    },
    /// The load is not among those that were run.
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
    /// It names variants or loads that this result does not have.
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
    /// One run, so no interval: the figures are on this side of the bound.
    Indicative,
    NotDecided,
    NotTried,
}

impl ClaimResult {
    /// By the intervals, where there are any.
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

    /// Do the figures contradict it: by their interval, or the figures of a single run?
    #[must_use]
    pub fn is_denied(&self) -> bool {
        self.holds == Some(false)
            && matches!(self.verdict(), ClaimVerdict::DoesNotHold | ClaimVerdict::Indicative)
    }
}
