//! Tests of the longest time for a warm-up.

use threadcount_config::parse;

fn longest_s(more: &str, quick: bool) -> f64 {
    let text = format!(
        "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{a: {{}}, b: {{}}}}\n{more}\n\
         loads: [{{clients: 4, duration: 1s, runs: 3}}]\n"
    );
    let experiment = parse("x", "x.yaml", &text, quick).expect("an experiment");
    experiment.longest_warmup_s(&experiment.loads[0])
}

#[test]
fn auto_is_the_default_and_has_a_ceiling_a_part_of_the_budget_and_with_quick_no_more_than_before() {
    assert_eq!((longest_s("", false), longest_s("warmup: auto", false)), (60.0, 60.0));
    // Three rounds of two variants: half of 240 s among six runs.
    assert_eq!(longest_s("budget: 4m", false), 20.0);
    assert_eq!((longest_s("budget: 30s", false), longest_s("budget: 1h", false)), (10.0, 60.0));
    assert_eq!(longest_s("", true), 10.0);
}

#[test]
fn a_time_that_is_written_keeps_its_meaning() {
    assert_eq!((longest_s("warmup: 90s", false), longest_s("warmup: 3s\nbudget: 4m", true)), (90.0, 3.0));
    assert_eq!(longest_s("quick: {warmup: 4s}", true), 4.0);
    assert_eq!(longest_s("warmup: 3s\nquick: {warmup: auto}", true), 10.0);
}

#[test]
fn a_steady_load_after_a_warm_up_is_led_in_and_what_is_cold_counted_or_changing_is_not() {
    let lead_in_s = |more: &str, load: &str, quick: bool| {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{a: {{}}}}\n{more}\nloads: [{{{load}}}]\n"
        );
        let experiment = parse("x", "x.yaml", &text, quick).expect("an experiment");
        experiment.lead_in_s(&experiment.loads[0])
    };
    assert_eq!(lead_in_s("", "clients: 4, duration: 1s", false), 2.0);
    assert_eq!(lead_in_s("", "clients: 4, duration: 1s", true), 1.0);
    assert_eq!(lead_in_s("", "capacity: {p99: 200ms}, duration: 3s", false), 0.0);
    assert_eq!(lead_in_s("", "rate: 4/s, duration: 1s", false), 2.0);
    assert_eq!(lead_in_s("", "clients: 4, duration: 1s, lead_in: 5s", false), 5.0);
    assert_eq!(lead_in_s("", "clients: 4, duration: 8s, interleave: 2s", false), 0.5);
    assert_eq!(lead_in_s("warmup: 0s", "clients: 4, duration: 1s", false), 0.0);
    assert_eq!(lead_in_s("", "clients: 4, requests: 100", false), 0.0);
    assert_eq!(lead_in_s("", "ramp: '1:9:3s', duration: 5s", false), 0.0);
    assert_eq!(lead_in_s("", "clients: 4, duration: 1s, tool: {ab: 1}", false), 0.0);
}

#[test]
fn a_load_has_its_own_time_and_auto_is_for_all_of_them() {
    let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}}\n\
        loads: [{clients: 4, duration: 1s, warmup: 7s}]\n";
    let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
    assert_eq!(experiment.longest_warmup_s(&experiment.loads[0]), 7.0);
}
