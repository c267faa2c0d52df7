//! Decides whether the kind of thread or only their number matters.

use super::KindOrSize;
use crate::evidence::in_flight::InFlight;
use crate::evidence::variant_runs::VariantRuns;
use crate::evidence::workers::Workers;
use crate::finding::{Fact, Finding, RunsShowing};
use threadcount_model::experiment::{Experiment, LoadSpec};
use threadcount_model::interval::Interval;
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;
use threadcount_stats::comparison::Sides;
use threadcount_stats::decision::MATTERS;
use threadcount_stats::lost_on_purpose::LostOnPurpose;
use threadcount_stats::page::chance_of_a_headline;
use threadcount_stats::runs::{figures, is_healthy, mean};

/// The comparison under one load; `None` if there is no such pair, or if the runs do not decide. A difference is reported only if the
/// whole page allows it: the pair has a share of the page's 5 % from the beginning.
pub(crate) fn find(experiment: &Experiment, load: &LoadSpec, records: &[Record]) -> Option<Finding> {
    let KindPair { sized, pool_threads, virtual_one } = pair(experiment, load, records)?;
    if sized.runs.iter().chain(&virtual_one.runs).any(|run| !is_healthy(run)) {
        return None;
    }
    let values = |runs_of_variant: &VariantRuns<'_>, metric: Metric| figures(&runs_of_variant.runs, metric);
    let analyses = load.interim_analyses().len();
    let lost = LostOnPurpose::of(load.workload, &[&sized.runs, &virtual_one.runs]);
    let sides = |metric| Sides::of_rounds(metric, &sized.runs, &virtual_one.runs).without_survivors(lost);
    let ratio = |metric| sides(metric).ratio(analyses);
    let metric = load.workload.likeness();
    let answer = ratio(metric)?;
    let interval = answer.interval?;
    let is_same = is_same(interval);
    if !is_same && answer.basis.p_value? > chance_of_a_headline(experiment) {
        return None;
    }
    let cpu = ratio(Metric::CpuPerRequest);
    let cpu = cpu.filter(|cpu| cpu.basis.compiler_share.is_none() && cpu.interval.is_some());
    let fact = Fact::KindOrSize(KindOrSize {
        pool_threads,
        metric,
        ratio: answer.ratio,
        interval,
        is_same,
        pool_os_threads: mean(&values(&sized, Metric::OsThreads))?,
        virtual_os_threads: mean(&values(&virtual_one, Metric::OsThreads)),
        cpu_per_request_ratio: cpu.as_ref().map(|cpu| cpu.ratio),
        cpu_per_request_interval: cpu.and_then(|cpu| cpu.interval),
    });
    let runs = sized.runs.len().min(virtual_one.runs.len());
    Some(virtual_one.finding(fact, RunsShowing::new(runs, runs)))
}

/// Whether the interval leaves no difference that matters to a person who chooses. The sentence names the largest that it leaves.
fn is_same(ratio: Interval) -> bool {
    ratio.low >= 1.0 / (1.0 + MATTERS) && ratio.high <= 1.0 + MATTERS
}

/// Two variants that differ only in the kind of thread.
struct KindPair<'a> {
    sized: VariantRuns<'a>,
    pool_threads: u32,
    virtual_one: VariantRuns<'a>,
}

/// The first platform pool with a thread for each request in flight, and virtual threads that are otherwise alike.
fn pair<'a>(experiment: &'a Experiment, load: &'a LoadSpec, records: &'a [Record]) -> Option<KindPair<'a>> {
    experiment.kind_pairs(load).into_iter().find_map(|pair| {
        let (sized, virtual_one) =
            (VariantRuns::of(pair.variant, load, records), VariantRuns::of(pair.other, load, records));
        let pool_threads = pair.variant.written_pool(load)?;
        let threads = f64::from(pool_threads);
        let in_flight = InFlight::of(&virtual_one)?;
        let at_once = Workers::of(&virtual_one)?.at_once;
        // If requests reach the limit of virtual threads, a larger pool has more of them in work at once.
        let is_limited = at_once < in_flight.arrivals.map_or(in_flight.requests, |it| it.threads_needed());
        let is_of_a_size =
            if is_limited { (threads - at_once).abs() < 0.5 } else { in_flight.has_room_in(threads, &sized) };
        is_of_a_size.then_some(KindPair { sized, pool_threads, virtual_one })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::sentence;
    use threadcount_config::parse;
    use threadcount_model::record::WarmUp;
    use threadcount_model::record::capacity::{CapacitySearch, SearchEnd};
    use threadcount_model::sample::{run, with_cost};

    const VARIANTS: &str = "platform: {}, sized: {threads: {platform: clients}}, virtual: {threads: virtual}";

    fn experiment(protocol: &str, variants: &str) -> Experiment {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{{variants}}}\nloads: \
                [{{clients: 400, duration: 1s{protocol}}}]\n"
        );
        parse("x", "x.yaml", &text, false).expect("an experiment")
    }

    fn found(variants: &str, sized_rates: [f64; 3]) -> Option<Finding> {
        found_under("", variants, sized_rates)
    }

    fn found_under(protocol: &str, variants: &str, sized_rates: [f64; 3]) -> Option<Finding> {
        let experiment = experiment(protocol, variants);
        let mut records: Vec<Record> =
            [7_840.0, 7_850.0, 7_846.0].map(|rate| run("virtual", "c400", rate, 51.0)).to_vec();
        records.extend(sized_rates.map(|rate| {
            with_cost(run("sized", "c400", rate, 51.0), |cost| {
                cost.os_threads_peak = 423;
                cost.cpu_us_per_request = Some(130.0);
            })
        }));
        find(&experiment, &experiment.loads[0], &records)
    }

    #[test]
    fn a_pool_as_large_as_the_clients_that_does_the_same_is_named() {
        let finding = found(VARIANTS, [7_800.0, 7_850.0, 7_820.0]).expect("a finding");
        let expected = "the number of threads counts, not their kind. A pool of 400 has the same throughput within 3 % [0.98, \
            1.02]. It has 423 OS threads and 1.30x the CPU per request [1.299, 1.301]";
        assert_eq!((sentence(&finding).as_str(), finding.variant.as_deref()), (expected, Some("virtual")));
    }

    #[test]
    fn a_session_that_may_stop_after_each_interim_analysis_has_wider_intervals_than_one_of_a_fixed_length() {
        let rates = [7_800.0, 7_850.0, 7_820.0];
        let sentence_under = |protocol| sentence(&found_under(protocol, VARIANTS, rates).expect("a finding"));
        assert!(
            sentence_under(", runs: 3, drop: 0").contains("[0.99, 1.00]"),
            "{}",
            sentence_under(", runs: 3, drop: 0")
        );
        assert!(sentence_under(", runs: 10").contains("[0.98, 1.01]"), "{}", sentence_under(", runs: 10"));
    }

    #[test]
    fn cpu_that_is_partly_the_compilers_is_left_out() {
        let compiling = |record| {
            let record = with_cost(record, |cost| {
                (cost.cpu_cores, cost.jit_cpu_cores) = (1.0, Some(0.3));
                cost.cpu_us_per_request = Some(130.0);
            });
            Record { warm_up: Some(WarmUp::default()), ..record }
        };
        let experiment = experiment("", VARIANTS);
        let records: Vec<Record> = ["virtual", "sized"]
            .into_iter()
            .flat_map(|variant| {
                [7_840.0, 7_850.0, 7_846.0].map(|rate| compiling(run(variant, "c400", rate, 51.0)))
            })
            .collect();
        let finding = find(&experiment, &experiment.loads[0], &records).expect("a finding");
        assert!(!sentence(&finding).contains("CPU"), "{}", sentence(&finding));
    }

    #[test]
    fn a_pool_that_does_less_is_named_with_how_much() {
        let finding = found(VARIANTS, [6_000.0, 6_050.0, 6_020.0]).expect("a finding");
        let expected = "the kind of thread counts. A pool of 400 has 0.77x the throughput [0.7";
        assert!(sentence(&finding).starts_with(expected), "{}", sentence(&finding));
    }

    /// The finding in three runs of each variant, given by its rate, or its capacity, and its response time.
    fn found_of(load: &str, sized: (f64, f64), virtual_one: (f64, f64)) -> Option<Finding> {
        let pool = "sized: {threads: {platform: 400}}, virtual: {threads: virtual}";
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{{pool}}}\nloads: \
                [{{name: load, duration: 2s, {load}}}]\n"
        );
        let experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
        let is_search = experiment.loads[0].workload.capacity().is_some();
        let runs = [("sized", sized), ("virtual", virtual_one)].map(|(variant, (rate, ms))| {
            [0.999, 1.0, 1.001].map(|noise| {
                let noisy = if is_search { (rate * noise, ms) } else { (rate, ms * noise) };
                let search = CapacitySearch {
                    sustained_per_s: Some(noisy.0),
                    ended: SearchEnd::Found,
                    ..CapacitySearch::default()
                };
                Record { capacity: is_search.then_some(search), ..run(variant, "load", noisy.0, noisy.1) }
            })
        });
        find(&experiment, &experiment.loads[0], &runs.concat())
    }

    const CAPACITY: &str = "capacity: {p99: 200ms, from: 100/s, to: 20000/s}";

    #[test]
    fn under_an_open_load_the_median_response_time_is_compared_and_of_a_search_the_capacity() {
        let open = found_of("rate: 5000/s", (5_000.0, 51.0), (5_000.0, 50.0)).expect("a finding");
        let same = "the number of threads counts, not their kind. A pool of 400 has the same median response time within 3 % [1.0";
        assert!(sentence(&open).starts_with(same), "{}", sentence(&open));
        let slow = found_of("rate: 5000/s", (5_000.0, 100.0), (5_000.0, 50.0)).expect("a finding");
        assert!(sentence(&slow).contains("has 2.00x the median response time [1.9"), "{}", sentence(&slow));
        let search = found_of(CAPACITY, (5_850.0, 50.0), (6_500.0, 50.0)).expect("a finding");
        assert!(
            sentence(&search).contains("A pool of 400 has 0.90x the capacity [0.8"),
            "{}",
            sentence(&search)
        );
    }

    #[test]
    fn a_pool_that_is_smaller_than_the_requests_in_flight_tells_nothing_of_the_kind() {
        assert_eq!(found_of("rate: 9000/s", (7_900.0, 80.0), (9_000.0, 50.0)), None, "450 are in flight");
        assert_eq!(found_of(CAPACITY, (7_800.0, 50.0), (9_000.0, 50.0)), None, "450 are in flight");
        assert_eq!(found_of("clients: 401", (7_800.0, 51.0), (7_900.0, 51.0)), None, "401 are in flight");
        assert_eq!(found_of("rate: 7900/s", (7_900.0, 50.0), (7_900.0, 50.0)), None, "395 on average");
        assert!(found_of("rate: 6500/s", (6_500.0, 50.0), (6_500.0, 50.0)).is_some(), "325 are in flight");
    }

    #[test]
    fn virtual_threads_with_a_limit_are_compared_with_a_pool_of_that_size_only() {
        let found = |pool: u32, limit: u32| {
            let text = format!(
                "question: q\nserver: {{jetty: 12.1, max_concurrent_tasks: {limit}}}\nrequest: /\n\
                 variants: {{sized: {{threads: {{platform: {pool}}}}}, virtual: {{threads: virtual}}}}\n\
                 loads: [{{name: load, clients: 400, duration: 1s}}]\n"
            );
            let experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
            let records = ["sized", "virtual"].map(|variant| {
                [3_900.0, 3_904.0, 3_902.0].map(|rate| {
                    let mut run = run(variant, "load", rate, 100.0);
                    run.server.pool_max_threads = Some(if variant == "sized" { pool } else { limit });
                    run
                })
            });
            find(&experiment, &experiment.loads[0], &records.concat()).is_some()
        };
        assert!(found(200, 200) && found(400, 1_000));
        assert!(!found(400, 200), "400 in work at once against 200");
        assert!(!found(200, 1_000), "200 against 400");
    }

    #[test]
    fn a_difference_that_the_whole_page_does_not_allow_is_not_said() {
        let fixed = ", runs: 3, drop: 0";
        // Alone, the interval excludes 1: p is 0.04, but each of three headline metrics gets 0.025 / 3.
        assert_eq!(found_under(fixed, VARIANTS, [7_250.0, 7_550.0, 7_400.0]), None);
        let same = found_under(fixed, VARIANTS, [7_740.0, 7_800.0, 7_770.0]).expect("a finding");
        assert!(sentence(&same).contains("the same throughput"), "{}", sentence(&same));
    }

    #[test]
    fn look_alikes_are_left_alone() {
        assert_eq!(found(VARIANTS, [6_000.0, 9_000.0, 7_800.0]), None, "runs that do not tell");
        let default_pool = "sized: {}, virtual: {threads: virtual}";
        assert_eq!(found(default_pool, [7_800.0, 7_850.0, 7_820.0]), None, "a pool of another size");
        let other_jdk =
            "sized: {threads: {platform: clients}, jdk: 21}, virtual: {threads: virtual, jdk: 25}";
        assert_eq!(found(other_jdk, [7_800.0, 7_850.0, 7_820.0]), None, "another JDK too");
    }
}
