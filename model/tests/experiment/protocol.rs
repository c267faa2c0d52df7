//! Tests of the number of rounds of a load: fixed, or until its result is conclusive.

use threadcount_config::parse;

fn interim_analyses(sizes: &str, quick: bool) -> Vec<u32> {
    let text = format!(
        "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{a: {{}}, b: {{}}}}\nloads: \
            [{{clients: 1, duration: 1s}}]\n{sizes}\n"
    );
    parse("x", "x.yaml", &text, quick).expect("an experiment").loads[0].interim_analyses()
}

#[test]
fn interim_analyses_begin_after_three_rounds_and_become_rarer() {
    assert_eq!(interim_analyses("", false), [3, 4, 6, 8, 11, 15]);
    assert_eq!(interim_analyses("runs: 10", false), [3, 4, 6, 8, 10]);
    assert_eq!(interim_analyses("runs: 20", false), [3, 4, 6, 8, 11, 15, 20]);
    assert_eq!(interim_analyses("runs: 5", false), [3, 4, 5]);
}

#[test]
fn quick_may_decide_after_two_rounds() {
    assert_eq!(interim_analyses("quick: {runs: 4}", true), [2, 3, 4]);
}

#[test]
fn fewer_rounds_than_the_least_are_analysed_once() {
    assert_eq!(interim_analyses("runs: 2", false), [2]);
    assert_eq!(interim_analyses("runs: 1", false), [1]);
}

#[test]
fn a_fixed_protocol_is_analysed_once() {
    assert_eq!(interim_analyses("runs: 7\ndrop: 2", false), [7]);
}
