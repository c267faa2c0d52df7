//! `--worse-by`: judges whether a figure got worse by more than is allowed. A gate that cannot judge says so, and is not open.

use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::metric::metric_noun;
use threadcount_judge::words::reasons;
use threadcount_model::doubt::Doubt;
use threadcount_model::experiment::{LoadSpec, Variant, Workload};
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_stats::comparison::Sides;
use threadcount_stats::limit::{Limit, LimitTest, LimitVerdict, judge_family};
use threadcount_stats::lost_on_purpose::LostOnPurpose;
use threadcount_stats::runs::complete;
use threadcount_stats::trust::doubts;

/// The gate's judgement on one figure, or on one variant under one load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateRemark {
    pub sentence: String,
    pub outcome: GateOutcome,
}

/// The outcome of a judgement. The gravest one decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateOutcome {
    /// The figure is neither shown to be worse by more than is allowed nor shown not to be.
    Undecided,
    /// There is no complete run, no trusted run, or no interval.
    CannotBeJudged,
    Worse,
}

/// Lists the figures that got worse by more than `share`, are undecided or cannot be judged, among all that both results planned to
/// measure. Worse is a lower throughput (fixed under an open load) or capacity, a longer time per operation, or a higher 99th percentile.
/// Where losses are expected, the median replaces the percentile if it could be judged before. All figures form one family, see
/// [`judge_family`].
#[must_use]
pub fn gate(a: &ResultDocument, b: &ResultDocument, share: f64) -> Vec<GateRemark> {
    let mut items = Vec::new();
    for load in &b.experiment.loads {
        for variant in &b.experiment.variants {
            if is_planned(a, variant, load) && is_planned(b, variant, load) {
                items.extend(items_of(variant, load, (a, b), share));
            }
        }
    }
    let tests: Vec<LimitTest> = items.iter().filter_map(Item::test).collect();
    let mut verdicts = judge_family(&tests).into_iter();
    let remarks = items.into_iter().filter_map(|item| match item {
        Item::Remark(remark) => Some(remark),
        Item::Figure { figure_name, test } => remark(&figure_name, &test, verdicts.next()?, tests.len()),
    });
    remarks.collect()
}

/// A finished remark, or a figure that must be judged together with the others.
enum Item {
    Remark(GateRemark),
    Figure { figure_name: String, test: LimitTest },
}

impl Item {
    const fn test(&self) -> Option<LimitTest> {
        match self {
            Self::Figure { test, .. } => Some(*test),
            Self::Remark(_) => None,
        }
    }
}

/// Whether the result contains this variant under this load, or should. A variant that is testable on neither machine is not required.
fn is_planned(document: &ResultDocument, variant: &Variant, load: &LoadSpec) -> bool {
    let experiment = &document.experiment;
    experiment.variant(&variant.name).is_some()
        && experiment.load(&load.name).is_some_and(|load| load.includes(&variant.name))
}

fn items_of(
    variant: &Variant,
    load: &LoadSpec,
    (a, b): (&ResultDocument, &ResultDocument),
    share: f64,
) -> Vec<Item> {
    let sides = [("A", a), ("B", b)];
    let skipped = sides.map(|(side, document)| Some((side, skipped(document, variant, load)?)));
    match skipped {
        [Some(_), Some(_)] => return Vec::new(),
        [Some((side, why)), None] | [None, Some((side, why))] => {
            let who = format!("{} under {}", variant.name, load.name);
            return vec![cannot_be_judged(format!(
                "{side} cannot be judged: {who} is not testable there ({why})"
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
    let runs = |document| {
        let document: &ResultDocument = document;
        complete(&document.records, &variant.name, &load.name)
    };
    let (before, after) = (runs(a), runs(b));
    let lost = LostOnPurpose::of(load.workload, &[&before, &after]);
    let figure = |&metric: &Metric| {
        let figure_name = format!("{} under {}: the {}", variant.name, load.name, metric_noun(metric));
        if lost.hides(metric) {
            return cannot_be_judged(format!(
                "{figure_name} cannot be judged: too many requests are lost in B"
            ));
        }
        let sides = Sides::of_sessions(metric, &after, &before);
        match (sides.against_limit(limit(metric, share)), sides.ratio(1)) {
            (Some(test), _) => Item::Figure { figure_name, test },
            (None, Some(_)) => cannot_be_judged(format!("{figure_name} cannot be judged: too few runs")),
            (None, None) => {
                cannot_be_judged(format!("{figure_name} cannot be judged: it was not measured in both"))
            }
        }
    };
    // A figure that was not the server's own before cannot have got worse.
    let lost_before = LostOnPurpose::of(load.workload, &[&before]);
    judged_metrics(load.workload).iter().filter(|metric| !lost_before.hides(**metric)).map(figure).collect()
}

fn skipped<'a>(document: &'a ResultDocument, variant: &Variant, load: &LoadSpec) -> Option<&'a str> {
    let of_variant = document.experiment.variant(&variant.name)?.skipped.as_deref();
    of_variant.or_else(|| document.experiment.load(&load.name)?.skipped.as_deref())
}

/// The most important reason why nothing follows from the runs of this variant under this load. An external tool that was its own
/// bottleneck is such a reason: its figures would not show a slower server.
fn serious_doubt(document: &ResultDocument, variant: &str, load: &LoadSpec) -> Option<Doubt> {
    doubts(&document.experiment, &document.records).into_iter().find(|doubt| {
        (doubt.variant.as_str(), &doubt.load) == (variant, &load.name) && doubt.reason.is_serious()
    })
}

/// The metrics to judge. At its capacity a server's response times are at the limit, so only the capacity is judged.
const fn judged_metrics(workload: Workload) -> &'static [Metric] {
    match workload.answer() {
        Metric::Capacity => &[Metric::Capacity],
        Metric::Score => &[Metric::Score],
        Metric::Rate if workload.is_overload() => &[Metric::Rate],
        Metric::Rate if workload.expects_losses() => &[Metric::Rate, Metric::P50],
        Metric::Rate => &[Metric::Rate, Metric::P99],
        _ => &[Metric::P99],
    }
}

/// The limit for the new figure divided by the old one.
fn limit(metric: Metric, share: f64) -> Limit {
    if metric.lower_is_better() { Limit::AtMost(1.0 + share) } else { Limit::AtLeast(1.0 - share) }
}

const fn cannot_be_judged(sentence: String) -> Item {
    Item::Remark(GateRemark { sentence, outcome: GateOutcome::CannotBeJudged })
}

fn remark(figure_name: &str, test: &LimitTest, verdict: LimitVerdict, family: usize) -> Option<GateRemark> {
    let LimitTest { ratio, interval, .. } = test;
    let change = format!(
        "{figure_name} is {ratio:.2} times what it was (90 % CI {:.3} to {:.3})",
        interval.low, interval.high
    );
    let (outcome, why) = match verdict {
        LimitVerdict::Within => return None,
        LimitVerdict::Beyond => (GateOutcome::Worse, String::new()),
        LimitVerdict::Undecided => (
            GateOutcome::Undecided,
            "; undecided: the interval reaches to both sides of the limit".to_owned(),
        ),
        LimitVerdict::MayBeChance => {
            let figures = figures::plural(family, "figure");
            (GateOutcome::Undecided, format!("; undecided: may be chance among {figures}"))
        }
    };
    Some(GateRemark { sentence: change + &why, outcome })
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::record::Record;
    use threadcount_model::sample::{run, with_load};
    use threadcount_report::sample::document;

    fn result(kind: &str, ms: f64, lost: u64) -> ResultDocument {
        let noise = [0.999, 1.0, 1.001, 1.0, 1.0];
        let losing =
            |noise: f64| with_load(run("a", "c4", 100.0, ms * noise), |load| load.requests.ok -= lost);
        let records: Vec<Record> = noise.map(losing).into();
        let load = format!("[{{name: c4, rate: 100/s, duration: 10s, {kind}}}]");
        document("{a: {}}", &load, &records)
    }

    #[test]
    fn where_losses_are_expected_the_median_is_judged_beside_the_rate_unless_many_were_lost_before() {
        let printed = |kind: &str, before: (f64, u64), after: (f64, u64)| {
            let (a, b) = (result(kind, before.0, before.1), result(kind, after.0, after.1));
            gate(&a, &b, 0.05).into_iter().map(|it| (it.outcome, it.sentence)).collect::<Vec<_>>()
        };
        let stalled = "losses: expected";
        assert_eq!(printed(stalled, (5.0, 0), (5.0, 0)), []);
        let worse = printed(stalled, (5.0, 0), (9.0, 0));
        assert!(worse[0].0 == GateOutcome::Worse && worse[0].1.contains("median"), "{worse:?}");
        let loses = printed(stalled, (5.0, 0), (5.0, 20));
        assert!(loses[0].1.ends_with("too many requests are lost in B"), "{loses:?}");
        assert_eq!(printed(stalled, (5.0, 20), (9.0, 20)), [], "by the rate only");
        assert_eq!(printed("overload: true", (5.0, 20), (9.0, 20)), []);
    }
}
