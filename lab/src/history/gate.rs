//! `--worse-by`: did a figure get worse by more than is allowed? A gate that cannot tell says so: it is not open.

use super::change::{Change, Changed};
use crate::model::experiment::{LoadSpec, Variant, Workload};
use crate::model::metric::Metric;
use crate::model::result::{Doubt, Ratio, ResultDocument};
use crate::report::reasons;
use crate::stats::trust::doubts;

/// What the gate has to say of one figure, or of one variant under one load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateRemark {
    pub sentence: String,
    pub outcome: GateOutcome,
}

/// The gravest decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateOutcome {
    /// The interval lies beyond what is allowed, and among all figures of the page that may be chance.
    MayBeChance,
    /// No complete run, runs that are not trusted, no interval.
    CannotBeJudged,
    Worse,
}

/// What got worse by more than `share`, or cannot be judged, of all that both results were to measure: the throughput is
/// lower (under an open load it is given), the capacity is lower, the time per operation or the 99th percentile is higher,
/// and the whole interval of the ratio lies beyond. It is certain where the whole page says so.
#[must_use]
pub fn gate(a: &ResultDocument, b: &ResultDocument, change: &Change, share: f64) -> Vec<GateRemark> {
    let mut remarks = Vec::new();
    for load in &b.experiment.loads {
        for variant in &b.experiment.variants {
            if is_planned(a, variant, load) && is_planned(b, variant, load) {
                remarks.extend(remarks_on(variant, load, (a, b), change, share));
            }
        }
    }
    remarks
}

/// Has the result this variant under this load, or should it? What is not testable on both machines is not asked for.
fn is_planned(document: &ResultDocument, variant: &Variant, load: &LoadSpec) -> bool {
    let experiment = &document.experiment;
    experiment.variant(&variant.name).is_some()
        && experiment.load(&load.name).is_some_and(|load| load.includes(&variant.name))
}

fn remarks_on(
    variant: &Variant,
    load: &LoadSpec,
    (a, b): (&ResultDocument, &ResultDocument),
    change: &Change,
    share: f64,
) -> Vec<GateRemark> {
    let sides = [("A", a), ("B", b)];
    let skipped = sides.map(|(side, document)| Some((side, skipped(document, variant, load)?)));
    match skipped {
        [Some(_), Some(_)] => return Vec::new(),
        [Some((side, why)), None] | [None, Some((side, why))] => {
            let who = format!("{} under {}", variant.name, load.name);
            return vec![cannot_be_judged(format!(
                "{side} cannot be judged: {who}: not testable there: {why}"
            ))];
        }
        [None, None] => {}
    }
    let doubted = sides
        .into_iter()
        .find_map(|(side, document)| Some((side, serious_doubt(document, &variant.name, load)?)));
    if let Some((side, doubt)) = doubted {
        return vec![cannot_be_judged(format!("{side} cannot be judged: {}", reasons::doubt(&doubt)))];
    }
    let changed = change.changed.iter().find(|it| it.variant == variant.name && it.load == load.name);
    let judged = judged_metrics(load.workload).iter();
    judged
        .filter_map(|&metric| match changed.and_then(|changed| Some((changed, changed.ratio(metric)?))) {
            Some((changed, ratio)) => judge(changed, metric, ratio, share),
            None => Some(cannot_be_judged(format!(
                "{} under {}: the {} cannot be judged: it was not measured in both",
                variant.name,
                load.name,
                noun(metric)
            ))),
        })
        .collect()
}

fn skipped<'a>(document: &'a ResultDocument, variant: &Variant, load: &LoadSpec) -> Option<&'a str> {
    let of_variant = document.experiment.variant(&variant.name)?.skipped.as_deref();
    of_variant.or_else(|| document.experiment.load(&load.name)?.skipped.as_deref())
}

/// The most important reason why nothing follows from the runs of this variant under this load. That an external tool was the
/// bottleneck of its own figures is what these figures are there to show.
fn serious_doubt(document: &ResultDocument, variant: &str, load: &LoadSpec) -> Option<Doubt> {
    let is_external = matches!(load.workload, Workload::External(_));
    doubts(&document.experiment, &document.records).into_iter().find(|doubt| {
        (doubt.variant.as_str(), &doubt.load) == (variant, &load.name)
            && doubt.reason.is_serious()
            && !(is_external && doubt.reason.is_of_generator())
    })
}

/// At its capacity a server has the response times that the limit allows.
const fn judged_metrics(workload: Workload) -> &'static [Metric] {
    match workload.answer() {
        Metric::Capacity => &[Metric::Capacity],
        Metric::Score => &[Metric::Score],
        Metric::Rate => &[Metric::Rate, Metric::P99],
        _ => &[Metric::P99],
    }
}

fn noun(metric: Metric) -> &'static str {
    match metric {
        Metric::Capacity => "capacity",
        Metric::Rate => "rate",
        Metric::Score => "time per operation",
        other => other.label(),
    }
}

const fn cannot_be_judged(sentence: String) -> GateRemark {
    GateRemark { sentence, outcome: GateOutcome::CannotBeJudged }
}

fn judge(changed: &Changed, metric: Metric, ratio: &Ratio, share: f64) -> Option<GateRemark> {
    let whose = format!("{} under {}: the {}", changed.variant, changed.load, noun(metric));
    let Some(interval) = ratio.interval else {
        return Some(cannot_be_judged(format!("{whose} cannot be judged: too few runs")));
    };
    let is_worse = match metric {
        Metric::P99 | Metric::Score => interval.low > 1.0 + share,
        _ => interval.high < 1.0 - share,
    };
    let withheld = ratio.basis.withheld;
    let chance = if withheld { ", which may be chance among all figures" } else { "" };
    let (times, low, high) = (ratio.ratio, interval.low, interval.high);
    let sentence = format!("{whose} is {times:.2} times what it was [{low:.2} .. {high:.2}]{chance}");
    let outcome = if withheld { GateOutcome::MayBeChance } else { GateOutcome::Worse };
    is_worse.then_some(GateRemark { sentence, outcome })
}
