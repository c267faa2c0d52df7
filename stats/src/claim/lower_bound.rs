//! Figures that can only be larger in truth. A load generator that was the bottleneck sent less than the server could have answered, so
//! the rate and the cores that were measured are lower bounds. A claim stands if no larger value of them changes its verdict.

use super::certainty::conditions;
use super::value::{Look, value};
use threadcount_model::doubt::{Doubt, DoubtReason};
use threadcount_model::experiment::claim::{Claim, Expr, Figure};
use threadcount_model::metric::Metric;

/// The factor between the values that are tried.
const STEP: f64 = 1.1;
/// No server is so many times faster than what was measured of it.
const MOST: f64 = 100.0;
/// More bounds at once are not tried, because each multiplies the number of steps.
const MOST_BOUNDS: usize = 2;

/// Whether the verdict is the same for all larger values of the figures that are in doubt because of the load generator. Not if one is
/// in doubt for another reason, or is no lower bound.
///
/// A claim that holds needs all its conditions at each value. For one that does not, the same condition must fail at each value: a figure
/// that was first too small and then too large has passed what was claimed.
pub(super) fn stands(claim: &Claim, verdict: bool, look: Look<'_>, doubted: &[(&Figure, Doubt)]) -> bool {
    let is_bound = |(figure, doubt): &(&Figure, Doubt)| {
        matches!(doubt.reason, DoubtReason::GeneratorBottleneck { .. })
            && matches!(figure.metric, Metric::Rate | Metric::CpuCores | Metric::CpuPeak)
    };
    if doubted.len() > MOST_BOUNDS || !doubted.iter().all(is_bound) {
        return false;
    }
    let conditions: Vec<(Expr, Expr)> = claim.comparisons.iter().flat_map(conditions).collect();
    let is_met = |(larger, smaller): &(Expr, Expr), factors: [f64; MOST_BOUNDS]| {
        let raised = |figure: &Figure| {
            let place = doubted.iter().position(|(known, _)| *known == figure);
            Ok(look(figure)? * place.map_or(1.0, |place| factors[place]))
        };
        Some(value(larger, &raised).ok()? >= value(smaller, &raised).ok()?)
    };
    let always = |condition: &(Expr, Expr), met: bool| {
        factors(doubted.len()).all(|factors| is_met(condition, factors) == Some(met))
    };
    if verdict {
        conditions.iter().all(|condition| always(condition, true))
    } else {
        conditions.iter().any(|condition| always(condition, false))
    }
}

/// The factors of each bound, in all combinations; those beyond the bounds are 1.
fn factors(bounds: usize) -> impl Iterator<Item = [f64; MOST_BOUNDS]> {
    let steps = move |is_bound: bool| {
        let most = if is_bound { MOST } else { 1.0 };
        std::iter::successors(Some(1.0), |factor| Some(factor * STEP)).take_while(move |it| *it <= most)
    };
    steps(bounds > 0).flat_map(move |first| steps(bounds > 1).map(move |second| [first, second]))
}
