//! A limit of the requests at once: what it saves in an overload, and what it costs otherwise.

use crate::evidence::alike::is_alike;
use crate::evidence::variant_runs::VariantRuns;
use crate::evidence::workers::Workers;
use crate::finding::{Fact, Finding, RunsShowing};
use crate::words::figure::{figure, known};
use crate::words::finding::Words;
use crate::words::metric::{bound, metric_noun};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::experiment::{Experiment, LoadSpec, ThreadKind};
use threadcount_model::figures::{interval, milliseconds as ms, whole};
use threadcount_model::interval::Interval;
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;
use threadcount_stats::comparison::Sides;
use threadcount_stats::runs::is_healthy;

/// Virtual threads with a limit of the requests at once, compared with virtual threads without a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestBound {
    /// The variant without a limit.
    pub unlimited: String,
    /// The most requests at once.
    pub at_once: f64,
    /// The effect of the limit.
    pub effect: BoundEffect,
}

/// The effect of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "effect", rename_all = "kebab-case")]
pub enum BoundEffect {
    /// In an overload the server does more. Means of the runs that show it.
    Saves {
        /// Expected responses with the limit.
        goodput_per_s: f64,
        /// Expected responses without the limit.
        unlimited_goodput_per_s: f64,
        /// How long requests piled up with the limit; `None` if either side is unknown.
        behind_ms: Option<f64>,
        /// How long requests piled up without the limit.
        unlimited_behind_ms: Option<f64>,
    },
    /// Under an ordinary load the limit changes nothing.
    CostsNothing {
        /// The metric that the load is run for.
        metric: Metric,
        /// The metric with the limit divided by the metric without it.
        ratio: f64,
        /// Interval of the ratio.
        interval: Interval,
    },
}

/// Ratio of goodputs that two runs of the same server do not reach, whatever is behind it.
const MUCH_MORE: f64 = 1.3;

/// Compares the first variant with a limit and the first without one, of the same application on virtual threads.
pub(crate) fn find(experiment: &Experiment, load: &LoadSpec, records: &[Record]) -> Option<Finding> {
    let ran: Vec<VariantRuns<'_>> = experiment
        .variants
        .iter()
        .filter(|variant| load.includes(&variant.name))
        .map(|variant| VariantRuns::of(variant, load, records))
        .collect();
    let at_once = |runs: &VariantRuns<'_>| {
        Workers::of(runs).filter(|workers| workers.kind == ThreadKind::Virtual).map(|workers| workers.at_once)
    };
    let is_limited = |runs: &&VariantRuns<'_>| at_once(runs).is_some_and(f64::is_finite);
    let is_unlimited = |runs: &&VariantRuns<'_>| at_once(runs).is_some_and(f64::is_infinite);
    let (limited, unlimited) = ran.iter().filter(is_limited).find_map(|limited| {
        let mut others = ran.iter().filter(is_unlimited);
        Some((limited, others.find(|it| it.variant.is_application_of(limited.variant))?))
    })?;
    let (effect, runs) = if load.workload.is_overload() {
        saves(limited, unlimited)?
    } else {
        costs_nothing(limited, unlimited)?
    };
    let fact = RequestBound { unlimited: unlimited.variant.name.clone(), at_once: at_once(limited)?, effect };
    Some(limited.finding(Fact::RequestBound(fact), runs))
}

/// The goodput that the limit saves, if it saves much in most of the rounds.
fn saves(limited: &VariantRuns<'_>, unlimited: &VariantRuns<'_>) -> Option<(BoundEffect, RunsShowing)> {
    let rounds: Vec<(&Record, &Record)> = limited
        .runs
        .iter()
        .filter_map(|run| Some((*run, *unlimited.runs.iter().find(|other| other.round == run.round)?)))
        .filter(|(one, other)| is_healthy(one) && is_healthy(other))
        .collect();
    let goodput = |run: &Record| Metric::Rate.of(run).unwrap_or_default();
    let shown: Vec<_> =
        rounds.iter().filter(|(one, other)| goodput(one) > MUCH_MORE * goodput(other)).copied().collect();
    let mean = |figure: &dyn Fn((&Record, &Record)) -> Option<f64>| {
        let all: Option<Vec<f64>> = shown.iter().map(|&round| figure(round)).collect();
        threadcount_stats::runs::mean(&all?)
    };
    let effect = BoundEffect::Saves {
        goodput_per_s: mean(&|(one, _)| Some(goodput(one)))?,
        unlimited_goodput_per_s: mean(&|(_, other)| Some(goodput(other)))?,
        behind_ms: mean(&|(one, _)| Metric::TimeBehind.of(one)),
        unlimited_behind_ms: mean(&|(_, other)| Metric::TimeBehind.of(other)),
    };
    (2 * shown.len() > rounds.len()).then(|| (effect, RunsShowing::new(shown.len(), rounds.len())))
}

fn costs_nothing(
    limited: &VariantRuns<'_>,
    unlimited: &VariantRuns<'_>,
) -> Option<(BoundEffect, RunsShowing)> {
    let both = || limited.runs.iter().chain(&unlimited.runs);
    let has_failures = |run: &&Record| run.measured.as_ref().is_none_or(|load| load.requests.failed > 0);
    if !both().all(|run| is_healthy(run)) || both().any(has_failures) {
        return None;
    }
    let metric = limited.load.workload.likeness();
    let sides = Sides::of_rounds(metric, &limited.runs, &unlimited.runs);
    let answer = sides.ratio(limited.load.interim_analyses().len())?;
    let interval = answer.interval.filter(is_alike)?;
    let runs = limited.runs.len().min(unlimited.runs.len());
    Some((BoundEffect::CostsNothing { metric, ratio: answer.ratio, interval }, RunsShowing::new(runs, runs)))
}

impl Words for RequestBound {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let (limit, unlimited) = (whole(self.at_once), &self.unlimited);
        match self.effect {
            BoundEffect::Saves { goodput_per_s, unlimited_goodput_per_s, behind_ms, unlimited_behind_ms } => {
                let behind =
                    behind_ms.zip(unlimited_behind_ms).map_or_else(String::new, |(with, without)| {
                        format!(". It is behind for {} instead of {}", ms(with), ms(without))
                    });
                format!(
                    "a limit of {limit} requests at once saves the service in this overload: goodput {}/s, {}/s with \
                     {unlimited}{behind}",
                    whole(goodput_per_s),
                    whole(unlimited_goodput_per_s)
                )
            }
            BoundEffect::CostsNothing { metric, interval: within, .. } => format!(
                "a limit of {limit} requests at once costs nothing here: the same {} as {unlimited} within {} {}",
                metric_noun(metric),
                bound(within.largest_difference()),
                interval(within)
            ),
        }
    }

    fn advice(&self) -> Option<String> {
        let advice = "a limit for virtual threads (docs/how-to/limit-virtual-threads.md)";
        matches!(self.effect, BoundEffect::Saves { .. }).then(|| advice.to_owned())
    }

    fn evidence(&self) -> Vec<String> {
        let limit = figure("requests at once", self.at_once, "requests");
        let figures = match self.effect {
            BoundEffect::Saves { goodput_per_s, unlimited_goodput_per_s, behind_ms, unlimited_behind_ms } => {
                known(&[
                    ("goodput with the limit", Some(goodput_per_s), "requests/s"),
                    ("goodput without it", Some(unlimited_goodput_per_s), "requests/s"),
                    ("time behind with the limit", behind_ms, "ms"),
                    ("time behind without it", unlimited_behind_ms, "ms"),
                ])
            }
            BoundEffect::CostsNothing { metric, ratio, .. } => {
                vec![figure(&format!("{} by that without it", metric_noun(metric)), ratio, "")]
            }
        };
        std::iter::once(limit).chain(figures).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, sentence};
    use threadcount_config::parse;
    use threadcount_model::sample::run;

    const BOTH: &str = "virtual: {threads: virtual}, bounded: {threads: {virtual: {bound: 200}}}";
    const OVERLOAD: &str = "{name: load, rate: 1200/s, duration: 1s, overload: true}";
    const ORDINARY: &str = "{name: load, clients: 50, duration: 1s}";

    fn found(variants: &str, load: &str, rates: [f64; 2], rounds: &[f64]) -> Option<Finding> {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{{variants}}}\nloads: [{load}]\n"
        );
        let experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
        let mut records = Vec::new();
        for (round, noise) in (1..).zip(rounds) {
            for (variant, rate) in experiment.variants.iter().zip(rates) {
                records.push(Record { round, ..run(&variant.name, "load", rate * noise, 100.0) });
            }
        }
        find(&experiment, &experiment.loads[0], &records)
    }

    #[test]
    fn what_a_limit_saves_in_an_overload_is_named() {
        let finding = found(BOTH, OVERLOAD, [71.0, 258.0], &[1.0]).expect("a finding");
        let expected = "a limit of 200 requests at once saves the service in this overload: goodput 258/s, 71/s with \
            virtual (1 run)";
        assert_eq!((sentence(&finding).as_str(), finding.variant.as_deref()), (expected, Some("bounded")));
        assert!(advice(&finding).contains("limit-virtual-threads"), "{}", advice(&finding));
    }

    #[test]
    fn a_limit_that_costs_nothing_under_an_ordinary_load_is_named_with_the_bound() {
        let finding = found(BOTH, ORDINARY, [500.0, 495.0], &[0.99, 1.0, 1.01]).expect("a finding");
        let expected = "a limit of 200 requests at once costs nothing here: the same throughput as virtual within 6 % [0.95, 1.03]";
        assert_eq!(sentence(&finding), expected);
    }

    #[test]
    fn look_alikes_are_left_alone() {
        assert_eq!(found(BOTH, OVERLOAD, [250.0, 258.0], &[1.0]), None, "it saves nothing");
        assert_eq!(found(BOTH, ORDINARY, [500.0, 400.0], &[0.99, 1.0, 1.01]), None, "it costs something");
        assert_eq!(found(BOTH, ORDINARY, [500.0, 495.0], &[1.0]), None, "one run proves no equality");
        assert_eq!(found(BOTH, OVERLOAD, [0.0, 0.0], &[1.0]), None, "nobody does anything");
        let pools = "virtual: {threads: virtual}, pool: {threads: {platform: 200}}";
        assert_eq!(found(pools, OVERLOAD, [71.0, 258.0], &[1.0]), None, "a pool");
        let another =
            "virtual: {threads: virtual}, bounded: {threads: {virtual: {bound: 200}}, jvm: [-Xmx1g]}";
        assert_eq!(found(another, OVERLOAD, [71.0, 258.0], &[1.0]), None, "another heap");
    }
}
