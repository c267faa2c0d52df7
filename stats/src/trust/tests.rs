use super::*;
use threadcount_config::parse;
use threadcount_load::failure::FailureCause;
use threadcount_load::times::TimesSummary;
use threadcount_model::record::benchmark::BenchmarkScore;
use threadcount_model::record::resource_limits::{CpuLimits, ResourceLimits, SharedGroup};
use threadcount_model::record::{
    BackendFigures, Cost, NetworkCounters, RunFailure, SteadyBy, WarmUp, WarmUpFigure,
};
use threadcount_model::sample::{run, with_cost, with_load};

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
    doubts.iter().map(threadcount_judge::words::reasons::doubt).collect()
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
        Some(RunFailure { why: "the server was gone after 3 s".into(), ..RunFailure::default() });
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
        load.failure_causes.insert(FailureCause::ConnectionRefused, 9);
        load.failure_causes.insert(FailureCause::RequestTimeout, 1);
    });
    let expected = "a under c4: 10 of 1,000 requests failed (1.0 %), mostly connection \
        refused (and in 1 more of its runs)";
    assert_eq!(judged(&twice(&record)), (false, expected.into()));
}

#[test]
fn requests_that_hang_while_others_are_answered_end_the_trust_and_slow_ones_do_not() {
    let with_oldest = |oldest_s: f64, longest_s: f64| {
        let at_most = |max_s: f64| {
            let mut times = TimesSummary::default();
            times.max = 1e3 * max_s;
            Some(times)
        };
        let record = with_load(run("a", "c4", 100.0, 5.0), |load| {
            (load.elapsed_s, load.unfinished_age_ms) = (10.0, at_most(oldest_s));
            load.response_time_ms = at_most(longest_s);
        });
        judged(&twice(&record))
    };
    let expected = "a under c4: some requests had no response, the oldest for 12.0 s; all others were much faster (and \
                    in 1 more of its runs)";
    assert_eq!(with_oldest(12.0, 0.2), (false, expected.into()));
    assert_eq!(with_oldest(4.9, 0.2), (true, String::new()), "less than half of the window");
    assert_eq!(with_oldest(6.0, 0.9), (true, String::new()), "others took nearly a second");
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
    let refused = with_load(record.clone(), |load| {
        load.requests.ok = 1;
        load.status = [(200, 1), (401, 12_000)].into();
    });
    assert!(!trust(&overload, &twice(&refused)).0, "a password is missing");
    let busy = with_load(record.clone(), |load| load.status = [(200, 1), (429, 12_000)].into());
    assert!(trust(&overload, &twice(&busy)).0);
    let unfinished = with_load(record.clone(), |load| load.requests.failed = 0);
    let alone = twice(&unfinished);
    assert!(doubt_about(&overload, ("a", "c4"), Metric::P99, &alone).is_some(), "most have no response yet");
    assert_eq!(doubt_about(&overload, ("a", "c4"), Metric::MemoryNeeded, &alone), None);
    let nothing = with_load(record, |load| load.requests.ok = 0);
    assert!(!trust(&overload, &twice(&nothing)).0, "a path that does not exist");
}

#[test]
fn where_losses_are_expected_failed_requests_are_a_figure_and_the_times_of_the_others_are_not() {
    let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}}\nloads: \
        [{name: c4, rate: 100/s, duration: 1s, losses: expected}]\n";
    let stalled = parse("x", "x.yaml", text, false).expect("an experiment");
    let record = with_load(run("a", "c4", 100.0, 5.0), |load| load.requests.failed = 10);
    let records = twice(&record);
    assert_eq!(trust(&stalled, &records), (true, Vec::new()));
    let doubt = |metric| doubt_about(&stalled, ("a", "c4"), metric, &records);
    assert_eq!(doubt(Metric::Unanswered), None);
    assert!(doubt(Metric::P99).is_some(), "that of the survivors");
}

#[test]
fn a_hundredth_of_wrong_requests_ends_the_trust_and_refusals_and_expected_responses_do_not() {
    let trusted = |keys: &str, status: u16, count: u64| {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{a: {{}}}}\nloads: \
            [{{name: c4, rate: 100/s, duration: 1s, losses: expected{keys}}}]\n"
        );
        let stalled = parse("x", "x.yaml", &text, false).expect("an experiment");
        let record = with_load(run("a", "c4", 100.0, 5.0), |load| {
            load.requests.failed = 11;
            load.status = [(200, 1_000), (status, count)].into();
        });
        trust(&stalled, &twice(&record)).0
    };
    assert!(trusted("", 404, 10), "1 %");
    assert!(!trusted("", 404, 11));
    assert!(trusted("", 429, 500) && trusted("", 503, 500), "refused");
    assert!(trusted(", expect: [200, 404]", 404, 500));
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
    let expected = "a under c4: the backend `proxy` was the limit, not the server's threads: it uses 1.30 of 1.90 cores in use on its 2 full cores (and in 1 more of its runs)";
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
fn a_server_that_fills_the_cpu_in_the_scheduling_group_of_the_load_generator_is_said_and_one_on_its_own_cores_is_not()
 {
    let with = |shared_group, cpu_cores, affinity_cpus| {
        let cost = Cost { cpu_cores, machine_cpu_cores: cpu_cores, machine_cores: 2, ..Cost::default() };
        let cpus = CpuLimits { affinity_cpus, ..CpuLimits::default() };
        let limits = ResourceLimits {
            machine_cpus: 2,
            server: cpus,
            generator: cpus,
            shared_group,
            ..Default::default()
        };
        judged(&twice(&Record {
            cost: Some(cost),
            resource_limits: Some(limits),
            ..run("a", "c4", 100.0, 5.0)
        }))
    };
    let (trusted, sentence) = with(Some(SharedGroup::ControlGroup), 1.2, 2);
    let expected = "a under c4: the load generator and the server share a scheduling group, so many threads gain; give the server a control group (and in 1 more of its runs)";
    assert_eq!((trusted, sentence.as_str()), (true, expected));
    assert_eq!(with(None, 1.2, 2).1, "");
    assert_eq!(with(Some(SharedGroup::Session), 0.3, 2).1, "", "there is room for all");
    assert_eq!(with(Some(SharedGroup::Session), 1.0, 1).1, "", "each has a core");
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
    let expected = "(kept: otherwise too few runs remain)";
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
    let (_, printed) = judged(&[warmed(&[]), warmed(little), warmed(much)]);
    let expected = "a under c4: still warming up when measuring began: the rate had not reached steady state and the \
        JVM's compiler was still busy after 10 s; use a longer `warmup` (and in 1 more of its runs)";
    assert_eq!(printed, expected);
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
    assert!(doubts.iter().all(|it| matches!(it.reason, DoubtReason::CompilerBusy { .. })), "{doubts:?}");
    // Look-alikes: a compiler within its share; no JVM; a load that measures a cold server on purpose.
    for silent in [measured(Some(0.04), warmed.clone()), measured(None, warmed), measured(Some(0.5), None)] {
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
