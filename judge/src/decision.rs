//! The decision of an experiment, from the ratios of its runs to the baseline, by the rule of `threadcount_stats::decision`.

use crate::evident::is_evident;
use crate::result::ResultDocument;
use crate::unreadable::unreadable;
use threadcount_model::comparison::{Comparison, Verdict};
use threadcount_model::experiment::LoadSpec;
use threadcount_model::metric::Metric;
use threadcount_stats::decision::{Decision, Effect, decide, matters, over_loads};

/// The decision on a variant over all loads under which it was compared with the baseline; `None` if there is no such load or all figures
/// are in serious doubt. A variant that failed under one of the loads is never better: the decision is `No` or `NotKnownYet`.
#[must_use]
pub fn decision(document: &ResultDocument, variant: &str) -> Option<Decision> {
    let loads = document.experiment.loads.iter();
    let decisions: Vec<Decision> = loads.filter_map(|load| under(document, load, variant)).collect();
    let failed = document.why_not.iter().any(|it| it.variant == variant && it.reason.is_failure());
    let decided = || match over_loads(&decisions) {
        Decision::No => Decision::No,
        _ if failed => Decision::NotKnownYet,
        decided => decided,
    };
    (!decisions.is_empty()).then(decided)
}

fn under(document: &ResultDocument, load: &LoadSpec, variant: &str) -> Option<Decision> {
    let mut compared = document.comparisons_with_baseline(load, true);
    let comparison = compared.find(|it| it.variant == variant && document.serious_doubt(it).is_none())?;
    let decision = decide(&effects(document, load, comparison)?);
    let helps = matches!(decision, Decision::Yes | Decision::Trade);
    let number = sufficient_pool(document, load, variant).filter(|_| helps);
    Some(number.map_or(decision, Decision::OnlyTheNumber))
}

/// The effects on the load's own metric, on response times, and of a missed rate or lost requests; `None` if that metric has no ratio.
fn effects(document: &ResultDocument, load: &LoadSpec, comparison: &Comparison) -> Option<Vec<Effect>> {
    let answer = load.workload.answer();
    let effect = |metric| effect(document, comparison, metric);
    let times = times(load).iter().map(|metric| effect(*metric).unwrap_or(Effect::Unknown));
    // All variants are asked for the same rate, so a variant that falls behind it is worse.
    let behind = (answer == Metric::P50).then(|| effect(Metric::Rate)).flatten();
    let behind = behind.filter(|it| *it == Effect::Worse);
    let loses =
        unanswered(comparison).filter(|it| it.verdict == Verdict::Higher && load.workload.expects_losses());
    let loses = loses.map(|_| Effect::Worse);
    Some([effect(answer)?].into_iter().chain(times).chain(behind).chain(loses).collect())
}

/// The effect on one metric; `None` if it has no ratio.
#[must_use]
pub fn effect(document: &ResultDocument, comparison: &Comparison, metric: Metric) -> Option<Effect> {
    let ratio = comparison.ratio(metric)?;
    let verdict = match unreadable(document, comparison, ratio) {
        _ if is_evident(document, comparison, ratio) && ratio.ratio < 1.0 => Verdict::Lower,
        _ if is_evident(document, comparison, ratio) => Verdict::Higher,
        Some(_) => Verdict::NotEnoughRuns,
        None => ratio.verdict,
    };
    Some(Effect::new(ratio.ratio, verdict, metric.lower_is_better()))
}

/// The response times that count in the decision beside the metric that the load is run for.
#[must_use]
pub const fn times(load: &LoadSpec) -> &'static [Metric] {
    match load.workload.answer() {
        // In an overload, response times cover only the requests that did not fail.
        Metric::Rate if !load.workload.is_overload() => &[Metric::P50, Metric::P99],
        Metric::P50 => &[Metric::P99],
        _ => &[],
    }
}

/// The share of requests without an expected response, of the variant and of the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unanswered {
    pub verdict: Verdict,
    pub variant: f64,
    pub baseline: f64,
}

/// The compared shares, as a ratio or, where one is zero, as a difference.
#[must_use]
pub fn unanswered(comparison: &Comparison) -> Option<Unanswered> {
    let by_ratio = comparison.ratio(Metric::Unanswered);
    let by_ratio = by_ratio.map(|it| (it.verdict, it.variant_value, it.baseline_value));
    let by_difference = comparison.difference(Metric::Unanswered);
    let by_difference = by_difference.map(|it| (it.verdict, it.variant_value, it.baseline_value));
    let (verdict, variant, baseline) = by_ratio.or(by_difference)?;
    Some(Unanswered { verdict, variant, baseline })
}

/// The size of the smallest pool of platform threads that does as well as this variant; `None` if no such pool is known.
fn sufficient_pool(document: &ResultDocument, load: &LoadSpec, variant: &str) -> Option<u32> {
    let pairs = document.experiment.kind_pairs(load).into_iter();
    let sufficient = pairs.filter(|pair| pair.other.name == variant).filter(|pair| {
        let mut direct = document.comparisons_under(&load.name);
        direct
            .find(|it| it.variant == variant && it.baseline == pair.variant.name)
            .is_some_and(|it| document.serious_doubt(it).is_none() && is_as_good(document, load, it))
    });
    sufficient.filter_map(|pair| pair.variant.written_pool(load)).min()
}

/// Whether the baseline of `direct` does as well as its variant: within the interval of the load's own metric no difference that matters
/// favours the variant, the baseline's response times are as short, and it neither falls behind nor loses more requests.
fn is_as_good(document: &ResultDocument, load: &LoadSpec, direct: &Comparison) -> bool {
    let answer = load.workload.answer();
    let ratio = direct.ratio(answer).filter(|it| unreadable(document, direct, it).is_none());
    let interval = ratio.and_then(|it| it.interval);
    let best = interval.map(|it| if answer.lower_is_better() { 1.0 / it.low } else { it.high });
    let is_as_short = |it: &Metric| direct.ratio(*it).is_some_and(|it| !matters(1.0 / it.ratio));
    let falls_behind =
        direct.ratio(Metric::Rate).is_some_and(|it| it.verdict == Verdict::Higher && matters(it.ratio));
    let loses_more = unanswered(direct).is_some_and(|it| it.verdict == Verdict::Lower);
    best.is_some_and(|best| !matters(best))
        && times(load).iter().all(is_as_short)
        && !falls_behind
        && !loses_more
}
