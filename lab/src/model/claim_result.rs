//! A claim and what was measured.

use crate::model::doubt::Doubt;
use crate::model::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A claim and what was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimResult {
    /// As written.
    pub claim: String,
    /// What the study says, in our words.
    #[serde(default)]
    pub says: Option<String>,
    /// The left side with the published figures, where all were published.
    pub published: Option<f64>,
    /// The left side with the measured figures; `None`: it could not be measured.
    pub measured: Option<f64>,
    /// Does it hold? `None`: it could not be tried.
    pub holds: Option<bool>,
    /// Why it could not be tried.
    pub why: Option<NotTried>,
    /// Do the intervals say so too, and not only the means?
    #[serde(default)]
    pub decided: bool,
    /// There are intervals, and they cover the bound: more runs may turn it.
    #[serde(default)]
    pub undecided: bool,
    /// Why nothing may be concluded from the figures it speaks of; `None`: it may.
    #[serde(default)]
    pub doubt: Option<Doubt>,
}

/// Why a claim could not be tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are what the reason is about")]
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
    /// It cannot be read with the variants and loads of this result.
    Unreadable {
        why: String,
    },
}

/// What may be said of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum ClaimVerdict {
    Holds,
    DoesNotHold,
    /// The figures are on one side of the bound, and rest on one run: there is no interval to say so.
    Indicative,
    NotDecided,
    NotTried,
}

impl ClaimResult {
    /// What the intervals say.
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

    /// Do the figures deny it, by their interval or, of one run, as they are?
    #[must_use]
    pub fn is_denied(&self) -> bool {
        self.holds == Some(false)
            && matches!(self.verdict(), ClaimVerdict::DoesNotHold | ClaimVerdict::Indicative)
    }
}
