//! Comparisons of each variant with the baseline, for each load and each metric.

use super::backend_limit::backend_limit;
use super::blocks::pairs;
use super::compiler::busy_compiler;
use super::difference::difference;
use super::limit::{Limit, LimitTest};
use super::lost_on_purpose::LostOnPurpose;
use super::page;
use super::ratio::{Estimate, paired, unpaired, unseen_share};
use super::runs::{complete, figures, is_healthy, mean};
use super::student::PAIRED_FROM;
use super::two_speeds::{Faster, two_speeds};
use threadcount_model::comparison::{Basis, Comparison, Difference, Ratio, TwoSpeeds, Verdict};
use threadcount_model::experiment::pairs::Pair;
use threadcount_model::experiment::{Experiment, LoadSpec};
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;

/// With fewer pairs there is no spread; then the figures are the means of all runs, without an interval.
const FEWEST_PAIRS: usize = 2;

/// Compares every variant with the first one that runs under the same load, round by round, and gives a verdict to the differences that
/// stand out of the whole page.
///
/// Incomplete and dropped runs are left out, and disturbed runs if there are others; so is the other variant's run in the same round.
/// Runs in which the load generator was the bottleneck are left out too; if a side has no others, the ratio has no interval and no
/// verdict.
#[must_use]
pub fn compare(experiment: &Experiment, records: &[Record]) -> Vec<Comparison> {
    let mut compared: Vec<Comparison> =
        experiment.loads.iter().flat_map(|load| under(experiment.all_pairs(load), load, records)).collect();
    page::judge(experiment, &mut compared);
    compared
}

/// The comparisons of these pairs under one load, each ratio on its own.
pub(super) fn under(pairs: Vec<Pair<'_>>, load: &LoadSpec, records: &[Record]) -> Vec<Comparison> {
    let looks = load.interim_analyses().len();
    let compared = pairs.into_iter().map(|pair| {
        let (variant, baseline) = (pair.variant.name.as_str(), pair.other.name.as_str());
        let variant_runs = complete(records, variant, &load.name);
        let baseline_runs = complete(records, baseline, &load.name);
        let lost = LostOnPurpose::of(load.workload, &[&variant_runs, &baseline_runs]);
        let sides = Metric::ALL
            .map(|metric| Sides::of_rounds(metric, &variant_runs, &baseline_runs).without_survivors(lost));
        let is_headline = |sides: &Sides| load.workload.headline().contains(&sides.metric);
        let with_speeds = |sides: &Sides| {
            let mut ratio = sides.ratio(looks)?;
            if is_headline(sides) {
                ratio.basis.two_speeds = sides.two_speeds(variant, baseline);
            }
            Some(ratio)
        };
        Comparison {
            variant: variant.to_owned(),
            baseline: baseline.to_owned(),
            load: load.name.clone(),
            ratios: sides.iter().filter_map(with_speeds).collect(),
            differences: sides.iter().filter_map(|sides| sides.difference(looks)).collect(),
        }
    });
    compared.filter(|comparison| !comparison.ratios.is_empty()).collect()
}

/// How the figures of two variants belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Design {
    /// Each round has one figure of each variant.
    Paired,
    /// The figures are of one session but hardly share rounds: their means can be shown, but nothing can be concluded.
    TooFewPairs,
    /// The figures are of different sessions.
    Unpaired,
}

/// The figures of one metric for a variant and for the variant that it is compared with.
pub struct Sides {
    metric: Metric,
    variant: Vec<f64>,
    baseline: Vec<f64>,
    design: Design,
    /// Whether the load generator kept up in the runs behind the figures, and the figures are about all requests.
    trusted: bool,
    /// The compiler's share of the server's CPU, if it casts doubt on this figure.
    compiler_share: Option<f64>,
}

impl Sides {
    /// Figures of the runs of two sessions.
    pub fn of_sessions(metric: Metric, variant: &[&Record], baseline: &[&Record]) -> Self {
        let (variant, baseline, trusted) = healthy_sides(variant, baseline);
        let compiler_share = compiler_share(metric, &variant, &baseline);
        let (variant, baseline) = (figures(&variant, metric), figures(&baseline, metric));
        Self { metric, variant, baseline, design: Design::Unpaired, trusted, compiler_share }
    }

    /// Figures of two variants' runs in the rounds of one session.
    pub fn of_rounds(metric: Metric, variant: &[&Record], baseline: &[&Record]) -> Self {
        let (variant, baseline, trusted) = healthy_sides(variant, baseline);
        let compiler_share = compiler_share(metric, &variant, &baseline);
        let figure = |run: &Record| metric.of(run).filter(|figure| figure.is_finite());
        let both = |(a, b)| figure(a).zip(figure(b));
        let pairs: Vec<(f64, f64)> = pairs(&variant, &baseline).into_iter().filter_map(both).collect();
        if pairs.len() < FEWEST_PAIRS {
            let (variant, baseline) = (figures(&variant, metric), figures(&baseline, metric));
            return Self { metric, variant, baseline, design: Design::TooFewPairs, trusted, compiler_share };
        }
        let (variant, baseline) = pairs.into_iter().unzip();
        Self { metric, variant, baseline, design: Design::Paired, trusted, compiler_share }
    }

    /// Distrusts figures about the remaining requests if requests are lost on purpose.
    pub fn without_survivors(self, lost: LostOnPurpose) -> Self {
        Self { trusted: self.trusted && !lost.hides(self.metric), ..self }
    }

    /// variant / baseline, in a session of `looks` interim analyses; `None` if a figure is missing, or is zero and may be zero: see
    /// [`Self::difference`].
    pub fn ratio(&self, looks: usize) -> Option<Ratio> {
        if self.has_zero() {
            return None;
        }
        let step = self.metric.step();
        let estimate = match self.design {
            Design::Unpaired => unpaired(&self.variant, &self.baseline, step)?,
            Design::Paired => paired(&self.variant, &self.baseline, step, looks)?,
            Design::TooFewPairs => Estimate::without_interval(&self.variant, &self.baseline)?,
        };
        let interval = estimate.interval.filter(|_| self.trusted);
        Some(Ratio {
            metric: self.metric,
            variant_value: mean(&self.variant)?,
            baseline_value: mean(&self.baseline)?,
            ratio: estimate.ratio,
            interval,
            verdict: if self.is_known() { estimate.verdict } else { Verdict::NotEnoughRuns },
            runs: self.runs(),
            basis: Basis {
                unseen_share: interval.and_then(|interval| unseen_share(interval, self.fewest_runs())),
                ..self.basis(estimate.p_value)
            },
        })
    }

    /// Does the ratio lie beyond a limit? `None` if there are too few runs, or the load generator did not keep up.
    pub fn against_limit(&self, limit: Limit) -> Option<LimitTest> {
        let may_be_judged = self.is_known() && !self.has_zero();
        may_be_judged
            .then(|| LimitTest::of(&self.variant, &self.baseline, self.metric.step(), limit))
            .flatten()
    }

    /// variant - baseline, for a figure that may be zero and is zero in some run.
    pub fn difference(&self, looks: usize) -> Option<Difference> {
        if !self.has_zero() {
            return None;
        }
        let estimate = difference(&self.variant, &self.baseline, self.metric.step(), looks)?;
        let has_interval = self.trusted && self.design == Design::Paired;
        Some(Difference {
            metric: self.metric,
            variant_value: mean(&self.variant)?,
            baseline_value: mean(&self.baseline)?,
            difference: estimate.difference,
            interval: estimate.interval.filter(|_| has_interval),
            verdict: if self.is_known() { estimate.verdict } else { Verdict::NotEnoughRuns },
            runs: self.runs(),
            basis: self.basis(estimate.p_value),
        })
    }

    fn basis(&self, p_value: Option<f64>) -> Basis {
        let of_rounds = self.design == Design::Paired;
        Basis {
            paired: of_rounds && self.variant.len() >= PAIRED_FROM,
            p_value: p_value.filter(|_| self.is_known()),
            compiler_share: self.compiler_share,
            ..Basis::default()
        }
    }

    /// May anything be concluded from the figures?
    fn is_known(&self) -> bool {
        self.trusted && self.design != Design::TooFewPairs && self.compiler_share.is_none()
    }

    /// The variants whose runs have two speeds in this figure.
    fn two_speeds(&self, variant: &str, baseline: &str) -> Vec<TwoSpeeds> {
        let faster = if self.metric.lower_is_better() { Faster::Lower } else { Faster::Higher };
        let speeds = [
            two_speeds(variant, &self.variant, &self.baseline, faster),
            two_speeds(baseline, &self.baseline, &self.variant, faster),
        ];
        speeds.into_iter().flatten().filter(|_| self.design == Design::Paired).collect()
    }

    fn has_zero(&self) -> bool {
        let mut figures = self.variant.iter().chain(&self.baseline);
        self.metric.can_be_zero() && figures.any(|&figure| figure <= 0.0)
    }

    fn runs(&self) -> (u32, u32) {
        (count(&self.variant), count(&self.baseline))
    }

    fn fewest_runs(&self) -> usize {
        self.variant.len().min(self.baseline.len())
    }
}

/// The largest share of the server's CPU that a busy compiler took in one of these runs; `None` if the compiler was quiet, or the figure
/// leaves out its work.
fn compiler_share(metric: Metric, variant: &[&Record], baseline: &[&Record]) -> Option<f64> {
    let shares = variant.iter().chain(baseline).filter_map(|run| busy_compiler(run));
    shares.filter(|_| metric.is_server_cpu()).reduce(f64::max)
}

/// The runs in which the load generator kept up. If a side has none, or if a backend was the limit of any run, returns all runs and
/// `false`: the runs in which the backend happened to have room are no fair choice.
fn healthy_sides<'a>(
    variant: &[&'a Record],
    baseline: &[&'a Record],
) -> (Vec<&'a Record>, Vec<&'a Record>, bool) {
    let (variant_healthy, baseline_healthy) = (healthy(variant), healthy(baseline));
    let behind = |runs: &[&Record]| runs.iter().any(|run| backend_limit(run, runs).is_some());
    if variant_healthy.is_empty() || baseline_healthy.is_empty() || behind(variant) || behind(baseline) {
        return (variant.to_vec(), baseline.to_vec(), false);
    }
    (variant_healthy, baseline_healthy, true)
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
    use threadcount_config::parse;
    use threadcount_model::record::jvm::{JvmReadings, Pause};
    use threadcount_model::record::{BackendFigures, RunFailure, WarmUp};
    use threadcount_model::sample::{run, with_cost, with_load};

    #[test]
    fn a_pair_that_is_asked_for_is_compared_after_those_with_the_baseline() {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}, c: {compare_with: b}}\n\
            loads: [{clients: 4, duration: 1s}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        let rounds = [0.999, 1.0, 1.001, 1.0].into_iter();
        let records: Vec<Record> = rounds
            .flat_map(|noise| {
                [("a", 100.0), ("b", 200.0), ("c", 300.0)].map(|(name, rate)| (name, rate * noise))
            })
            .map(|(name, rate)| run(name, "c4", rate, 5.0))
            .collect();
        let compared = compare(&experiment, &records);
        let rate = |it: &Comparison| format!("{}/{} {:.2}", it.variant, it.baseline, it.ratios[0].ratio);
        assert_eq!(compared.iter().map(rate).collect::<Vec<_>>(), ["b/a 2.00", "c/a 3.00", "c/b 1.50"]);
    }

    #[test]
    fn where_a_backend_is_the_limit_there_is_a_ratio_and_no_verdict() {
        let backend = |cpu_cores| BackendFigures {
            name: "database".to_owned(),
            cpu_cores,
            cores: vec![0, 1],
            cores_in_use: Some(1.9),
            ..BackendFigures::default()
        };
        let records = |cpu_cores: f64| -> Vec<Record> {
            let rounds = [0.999, 1.0, 1.001, 1.0, 1.0].into_iter();
            // In the last round the backend has room.
            let both = rounds.enumerate().flat_map(|(round, noise)| {
                let cpu_cores = if round == 4 { 0.3 } else { cpu_cores };
                [("a", 100.0 * noise, 0.2), ("b", 200.0 * noise, cpu_cores)]
            });
            let run = |(name, rate, cpu_cores)| Record {
                backends: vec![backend(cpu_cores)],
                ..run(name, "c4", rate, 5.0)
            };
            both.map(run).collect()
        };
        let judged = |cpu_cores: f64| {
            let compared = compare(&experiment(), &records(cpu_cores));
            let ratio = rate(&compared[0]);
            (ratio.ratio.round(), ratio.interval.is_some(), ratio.verdict)
        };
        assert_eq!(judged(0.3), (2.0, true, Verdict::Higher));
        assert_eq!(judged(1.4), (2.0, false, Verdict::NotEnoughRuns));
    }

    fn experiment() -> Experiment {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}, c: {}}\n\
            loads: [{clients: 4, duration: 1s}, {clients: 8, duration: 1s, variants: [b, c]}]\n";
        parse("x", "x.yaml", text, false).expect("an experiment")
    }

    #[test]
    fn in_an_overload_nothing_is_concluded_from_the_response_times_of_those_that_got_one() {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}}\nloads: \
            [{name: c4, rate: 1000/s, duration: 1s, overload: true}]\n";
        let parsed = |text: &str| parse("x", "x.yaml", text, false).expect("an experiment");
        let (overload, stalled) = (parsed(text), parsed(&text.replace("overload: true", "losses: expected")));
        let rounds = [0.999, 1.0, 1.001, 1.0, 1.0].into_iter();
        let records: Vec<Record> = rounds
            .flat_map(|noise| [("a", 100.0 * noise, 9.0 * noise), ("b", 200.0 * noise, 3.0 * noise)])
            .map(|(name, rate, mean_ms)| run(name, "c4", rate, mean_ms))
            .collect();
        let lost = |record: &Record| with_load(record.clone(), |load| load.requests.ok /= 2);
        let losing: Vec<Record> = records.iter().map(lost).collect();
        for experiment in [overload, stalled] {
            let verdict = |records: &[Record], metric| {
                compare(&experiment, records)[0].ratio(metric).map(|ratio| ratio.verdict)
            };
            assert_eq!(verdict(&records, Metric::Mean), Some(Verdict::Lower), "nothing is lost");
            assert_eq!(verdict(&losing, Metric::Rate), Some(Verdict::Higher));
            assert_eq!(verdict(&losing, Metric::Mean), Some(Verdict::NotEnoughRuns));
            let few = |record: &Record| with_load(record.clone(), |load| load.requests.ok -= 5);
            let losing_few: Vec<Record> = records.iter().map(few).collect();
            assert_eq!(verdict(&losing_few, Metric::P50), Some(Verdict::Lower), "0.5 % are lost");
            assert_eq!(verdict(&losing_few, Metric::P99), Some(Verdict::NotEnoughRuns));
        }
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
                "allocated_bytes_per_request" => 8.0,
                "time_behind_ms" => 1_000.0,
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
        failed.failure = Some(RunFailure { why: "the server died".into(), ..RunFailure::default() });
        records.push(failed);
        let compared = compare(&experiment(), &records);
        assert_eq!(compared.len(), 1);
        assert_eq!(compared[0].ratios[0].metric, Metric::Rate);
        let ratio = rate(&compared[0]);
        assert_eq!((ratio.runs, ratio.verdict), ((2, 2), Verdict::Higher), "the third has no partner");
        assert_eq!((ratio.variant_value, ratio.baseline_value, ratio.ratio), (201.0, 100.5, 2.0));
        assert_eq!(compared[0].ratio(Metric::NmtThreads), None, "it was not measured");
    }

    #[test]
    fn runs_limited_by_the_generator_do_not_make_a_verdict() {
        let limited =
            |rate: f64| with_load(run("b", "c4", rate, 5.0), |load| load.generator.bottleneck = true);
        let mut records = [100.0, 101.0, 100.5].map(|rate| run("a", "c4", rate, 10.0)).to_vec();
        records.extend([limited(200.0), limited(201.0)]);
        let ratio = rate(&compare(&experiment(), &records)[0]).clone();
        assert_eq!(
            (ratio.verdict, ratio.interval, ratio.variant_value),
            (Verdict::NotEnoughRuns, None, 200.5)
        );
        records.extend([299.5, 301.0, 301.0].map(|rate| run("b", "c4", rate, 5.0)));
        let ratio = rate(&compare(&experiment(), &records)[0]).clone();
        assert_eq!((ratio.verdict, ratio.variant_value, ratio.runs), (Verdict::Higher, 300.5, (3, 3)));
    }

    #[test]
    fn cpu_per_request_has_no_verdict_where_the_compiler_was_busy_and_every_other_figure_has() {
        let run_of = |variant, cpu_us: f64, jit_cpu_cores: f64| {
            let mut run = with_cost(run(variant, "c4", cpu_us, 5.0), |cost| {
                cost.cpu_us_per_request = Some(cpu_us);
                cost.jit_cpu_cores = Some(jit_cpu_cores);
            });
            run.warm_up = Some(WarmUp::default());
            run
        };
        let compared = |jit_cpu_cores| {
            let mut records = [100.0, 101.0, 99.0, 100.0].map(|us| run_of("a", us, 0.01)).to_vec();
            records.extend([150.0, 151.0, 149.0, 150.0].map(|us| run_of("b", us, jit_cpu_cores)));
            compare(&experiment(), &records).remove(0)
        };
        // A share of the half core that the server uses.
        let (busy, quiet) = (compared(0.115), compared(0.02));
        let cpu = |comparison: &Comparison| comparison.ratio(Metric::CpuPerRequest).expect("a ratio").clone();
        assert_eq!(
            (cpu(&busy).verdict, cpu(&busy).basis.compiler_share),
            (Verdict::NotEnoughRuns, Some(0.23))
        );
        assert!(cpu(&busy).interval.is_some_and(|interval| interval.low > 1.4) && !cpu(&busy).basis.withheld);
        assert_eq!((cpu(&quiet).verdict, cpu(&quiet).basis.compiler_share), (Verdict::Higher, None));
        assert_eq!((rate(&busy).verdict, rate(&busy).basis.compiler_share), (Verdict::Higher, None));
    }

    #[test]
    fn a_variant_without_pauses_is_compared_by_the_difference() {
        let paused = |variant, ms: f64| {
            let pauses = vec![Pause { duration_ms: ms, ..Pause::default() }];
            let jvm =
                JvmReadings { pauses: if ms > 0.0 { pauses } else { Vec::new() }, ..JvmReadings::default() };
            Record { jvm: Some(jvm), ..run(variant, "c4", 100.0, 5.0) }
        };
        let of = |b: [f64; 5]| {
            let a = [120.0, 130.0, 125.0, 124.0, 126.0].map(|ms| paused("a", ms));
            compare(&experiment(), &[a, b.map(|ms| paused("b", ms))].concat()).remove(0)
        };
        let without = of([0.0; 5]);
        assert_eq!(without.ratio(Metric::GcPauses), None);
        let of_pauses = |comparison: &Comparison| {
            comparison.differences.iter().find(|it| it.metric == Metric::GcPauses).cloned()
        };
        let difference = of_pauses(&without).expect("a difference");
        assert_eq!(difference.verdict, Verdict::Lower);
        assert_eq!((difference.variant_value, difference.difference), (0.0, -12.5));
        let with = of([60.0, 61.0, 62.0, 61.0, 60.0]);
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
