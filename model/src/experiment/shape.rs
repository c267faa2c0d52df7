//! The changing rate of an open load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use threadcount_load::plan::{RateShape, Step};

/// A rate that changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Linear from one rate to another, then constant.
    Ramp {
        from_per_s: f64,
        to_per_s: f64,
        /// Length of the ramp in seconds.
        over_s: f64,
    },
    /// One rate after the other; the last one continues.
    Steps(Vec<ShapeStep>),
}

/// One of [`Shape::Steps`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShapeStep {
    pub rate_per_s: f64,
    pub lasts_s: f64,
}

impl Shape {
    /// The length that the file gives the shape, in seconds.
    #[must_use]
    pub fn lasts_s(&self) -> f64 {
        match self {
            Self::Ramp { over_s, .. } => *over_s,
            Self::Steps(steps) => steps.iter().map(|step| step.lasts_s).sum(),
        }
    }

    /// The highest rate, per second.
    #[must_use]
    pub fn highest_per_s(&self) -> f64 {
        match self {
            Self::Ramp { from_per_s, to_per_s, .. } => from_per_s.max(*to_per_s),
            Self::Steps(steps) => steps.iter().map(|step| step.rate_per_s).fold(0.0, f64::max),
        }
    }

    /// The mean rate over the length, per second.
    #[must_use]
    pub fn mean_per_s(&self) -> f64 {
        match self {
            Self::Ramp { from_per_s, to_per_s, .. } => f64::midpoint(*from_per_s, *to_per_s),
            Self::Steps(steps) => {
                let requests: f64 = steps.iter().map(|step| step.rate_per_s * step.lasts_s).sum();
                requests / self.lasts_s()
            }
        }
    }

    /// The same rates within another length, for `--quick`.
    #[must_use]
    pub fn within(&self, seconds: f64) -> Self {
        let part = seconds / self.lasts_s();
        match self {
            Self::Ramp { from_per_s, to_per_s, over_s } => {
                Self::Ramp { from_per_s: *from_per_s, to_per_s: *to_per_s, over_s: over_s * part }
            }
            Self::Steps(steps) => Self::Steps(
                steps.iter().map(|step| ShapeStep { lasts_s: step.lasts_s * part, ..*step }).collect(),
            ),
        }
    }

    /// Default name of a load: `ramp100-5000`, `steps100-500`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Ramp { from_per_s, to_per_s, .. } => format!("ramp{from_per_s}-{to_per_s}"),
            Self::Steps(steps) => {
                let rates: Vec<String> = steps.iter().map(|step| step.rate_per_s.to_string()).collect();
                format!("steps{}", rates.join("-"))
            }
        }
    }

    #[must_use]
    pub fn for_generator(&self) -> RateShape {
        match self {
            Self::Ramp { from_per_s, to_per_s, over_s } => RateShape::Ramp {
                from_per_s: *from_per_s,
                to_per_s: *to_per_s,
                over: Duration::from_secs_f64(*over_s),
            },
            Self::Steps(steps) => RateShape::Steps(
                steps
                    .iter()
                    .map(|step| Step::new(step.rate_per_s, Duration::from_secs_f64(step.lasts_s)))
                    .collect(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_mean_and_highest_rate_of_shapes_are_known() {
        let ramp = Shape::Ramp { from_per_s: 100.0, to_per_s: 500.0, over_s: 30.0 };
        assert_eq!((ramp.lasts_s(), ramp.mean_per_s(), ramp.highest_per_s()), (30.0, 300.0, 500.0));
        assert_eq!(ramp.within(3.0), Shape::Ramp { from_per_s: 100.0, to_per_s: 500.0, over_s: 3.0 });
        let step = |rate_per_s, lasts_s| ShapeStep { rate_per_s, lasts_s };
        let steps = Shape::Steps(vec![step(100.0, 30.0), step(500.0, 10.0)]);
        assert_eq!((steps.lasts_s(), steps.mean_per_s(), steps.highest_per_s()), (40.0, 200.0, 500.0));
        assert_eq!(steps.within(4.0), Shape::Steps(vec![step(100.0, 3.0), step(500.0, 1.0)]));
        assert_eq!((ramp.name(), steps.name()), ("ramp100-500".to_owned(), "steps100-500".to_owned()));
    }
}
