//! The experiments of the Spring chain, Spring Boot and the computation have the figures of their studies.
#![allow(clippy::expect_used, reason = "a test")]

use std::path::Path;
use threadcount::config::read;
use threadcount::model::experiment::Experiment;
use threadcount::model::experiment::open_files::leave_out_too_large;
use threadcount::model::experiment::plan::{estimate_s, plan};
use threadcount::model::metric::Metric;

fn experiment(name: &str, quick: bool) -> Experiment {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../experiments").join(name), quick)
        .expect("an experiment")
}

fn published(experiment: &Experiment, variant: &str, load: &str, metric: Metric) -> Option<f64> {
    let first = experiment.loads[0].name.as_str();
    let mut here = experiment
        .published
        .iter()
        .filter(|entry| entry.variant == variant && entry.load.as_deref().unwrap_or(first) == load);
    here.find_map(|entry| entry.figures.get(metric.name()).copied())
}

#[test]
fn the_chain_has_every_size_of_the_study_and_its_figures() {
    let chain = experiment("spring-chain.yaml", false);
    let names: Vec<_> = chain.loads.iter().map(|load| load.name.as_str()).collect();
    assert_eq!(names, ["c1000", "c5000", "c10000", "c15000", "c20000"]);
    assert_eq!(chain.published.len(), 15);
    let figure = |variant: &str, load: &str, metric| published(&chain, variant, load, metric);
    assert_eq!(figure("servlet-platform", "c20000", Metric::Rate), Some(15_222.83));
    assert_eq!(figure("servlet-platform", "c20000", Metric::Max), Some(17_918.0));
    assert_eq!(figure("servlet-virtual", "c20000", Metric::Rate), Some(20_214.73));
    assert_eq!(figure("servlet-virtual", "c1000", Metric::P99), Some(918.0));
    assert_eq!(figure("webflux", "c15000", Metric::Mean), Some(953.0));
    assert_eq!(figure("webflux", "c5000", Metric::P95), Some(914.0));
}

#[test]
fn what_20_000_open_files_allow_of_the_chain_is_1_000_and_5_000_clients() {
    let mut chain = experiment("spring-chain.yaml", false);
    let left_out = leave_out_too_large(&mut chain, 20_000);
    let names: Vec<_> = left_out.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["c10000", "c15000", "c20000"]);
    assert!(plan(&chain).iter().all(|run| run.load < 2));
}

#[test]
fn spring_boot_has_the_figures_of_the_study() {
    let boot = experiment("spring-boot.yaml", false);
    assert_eq!(published(&boot, "boot3-platform", "c400", Metric::Rate), Some(3_938.291));
    assert_eq!(published(&boot, "boot3-virtual", "c400", Metric::P99), Some(53.9));
}

#[test]
fn the_computation_has_the_figures_of_the_study() {
    let computation = experiment("computation.yaml", false);
    let scores =
        ["caller", "virtual", "platform"].map(|it| published(&computation, it, "jmh", Metric::Score));
    assert_eq!(scores, [Some(2.0), Some(5.0), Some(37.0)]);
}

#[test]
fn the_quick_sizes_take_under_ninety_seconds() {
    for (name, runs) in [("spring-chain.yaml", 3), ("spring-boot.yaml", 4), ("computation.yaml", 9)] {
        let small = experiment(name, true);
        assert_eq!(plan(&small).len(), runs, "{name}");
        assert!(estimate_s(&small).is_some_and(|seconds| seconds < 90.0), "{name}: {:?}", estimate_s(&small));
    }
}
