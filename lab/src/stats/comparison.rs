//! Each variant against the baseline, for each load and each metric.

use super::metric::Metric;
use super::ratio::ratio_of_looks;
use super::runs::{complete, figures, is_healthy, mean};
use crate::model::experiment::{Experiment, LoadSpec};
use crate::model::native_figure::NativeFigure;
use crate::model::record::Record;
use crate::model::result::{Comparison, Ratio, Verdict};

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
        let ratios =
            Metric::ALL.into_iter().filter_map(|metric| one(metric, &variant_runs, &baseline_runs, looks));
        Comparison {
            variant: variant.to_owned(),
            baseline: baseline.to_owned(),
            load: load.name.clone(),
            ratios: ratios.collect(),
        }
    });
    compared.filter(|comparison| !comparison.ratios.is_empty()).collect()
}

/// variant / baseline of one metric, over these runs, looked at so often.
pub(crate) fn one(metric: Metric, variant: &[&Record], baseline: &[&Record], looks: usize) -> Option<Ratio> {
    let (variant_healthy, baseline_healthy) = (healthy(variant), healthy(baseline));
    let trusted = !variant_healthy.is_empty() && !baseline_healthy.is_empty();
    let (variant, baseline) =
        if trusted { (&*variant_healthy, &*baseline_healthy) } else { (variant, baseline) };
    let (variant, baseline) = (figures(variant, metric), figures(baseline, metric));
    let estimate = ratio_of_looks(&variant, &baseline, metric.step(), looks)?;
    Some(Ratio {
        metric: metric.name().to_owned(),
        variant_value: mean(&variant)?,
        baseline_value: mean(&baseline)?,
        ratio: estimate.ratio,
        interval: estimate.interval.filter(|_| trusted),
        verdict: if trusted { estimate.verdict } else { Verdict::NotEnoughRuns },
        runs: (count(&variant), count(&baseline)),
    })
}

fn healthy<'a>(runs: &[&'a Record]) -> Vec<&'a Record> {
    runs.iter().copied().filter(|run| is_healthy(run)).collect()
}

fn count(figures: &[f64]) -> u32 {
    u32::try_from(figures.len()).unwrap_or(u32::MAX)
}

impl Metric {
    /// The smallest difference the figure can show, in its own unit: a thread, a page of memory.
    #[must_use]
    pub const fn step(self) -> f64 {
        match self {
            Self::OsThreads | Self::Native(NativeFigure::Threads, _) => 1.0,
            // `jcmd` rounds what the JVM got from malloc to KiB; everything else consists of pages.
            Self::Native(NativeFigure::Malloc, _) => 1_024.0,
            Self::RssPeak | Self::PssPeak | Self::Native(_, _) => 4_096.0,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;
    use crate::model::record::RunFailure;
    use crate::stats::sample::{run, with_load};

    fn experiment() -> Experiment {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}, c: {}}\n\
            loads: [{clients: 4, duration: 1s}, {clients: 8, duration: 1s, variants: [b, c]}]\n";
        parse("x", "x.yaml", text, false).expect("an experiment")
    }

    fn rate(comparison: &Comparison) -> &Ratio {
        comparison.ratios.iter().find(|ratio| ratio.metric == "rate_per_s").expect("the rate")
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
        assert_eq!(compared[0].ratios[0].metric, "rate_per_s");
        let ratio = rate(&compared[0]);
        assert_eq!((ratio.runs, ratio.verdict), ((2, 3), Verdict::Higher));
        assert_eq!((ratio.variant_value, ratio.baseline_value, ratio.ratio), (201.0, 100.0, 2.01));
        let native = compared[0].ratios.iter().find(|ratio| ratio.metric == "nmt_threads");
        assert_eq!(native, None, "nobody measured it");
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
    fn two_identical_variants_are_no_different_in_anything() {
        let records: Vec<Record> =
            ["a", "b"].iter().flat_map(|variant| (0..3).map(|_| run(variant, "c4", 100.0, 5.0))).collect();
        for ratio in &compare(&experiment(), &records)[0].ratios {
            let interval = ratio.interval.expect("an interval");
            assert!(interval.low < 1.0 && interval.high > 1.0, "{}", ratio.metric);
        }
    }
}
