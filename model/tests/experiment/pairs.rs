//! Tests of the variants that are compared under a load.

use threadcount_config::parse;

fn pairs(variants: &str, load: &str) -> Vec<String> {
    let text = format!(
        "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{{variants}}}\n\
         loads: [{{clients: 4, duration: 1s{load}}}]\n"
    );
    let experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
    let pairs = experiment.pairs(&experiment.loads[0]);
    pairs.iter().map(|pair| format!("{}/{}", pair.variant.name, pair.other.name)).collect()
}

#[test]
fn a_variant_is_compared_with_the_baseline_and_with_the_one_that_it_names() {
    let named = "a: {}, b: {}, c: {compare_with: b}";
    assert_eq!(pairs(named, ""), ["b/a", "c/a", "c/b"]);
    assert_eq!(pairs(named, ", variants: [a, c]"), ["c/a"], "b does not run");
    assert_eq!(pairs(named, ", variants: [b, c]"), ["c/b"], "b is the baseline");
    assert_eq!(pairs("a: {compare_with: b}, b: {}", ""), ["b/a"], "the same pair");
    assert_eq!(pairs("a: {}, b: {compare_with: c}, c: {compare_with: a}", ""), ["b/a", "c/a", "b/c"]);
}

#[test]
fn pools_of_a_written_size_are_pairs_of_the_virtual_threads_that_are_alike_in_the_rest() {
    let pairs_of = |variants: &str| {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{{variants}}}\n\
             loads: [{{clients: 4, duration: 1s}}]\n"
        );
        let experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
        let load = &experiment.loads[0];
        let pairs = experiment.kind_pairs(load);
        pairs.iter().map(|pair| format!("{}/{}", pair.variant.name, pair.other.name)).collect::<Vec<_>>()
    };
    let virtual_threads = "v: {threads: virtual}, w: {threads: virtual}";
    let pools = "a: {}, b: {threads: {platform: clients}}, c: {threads: {platform: 9}}";
    assert_eq!(pairs_of(&format!("{pools}, {virtual_threads}")), ["b/v", "c/v"]);
    assert!(pairs_of(&format!("b: {{threads: {{platform: 9}}, jdk: 21}}, {virtual_threads}")).is_empty());
    assert!(pairs_of(pools).is_empty());
}

#[test]
fn virtual_threads_are_compared_with_each_pool_of_a_written_size_once() {
    let all = |compare_with: &str| {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{a: {{}}, b: {{threads: {{platform: 9}}}}, \
             v: {{threads: virtual{compare_with}}}}}\nloads: [{{clients: 4, duration: 1s}}]\n"
        );
        let experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
        let pairs = experiment.all_pairs(&experiment.loads[0]);
        pairs.iter().map(|pair| format!("{}/{}", pair.variant.name, pair.other.name)).collect::<Vec<_>>()
    };
    assert_eq!(all(""), ["b/a", "v/a", "v/b"]);
    assert_eq!(all(", compare_with: b"), ["b/a", "v/a", "v/b"]);
}

#[test]
fn a_name_that_is_no_other_variant_is_a_mistake() {
    for (name, expected) in [("c", "there is no variant `c`"), ("b", "`b` cannot be compared with itself")] {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{a: {{}}, b: {{compare_with: {name}}}}}\n\
             loads: [{{clients: 4, duration: 1s}}]\n"
        );
        let mistake = parse("x", "x.yaml", &text, false).expect_err("a mistake");
        assert!(mistake.to_string().contains(expected), "{mistake}");
    }
}
