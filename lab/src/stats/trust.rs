//! May the figures be believed? If not, why not.

use super::backend_limit::backend_limit;
use super::compiler::busy_compiler;
use super::disturbance::{disturbance, left_room};
use super::doubt_groups::{grouped, worst_first};
use super::runs::{complete, is_complete};
use super::spread::{Spread, spreads};
use super::unequally_warm::unequally_warm;
use crate::model::experiment::Experiment;
use crate::model::experiment::plan::plan;
use crate::model::metric::Metric;
use crate::model::record::Record;
use crate::model::record::capacity::SearchEnd;
use crate::model::result::{Doubt, DoubtReason};
use std::collections::BTreeSet;
use threadcount_load::report::LoadReport;

/// Runs of one variant that differ by more than this disturb each other, or something disturbs them.
const WIDE_SPREAD: f64 = 0.10;
/// Less than this much of the asked rate was sent: a missed rate.
const SENT_OF_ASKED: f64 = 0.99;
/// Less than this much was answered: the server falls behind (what is in flight at the end is always missing).
const COMPLETED_OF_ASKED: f64 = 0.95;

/// What is doubtful about the runs, the most important first, and whether the figures may be believed all the same.
///
/// Failed runs, a load generator that was the bottleneck, unexpected failures, overflowing accept queues and a
/// machine that is busy with something else end the trust: such figures are not the server's. What the user interrupted or
/// what never ran takes nothing from the runs that were complete; without any there is nothing to trust. A run with interference that
/// is left out, a missed rate, a warm-up without a steady state, a wide spread and too few runs are said as well, and do
/// not end it: the figures are true, and the intervals (or their absence) already say how little they prove.
#[must_use]
pub fn trust(experiment: &Experiment, records: &[Record]) -> (bool, Vec<Doubt>) {
    let doubts = doubts(experiment, records);
    let is_missing =
        |doubt: &Doubt| matches!(doubt.reason, DoubtReason::RunInterrupted | DoubtReason::NeverRan);
    let nothing_to_trust = !records.iter().any(is_complete) && doubts.iter().any(is_missing);
    let trusted = !nothing_to_trust && doubts.iter().all(|doubt| !doubt.reason.is_serious());
    (trusted, grouped(doubts))
}

/// Everything that is doubtful about the runs, one by one, the most important first.
#[must_use]
pub fn doubts(experiment: &Experiment, records: &[Record]) -> Vec<Doubt> {
    let mut doubts = failed_runs(experiment, records);
    for record in records {
        doubts.extend(serious_doubts(record, records, may_lose(experiment, record, None)));
        doubts.extend(interference(record, records).filter(|reason| !reason.is_serious()).map(about(record)));
        if !may_lose(experiment, record, None) {
            doubts.extend(record.measured.as_ref().and_then(missed_rate).map(about(record)));
        }
        doubts.extend(not_steady(record).map(about(record)));
        let compiler = busy_compiler(record).map(|share| DoubtReason::CompilerBusy { share });
        doubts.extend(compiler.map(about(record)));
    }
    doubts.extend(unequally_warm(experiment, records));
    doubts.extend(spread_doubts(experiment, records));
    doubts.sort_by(worst_first);
    doubts
}

/// What ends the trust in one run that was measured.
/// `may_lose`: requests that fail are what is measured.
fn serious_doubts(record: &Record, records: &[Record], may_lose: bool) -> Vec<Doubt> {
    let load = record.measured.as_ref();
    let reasons = [
        load.and_then(|load| generator(record, load)),
        load.and_then(|_| backend(record, records)),
        load.filter(|_| !may_lose).and_then(failures),
        overflows(record).filter(|_| !may_lose),
        interference(record, records).filter(DoubtReason::is_serious),
    ];
    reasons.into_iter().flatten().map(about(record)).collect()
}

/// Why nothing may be concluded from the figures of this variant under this load, the most important reason; `None`: it
/// may. That somebody else's tool was the bottleneck of its own figures is what these figures are there to show.
#[must_use]
pub fn doubt_about(
    experiment: &Experiment,
    (variant, load): (&str, &str),
    metric: Metric,
    records: &[Record],
) -> Option<Doubt> {
    let of_both = records.iter().filter(|record| record.variant == variant && record.load == load);
    let doubts = of_both.flat_map(|record| {
        let is_external = record.external.is_some();
        let is_wanted = move |doubt: &Doubt| !(is_external && doubt.reason.is_of_generator());
        serious_doubts(record, records, may_lose(experiment, record, Some(metric)))
            .into_iter()
            .filter(is_wanted)
    });
    grouped(doubts.collect()).into_iter().next()
}

/// Why nothing may be concluded from the server's CPU in particular: a compiler was busy in one of the runs that count.
#[must_use]
pub fn doubt_about_cpu(variant: &str, load: &str, records: &[Record]) -> Option<Doubt> {
    let busy = complete(records, variant, load).into_iter().filter_map(|record| {
        Some(about(record)(DoubtReason::CompilerBusy { share: busy_compiler(record)? }))
    });
    grouped(busy.collect()).into_iter().next()
}

/// In an overload requests that fail and a rate that is not reached are what is measured; but not where nothing succeeds, and not by figures
/// of the requests that did not fail. `None`: the page as a whole.
fn may_lose(experiment: &Experiment, record: &Record, metric: Option<Metric>) -> bool {
    let is_overload = experiment.load(&record.load).is_some_and(|load| load.workload.is_overload());
    let succeeds = record.measured.as_ref().is_some_and(|load| load.requests.ok > 0);
    let counts_losses = |metric| matches!(metric, Metric::Rate | Metric::Unanswered | Metric::TimeBehind);
    is_overload && succeeds && metric.is_none_or(counts_losses)
}

/// A reason as a doubt about one run.
fn about(record: &Record) -> impl Fn(DoubtReason) -> Doubt {
    let (variant, load) = (record.variant.clone(), record.load.clone());
    move |reason| Doubt { variant: variant.clone(), load: load.clone(), runs: 1, reason }
}

fn failed_runs(experiment: &Experiment, records: &[Record]) -> Vec<Doubt> {
    let failed = records.iter().filter(|record| !is_complete(record)).map(|record| {
        let why = record.failure.as_ref().map(|failure| failure.why.clone());
        let reason = why.map_or(DoubtReason::RunInterrupted, |why| DoubtReason::RunFailed { why });
        about(record)(reason)
    });
    let mut doubts: Vec<Doubt> = failed.collect();
    let planned: BTreeSet<_> = plan(experiment).iter().map(|run| (run.variant, run.load)).collect();
    for (variant, load) in planned {
        let (variant, load) = (&experiment.variants[variant].name, &experiment.loads[load].name);
        if !records.iter().any(|record| record.variant == *variant && record.load == *load) {
            let reason = DoubtReason::NeverRan;
            doubts.push(Doubt { variant: variant.clone(), load: load.clone(), runs: 1, reason });
        }
    }
    doubts
}

fn generator(record: &Record, load: &LoadReport) -> Option<DoubtReason> {
    if let Some(search) = &record.capacity {
        let above_per_s = search.sustained_per_s.unwrap_or(0.0);
        return (search.ended == SearchEnd::Generator)
            .then_some(DoubtReason::GeneratorBelowCapacity { above_per_s });
    }
    let generator = &load.generator;
    generator.bottleneck.then(|| DoubtReason::GeneratorBottleneck { why: generator.why.clone() })
}

fn backend(record: &Record, records: &[Record]) -> Option<DoubtReason> {
    let alike = records.iter().filter(|it| it.variant == record.variant && it.load == record.load);
    let (backend, by) = backend_limit(record, &alike.collect::<Vec<_>>())?;
    Some(DoubtReason::BackendLimit { backend: backend.to_owned(), by })
}

fn failures(load: &LoadReport) -> Option<DoubtReason> {
    let requests = load.requests;
    let cause = load.failures.iter().max_by_key(|&(_, count)| count).map(|(cause, _)| cause.clone());
    (requests.failed > 0).then_some(DoubtReason::RequestsFailed {
        failed: requests.failed,
        sent: requests.of_window(),
        cause,
    })
}

fn overflows(record: &Record) -> Option<DoubtReason> {
    let overflows = record.network?.listen_overflows;
    (overflows > 0).then_some(DoubtReason::AcceptQueueOverflow { overflows })
}

/// A run with interference: the figures leave it out where enough others stay, and rest on it where not. That ends the trust,
/// unless everybody had room: then what the neighbour did is in the noise of the rounds, and so in the intervals.
fn interference(record: &Record, records: &[Record]) -> Option<DoubtReason> {
    let by = disturbance(record)?;
    let counted = complete(records, &record.variant, &record.load);
    let counts = counted.iter().any(|run| std::ptr::eq(*run, record));
    let undisturbed = counted.iter().filter(|run| disturbance(run).is_none()).count();
    Some(match counts {
        false => DoubtReason::LeftOut { by },
        true if left_room(record) => DoubtReason::SharedMachine { by },
        true => DoubtReason::Interference { by, kept: undisturbed > 0 },
    })
}

fn not_steady(record: &Record) -> Option<DoubtReason> {
    let warm_up = record.warm_up.as_ref().filter(|warm_up| warm_up.levelled == Some(false))?;
    Some(DoubtReason::NotSteady {
        judged_by: warm_up.judged_by,
        after_s: warm_up.lasted_s,
        unsteady: warm_up.unsteady.clone(),
    })
}

fn missed_rate(load: &LoadReport) -> Option<DoubtReason> {
    let (rate, asked) = (load.rate_per_s, load.rate_per_s.asked?);
    let missed = rate.sent < SENT_OF_ASKED * asked || rate.completed < COMPLETED_OF_ASKED * asked;
    missed.then_some(DoubtReason::RateMissed {
        asked_per_s: asked,
        sent_per_s: rate.sent,
        completed_per_s: rate.completed,
    })
}

/// Runs that differ a lot, and single ones.
fn spread_doubts(experiment: &Experiment, records: &[Record]) -> Vec<Doubt> {
    let reason = |spread: &Spread| match spread.runs {
        0 | 1 => Some(DoubtReason::SingleRun),
        _ => (spread.rate > WIDE_SPREAD)
            .then_some(DoubtReason::WideSpread { metric: spread.metric, share: spread.rate }),
    };
    let spreads = spreads(experiment, records).into_iter();
    let doubts = spreads.filter_map(|spread| {
        let reason = reason(&spread)?;
        Some(Doubt { variant: spread.variant, load: spread.load, runs: spread.runs as u32, reason })
    });
    doubts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;
    use crate::model::record::benchmark::BenchmarkScore;
    use crate::model::record::{
        BackendFigures, Cost, NetworkCounters, RunFailure, SteadyBy, WarmUp, WarmUpFigure,
    };
    use crate::stats::sample::{run, with_cost, with_load};

    fn experiment() -> Experiment {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}}\nloads: \
            [{clients: 4, duration: 1s}]\n";
        parse("x", "x.yaml", text, false).expect("an experiment")
    }

    fn judged(records: &[Record]) -> (bool, String) {
        let (trusted, doubts) = trust(&experiment(), records);
        (trusted, sentences(&doubts).join("\n"))
    }

    fn sentences(doubts: &[Doubt]) -> Vec<String> {
        doubts.iter().map(crate::report::reasons::doubt).collect()
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
    fn a_run_that_the_user_ended_is_said_and_takes_nothing_from_those_before() {
        let ended = Record { measured: None, cost: None, ..run("a", "c4", 100.0, 5.0) };
        let mut records = twice(&run("a", "c4", 100.0, 5.0));
        records.push(ended.clone());
        assert_eq!(
            judged(&records),
            (true, "a under c4: a run was interrupted by the user; it does not count".into())
        );
        assert!(!judged(&[ended]).0, "nothing was measured");
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
        let expected = "a under c4: 10 of 1,000 requests failed (1.0 %), most of them: connection \
            refused (and in 1 more of its runs)";
        assert_eq!(judged(&twice(&record)), (false, expected.into()));
    }

    #[test]
    fn in_an_overload_failed_requests_and_a_missed_rate_are_the_figures() {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}}\nloads: \
            [{name: c4, rate: 1000/s, duration: 1s, overload: true}]\n";
        let overload = parse("x", "x.yaml", text, false).expect("an experiment");
        let record = with_load(run("a", "c4", 100.0, 5.0), |load| {
            load.requests.failed = 10;
            load.rate_per_s.asked = Some(1_000.0);
        });
        let network = Some(NetworkCounters { listen_overflows: 21, ..NetworkCounters::default() });
        let record = Record { network, ..record };
        let records = twice(&record);
        assert_eq!(trust(&overload, &records), (true, Vec::new()));
        let doubt = |experiment: &Experiment, metric| doubt_about(experiment, ("a", "c4"), metric, &records);
        assert_eq!(doubt(&overload, Metric::Rate), None);
        assert!(doubt(&overload, Metric::P99).is_some(), "that of the survivors");
        assert!(doubt(&experiment(), Metric::Rate).is_some());
        let nothing = with_load(record, |load| load.requests.ok = 0);
        assert!(!trust(&overload, &twice(&nothing)).0, "a path that does not exist");
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
        let (trusted, sentences) = judged(&busy(1.52));
        assert!(!trusted && sentences.contains("other processes used 0.32 of 2 cores"), "{sentences}");
        let (trusted, sentences) = judged(&busy(2.0));
        assert!(!trusted && sentences.contains("other processes used 0.80 of 2 cores"), "{sentences}");
    }

    #[test]
    fn a_backend_that_is_the_limit_ends_the_trust_with_its_reason_and_a_busy_one_does_not() {
        let with = |cpu_cores, cores_in_use| {
            let backend = BackendFigures {
                name: "proxy".to_owned(),
                cpu_cores,
                cores: vec![0, 1],
                cores_in_use: Some(cores_in_use),
                ..BackendFigures::default()
            };
            let change = |cost: &mut Cost| {
                (cost.machine_cpu_cores, cost.backend_cpu_cores) = (cores_in_use, cpu_cores);
            };
            Record { backends: vec![backend], ..with_cost(run("a", "c4", 100.0, 5.0), change) }
        };
        let (trusted, sentences) = judged(&twice(&with(1.3, 1.9)));
        assert!(!trusted);
        let expected = "a under c4: the backend `proxy` was the limit, not the server's threads: it uses 1.30 of the 1.90 cores \
            in use on its 2 cores, which are full (and in 1 more of its runs)";
        assert_eq!(sentences, expected);
        assert_eq!(judged(&twice(&with(0.9, 1.5))), (true, String::new()));
    }

    #[test]
    fn other_processes_that_leave_a_quarter_of_the_machine_idle_are_said_and_do_not_end_the_trust() {
        let cost = Cost { machine_cpu_cores: 1.0, cpu_cores: 0.3, machine_cores: 2, ..Cost::default() };
        let record = with_load(run("a", "c4", 100.0, 5.0), |load| load.generator.cpu_cores = 0.1);
        let (trusted, sentences) = judged(&twice(&Record { cost: Some(cost), ..record }));
        assert!(trusted && sentences.contains("other processes used 0.60 of 2 cores"), "{sentences}");
        assert!(sentences.contains("a quarter of the machine or more stayed idle"), "{sentences}");
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
        let (trusted, doubts) = trust(&experiment, &[score(2.0), score(2.5)]);
        let sentences = sentences(&doubts);
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
            let warm_up = WarmUp {
                lasted_s: 10.0,
                at_most_s: 10.0,
                levelled,
                judged_by: SteadyBy::Rate,
                ..WarmUp::default()
            };
            twice(&Record { warm_up: Some(warm_up), ..run("a", "c4", 100.0, 5.0) })
        };
        let (trusted, sentences) = judged(&warmed(Some(false)));
        assert!(trusted && sentences.contains("the rate had not reached steady state after 10 s"));
        assert!(sentences.ends_with("(and in 1 more of its runs)"), "{sentences}");
        assert_eq!(judged(&warmed(Some(true))), (true, String::new()));
        assert_eq!(judged(&warmed(None)), (true, String::new()));
    }

    #[test]
    fn of_several_runs_that_were_not_warm_the_most_unsteady_is_shown() {
        let warmed = |unsteady: &[WarmUpFigure]| {
            let warm_up = WarmUp {
                lasted_s: 10.0,
                levelled: Some(unsteady.is_empty()),
                unsteady: unsteady.to_vec(),
                ..WarmUp::default()
            };
            Record { warm_up: Some(warm_up), ..run("a", "c4", 100.0, 5.0) }
        };
        let [little, much] = [&[WarmUpFigure::Cpu][..], &[WarmUpFigure::Rate, WarmUpFigure::Compiler]];
        let (_, said) = judged(&[warmed(&[]), warmed(little), warmed(much)]);
        let expected = "a under c4: still warming up when measuring began: the rate had not reached steady state and the \
            JVM's compiler was still busy after 10 s; use a longer `warmup` (and in 1 more of its runs)";
        assert_eq!(said, expected);
    }

    #[test]
    fn a_compiler_that_is_busy_while_measuring_doubts_cpu_per_request_and_nothing_else() {
        let measured = |jit_cpu_cores, warm_up: Option<WarmUp>| {
            let mut record = Record { warm_up, ..run("a", "c4", 100.0, 5.0) };
            record.cost = record.cost.map(|cost| Cost { cpu_cores: 1.0, jit_cpu_cores, ..cost });
            twice(&record)
        };
        let warmed = Some(WarmUp { levelled: Some(true), ..WarmUp::default() });
        let records = measured(Some(0.23), warmed.clone());
        let (trusted, sentences) = judged(&records);
        assert!(trusted && sentences.contains("23 % of the server's CPU"), "{sentences}");
        assert!(sentences.contains("CPU per request"), "{sentences}");
        let (_, doubts) = trust(&experiment(), &records);
        assert!(doubts.iter().all(|it| it.reason.concerns(Metric::CpuPerRequest)));
        assert!(doubts.iter().all(|it| !it.reason.concerns(Metric::Rate)));
        // Look-alikes: within its share; no JVM; a load that measures a cold server on purpose.
        for silent in
            [measured(Some(0.04), warmed.clone()), measured(None, warmed), measured(Some(0.5), None)]
        {
            assert_eq!(judged(&silent), (true, String::new()));
        }
    }

    #[test]
    fn a_missed_rate_is_said_and_the_figures_stay_true() {
        let missed = with_load(run("a", "c4", 3668.0, 5.0), |load| load.rate_per_s.asked = Some(5000.0));
        let (trusted, sentences) = judged(&twice(&missed));
        assert!(trusted && sentences.contains("5,000/s was not reached: 3,668/s sent"), "{sentences}");
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
