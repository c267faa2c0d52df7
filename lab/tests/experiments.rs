//! The experiments that come with Threadcount.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]

use std::path::{Path, PathBuf};
use threadcount::config::find::Places;
use threadcount::config::needs::needs;
use threadcount::config::read;
use threadcount::model::experiment::plan::plan;
use threadcount::model::experiment::{Experiment, Server, TomcatServer};

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
fn every_experiment_can_be_read_in_both_sizes_and_has_an_estimate() {
    let listed = Places::of([folder()]).list();
    assert!(listed.len() >= 2);
    for line in listed {
        let about = line.about.unwrap_or_else(|error| panic!("{}: {error}", line.name));
        for size in [about.full, about.quick] {
            assert!(size.estimate_s.is_some_and(|seconds| seconds > 0.0), "{}", line.name);
        }
        assert!(!about.needs.is_empty(), "{}", line.name);
    }
}

#[test]
fn every_small_size_takes_about_90_seconds_at_most() {
    for line in Places::of([folder()]).list() {
        let quick = line.about.expect("an experiment").quick;
        assert!(quick.estimate_s.is_some_and(|seconds| seconds <= 92.0), "{}: {quick:?}", line.name);
    }
}

#[test]
fn every_server_of_ours_that_tells_its_thread_says_which_kind_it_must_be() {
    for line in Places::of([folder()]).list() {
        let experiment = experiment(&format!("{}.yaml", line.name), false);
        for variant in &experiment.variants {
            let is_jar = matches!(variant.server(), Some(Server::Jar(_)));
            assert!(!is_jar || variant.answers_on.is_some(), "{}: {}", line.name, variant.name);
        }
    }
}

#[test]
fn spring_chain_has_every_figure_of_the_studys_tables() {
    let experiment = experiment("spring-chain.yaml", false);
    let of_tables = experiment.published.iter().map(|entry| entry.figures.len());
    assert_eq!(
        of_tables.collect::<Vec<_>>(),
        [14; 15],
        "three tables of five columns, fourteen rows with figures"
    );
    assert_eq!(published(&experiment, "webflux", "c20000", "p98_ms"), Some(1_461.0));
    assert_eq!(published(&experiment, "servlet-platform", "c15000", "stddev_ms"), Some(64.8));
    let elapsed_ms = published(&experiment, "servlet-virtual", "c1000", "elapsed_ms");
    assert_eq!(elapsed_ms.map(f64::round), Some(109_355.0));
}

#[test]
fn how_long_a_load_took_is_not_compared_where_the_small_size_has_other_requests() {
    let full = experiment("tomcat-blocking.yaml", false);
    assert_eq!(published(&full, "virtual", "c400", "elapsed_ms").map(f64::round), Some(126_883.0));
    assert_eq!(published(&experiment("tomcat-blocking.yaml", true), "virtual", "c400", "elapsed_ms"), None);
    let same = experiment("pinned-tomcat.yaml", true);
    assert_eq!(published(&same, "pinned", "c200", "elapsed_ms"), Some(27_000.0));
}

#[test]
fn pinned_tomcat_has_the_figures_of_the_study_and_a_tomcat_that_pins() {
    let experiment = experiment("pinned-tomcat.yaml", false);
    assert_eq!(published(&experiment, "pinned", "c200", "elapsed_ms"), Some(27_000.0));
    assert_eq!(published(&experiment, "pool", "c200", "elapsed_ms"), Some(3_600.0));
    assert_eq!(needs(&experiment), ["Java 21, 25", "Tomcat 10.0, 10.1, 11.0"]);
    assert!(experiment.loads[0].thread_dump && experiment.warmup_s == 0.0);
}

#[test]
fn prime_asks_for_a_random_number_at_5_000_per_second_warm_and_cold() {
    for name in ["prime.yaml", "prime-cold.yaml"] {
        let experiment = experiment(name, false);
        let load = &experiment.loads[0];
        assert_eq!((load.name.as_str(), load.duration_s), ("r5000", Some(10.0)));
        assert_eq!(load.request.path, "/prime/{rand:100000:1000000}?sleep=100ms");
        assert_eq!(experiment.warmup_s(load) == 0.0, name == "prime-cold.yaml");
    }
    let warm = experiment("prime.yaml", false);
    assert_eq!(published(&warm, "virtual", "r5000", "os_threads"), Some(27.0));
    assert_eq!(published(&warm, "tomcat", "r5000", "os_threads"), Some(928.0));
}

#[test]
fn tomcat_blocking_quick_shows_both_loads() {
    let experiment = experiment("tomcat-blocking.yaml", true);
    let under = |load: usize| plan(&experiment).iter().filter(|run| run.load == load).count();
    assert_eq!((under(0), under(1)), (3 * 4, 2), "1,000 clients are shown, 400 decided");
    let ran = |name: &str| plan(&experiment).iter().any(|run| experiment.variants[run.variant].name == name);
    assert!(ran("platform") && !ran("platform-10.1"));
}

#[test]
fn identical_compares_a_server_with_itself() {
    for quick in [false, true] {
        let experiment = experiment("identical.yaml", quick);
        let [one, other] = experiment.variants.as_slice() else { panic!("two variants") };
        assert_eq!((&one.subject, &one.jvm, one.jdk), (&other.subject, &other.jvm, other.jdk));
        assert!(experiment.loads[0].looks().len() > 1, "it ends when it is decided");
    }
}

#[test]
fn tomcat_blocking_has_the_figures_of_the_study() {
    let experiment = experiment("tomcat-blocking.yaml", false);
    assert_eq!(published(&experiment, "platform", "c400", "rate_per_s"), Some(3967.761));
    assert_eq!(published(&experiment, "virtual", "c400", "rate_per_s"), Some(7881.2884));
    assert_eq!(published(&experiment, "virtual", "c1000", "rate_per_s"), Some(19672.7068));
    assert_eq!(published(&experiment, "platform-10.1", "c400", "p99_ms"), Some(145.1));
    assert_eq!(published(&experiment, "platform", "c400", "nmt_threads"), Some(231.0));
    assert_eq!(published(&experiment, "virtual", "c400", "stack_committed_bytes"), Some(2_680.0 * 1_024.0));
    let versions = experiment.variants.iter().map(|variant| match variant.server() {
        Some(Server::Tomcat(TomcatServer { version, .. })) => version.as_str(),
        _ => "another server",
    });
    assert_eq!(versions.collect::<Vec<_>>(), ["11.0", "11.0", "11.0", "10.1"]);
}

#[test]
fn tomcat_hello_has_the_figures_of_the_study() {
    let experiment = experiment("tomcat-hello.yaml", false);
    assert_eq!(published(&experiment, "platform-10.1", "c400", "rate_per_s"), Some(117_787.364_7));
    assert_eq!(published(&experiment, "virtual", "c400", "p99_ms"), Some(8.0));
    assert_eq!(published(&experiment, "virtual", "c400", "nmt_threads"), Some(39.0));
    assert_eq!(published(&experiment, "platform-10.1", "c400", "nmt_threads_at_start"), Some(41.0));
    assert_eq!(
        published(&experiment, "virtual", "c400", "stack_committed_at_start_bytes"),
        Some(1_628.0 * 1_024.0)
    );
    assert_eq!(experiment.loads[0].request.path, "/hello");
}
