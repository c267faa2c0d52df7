//! Virtual threads against a platform pool that is smaller than the requests in flight differ in two things: the kind of
//! thread, and how many requests are in work at once. Only a platform pool that is as large tells them apart.

use super::in_flight::{arrivals, needed_threads};
use super::variant_runs::RunFigures;
use super::{VariantRuns, showing};
use crate::model::experiment::{
    DropIn, Experiment, LoadSpec, PoolSize, Server, ThreadKind, Threads, Variant,
};
use crate::model::finding::{Fact, Finding, KindAndNumber};
use crate::model::record::Record;
use crate::stats::comparison::Sides;
use crate::stats::runs::mean;

/// A ratio of single runs that is nearer to 1 is no difference that would need a reason.
const WORTH_SAYING: f64 = 0.05;

/// How many requests may be in work at once, and on which kind of thread.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Workers {
    kind: ThreadKind,
    at_once: f64,
}

/// What cannot be told apart in the comparisons under one load.
pub(super) fn find(experiment: &Experiment, load: &LoadSpec, records: &[Record]) -> Vec<Finding> {
    let here = experiment.variants.iter().filter(|variant| variant.runs_under(load));
    let measured: Vec<(VariantRuns<'_>, Workers)> = here
        .map(|variant| VariantRuns::of(variant, load, records))
        .filter_map(|runs| workers(&runs).map(|workers| (runs, workers)))
        .collect();
    let Some((baseline, others)) = measured.split_first() else { return Vec::new() };
    let found = others.iter().filter_map(|other| {
        let (pool, threads) = match (baseline.1.kind, other.1.kind) {
            (ThreadKind::Platform, ThreadKind::Virtual) => (baseline, other),
            (ThreadKind::Virtual, ThreadKind::Platform) => (other, baseline),
            _ => return None,
        };
        let wanted = threads.1.at_once.min(needed_threads(&threads.0)?);
        let is_sized =
            |it: &(VariantRuns<'_>, Workers)| it.1.kind == ThreadKind::Platform && it.1.at_once >= wanted;
        if measured.iter().any(is_sized) || !differ(&other.0, &baseline.0, load) {
            return None;
        }
        let fact = Fact::KindAndNumber(KindAndNumber {
            pool_variant: pool.0.variant.name.clone(),
            pool_threads: pool.1.at_once as u32,
            requests_in_flight: wanted as u32,
            sized_variant: sized_variant(experiment, wanted),
            arrivals: arrivals(&threads.0),
        });
        let runs = pool.0.runs.len().min(threads.0.runs.len());
        Some(threads.0.finding(fact, showing(runs, runs)))
    });
    found.collect()
}

/// `None`: no complete run, or neither the experiment nor the server says.
fn workers(runs_of_variant: &VariantRuns<'_>) -> Option<Workers> {
    let first = runs_of_variant.runs.first()?;
    let seen = || first.server.request_thread.as_ref().map(|thread| thread.kind());
    let variant = runs_of_variant.variant;
    let kind = configured_kind(variant).or(variant.answers_on).or_else(seen)?;
    let most = runs_of_variant.runs.iter().filter_map(|run| RunFigures::of(run)?.pool);
    let most = mean(&most.collect::<Vec<f64>>());
    let is_unlimited = kind == ThreadKind::Virtual
        || matches!(variant.server().and_then(Server::threads), Some(Threads::Executor(DropIn::Cached)));
    let at_once = most.or_else(|| request_limit(variant)).or(is_unlimited.then_some(f64::INFINITY))?;
    Some(Workers { kind, at_once })
}

/// Virtual threads of ours may have a limit, which is then what a pool's size is.
fn request_limit(variant: &Variant) -> Option<f64> {
    match variant.server().and_then(Server::threads)? {
        Threads::Executor(DropIn::BoundedVirtual(limit)) => Some(limit.max_concurrent.into()),
        _ => None,
    }
}

fn configured_kind(variant: &Variant) -> Option<ThreadKind> {
    Some(match variant.server().and_then(Server::threads)? {
        Threads::Platform(_) | Threads::Executor(DropIn::Cached) => ThreadKind::Platform,
        Threads::Virtual | Threads::Executor(DropIn::Virtual | DropIn::BoundedVirtual(_)) => {
            ThreadKind::Virtual
        }
    })
}

/// Is there a difference that one of the two could be the reason for? A single run shows one without proof, and is read all
/// the same.
fn differ(variant: &VariantRuns<'_>, baseline: &VariantRuns<'_>, load: &LoadSpec) -> bool {
    load.workload.headline().iter().any(|&metric| {
        let sides = Sides::of_rounds(metric, &variant.runs, &baseline.runs);
        let Some(ratio) = sides.ratio(load.interim_analyses().len()) else { return false };
        match ratio.interval {
            Some(interval) => interval.low > 1.0 || interval.high < 1.0,
            None => (ratio.ratio - 1.0).abs() > WORTH_SAYING,
        }
    })
}

/// A variant of the experiment with a large enough platform pool, which was not measured under this load.
fn sized_variant(experiment: &Experiment, wanted: f64) -> Option<String> {
    let is_sized = |variant: &&Variant| match variant.server().and_then(Server::threads) {
        Some(Threads::Platform(PoolSize::Clients) | Threads::Executor(DropIn::Cached)) => true,
        Some(Threads::Platform(PoolSize::Fixed(threads))) => f64::from(*threads) >= wanted,
        _ => false,
    };
    experiment.variants.iter().find(is_sized).map(|variant| variant.name.clone())
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{advice, sentence};
    use super::*;
    use crate::config::parse;
    use crate::model::finding::Explanation;
    use crate::model::record::RequestThread;
    use crate::model::record::capacity::{CapacitySearch, SearchEnd};
    use crate::stats::sample::{run, times};

    const TWO: &str = "platform: {}, virtual: {threads: virtual}";
    const CLOSED: &str = "clients: 1000";
    const CAPACITY: &str = "capacity: {p99: 200ms, from: 100/s, to: 20000/s}";

    /// Three runs of each of these variants; `pool`: the threads of its pool.
    fn runs(variant: &str, load: &str, rate: f64, pool: Option<u32>) -> Vec<Record> {
        let runs = [0.999, 1.0, 1.001].map(|noise| run(variant, load, rate * noise, 50.0));
        let with_pool = |mut record: Record| {
            record.server.pool_max_threads = pool;
            record
        };
        runs.map(with_pool).to_vec()
    }

    fn found(variants: &str, load: &str, records: &[Vec<Record>]) -> Vec<Finding> {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{{variants}}}\n\
             loads: [{{name: load, duration: 2s, {load}}}]\n"
        );
        let experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
        find(&experiment, &experiment.loads[0], &records.concat())
    }

    fn platform() -> Vec<Record> {
        runs("platform", "load", 3_990.0, Some(200))
    }

    fn threads() -> Vec<Record> {
        runs("virtual", "load", 18_000.0, None)
    }

    /// As many at once on both sides, so only the kind of thread differs; a limit above the pool differs in both again.
    #[test]
    fn a_limit_on_virtual_threads_counts_as_the_size_of_a_pool() {
        let bounded =
            |bound: u32| format!("platform: {{}}, virtual: {{threads: {{virtual: {{bound: {bound}}}}}}}");
        assert_eq!(found(&bounded(200), CLOSED, &[platform(), threads()]), []);
        assert_eq!(found(&bounded(400), CLOSED, &[platform(), threads()]).len(), 1);
    }

    #[test]
    fn virtual_threads_against_a_pool_that_is_smaller_than_the_requests_in_flight_differ_in_two_things() {
        let found = found(TWO, CLOSED, &[platform(), threads()]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        let expected = KindAndNumber {
            pool_variant: "platform".to_owned(),
            pool_threads: 200,
            requests_in_flight: 1_000,
            sized_variant: None,
            arrivals: None,
        };
        assert_eq!(finding.explanation, Explanation::Fact(Fact::KindAndNumber(expected)));
        assert_eq!((finding.variant.as_deref(), finding.load.as_deref()), (Some("virtual"), Some("load")));
        assert_eq!(
            sentence(finding),
            "kind and number of threads are confounded: each of the 1,000 requests in flight has a thread of its own, with \
             platform 200 of them have one, and no platform pool of 1,000 was measured under this load"
        );
        assert!(advice(finding).contains("a variant with a platform pool of 1,000"), "{}", advice(finding));
    }

    /// Three runs whose requests arrive at a rate.
    fn at_rate(variant: &str, rate: f64, ms: f64, pool: Option<u32>) -> Vec<Record> {
        let mut runs = runs(variant, "load", rate, pool);
        for (run, noise) in runs.iter_mut().zip([0.999, 1.0, 1.001]) {
            let load = run.measured.as_mut().expect("a measured load");
            (load.rate_per_s.sent, load.rate_per_s.completed) = (rate, rate);
            load.response_time_ms = Some(times(ms * noise));
            load.service_time_ms = Some(times(ms));
        }
        runs
    }

    /// Three searches that end at this capacity, where responses take so long.
    fn capacity(variant: &str, per_s: f64, ms: f64, pool: Option<u32>) -> Vec<Record> {
        let mut runs = at_rate(variant, per_s, ms, pool);
        for (run, noise) in runs.iter_mut().zip([0.999, 1.0, 1.001]) {
            run.capacity = Some(CapacitySearch {
                sustained_per_s: Some(per_s * noise),
                ended: SearchEnd::Found,
                ..CapacitySearch::default()
            });
        }
        runs
    }

    #[test]
    fn under_an_open_load_littles_law_says_how_many_threads_the_requests_need() {
        let records =
            [at_rate("platform", 5_000.0, 900.0, Some(200)), at_rate("virtual", 5_000.0, 50.0, None)];
        let found = found(TWO, "rate: 5000/s", &records);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            sentence(finding),
            "kind and number of threads are confounded: 5,000/s x 50.0 ms = 250 requests are in flight on average, each has a \
             thread of its own, with platform 200 of them have one, and no larger platform pool was measured under this load"
        );
        assert!(
            advice(finding).starts_with("a variant with a platform pool of more than 250"),
            "{}",
            advice(finding)
        );
    }

    #[test]
    fn a_capacity_that_needs_more_threads_than_the_pool_has_may_be_due_to_either() {
        let records =
            [capacity("platform", 3_900.0, 51.0, Some(200)), capacity("virtual", 9_400.0, 50.0, None)];
        let found = found(TWO, CAPACITY, &records);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert!(sentence(finding).contains("9,400/s x 50.0 ms = 470 requests"), "{}", sentence(finding));
    }

    #[test]
    fn a_variant_of_that_size_that_did_not_run_under_this_load_is_named() {
        let variants = "platform: {}, sized: {threads: {platform: clients}}, virtual: {threads: virtual}";
        let found = found(variants, CLOSED, &[platform(), threads()]);
        assert!(
            advice(&found[0]).starts_with("sized under this load (a platform pool of 1,000)"),
            "{}",
            advice(&found[0])
        );
    }

    #[test]
    fn the_order_of_the_variants_and_a_single_run_make_no_difference() {
        let reversed = "virtual: {threads: virtual}, platform: {}";
        assert_eq!(found(reversed, CLOSED, &[platform(), threads()])[0].variant.as_deref(), Some("virtual"));
        let single = [platform()[..1].to_vec(), threads()[..1].to_vec()];
        assert_eq!(found(TWO, CLOSED, &single).len(), 1);
    }

    #[test]
    fn the_kind_that_a_command_reports_and_the_pool_that_the_probe_reads_are_enough() {
        let variants = "platform: {server: {command: x, url: 'http://x'}}, virtual: {server: {command: x, url: 'http://x'}}";
        let text = format!(
            "question: q\nrequest: /\nvariants: {{{variants}}}\nloads: [{{name: load, duration: 2s, {CLOSED}}}]\n"
        );
        let experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
        let seen = |is_virtual| {
            move |mut record: Record| {
                record.server.request_thread = Some(RequestThread { name: "worker".to_owned(), is_virtual });
                record
            }
        };
        let records: Vec<Record> =
            platform().into_iter().map(seen(false)).chain(threads().into_iter().map(seen(true))).collect();
        assert_eq!(find(&experiment, &experiment.loads[0], &records).len(), 1);
        let unknown = [platform(), threads()].concat();
        assert_eq!(find(&experiment, &experiment.loads[0], &unknown), [], "nobody says which kind of thread");
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let sized = "platform: {}, sized: {threads: {platform: clients}}, virtual: {threads: virtual}";
        let cached = "platform: {}, sized: {threads: cached}, virtual: {threads: virtual}";
        let fixed = "platform: {threads: {platform: 1000}}, virtual: {threads: virtual}";
        let large = |variant| runs(variant, "load", 17_000.0, Some(1_000));
        let other_pools = "platform: {}, virtual: {threads: {platform: 400}}";
        let silent = [
            ("a pool of that size was measured", sized, CLOSED, vec![platform(), large("sized"), threads()]),
            (
                "so was one without a limit",
                cached,
                CLOSED,
                vec![platform(), runs("sized", "load", 17_000.0, None), threads()],
            ),
            ("the pool itself is as large", fixed, CLOSED, vec![large("platform"), threads()]),
            ("fewer clients than the pool has threads", TWO, "clients: 200", vec![platform(), threads()]),
            (
                "an open load whose requests the pool can have in work at once",
                TWO,
                "rate: 3900/s",
                vec![at_rate("platform", 3_900.0, 60.0, Some(200)), at_rate("virtual", 3_900.0, 50.0, None)],
            ),
            (
                "a capacity for which the pool has enough threads",
                TWO,
                CAPACITY,
                vec![
                    capacity("platform", 3_000.0, 50.0, Some(200)),
                    capacity("virtual", 3_900.0, 50.0, None),
                ],
            ),
            (
                "a larger capacity, and a pool that is as large was measured",
                sized,
                CAPACITY,
                vec![
                    capacity("platform", 3_800.0, 50.0, Some(200)),
                    capacity("sized", 9_300.0, 50.0, Some(1_000)),
                    capacity("virtual", 9_400.0, 50.0, None),
                ],
            ),
            ("no difference", TWO, CLOSED, vec![platform(), runs("virtual", "load", 3_991.0, None)]),
            (
                "virtual threads with the same limit",
                TWO,
                CLOSED,
                vec![platform(), runs("virtual", "load", 4_500.0, Some(200))],
            ),
            (
                "two pools: only the number differs",
                other_pools,
                CLOSED,
                vec![platform(), runs("virtual", "load", 7_900.0, Some(400))],
            ),
            ("one of them has no run", TWO, CLOSED, vec![platform()]),
        ];
        for (what, variants, load, records) in silent {
            assert_eq!(found(variants, load, &records), [], "{what}");
        }
    }
}
