//! Claims: statements about the figures of an experiment, `virtual.rate / platform.rate >= 1.9`.
//!
//! ```text
//! claim      = comparison { "and" comparison }
//! comparison = sum ( ">=" | "<=" | ">" | "<" | "==" ) sum
//!            | sum "within" number "%" "of" sum
//! sum        = product { ( "+" | "-" ) product }
//! product    = value { ( "*" | "/" ) value }
//! value      = number [ unit ] | figure | "(" sum ")" | "-" value
//! figure     = variant [ "@" load ] "." metric
//! ```
//!
//! Names may contain `-` and `.`: where a value may stand, the longest known variant name followed by `@` or `.` is
//! taken, so `virtual.rate / platform-10.1.rate` has one meaning.

use super::Experiment;
use crate::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A statement about figures that either holds or does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// The comparisons, all of which must hold.
    pub comparisons: Vec<Comparison>,
}

/// A comparison of two sums.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Comparison {
    pub left: Expr,
    pub test: Test,
    pub right: Expr,
}

/// Comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// `>=`
    AtLeast,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `<`
    Less,
    /// `==`, to the last digit.
    Equal,
    /// `within 5% of`: the sides differ by at most this fraction of the right one.
    Within(f64),
}

/// A side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum Expr {
    Number(f64),
    Figure(Figure),
    Negative(Box<Self>),
    Binary(Box<Self>, Operator, Box<Self>),
}

/// `+ - * /`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum Operator {
    Plus,
    Minus,
    Times,
    By,
}

/// A metric of a variant under a load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    pub variant: String,
    /// The place of the variant's name in the claim, in bytes.
    pub variant_span: Range<usize>,
    /// The load; the first one unless the claim names another.
    pub load: String,
    pub metric: Metric,
}

/// The names that a claim may contain.
#[derive(Clone, Debug, Default)]
pub struct Names<'a> {
    pub variants: Vec<&'a str>,
    /// The names of the loads, in their order.
    pub loads: Vec<&'a str>,
}

impl<'a> Names<'a> {
    /// The names of an experiment's variants and loads.
    #[must_use]
    pub fn of(experiment: &'a Experiment) -> Self {
        Self {
            variants: experiment.variants.iter().map(|variant| variant.name.as_str()).collect(),
            loads: experiment.loads.iter().map(|load| load.name.as_str()).collect(),
        }
    }
}

impl Claim {
    /// Each figure in the claim once, from left to right.
    #[must_use]
    pub fn figures(&self) -> Vec<&Figure> {
        let mut found = Vec::new();
        for comparison in &self.comparisons {
            comparison.left.collect(&mut found);
            comparison.right.collect(&mut found);
        }
        found
    }

    pub fn figures_mut(&mut self) -> Vec<&mut Figure> {
        let mut found = Vec::new();
        for comparison in &mut self.comparisons {
            comparison.left.collect_mut(&mut found);
            comparison.right.collect_mut(&mut found);
        }
        found
    }
}

impl Expr {
    fn collect_mut<'a>(&'a mut self, found: &mut Vec<&'a mut Figure>) {
        match self {
            Self::Number(_) => {}
            Self::Figure(figure) => found.push(figure),
            Self::Negative(inner) => inner.collect_mut(found),
            Self::Binary(left, _, right) => {
                left.collect_mut(found);
                right.collect_mut(found);
            }
        }
    }

    /// Each figure in the expression once, from left to right.
    #[must_use]
    pub fn figures(&self) -> Vec<&Figure> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found
    }

    fn collect<'a>(&'a self, found: &mut Vec<&'a Figure>) {
        match self {
            Self::Number(_) => {}
            Self::Figure(figure) if found.contains(&figure) => {}
            Self::Figure(figure) => found.push(figure),
            Self::Negative(inner) => inner.collect(found),
            Self::Binary(left, _, right) => {
                left.collect(found);
                right.collect(found);
            }
        }
    }
}
