//! May the figures be believed? If not, why not, in sentences for a person.

use super::disturbance::disturbance;
use super::metric::Metric;
use super::runs::{FEWEST_UNDISTURBED, complete, is_complete};
use super::spread::{Spread, spreads};
use crate::model::experiment::Experiment;
use crate::model::experiment::plan::plan;
use crate::model::record::Record;
use crate::model::record::capacity::SearchEnd;
use std::collections::BTreeSet;
use threadcount_load::report::LoadReport;

/// Runs of one variant that differ by more than this disturb each other, or something disturbs them.
const WIDE_SPREAD: f64 = 0.10;
/// Less than this much of the asked rate was sent: a missed rate.
const SENT_OF_ASKED: f64 = 0.99;
/// Less than this much was answered: the server falls behind (what is in flight at the end is always missing).
const COMPLETED_OF_ASKED: f64 = 0.95;

/// The judgement and the sentences behind it, the most important first.
///
/// Failed runs, a load generator that was the bottleneck, unexpected failures, overflowing accept queues and a
/// machine that is busy with something else end the trust: such figures are not the server's. A disturbed run that is
/// left out, a missed rate, a warm-up without a steady state, a wide spread and too few runs are said as well, and do
/// not end it: the figures are true, and the intervals (or their absence) already say how little they prove.
#[must_use]
pub fn trust(experiment: &Experiment, records: &[Record]) -> (bool, Vec<String>) {
    let doubts = doubts(experiment, records);
    let trusted = !doubts.iter().any(|doubt| doubt.kind.is_serious());
    (trusted, grouped(&doubts))
}

/// Everything that is wrong with the runs, one by one, the most important first.
#[must_use]
pub fn doubts(experiment: &Experiment, records: &[Record]) -> Vec<Doubt> {
    let mut doubts = failed_runs(experiment, records);
    doubts.extend(records.iter().flat_map(|record| serious_doubts(record, records)));
    let left_out = records.iter().filter_map(|record| disturbed(record, records));
    doubts.extend(left_out.filter(|(counts, _)| !counts).map(|(_, doubt)| doubt));
    doubts.extend(records.iter().filter_map(|record| missed_rate(record, record.measured.as_ref()?)));
    doubts.extend(records.iter().filter_map(never_level));
    doubts.extend(wide_spreads(experiment, records));
    doubts.extend(too_few_runs(experiment, records));
    doubts.sort_by_key(|doubt| doubt.kind);
    doubts
}

/// What ends the trust in one run that was measured.
fn serious_doubts(record: &Record, records: &[Record]) -> Vec<Doubt> {
    let load = record.measured.as_ref();
    let disturbed = disturbed(record, records).filter(|(counts, _)| *counts).map(|(_, doubt)| doubt);
    let doubts = [
        load.and_then(|load| generator(record, load)),
        load.and_then(|load| failures(record, load)),
        overflows(record),
        disturbed,
    ];
    doubts.into_iter().flatten().collect()
}

/// Why nothing may be concluded from the figures of this variant under this load, the most important reason; `None`: it
/// may. That somebody else's tool was the bottleneck of its own figures is what these figures are there to show.
#[must_use]
pub fn doubt_about(variant: &str, load: &str, records: &[Record]) -> Option<String> {
    let of_both = records.iter().filter(|record| record.variant == variant && record.load == load);
    let doubts = of_both.flat_map(|record| {
        let is_foreign = record.foreign.is_some();
        let is_wanted = move |doubt: &Doubt| !(is_foreign && doubt.kind == DoubtKind::Generator);
        serious_doubts(record, records).into_iter().filter(is_wanted)
    });
    let mut doubts: Vec<Doubt> = doubts.collect();
    doubts.sort_by_key(|doubt| doubt.kind);
    grouped(&doubts).into_iter().next()
}

/// What can be wrong with runs, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum DoubtKind {
    FailedRun,
    Generator,
    FailedRequests,
    AcceptQueue,
    Interference,
    /// A run with interference that the figures do not rest on.
    LeftOut,
    MissedRate,
    WarmUp,
    Spread,
    SingleRun,
}

impl DoubtKind {
    /// Does it end the trust?
    #[must_use]
    pub fn is_serious(self) -> bool {
        self <= Self::Interference
    }

    /// Or is it about all runs of a variant under a load?
    #[must_use]
    pub const fn is_about_a_run(self) -> bool {
        !matches!(self, Self::Spread | Self::SingleRun)
    }
}

/// One thing that is wrong with one run, or with the runs of one variant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Doubt {
    pub kind: DoubtKind,
    pub variant: String,
    pub load: String,
    pub sentence: String,
}

impl Doubt {
    fn about(record: &Record, kind: DoubtKind, sentence: String) -> Self {
        Self { kind, variant: record.variant.clone(), load: record.load.clone(), sentence }
    }
}

/// The doubts by importance; of several of one kind about the same variant and load the first, and how many.
fn grouped(doubts: &[Doubt]) -> Vec<String> {
    let same = |a: &Doubt, b: &Doubt| (a.kind, &a.variant, &a.load) == (b.kind, &b.variant, &b.load);
    let mut sentences = Vec::new();
    for (index, doubt) in doubts.iter().enumerate() {
        if doubts[..index].iter().any(|before| same(before, doubt)) {
            continue;
        }
        let alike = doubts.iter().filter(|other| same(other, doubt)).count();
        let also =
            if alike > 1 { format!(" (and in {} more of its runs)", alike - 1) } else { String::new() };
        sentences.push(format!("{} under {}: {}{also}", doubt.variant, doubt.load, doubt.sentence));
    }
    sentences
}

fn failed_runs(experiment: &Experiment, records: &[Record]) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = records
        .iter()
        .filter(|record| !is_complete(record))
        .map(|record| {
            let why = record.failure.as_ref().map_or("interrupted", |failure| failure.why.as_str());
            Doubt::about(record, DoubtKind::FailedRun, format!("a run failed: {why}"))
        })
        .collect();
    let planned: BTreeSet<_> = plan(experiment).iter().map(|run| (run.variant, run.load)).collect();
    for (variant, load) in planned {
        let (variant, load) = (&experiment.variants[variant].name, &experiment.loads[load].name);
        if !records.iter().any(|record| record.variant == *variant && record.load == *load) {
            let sentence = "planned, but never ran".to_owned();
            let (variant, load) = (variant.clone(), load.clone());
            doubts.push(Doubt { kind: DoubtKind::FailedRun, variant, load, sentence });
        }
    }
    doubts
}

fn generator(record: &Record, load: &LoadReport) -> Option<Doubt> {
    if let Some(search) = &record.capacity {
        let rate = search.sustained_per_s.unwrap_or(0.0);
        let why = &search.why;
        return (search.ended == SearchEnd::Generator).then(|| {
            let sentence =
                format!("above {rate:.0}/s the load generator was the bottleneck, not the server: {why}");
            Doubt::about(record, DoubtKind::Generator, sentence)
        });
    }
    let why = load.generator.why.as_deref().unwrap_or("it could not send faster");
    load.generator.bottleneck.then(|| {
        Doubt::about(
            record,
            DoubtKind::Generator,
            format!("the load generator was the bottleneck, not the server: {why}"),
        )
    })
}

fn failures(record: &Record, load: &LoadReport) -> Option<Doubt> {
    let requests = load.requests;
    let cause =
        load.failures.iter().max_by_key(|&(_, count)| count).map_or("unknown", |(cause, _)| cause.as_str());
    (requests.failed > 0).then(|| {
        let share = 100.0 * requests.failed as f64 / requests.sent.max(1) as f64;
        Doubt::about(
            record,
            DoubtKind::FailedRequests,
            format!(
                "{} of {} requests failed ({share:.2} %), most of them: {cause}",
                requests.failed, requests.sent
            ),
        )
    })
}

fn overflows(record: &Record) -> Option<Doubt> {
    let overflows = record.network?.listen_overflows;
    (overflows > 0).then(|| {
        Doubt::about(
            record,
            DoubtKind::AcceptQueue,
            format!(
                "the server's accept queue overflowed {overflows} times, and such connections are retried after 1 s; set \
                 `accept_count` above the number of clients"
            ),
        )
    })
}

/// A disturbed run, and whether the figures rest on it: it is left out of them where enough undisturbed ones stay.
fn disturbed(record: &Record, records: &[Record]) -> Option<(bool, Doubt)> {
    let why = disturbance(record)?;
    let counted = complete(records, &record.variant, &record.load);
    let counts = counted.iter().any(|run| std::ptr::eq(*run, record));
    let undisturbed = counted.iter().filter(|run| disturbance(run).is_none()).count();
    let sentence = match (counts, undisturbed) {
        (false, _) => format!("left out of the figures: {why}"),
        (true, 0) => why,
        (true, _) => format!("{why} (kept: otherwise fewer than {FEWEST_UNDISTURBED} runs remain)"),
    };
    let kind = if counts { DoubtKind::Interference } else { DoubtKind::LeftOut };
    Some((counts, Doubt::about(record, kind, sentence)))
}

fn never_level(record: &Record) -> Option<Doubt> {
    let warm_up = record.warm_up.as_ref().filter(|warm_up| warm_up.levelled == Some(false))?;
    Some(Doubt::about(
        record,
        DoubtKind::WarmUp,
        format!(
            "still warming up when measuring began: the {} had not reached steady state after {:.0} s; use a longer \
             `warmup`",
            warm_up.judged_by, warm_up.lasted_s
        ),
    ))
}

fn missed_rate(record: &Record, load: &LoadReport) -> Option<Doubt> {
    let (rate, asked) = (load.rate_per_s, load.rate_per_s.asked?);
    let missed = rate.sent < SENT_OF_ASKED * asked || rate.completed < COMPLETED_OF_ASKED * asked;
    missed.then(|| {
        let (sent, completed) = (rate.sent, rate.completed);
        Doubt::about(
            record,
            DoubtKind::MissedRate,
            format!(
                "the requested rate of {asked:.0}/s was not reached: {sent:.0}/s sent, {completed:.0}/s completed"
            ),
        )
    })
}

fn wide_spreads(experiment: &Experiment, records: &[Record]) -> Vec<Doubt> {
    let wide = spreads(experiment, records).into_iter().filter(|spread| spread.rate > WIDE_SPREAD);
    let doubt = |spread: Spread| {
        let figures = if spread.metric == Metric::Score { "scores" } else { "rates" };
        let sentence = format!(
            "the {figures} of its {} runs differ by {:.0} % (interference, or too short a warm-up)",
            spread.runs,
            spread.rate * 100.0
        );
        Doubt { kind: DoubtKind::Spread, variant: spread.variant, load: spread.load, sentence }
    };
    wide.map(doubt).collect()
}

fn too_few_runs(experiment: &Experiment, records: &[Record]) -> Vec<Doubt> {
    let single = spreads(experiment, records).into_iter().filter(|spread| spread.runs < 2);
    let sentence = "one valid run: no interval; use --runs 3 or more";
    let doubt = |spread: Spread| Doubt {
        kind: DoubtKind::SingleRun,
        variant: spread.variant,
        load: spread.load,
        sentence: sentence.to_owned(),
    };
    single.map(doubt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;
    use crate::model::record::benchmark::BenchmarkScore;
    use crate::model::record::{Cost, NetworkCounters, RunFailure, WarmUp};
    use crate::stats::sample::{run, with_load};

    fn experiment() -> Experiment {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}}\nloads: \
            [{clients: 4, duration: 1s}]\n";
        parse("x", "x.yaml", text, false).expect("an experiment")
    }

    fn judged(records: &[Record]) -> (bool, String) {
        let (trusted, sentences) = trust(&experiment(), records);
        (trusted, sentences.join("\n"))
    }

    fn twice(record: &Record) -> Vec<Record> {
        vec![record.clone(), record.clone()]
    }

    #[test]
    fn healthy_runs_are_trusted_without_a_word() {
        assert_eq!(judged(&twice(&run("a", "c4", 100.0, 5.0))), (true, String::new()));
    }

    #[test]
    fn a_failed_run_ends_the_trust_and_is_said_first() {
        let mut failed = run("a", "c4", 100.0, 5.0);
        failed.failure =
            Some(RunFailure { why: "the server was gone after 3 s".into(), log_tail: Vec::new() });
        let mut records = twice(&run("a", "c4", 100.0, 5.0));
        records.push(failed);
        records.push(with_load(run("a", "c4", 100.0, 5.0), |load| load.generator.bottleneck = true));
        let (trusted, sentences) = judged(&records);
        assert!(!trusted);
        assert!(
            sentences.starts_with("a under c4: a run failed: the server was gone after 3 s\n"),
            "{sentences}"
        );
        assert!(sentences.contains("the load generator was the bottleneck"), "{sentences}");
    }

    #[test]
    fn a_variant_that_never_ran_is_missed() {
        assert_eq!(judged(&[]), (false, "a under c4: planned, but never ran".into()));
    }

    #[test]
    fn failed_requests_end_the_trust_with_their_cause() {
        let record = with_load(run("a", "c4", 100.0, 5.0), |load| {
            load.requests.failed = 10;
            load.failures.insert("connection refused".into(), 9);
            load.failures.insert("timeout".into(), 1);
        });
        let expected = "a under c4: 10 of 1000 requests failed (1.00 %), most of them: connection \
            refused (and in 1 more of its runs)";
        assert_eq!(judged(&twice(&record)), (false, expected.into()));
    }

    #[test]
    fn overflowing_accept_queues_end_the_trust() {
        let mut record = run("a", "c4", 100.0, 5.0);
        record.network = Some(NetworkCounters { listen_overflows: 21, ..NetworkCounters::default() });
        let (trusted, sentences) = judged(&twice(&record));
        assert!(!trusted && sentences.contains("overflowed 21 times"), "{sentences}");
        record.network = Some(NetworkCounters { syn_retransmits: 3, ..NetworkCounters::default() });
        assert_eq!(judged(&twice(&record)), (true, String::new()));
    }

    #[test]
    fn a_machine_busy_with_something_else_ends_the_trust() {
        let busy = |machine_cpu_cores| {
            let cost = Cost { machine_cpu_cores, cpu_cores: 1.0, machine_cores: 2, ..Cost::default() };
            let record = with_load(run("a", "c4", 100.0, 5.0), |load| load.generator.cpu_cores = 0.2);
            twice(&Record { cost: Some(cost), ..record })
        };
        assert_eq!(judged(&busy(1.4)), (true, String::new()));
        let (trusted, sentences) = judged(&busy(2.0));
        assert!(!trusted && sentences.contains("other processes used 0.80 of 2 cores"), "{sentences}");
    }

    #[test]
    fn a_busy_backend_is_no_disturbance() {
        let with = |backend_cpu_cores| {
            let cost = Cost {
                machine_cpu_cores: 2.0,
                cpu_cores: 1.0,
                backend_cpu_cores,
                machine_cores: 2,
                ..Cost::default()
            };
            let record = with_load(run("a", "c4", 100.0, 5.0), |load| load.generator.cpu_cores = 0.2);
            judged(&twice(&Record { cost: Some(cost), ..record })).0
        };
        assert!(!with(0.0));
        assert!(with(0.7));
    }

    #[test]
    fn a_benchmark_is_trusted_like_a_run_and_its_scores_may_not_differ_much() {
        let score = |score_us| {
            let benchmark = Some(BenchmarkScore { score_us, ..BenchmarkScore::default() });
            Record { measured: None, cost: None, benchmark, ..run("a", "jmh", 0.0, 0.0) }
        };
        let text = "question: q\nserver: {benchmark: b, method: m}\nvariants: {a: {}}\n\
            loads: [{iterations: 3, duration: 1s}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        assert_eq!(trust(&experiment, &[score(2.0), score(2.1)]), (true, Vec::new()));
        let (trusted, sentences) = trust(&experiment, &[score(2.0), score(2.5)]);
        assert!(trusted && sentences[0].contains("the scores of its 2 runs differ by 22 %"), "{sentences:?}");
        let busy = Cost { machine_cpu_cores: 2.0, cpu_cores: 1.0, machine_cores: 2, ..Cost::default() };
        let disturbed = Record { cost: Some(busy), ..score(2.0) };
        assert!(!trust(&experiment, &[disturbed.clone(), disturbed]).0);
    }

    #[test]
    fn a_hypervisor_that_takes_the_cores_away_ends_the_trust() {
        let robbed = |stolen_cores| {
            let cost = Cost { stolen_cores, machine_cores: 2, ..Cost::default() };
            twice(&Record { cost: Some(cost), ..run("a", "c4", 100.0, 5.0) })
        };
        assert_eq!(judged(&robbed(0.1)), (true, String::new()));
        let (trusted, sentences) = judged(&robbed(0.5));
        assert!(!trusted && sentences.contains("CPU steal: 0.50 of 2 cores"), "{sentences}");
    }

    #[test]
    fn a_robbed_run_beside_healthy_ones_is_left_out_and_said_and_the_others_are_trusted() {
        let cost = Cost { stolen_cores: 0.5, machine_cores: 2, ..Cost::default() };
        let mut records = twice(&run("a", "c4", 100.0, 5.0));
        records.push(Record { cost: Some(cost), ..run("a", "c4", 50.0, 5.0) });
        let (trusted, sentences) = judged(&records);
        assert!(trusted, "{sentences}");
        assert!(
            sentences.starts_with("a under c4: left out of the figures: CPU steal: 0.50 of 2 cores"),
            "{sentences}"
        );
        assert!(!sentences.contains("differ by"), "its rate is no spread of the others: {sentences}");
    }

    #[test]
    fn a_robbed_run_beside_one_healthy_run_counts_ends_the_trust_and_is_said() {
        let cost = Cost { stolen_cores: 0.5, machine_cores: 2, ..Cost::default() };
        let robbed = Record { cost: Some(cost), ..run("a", "c4", 50.0, 5.0) };
        let (trusted, sentences) = judged(&[run("a", "c4", 100.0, 5.0), robbed]);
        assert!(!trusted, "{sentences}");
        let expected = "(kept: otherwise fewer than 2 runs remain)";
        assert!(sentences.lines().next().is_some_and(|line| line.ends_with(expected)), "{sentences}");
        assert!(sentences.contains("the rates of its 2 runs differ by"), "{sentences}");
    }

    #[test]
    fn a_warm_up_that_never_levelled_off_is_said() {
        let warmed = |levelled| {
            let warm_up = WarmUp { lasted_s: 10.0, at_most_s: 10.0, levelled, judged_by: "rate".into() };
            twice(&Record { warm_up: Some(warm_up), ..run("a", "c4", 100.0, 5.0) })
        };
        let (trusted, sentences) = judged(&warmed(Some(false)));
        assert!(trusted && sentences.contains("the rate had not reached steady state after 10 s"));
        assert!(sentences.ends_with("(and in 1 more of its runs)"), "{sentences}");
        assert_eq!(judged(&warmed(Some(true))), (true, String::new()));
        assert_eq!(judged(&warmed(None)), (true, String::new()));
    }

    #[test]
    fn a_missed_rate_is_said_and_the_figures_stay_true() {
        let missed = with_load(run("a", "c4", 3668.0, 5.0), |load| load.rate_per_s.asked = Some(5000.0));
        let (trusted, sentences) = judged(&twice(&missed));
        assert!(trusted && sentences.contains("5000/s was not reached: 3668/s sent"), "{sentences}");
        let reached = with_load(run("a", "c4", 4960.0, 5.0), |load| load.rate_per_s.asked = Some(5000.0));
        assert_eq!(judged(&twice(&reached)), (true, String::new()));
    }

    #[test]
    fn a_wide_spread_and_a_single_run_are_said() {
        let spread = [run("a", "c4", 100.0, 5.0), run("a", "c4", 120.0, 5.0)];
        assert!(judged(&spread).1.contains("the rates of its 2 runs differ by 18 %"));
        assert!(judged(&spread).0);
        assert!(judged(&spread[..1]).1.contains("one valid run"));
    }
}
