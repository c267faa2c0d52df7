//! Checks the experiments that come with Threadcount.

use std::path::{Path, PathBuf};
use threadcount_config::find::Places;
use threadcount_config::read;
use threadcount_model::experiment::open_files::leave_out_too_large;
use threadcount_model::experiment::plan::plan;
use threadcount_model::experiment::{Experiment, Server, SessionSize};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../experiments")
}

fn experiment(name: &str, quick: bool) -> Experiment {
    read(&folder().join(name), quick).expect("an experiment")
}

fn published(experiment: &Experiment, variant: &str, load: &str, metric: &str) -> Option<f64> {
    let first = experiment.loads[0].name.as_str();
    let here = experiment
        .published
        .iter()
        .filter(|entry| entry.variant == variant && entry.load.as_deref().unwrap_or(first) == load);
    here.filter_map(|entry| entry.figures.get(metric).copied()).next()
}

#[test]
fn every_experiment_can_be_read_in_each_size_and_claims_of_studies_are_decided_in_twelve_minutes() {
    let listed = Places::from_folders([folder()]).list();
    assert!(listed.len() >= 2);
    for line in listed {
        let about = line.about.unwrap_or_else(|error| panic!("{}: {error}", line.name));
        for size in [about.full, about.decided, about.quick] {
            assert!(size.estimate_s.is_some_and(|seconds| seconds > 0.0), "{}", line.name);
        }
        let is_short = about.decided.estimate_s.is_some_and(|seconds| seconds <= 720.0);
        assert!(is_short || about.study.is_none(), "{}: {:?}", line.name, about.decided);
        assert!(!about.needs.is_empty(), "{}", line.name);
    }
}

#[test]
fn each_variant_and_load_that_a_claim_is_about_runs_in_the_decided_size() {
    for line in Places::from_folders([folder()]).list() {
        let decided = read(&line.path, SessionSize::Decided).expect("an experiment");
        let figures = decided.claims.iter().flat_map(|claim| claim.expression.figures());
        let runs = |variant: &str, load: &str| {
            let load = decided.load(load).expect("its load");
            decided.variants.iter().any(|it| it.name == variant && load.includes(&it.name))
        };
        let missing: Vec<_> = figures.filter(|it| !runs(&it.variant, &it.load)).collect();
        assert!(missing.is_empty(), "{}: {missing:?}", line.name);
    }
}

#[test]
fn every_small_size_takes_little_more_than_two_and_a_half_minutes_and_one_in_which_requests_are_lost_four() {
    for line in Places::from_folders([folder()]).list() {
        let small = experiment(&format!("{}.yaml", line.name), true);
        // A shorter experiment would end before a client gives up waiting.
        let at_most_s =
            if small.loads.iter().any(|load| load.workload.expects_losses()) { 240.0 } else { 155.0 };
        let quick = line.about.expect("an experiment").quick;
        assert!(quick.estimate_s.is_some_and(|seconds| seconds <= at_most_s), "{}: {quick:?}", line.name);
    }
}

#[test]
fn every_server_of_ours_that_tells_its_thread_says_which_kind_it_must_be() {
    for line in Places::from_folders([folder()]).list() {
        let experiment = experiment(&format!("{}.yaml", line.name), false);
        for variant in &experiment.variants {
            let is_jar = matches!(variant.server(), Some(Server::Jar(_)));
            assert!(!is_jar || variant.answers_on.is_some(), "{}: {}", line.name, variant.name);
        }
    }
}

#[test]
fn how_long_a_load_took_is_not_compared_where_the_small_size_has_other_requests() {
    let full = experiment("tomcat-blocking.yaml", false);
    assert!(published(&full, "virtual", "c400", "elapsed_ms").is_some());
    assert_eq!(published(&experiment("tomcat-blocking.yaml", true), "virtual", "c400", "elapsed_ms"), None);
    let same = experiment("pinned-tomcat.yaml", true);
    assert!(published(&same, "pinned", "c200", "elapsed_ms").is_some());
}

#[test]
fn tomcat_blocking_quick_shows_both_loads() {
    let experiment = experiment("tomcat-blocking.yaml", true);
    let under = |load: usize| plan(&experiment).iter().filter(|run| run.load == load).count();
    assert_eq!((under(0), under(1)), (3 * 2, 3), "each load is shown, and 400 clients have an interval");
    let ran = |name: &str| plan(&experiment).iter().any(|run| experiment.variants[run.variant].name == name);
    assert!(ran("platform") && !ran("platform-10.1"));
}

#[test]
fn what_20_000_open_files_allow_of_the_chain_is_1_000_and_5_000_clients() {
    let mut chain = experiment("spring-chain.yaml", false);
    let left_out = leave_out_too_large(&mut chain, 20_000);
    let names: Vec<_> = left_out.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["c10000", "c15000", "c20000"]);
    assert!(plan(&chain).iter().all(|run| !names.contains(&chain.loads[run.load].name.as_str())));
}

#[test]
fn identical_compares_a_server_with_itself() {
    for quick in [false, true] {
        let experiment = experiment("identical.yaml", quick);
        let [one, other] = experiment.variants.as_slice() else { panic!("two variants") };
        assert_eq!((&one.subject, &one.jvm, one.jdk), (&other.subject, &other.jvm, other.jdk));
        assert!(experiment.loads[0].interim_analyses().len() > 1, "it ends when it is decided");
    }
}

#[test]
fn three_percent_compares_servers_that_differ_in_three_percent_of_their_work_alone() {
    let experiment = experiment("three-percent.yaml", false);
    let [base, more] = experiment.variants.as_slice() else { panic!("two variants") };
    assert_eq!((&base.subject, base.jdk), (&more.subject, more.jdk));
    let blocks = |flags: &[String]| -> f64 {
        let flag = flags.iter().find_map(|flag| flag.strip_prefix("-Dhashing.blocks="));
        flag.expect("the flag").parse().expect("a number")
    };
    assert!((blocks(&more.jvm) / blocks(&base.jvm) - 1.03).abs() < 1e-9);
    assert_eq!(experiment.loads[0].interim_analyses(), [9], "one analysis has the narrowest interval");
    assert_eq!(experiment.loads[0].turns(), 10);
}
