//! Decides whether a server behind the server is the limit of a run. Then the run's figures say nothing about the server's threads.

use super::runs::FULL_MACHINE;
use threadcount_model::backend_limit::BackendLimit;
use threadcount_model::record::jvm::Pool;
use threadcount_model::record::{BackendFigures, Record};

/// A backend that is the limit uses more than this share of the CPU in use on its cores.
const MOST: f64 = 0.5;
/// A thread that uses this much of a core or more may be what the other threads wait for.
const WHOLE_CORE: f64 = 0.95;
/// Such a thread is the limit only if it also uses this share of the CPU of its whole process tree.
const NEARLY_ALL: f64 = 0.8;
/// The connections are used up if on average this share of them exists.
const ALL_CONNECTIONS: f64 = 0.95;
/// If connections are refused, more than this share of the requests fails.
const REFUSED: f64 = 0.01;
/// Requests wait for a pool if it is fully in use in this share of its readings.
const MOSTLY_FULL: f64 = 0.5;

/// The backend that limits this run, with the reason; `None` if there is no backend, or none is the limit. `others` are the runs of the
/// same variant under the same load, because only some of them were observed from inside.
#[must_use]
pub fn backend_limit<'a>(run: &'a Record, others: &[&Record]) -> Option<(&'a str, BackendLimit)> {
    limit_among(&run.backends, run, others).or_else(|| {
        // At the sustained rate there is still room; whatever ended the search ran out in the step above it.
        let step = run.capacity.as_ref()?.lowest_broken()?;
        limit_among(&step.backends, run, others)
    })
}

fn limit_among<'a>(
    backends: &'a [BackendFigures],
    run: &Record,
    others: &[&Record],
) -> Option<(&'a str, BackendLimit)> {
    let mut largest_first: Vec<&BackendFigures> = backends.iter().collect();
    largest_first.sort_by(|a, b| b.cpu_cores.total_cmp(&a.cpu_cores));
    largest_first.into_iter().find_map(|backend| {
        let beside = backends.iter().filter(|it| it.cores == backend.cores);
        let limit = full_cores(backend, beside.map(|it| it.cpu_cores).sum())
            .or_else(|| one_thread(backend))
            .or_else(|| connections(backend, backends, run, others));
        limit.map(|limit| (backend.name.as_str(), limit))
    })
}

/// `together_cores` is the CPU of all backends on the same cores; the largest of these backends is named.
fn full_cores(backend: &BackendFigures, together_cores: f64) -> Option<BackendLimit> {
    let (in_use, cores) = (backend.cores_in_use?, backend.cores.len() as u32);
    let is_full = cores > 0 && in_use >= FULL_MACHINE * f64::from(cores);
    (is_full && together_cores > MOST * in_use).then_some(BackendLimit::Cpu {
        cpu_cores: backend.cpu_cores,
        cores_in_use: in_use,
        cores,
    })
}

fn one_thread(backend: &BackendFigures) -> Option<BackendLimit> {
    let thread_cores = backend.busiest_thread_cores?;
    (thread_cores >= WHOLE_CORE && thread_cores >= NEARLY_ALL * backend.cpu_cores)
        .then_some(BackendLimit::OneThread { thread_cores, cpu_cores: backend.cpu_cores })
}

/// Connections that are used up. A pool that keeps unused connections open looks the same from outside, so requests must also wait for
/// a connection, or more of them must fail than by accident.
fn connections(
    backend: &BackendFigures,
    all: &[BackendFigures],
    run: &Record,
    others: &[&Record],
) -> Option<BackendLimit> {
    let seen = backend.connections?;
    let limit = seen.limit?;
    let is_used_up = seen.mean >= ALL_CONNECTIONS * f64::from(limit);
    let fails = run.measured.as_ref().is_some_and(|load| {
        let done = load.requests.ok + load.requests.failed;
        load.requests.failed as f64 > REFUSED * done as f64
    });
    let waits_here = |run: &Record| waits_for_connections(run, backend, all);
    let waits = || std::iter::once(run).chain(others.iter().copied()).any(waits_here);
    (is_used_up && (fails || waits())).then_some(BackendLimit::Connections { connections: seen.mean, limit })
}

fn waits_for_connections(run: &Record, backend: &BackendFigures, all: &[BackendFigures]) -> bool {
    let pools = run.jvm.iter().flat_map(|jvm| &jvm.pools);
    let of_databases = pools.filter(|pool| pool.kind.is_of_databases());
    of_databases.filter(|pool| is_waited_for(pool)).any(|pool| connects_to(pool, all) == Some(&backend.name))
}

/// The backend that a pool is connected to. A pool does not name it, but the pool's connections are among those of its backend; so of
/// the backends with at least as many connections it is the one with the fewest others.
fn connects_to<'a>(pool: &Pool, all: &'a [BackendFigures]) -> Option<&'a String> {
    let sizes = pool.samples.iter().filter_map(|it| it.size.or(it.busy)).map(f64::from);
    let (sum, count) = sizes.fold((0.0, 0.0), |(sum, count), size| (sum + size, count + 1.0));
    let held = if count > 0.0 { sum / count } else { 0.0 };
    let connected = all.iter().filter_map(|backend| Some((backend, backend.connections?.mean)));
    let possible = connected.filter(|(_, mean)| *mean >= ALL_CONNECTIONS * held);
    let nearest = possible.min_by(|(_, a), (_, b)| (a - held).abs().total_cmp(&(b - held).abs()));
    nearest.map(|(backend, _)| &backend.name)
}

fn is_waited_for(pool: &Pool) -> bool {
    let waited = pool.samples.iter().filter(|it| it.queued.is_some_and(|queued| queued > 0)).count();
    waited > 0 && waited as f64 >= MOSTLY_FULL * pool.samples.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::record::BackendConnections;
    use threadcount_model::record::capacity::{CapacitySearch, CapacityStep, StepVerdict};
    use threadcount_model::record::jvm::{JvmReadings, PoolKind, PoolSample};
    use threadcount_model::sample::{run, step, with_load};

    fn backend(cpu_cores: f64, cores_in_use: f64, cores: usize) -> BackendFigures {
        BackendFigures {
            name: "database".to_owned(),
            cpu_cores,
            cores: (0..cores).collect(),
            cores_in_use: Some(cores_in_use),
            busiest_thread_cores: Some(cpu_cores / 8.0),
            ..BackendFigures::default()
        }
    }

    fn limit(backend: BackendFigures) -> Option<BackendLimit> {
        let record = Record { backends: vec![backend], ..run("a", "c4", 100.0, 5.0) };
        backend_limit(&record, &[]).map(|(name, limit)| {
            assert_eq!(name, "database");
            limit
        })
    }

    #[test]
    fn a_backend_that_uses_most_of_its_full_cores_is_the_limit() {
        let found = limit(backend(1.4, 1.95, 2));
        assert_eq!(found, Some(BackendLimit::Cpu { cpu_cores: 1.4, cores_in_use: 1.95, cores: 2 }));
        assert!(limit(backend(0.6, 0.96, 1)).is_some(), "pinned to one core, which others use too");
    }

    #[test]
    fn of_backends_that_fill_the_same_cores_together_the_largest_is_named() {
        let named = |first: Vec<usize>| {
            let database = BackendFigures { cores: first, ..backend(0.48, 0.97, 1) };
            let proxy = BackendFigures { name: "proxy".to_owned(), ..backend(0.47, 0.97, 1) };
            let record = Record { backends: vec![proxy, database], ..run("a", "c4", 100.0, 5.0) };
            backend_limit(&record, &[]).map(|(name, _)| name.to_owned())
        };
        assert_eq!(named(vec![0]), Some("database".to_owned()));
        assert_eq!(named(vec![1]), None, "each has less than half of what is used on its own core");
    }

    #[test]
    fn a_busy_backend_that_is_not_full_is_not_the_limit() {
        assert_eq!(limit(backend(1.4, 1.6, 2)), None, "room is left");
        assert_eq!(limit(backend(0.9, 1.95, 2)), None, "the server uses more");
        assert_eq!(limit(BackendFigures { cores_in_use: None, ..backend(1.9, 0.0, 2) }), None, "not known");
        assert_eq!(limit(BackendFigures::default()), None);
    }

    #[test]
    fn a_single_thread_that_uses_a_whole_core_is_the_limit_of_its_backend() {
        let with = |thread: f64, all: f64| {
            limit(BackendFigures { busiest_thread_cores: Some(thread), ..backend(all, 1.2, 2) })
        };
        assert_eq!(with(0.98, 1.05), Some(BackendLimit::OneThread { thread_cores: 0.98, cpu_cores: 1.05 }));
        assert_eq!(with(0.98, 1.6), None, "other threads do a part of the work");
        assert_eq!(with(0.7, 0.75), None, "it has time left");
    }

    fn with_connections(mean: f64, record: Record) -> Record {
        let connections = BackendConnections { mean, peak: 20, limit: Some(20) };
        let backend = BackendFigures { connections: Some(connections), ..backend(0.2, 0.9, 2) };
        Record { backends: vec![backend], ..record }
    }

    fn with_pool(queued: u64) -> Record {
        let sample = PoolSample { busy: Some(20), queued: Some(queued), ..PoolSample::default() };
        let pool =
            Pool { kind: PoolKind::Hikari, name: "pool".to_owned(), max: Some(20), samples: vec![sample; 5] };
        let jvm = JvmReadings { pools: vec![pool], ..JvmReadings::default() };
        Record { jvm: Some(jvm), ..run("a", "c4", 100.0, 5.0) }
    }

    #[test]
    fn used_up_connections_are_the_limit_where_requests_wait_or_fail() {
        let expected = Some(BackendLimit::Connections { connections: 19.8, limit: 20 });
        let found = |run: &Record, others: &[&Record]| backend_limit(run, others).map(|it| it.1);
        assert_eq!(found(&with_connections(19.8, with_pool(30)), &[]), expected);
        let unobserved = with_connections(19.8, run("a", "c4", 100.0, 5.0));
        assert_eq!(found(&unobserved, &[&with_pool(30)]), expected, "seen in another round");
        let failing = |failed| with_load(unobserved.clone(), |load| load.requests.failed = failed);
        assert_eq!(found(&failing(30), &[]), expected);
        assert_eq!(found(&failing(3), &[]), None, "three of a thousand may fail for any reason");
        assert_eq!(found(&unobserved, &[&with_pool(0)]), None, "kept open by an idle pool");
        assert_eq!(
            found(&with_connections(12.0, with_pool(30)), &[]),
            None,
            "the server's own pool is smaller"
        );
    }

    #[test]
    fn requests_that_wait_for_another_backends_connections_are_not_waiting_for_these() {
        let held = |connections: u32, record: Record| {
            let pool = |size: u32, queued: u64| {
                let sample = PoolSample { size: Some(size), queued: Some(queued), ..PoolSample::default() };
                Pool { kind: PoolKind::Hikari, name: size.to_string(), max: None, samples: vec![sample; 5] }
            };
            let queued = |size: u32| if size == connections { 30 } else { 0 };
            let pools = vec![pool(20, queued(20)), pool(10, queued(10))];
            let jvm = JvmReadings { pools, ..JvmReadings::default() };
            let other = BackendConnections { mean: 10.0, peak: 10, limit: None };
            let other = BackendFigures {
                name: "search".to_owned(),
                connections: Some(other),
                ..backend(0.1, 0.9, 2)
            };
            let mut run = with_connections(19.8, Record { jvm: Some(jvm), ..record });
            run.backends.push(other);
            backend_limit(&run, &[]).map(|(name, _)| name.to_owned())
        };
        let record = run("a", "c4", 100.0, 5.0);
        assert_eq!(held(20, record.clone()), Some("database".to_owned()));
        assert_eq!(held(10, record), None, "they wait for the other one, whose limit is not known");
    }

    #[test]
    fn of_a_search_the_step_that_breaks_shows_the_backend_that_ran_out() {
        let with = |verdict: StepVerdict, cpu_cores: f64, in_use: f64| {
            let backends = vec![backend(cpu_cores, in_use, 2)];
            let step_with =
                |asked_per_s, backends| CapacityStep { backends, ..step(asked_per_s, verdict, None) };
            let steps = vec![step_with(900.0, vec![backend(1.9, 2.0, 2)]), step_with(500.0, backends)];
            let search = CapacitySearch { steps, ..CapacitySearch::default() };
            let sustained = vec![backend(0.9, 1.2, 2)];
            let record =
                Record { backends: sustained, capacity: Some(search), ..run("a", "capacity", 400.0, 5.0) };
            backend_limit(&record, &[]).map(|(_, limit)| limit)
        };
        let full = BackendLimit::Cpu { cpu_cores: 1.4, cores_in_use: 1.95, cores: 2 };
        assert_eq!(with(StepVerdict::Broken, 1.4, 1.95), Some(full));
        assert_eq!(with(StepVerdict::Broken, 0.6, 1.95), None, "the server fills the cores");
        assert_eq!(with(StepVerdict::Generator, 1.4, 1.95), None, "says nothing about the servers");
    }
}
