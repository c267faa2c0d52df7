//! The ratios of a comparison, a row for each metric. Only the metrics of the tables get a verdict, because nobody decides by the others.

use serde::Serialize;
use threadcount_judge::words::metric::bound;
use threadcount_model::comparison::{Basis, Comparison, Difference, Ratio, Verdict};
use threadcount_model::experiment::{LoadSpec, Workload};
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_stats::ratio::{MARGIN, more_runs};

/// One metric of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RatioRow {
    #[serde(skip)]
    pub metric: Metric,
    pub label: &'static str,
    pub variant: String,
    pub baseline: String,
    /// The ratio; of a metric that is zero in some run, the difference.
    pub ratio: String,
    pub interval: String,
    /// The verdict; empty for a metric that is in no table.
    pub verdict: String,
    pub runs: String,
}

/// The rows of a comparison, those with a verdict first.
#[must_use]
pub fn rows(comparison: &Comparison, load: &LoadSpec) -> Vec<RatioRow> {
    let is_judged = |metric| has_verdict(metric, load.workload);
    let ratios = comparison.ratios.iter().map(|it| ratio_row(it, is_judged(it.metric)));
    let differences = comparison.differences.iter().map(|it| difference_row(it, is_judged(it.metric)));
    let mut rows: Vec<RatioRow> = ratios.chain(differences).collect();
    rows.sort_by_key(|row| !is_judged(row.metric));
    rows
}

fn has_verdict(metric: Metric, workload: Workload) -> bool {
    const TIMES: [Metric; 4] = [Metric::P50, Metric::Mean, Metric::P99, Metric::P99_9];
    let is_headline = workload.headline().contains(&metric);
    let is_shown = Metric::IN_TABLES.contains(&metric) || metric == Metric::Mean;
    // A search measures rates and times at each variant's own capacity; in an overload, times cover only the requests that did not fail.
    let is_comparable = match workload.capacity() {
        Some(_) => metric != Metric::Rate && !TIMES.contains(&metric),
        None => !(workload.is_overload() && TIMES.contains(&metric)),
    };
    is_headline || (is_shown && is_comparable)
}

fn ratio_row(ratio: &Ratio, is_judged: bool) -> RatioRow {
    let figure = |value| figures::figure(ratio.metric, value);
    RatioRow {
        metric: ratio.metric,
        label: ratio.metric.label(),
        variant: figure(ratio.variant_value),
        baseline: figure(ratio.baseline_value),
        ratio: figures::ratio(ratio.ratio),
        interval: figures::interval_of(ratio).unwrap_or_else(|| "–".to_owned()),
        verdict: if is_judged { ratio_words(ratio) } else { String::new() },
        runs: format!("{} and {}", ratio.runs.0, ratio.runs.1),
    }
}

fn difference_row(difference: &Difference, is_judged: bool) -> RatioRow {
    let figure = |value| figures::figure(difference.metric, value);
    let signed = |value: f64| format!("{}{}", if value > 0.0 { "+" } else { "" }, figure(value));
    let interval = difference.interval.map(|it| format!("[{} .. {}]", signed(it.low), signed(it.high)));
    let verdict = || verdict_words(difference.verdict, &difference.basis);
    RatioRow {
        metric: difference.metric,
        label: difference.metric.label(),
        variant: figure(difference.variant_value),
        baseline: figure(difference.baseline_value),
        ratio: signed(difference.difference),
        interval: interval.unwrap_or_else(|| "–".to_owned()),
        verdict: if is_judged { verdict() } else { String::new() },
        runs: format!("{} and {}", difference.runs.0, difference.runs.1),
    }
}

/// The largest difference that the interval does not rule out, if it exceeds the margin.
fn no_larger_than(ratio: &Ratio) -> Option<String> {
    let around_one = ratio.interval.filter(|interval| interval.low <= 1.0 && interval.high >= 1.0)?;
    let largest = around_one.largest_difference();
    (largest > MARGIN).then(|| format!("no difference larger than {}", bound(largest)))
}

/// The number of further runs that would be conclusive.
pub(super) fn needed(ratio: &Ratio) -> String {
    more_runs(ratio)
        .map_or_else(String::new, |runs| format!("; about {} per variant needed", figures::more_runs(runs)))
}

/// A ratio's verdict in words, or the bound on a difference that was not found.
#[must_use]
pub fn ratio_words(ratio: &Ratio) -> String {
    let bound = no_larger_than(ratio).filter(|_| ratio.verdict == Verdict::NoDifference);
    bound.unwrap_or_else(|| verdict_words(ratio.verdict, &ratio.basis))
}

/// A verdict in words, with the reason if even a clear interval proves nothing.
fn verdict_words(verdict: Verdict, basis: &Basis) -> String {
    let words = match verdict {
        _ if basis.compiler_share.is_some() => "no verdict",
        Verdict::Higher => "higher",
        Verdict::Lower => "lower",
        Verdict::NoDifference => "no difference",
        Verdict::NotEnoughRuns => "inconclusive",
    };
    match basis.compiler_share {
        Some(share) => format!("{words}: the JVM's compiler took {} of the CPU", figures::percent(share)),
        None if basis.withheld => format!("{words}: may be chance among all figures"),
        None => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config::parse;
    use threadcount_model::interval::Interval;

    fn ratio(metric: Metric, ratio: f64, half_width: f64, verdict: Verdict) -> Ratio {
        let interval = Interval { low: ratio - half_width, high: ratio + half_width, confidence: 0.95 };
        Ratio {
            metric,
            variant_value: ratio * 100.0,
            baseline_value: 100.0,
            ratio,
            interval: Some(interval),
            verdict,
            runs: (3, 3),
            basis: Basis::default(),
        }
    }

    /// The verdicts of a page under this load, in which each metric is higher.
    fn verdicts(load: &str) -> Vec<(Metric, String)> {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{a: {{}}, b: {{}}}}\nloads: [{{{load}}}]\n"
        );
        let experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
        let metrics = [Metric::Max, Metric::P99, Metric::Capacity, Metric::Rate];
        let comparison = Comparison {
            variant: "b".to_owned(),
            baseline: "a".to_owned(),
            load: experiment.loads[0].name.clone(),
            differences: Vec::new(),
            ratios: metrics.map(|it| ratio(it, 1.5, 0.1, Verdict::Higher)).to_vec(),
        };
        rows(&comparison, &experiment.loads[0]).into_iter().map(|it| (it.metric, it.verdict)).collect()
    }

    fn judged(load: &str) -> Vec<Metric> {
        verdicts(load)
            .into_iter()
            .filter(|(_, verdict)| verdict == "higher")
            .map(|(metric, _)| metric)
            .collect()
    }

    #[test]
    fn metrics_of_the_tables_come_first_and_the_others_have_no_verdict() {
        assert_eq!(judged("clients: 4, duration: 1s"), [Metric::P99, Metric::Capacity, Metric::Rate]);
        assert_eq!(verdicts("clients: 4, duration: 1s").last(), Some(&(Metric::Max, String::new())));
    }

    #[test]
    fn rates_and_times_of_a_search_and_times_of_an_overload_have_no_verdict() {
        assert_eq!(
            judged("capacity: {p99: 200ms, from: 100/s, to: 20000/s}, duration: 5s"),
            [Metric::Capacity]
        );
        let overload = "steps: [100/s:2s, 600/s:2s, 100/s:2s], timeout: 1s, overload: true";
        assert_eq!(judged(overload), [Metric::Capacity, Metric::Rate]);
    }

    #[test]
    fn a_verdict_that_is_withheld_says_why() {
        let mut cpu = ratio(Metric::CpuPerRequest, 1.5, 0.1, Verdict::Higher);
        assert_eq!(ratio_words(&cpu), "higher");
        cpu.verdict = Verdict::NotEnoughRuns;
        cpu.basis.withheld = true;
        assert_eq!(ratio_words(&cpu), "inconclusive: may be chance among all figures");
        cpu.basis = Basis { compiler_share: Some(0.23), ..Basis::default() };
        assert_eq!(ratio_words(&cpu), "no verdict: the JVM's compiler took 23 % of the CPU");
    }

    #[test]
    fn a_wide_interval_around_one_says_how_large_a_difference_could_be() {
        let same = |half_width| ratio_words(&ratio(Metric::Rate, 1.0, half_width, Verdict::NoDifference));
        assert_eq!(same(0.01), "no difference");
        assert_eq!(same(0.033), "no difference larger than 4 %");
    }

    #[test]
    fn one_more_run_is_a_run_and_two_are_runs() {
        let needed_with = |low, high| {
            let interval = Some(Interval { low, high, confidence: 0.95 });
            needed(&Ratio { interval, ..ratio(Metric::Rate, 1.0, 0.1, Verdict::NotEnoughRuns) })
        };
        assert_eq!(needed_with(0.9999, 1.11), "; about 1 more run per variant needed");
        assert_eq!(needed_with(0.7, 1.4), "; about 25 more runs per variant needed");
    }
}
