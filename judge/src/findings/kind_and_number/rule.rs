//! Decides which comparisons confound the kind of thread with their number.

use super::KindAndNumber;
use crate::evidence::in_flight::InFlight;
use crate::evidence::variant_runs::VariantRuns;
use crate::evidence::workers::Workers;
use crate::finding::{Fact, Finding, RunsShowing};
use threadcount_model::experiment::{
    DropIn, Experiment, LoadSpec, PoolSize, Server, ThreadKind, Threads, Variant,
};
use threadcount_model::record::Record;
use threadcount_stats::comparison::Sides;
use threadcount_stats::lost_on_purpose::LostOnPurpose;

/// A ratio of single runs that is closer to 1 than this needs no explanation.
const LEAST_DIFFERENCE: f64 = 0.05;

/// Confounded comparisons under one load, including those that `compare_with` asks for.
pub(crate) fn find(experiment: &Experiment, load: &LoadSpec, records: &[Record]) -> Vec<Finding> {
    let here =
        experiment.variants.iter().filter(|variant| variant.runs_under(load) && variant.target().is_none());
    let measured: Vec<Measured<'_>> = here
        .map(|variant| VariantRuns::of(variant, load, records))
        .filter_map(|runs| Workers::of(&runs).map(|workers| Measured { runs, workers }))
        .collect();
    let runs_of = |variant: &Variant| measured.iter().find(|it| it.runs.variant.name == variant.name);
    let pairs = experiment.pairs(load).into_iter();
    let pairs = pairs.filter_map(|pair| Some((runs_of(pair.variant)?, runs_of(pair.other)?)));
    let found = pairs.filter_map(|(variant, other)| {
        let (pool, threads) = match (variant.workers.kind, other.workers.kind) {
            (ThreadKind::Platform, ThreadKind::Virtual) => (variant, other),
            (ThreadKind::Virtual, ThreadKind::Platform) => (other, variant),
            _ => return None,
        };
        let wanted = Wanted::of(threads)?;
        let tells = |it: &Measured<'_>| wanted.is_met_by(it) && is_alike(it.variant(), pool, threads);
        if measured.iter().any(tells) || !differ(&variant.runs, &other.runs, load) {
            return None;
        }
        let fact = Fact::KindAndNumber(KindAndNumber {
            pool_variant: pool.runs.variant.name.clone(),
            pool_threads: pool.workers.at_once as u32,
            requests_in_flight: wanted.requests() as u32,
            sized_variant: sized_variant(experiment, &wanted, pool, threads),
            arrivals: wanted.in_flight.arrivals,
        });
        let runs = pool.runs.runs.len().min(threads.runs.runs.len());
        Some(threads.runs.finding(fact, RunsShowing::new(runs, runs)))
    });
    // Two variants may name each other.
    found.fold(Vec::new(), |mut once, finding| {
        if !once.contains(&finding) {
            once.push(finding);
        }
        once
    })
}

/// A variant that ran, and how many requests it can work on at once.
struct Measured<'a> {
    runs: VariantRuns<'a>,
    workers: Workers,
}

impl<'a> Measured<'a> {
    const fn variant(&self) -> &'a Variant {
        self.runs.variant
    }
}

/// The number of requests that a platform pool must be able to work on at once to match the virtual threads.
struct Wanted {
    in_flight: InFlight,
    /// The most requests that the virtual threads may work on at once.
    limit: f64,
}

impl Wanted {
    fn of(threads: &Measured<'_>) -> Option<Self> {
        Some(Self { in_flight: InFlight::of(&threads.runs)?, limit: threads.workers.at_once })
    }

    /// The most requests in work at once.
    fn requests(&self) -> f64 {
        self.in_flight.requests.min(self.limit)
    }

    fn is_met_by(&self, pool: &Measured<'_>) -> bool {
        let at_once = pool.workers.at_once;
        let is_enough = at_once >= self.limit || self.in_flight.has_room_in(at_once, &pool.runs);
        pool.workers.kind == ThreadKind::Platform && is_enough
    }
}

/// Does the candidate differ from one of the two variants only in its threads? A third server or another JDK tells nothing about
/// theirs. If Threadcount does not configure the threads (a command, a jar), arguments may set them; nobody knows, and the candidate
/// counts as alike.
fn is_alike(candidate: &Variant, pool: &Measured<'_>, threads: &Measured<'_>) -> bool {
    let is_configured = |variant: &Variant| variant.server().and_then(Server::threads).is_some();
    [pool.variant(), threads.variant()].into_iter().any(|other| {
        !(is_configured(candidate) && is_configured(other))
            || candidate.apart_from_threads() == other.apart_from_threads()
    })
}

/// Is there a difference that the kind or the number of threads could explain? A single run proves none, but is read as if it did.
fn differ(variant: &VariantRuns<'_>, baseline: &VariantRuns<'_>, load: &LoadSpec) -> bool {
    let lost = LostOnPurpose::of(load.workload, &[&variant.runs, &baseline.runs]);
    load.workload.headline().iter().filter(|metric| !lost.hides(**metric)).any(|&metric| {
        let sides = Sides::of_rounds(metric, &variant.runs, &baseline.runs);
        let Some(ratio) = sides.ratio(load.interim_analyses().len()) else { return false };
        match ratio.interval {
            Some(interval) => interval.low > 1.0 || interval.high < 1.0,
            None => (ratio.ratio - 1.0).abs() > LEAST_DIFFERENCE,
        }
    })
}

/// A variant with a large enough platform pool, otherwise alike, that was not measured under this load.
fn sized_variant(
    experiment: &Experiment,
    wanted: &Wanted,
    pool: &Measured<'_>,
    threads: &Measured<'_>,
) -> Option<String> {
    let needed = wanted.in_flight.arrivals.map_or(wanted.in_flight.requests, |it| it.threads_needed());
    let is_sized = |variant: &&Variant| match variant.server().and_then(Server::threads) {
        Some(Threads::Platform(PoolSize::Clients) | Threads::Executor(DropIn::Cached)) => true,
        Some(Threads::Platform(PoolSize::Fixed(threads))) => f64::from(*threads) >= needed.min(wanted.limit),
        _ => false,
    };
    let mut sized = experiment.variants.iter().filter(is_sized);
    sized.find(|variant| is_alike(variant, pool, threads)).map(|variant| variant.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, sentence};
    use threadcount_config::parse;
    use threadcount_model::record::RequestThread;
    use threadcount_model::record::capacity::{CapacitySearch, SearchEnd};
    use threadcount_model::sample::{run, times};

    const TWO: &str = "platform: {}, virtual: {threads: virtual}";
    const CLOSED: &str = "clients: 1000";
    const CAPACITY: &str = "capacity: {p99: 200ms, from: 100/s, to: 20000/s}";

    /// Three runs of a variant; `pool` is the number of threads in its pool.
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

    /// Both sides work on equally many requests, so only the kind of thread differs; with a limit above the pool both differ again.
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
        assert_eq!(finding.fact, Fact::KindAndNumber(expected));
        assert_eq!((finding.variant.as_deref(), finding.load.as_deref()), (Some("virtual"), Some("load")));
        assert_eq!(
            sentence(finding),
            "without a pool of 1,000 threads, kind or number is open. Each of the 1,000 requests in flight has its own \
             thread. With platform 200 of them have one"
        );
        assert!(advice(finding).contains("a variant with a platform pool of 1,000"), "{}", advice(finding));
    }

    /// Three runs in which requests arrive at a rate.
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

    /// Three searches that end at this capacity, where responses take `ms`.
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
            "without a larger platform pool, kind or number is open. On average 5,000/s x 50.0 ms = 250 requests are in \
             flight, each with its own thread. With platform 200 of them have one"
        );
        assert!(
            advice(finding).starts_with("a variant with a platform pool of at least 298"),
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
        assert_eq!(find(&experiment, &experiment.loads[0], &unknown), [], "unknown kind of thread");
    }

    #[test]
    fn a_pool_as_large_as_the_mean_in_flight_is_too_small_under_a_rate() {
        let records =
            [at_rate("platform", 3_990.0, 90.0, Some(200)), at_rate("virtual", 3_990.0, 50.0, None)];
        let found = found(TWO, "rate: 3990/s", &records);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert!(sentence(finding).contains("3,990/s x 50.0 ms = 200 requests"), "{}", sentence(finding));
    }

    #[test]
    fn a_pair_that_compare_with_asks_for_is_confounded_too() {
        let variants = "cached: {threads: cached, jdk: 21}, platform: {}, virtual: {threads: virtual, compare_with: platform}";
        let cached = || runs("cached", "load", 17_000.0, None);
        let found = found(variants, CLOSED, &[cached(), platform(), threads()]);
        let pools = found.iter().map(|finding| match &finding.fact {
            Fact::KindAndNumber(it) => it.pool_variant.as_str(),
            other => panic!("{other:?}"),
        });
        assert_eq!(pools.collect::<Vec<_>>(), ["platform"], "cached has a thread for each request");
    }

    #[test]
    fn a_large_pool_on_another_jdk_does_not_tell_the_kind_from_the_number() {
        let with_sized = |sized: &str| {
            let variants = format!(
                "platform: {{}}, sized: {{threads: {{platform: 1000}}{sized}}}, virtual: {{threads: virtual}}"
            );
            found(&variants, CLOSED, &[platform(), runs("sized", "load", 17_000.0, Some(1_000)), threads()])
        };
        assert_eq!(with_sized(""), []);
        let [finding] = &with_sized(", jdk: 21")[..] else { panic!("a finding") };
        assert!(
            advice(finding).starts_with("a variant with a platform pool of 1,000"),
            "{}",
            advice(finding)
        );
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
                "rate: 3100/s",
                vec![at_rate("platform", 3_100.0, 60.0, Some(200)), at_rate("virtual", 3_100.0, 50.0, None)],
            ),
            (
                "a capacity for which the pool has enough threads",
                TWO,
                CAPACITY,
                vec![
                    capacity("platform", 2_900.0, 50.0, Some(200)),
                    capacity("virtual", 3_100.0, 50.0, None),
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
