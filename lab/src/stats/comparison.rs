//! Each variant against the baseline, for each load and each metric.

use super::difference::difference;
use super::ratio::ratio_of_looks;
use super::runs::{complete, figures, is_healthy, mean};
use crate::model::experiment::{Experiment, LoadSpec};
use crate::model::metric::Metric;
use crate::model::record::Record;
use crate::model::result::{Comparison, Difference, Ratio, Verdict};

/// Compares every variant with the first one that runs under the same load.
///
/// Incomplete and dropped runs are left out, and disturbed ones where there are others. Runs in which the load generator was the bottleneck are left out too; where no
/// other is left on a side, the ratio is given without an interval and without a verdict.
#[must_use]
pub fn compare(experiment: &Experiment, records: &[Record]) -> Vec<Comparison> {
    experiment.loads.iter().flat_map(|load| under(experiment, load, records)).collect()
}

fn under(experiment: &Experiment, load: &LoadSpec, records: &[Record]) -> Vec<Comparison> {
    let run_here = experiment.variants.iter().filter(|variant| variant.runs_under(load));
    let mut names = run_here.map(|variant| variant.name.as_str());
    let Some(baseline) = names.next() else { return Vec::new() };
    let baseline_runs = complete(records, baseline, &load.name);
    let looks = load.looks().len();
    let compared = names.map(|variant| {
        let variant_runs = complete(records, variant, &load.name);
        let sides = Metric::ALL.map(|metric| Sides::of(metric, &variant_runs, &baseline_runs));
        Comparison {
            variant: variant.to_owned(),
            baseline: baseline.to_owned(),
            load: load.name.clone(),
            ratios: sides.iter().filter_map(|sides| sides.ratio(looks)).collect(),
            differences: sides.iter().filter_map(|sides| sides.difference(looks)).collect(),
        }
    });
    compared.filter(|comparison| !comparison.ratios.is_empty()).collect()
}

/// The figures of one metric, of a variant and of what it is compared with.
pub(crate) struct Sides {
    metric: Metric,
    variant: Vec<f64>,
    baseline: Vec<f64>,
    /// Did the load generator keep up in the runs behind them?
    trusted: bool,
}

impl Sides {
    pub fn of(metric: Metric, variant: &[&Record], baseline: &[&Record]) -> Self {
        let (variant_healthy, baseline_healthy) = (healthy(variant), healthy(baseline));
        let trusted = !variant_healthy.is_empty() && !baseline_healthy.is_empty();
        let (variant, baseline) =
            if trusted { (&*variant_healthy, &*baseline_healthy) } else { (variant, baseline) };
        Self { metric, variant: figures(variant, metric), baseline: figures(baseline, metric), trusted }
    }

    /// variant / baseline, in a session of so many interim analyses; `None` where a figure is missing, or is zero as it
    /// may be: see [`Self::difference`].
    pub fn ratio(&self, looks: usize) -> Option<Ratio> {
        if self.has_zero() {
            return None;
        }
        let estimate = ratio_of_looks(&self.variant, &self.baseline, self.metric.step(), looks)?;
        Some(Ratio {
            metric: self.metric,
            variant_value: mean(&self.variant)?,
            baseline_value: mean(&self.baseline)?,
            ratio: estimate.ratio,
            interval: estimate.interval.filter(|_| self.trusted),
            verdict: if self.trusted { estimate.verdict } else { Verdict::NotEnoughRuns },
            runs: self.runs(),
        })
    }

    /// variant - baseline, of a figure that may be zero and is in some run.
    pub fn difference(&self, looks: usize) -> Option<Difference> {
        if !self.has_zero() {
            return None;
        }
        let estimate = difference(&self.variant, &self.baseline, self.metric.step(), looks)?;
        Some(Difference {
            metric: self.metric,
            variant_value: mean(&self.variant)?,
            baseline_value: mean(&self.baseline)?,
            difference: estimate.difference,
            interval: estimate.interval.filter(|_| self.trusted),
            verdict: if self.trusted { estimate.verdict } else { Verdict::NotEnoughRuns },
            runs: self.runs(),
        })
    }

    fn has_zero(&self) -> bool {
        let mut figures = self.variant.iter().chain(&self.baseline);
        self.metric.can_be_zero() && figures.any(|&figure| figure <= 0.0)
    }

    fn runs(&self) -> (u32, u32) {
        (count(&self.variant), count(&self.baseline))
    }
}

fn healthy<'a>(runs: &[&'a Record]) -> Vec<&'a Record> {
    runs.iter().copied().filter(|run| is_healthy(run)).collect()
}

fn count(figures: &[f64]) -> u32 {
    u32::try_from(figures.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;
    use crate::model::record::RunFailure;
    use crate::model::record::jvm::{JvmReadings, Pause};
    use crate::stats::sample::{run, with_load};

    fn experiment() -> Experiment {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}, c: {}}\n\
            loads: [{clients: 4, duration: 1s}, {clients: 8, duration: 1s, variants: [b, c]}]\n";
        parse("x", "x.yaml", text, false).expect("an experiment")
    }

    fn rate(comparison: &Comparison) -> &Ratio {
        comparison.ratio(Metric::Rate).expect("the rate")
    }

    #[test]
    fn every_figure_of_memory_has_a_step_and_so_has_each_count() {
        for metric in Metric::ALL {
            let step = metric.step();
            let expected = match metric.name() {
                "nmt_malloc_bytes" | "nmt_malloc_at_start_bytes" => 1_024.0,
                name if name.ends_with("_bytes") => 4_096.0,
                name if name.contains("threads") => 1.0,
                _ => 0.0,
            };
            assert!((step - expected).abs() < f64::EPSILON, "{}: {step}", metric.name());
        }
    }

    #[test]
    fn each_variant_is_compared_with_the_first_that_runs_under_the_load() {
        let records: Vec<Record> = ["a", "b", "c"]
            .into_iter()
            .flat_map(|variant| ["c4", "c8"].map(|load| run(variant, load, 100.0, 5.0)))
            .filter(|record| (record.variant.as_str(), record.load.as_str()) != ("a", "c8"))
            .collect();
        let pairs: Vec<_> = compare(&experiment(), &records)
            .into_iter()
            .map(|comparison| format!("{}/{} {}", comparison.variant, comparison.baseline, comparison.load))
            .collect();
        assert_eq!(pairs, ["b/a c4", "c/a c4", "c/b c8"]);
    }

    #[test]
    fn ratios_come_in_the_order_of_the_metrics_and_rest_on_the_runs_there_are() {
        let mut records =
            vec![run("a", "c4", 100.0, 10.0), run("a", "c4", 101.0, 10.0), run("a", "c4", 99.0, 10.0)];
        records.extend([run("b", "c4", 200.0, 5.0), run("b", "c4", 202.0, 5.0)]);
        let mut failed = run("b", "c4", 7.0, 5.0);
        failed.failure = Some(RunFailure { why: "the server died".into(), log_tail: Vec::new() });
        records.push(failed);
        let compared = compare(&experiment(), &records);
        assert_eq!(compared.len(), 1);
        assert_eq!(compared[0].ratios[0].metric, Metric::Rate);
        let ratio = rate(&compared[0]);
        assert_eq!((ratio.runs, ratio.verdict), ((2, 3), Verdict::Higher));
        assert_eq!((ratio.variant_value, ratio.baseline_value, ratio.ratio), (201.0, 100.0, 2.01));
        assert_eq!(compared[0].ratio(Metric::NmtThreads), None, "it was not measured");
    }

    #[test]
    fn runs_limited_by_the_generator_do_not_make_a_verdict() {
        let limited =
            |rate: f64| with_load(run("b", "c4", rate, 5.0), |load| load.generator.bottleneck = true);
        let mut records =
            vec![run("a", "c4", 100.0, 10.0), run("a", "c4", 101.0, 10.0), limited(200.0), limited(201.0)];
        let ratio = rate(&compare(&experiment(), &records)[0]).clone();
        assert_eq!(
            (ratio.verdict, ratio.interval, ratio.variant_value),
            (Verdict::NotEnoughRuns, None, 200.5)
        );
        records.extend([run("b", "c4", 300.0, 5.0), run("b", "c4", 301.0, 5.0)]);
        let ratio = rate(&compare(&experiment(), &records)[0]).clone();
        assert_eq!((ratio.verdict, ratio.variant_value, ratio.runs), (Verdict::Higher, 300.5, (2, 2)));
    }

    #[test]
    fn a_variant_without_pauses_is_compared_by_the_difference() {
        let paused = |variant, ms: f64| {
            let pauses = vec![Pause { duration_ms: ms, ..Pause::default() }];
            let jvm =
                JvmReadings { pauses: if ms > 0.0 { pauses } else { Vec::new() }, ..JvmReadings::default() };
            Record { jvm: Some(jvm), ..run(variant, "c4", 100.0, 5.0) }
        };
        let of = |b: [f64; 3]| {
            let a = [120.0, 130.0, 125.0].map(|ms| paused("a", ms));
            compare(&experiment(), &[a, b.map(|ms| paused("b", ms))].concat()).remove(0)
        };
        let without = of([0.0; 3]);
        assert_eq!(without.ratio(Metric::GcPauses), None);
        let of_pauses = |comparison: &Comparison| {
            comparison.differences.iter().find(|it| it.metric == Metric::GcPauses).cloned()
        };
        let difference = of_pauses(&without).expect("a difference");
        assert_eq!(difference.verdict, Verdict::Lower);
        assert_eq!((difference.variant_value, difference.difference), (0.0, -12.5));
        let with = of([60.0, 61.0, 62.0]);
        assert_eq!(of_pauses(&with), None);
        assert_eq!(with.ratio(Metric::GcPauses).map(|ratio| ratio.verdict), Some(Verdict::Lower));
    }

    #[test]
    fn two_identical_variants_are_no_different_in_anything() {
        let records: Vec<Record> =
            ["a", "b"].iter().flat_map(|variant| (0..3).map(|_| run(variant, "c4", 100.0, 5.0))).collect();
        for ratio in &compare(&experiment(), &records)[0].ratios {
            let interval = ratio.interval.expect("an interval");
            assert!(interval.low < 1.0 && interval.high > 1.0, "{}", ratio.metric.name());
        }
    }
}
