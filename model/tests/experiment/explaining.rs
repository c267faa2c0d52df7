//! Tests of when reasons are looked for, and for how long.

use threadcount_config::parse;
use threadcount_model::experiment::*;

fn experiment(quick: bool) -> Experiment {
    let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}}\n\
        loads: [{clients: 100, duration: 5s}]\n";
    parse("x", "x.yaml", text, quick).expect("an experiment")
}

fn lasts(quick: bool, measured_s: f64, mean_service_time_s: f64) -> f64 {
    experiment(quick).explaining_requests_s(measured_s, mean_service_time_s)
}

#[test]
fn short_requests_are_observed_for_as_long_as_was_measured_within_bounds() {
    assert_eq!([1.0, 5.0, 60.0].map(|measured_s| lasts(false, measured_s, 0.1)), [3.0, 5.0, 6.0]);
    assert_eq!([1.0, 5.0, 60.0].map(|measured_s| lasts(true, measured_s, 0.1)), [3.0; 3]);
    assert_eq!(lasts(false, 5.0, 0.0), 5.0, "nothing was measured");
}

#[test]
fn long_requests_are_observed_for_eight_of_them_and_not_for_ever() {
    assert_eq!(lasts(false, 5.0, 0.625), 5.0, "that is eight of them");
    assert_eq!(lasts(false, 5.0, 1.0), 8.0);
    assert_eq!([2.5, 30.0].map(|seconds| lasts(false, 5.0, seconds)), [20.0; 2]);
    assert_eq!([0.5, 2.5].map(|seconds| lasts(true, 5.0, seconds)), [4.0, 10.0]);
}

#[test]
fn the_first_three_rounds_are_explained_and_of_a_quick_experiment_one() {
    let explained = |experiment: &Experiment| {
        (1..=4).filter(|round| experiment.explains(&experiment.loads[0], *round)).count()
    };
    assert_eq!([&experiment(false), &experiment(true)].map(explained), [3, 1]);
}
