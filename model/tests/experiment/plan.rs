//! Tests of the runs of an experiment and their order.

use threadcount_config::parse;
use threadcount_model::experiment::plan::*;
use threadcount_model::experiment::*;

fn experiment(text: &str) -> Experiment {
    let head = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}, c: {}}\n";
    parse("x", "x.yaml", &format!("{head}{text}"), false).expect("an experiment")
}

fn order(experiment: &Experiment) -> String {
    let names = plan(experiment).into_iter().map(|run| {
        assert_eq!(run.load, 0);
        experiment.variants[run.variant].name.clone()
    });
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn rounds_alternate_the_order_of_the_variants() {
    let experiment = experiment("loads: [{clients: 1, duration: 1s, runs: 3}]");
    assert_eq!(order(&experiment), "a b c c b a a b c");
    let rounds: Vec<u32> = plan(&experiment).iter().map(|run| run.round).collect();
    assert_eq!(rounds, [1, 1, 1, 2, 2, 2, 3, 3, 3]);
    let positions: Vec<u32> = plan(&experiment).iter().map(|run| run.position).collect();
    assert_eq!(positions, (1..=9).collect::<Vec<_>>());
}

#[test]
fn a_load_runs_only_its_variants() {
    let experiment = experiment("loads: [{clients: 1, duration: 1s, runs: 2, variants: [c, a]}]");
    assert_eq!(order(&experiment), "a c c a");
}

#[test]
fn a_variant_that_cannot_run_here_is_left_out() {
    let mut experiment = experiment("loads: [{clients: 1, duration: 1s, runs: 2}]");
    experiment.variants[0].skipped = Some("there is no Ada here".into());
    assert_eq!(order(&experiment), "b c c b");
}

#[test]
fn loads_come_one_after_the_other() {
    let experiment = experiment("runs: 1\nloads: [{clients: 1, duration: 1s}, {clients: 2, duration: 1s}]");
    let loads: Vec<usize> = plan(&experiment).iter().map(|run| run.load).collect();
    assert_eq!(loads, [0, 0, 0, 1, 1, 1]);
}
