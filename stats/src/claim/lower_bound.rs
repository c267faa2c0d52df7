//! Figures that can only be larger in truth. A load generator that was the bottleneck sent less than the server could have answered, so
//! the rate and the cores that were measured are lower bounds. A claim stands if no larger value of them changes its verdict.

use super::truth;
use super::value::Look;
use threadcount_model::doubt::{Doubt, DoubtReason};
use threadcount_model::experiment::claim::{Claim, Figure};
use threadcount_model::metric::Metric;

/// Each step is smaller than the tolerance of any claim (`within 5%`), so that none is stepped over.
const STEP: f64 = 1.03;
/// No server is so many times faster than what was measured of it.
const MOST: f64 = 100.0;
/// More bounds at once are not tried, because each multiplies the number of steps.
const MOST_BOUNDS: usize = 2;

/// Whether the verdict is the same for all larger values of the figures that are in doubt because of the load generator. Not if one is
/// in doubt for another reason, or is no lower bound.
pub(super) fn stands(claim: &Claim, verdict: bool, look: Look<'_>, doubted: &[(&Figure, Doubt)]) -> bool {
    let is_bound = |(figure, doubt): &(&Figure, Doubt)| {
        matches!(doubt.reason, DoubtReason::GeneratorBottleneck { .. })
            && matches!(figure.metric, Metric::Rate | Metric::CpuCores | Metric::CpuPeak)
    };
    if doubted.len() > MOST_BOUNDS || !doubted.iter().all(is_bound) {
        return false;
    }
    let steps = || std::iter::successors(Some(1.0), |factor| Some(factor * STEP)).take_while(|it| *it < MOST);
    let is_same = |factors: [f64; MOST_BOUNDS]| {
        let larger = |figure: &Figure| {
            let place = doubted.iter().position(|(known, _)| *known == figure);
            Ok(look(figure)? * place.map_or(1.0, |place| factors[place]))
        };
        truth(claim, &larger).0 == Some(verdict)
    };
    match doubted {
        [] => true,
        [_] => steps().all(|first| is_same([first, 1.0])),
        _ => steps().all(|first| steps().all(|second| is_same([first, second]))),
    }
}
