//! Turns the records of a session into its result.

use crate::explain::explain;
use crate::finding::Finding;
use crate::limit::station::{Resource, Station};
use crate::limit::thresholds::MOSTLY_FULL;
use crate::result::{ResultDocument, SCHEMA};
use threadcount_model::experiment::Experiment;
use threadcount_model::machine::Machine;
use threadcount_model::record::Record;
use threadcount_model::record::wait_profile::ThreadActivity;
use threadcount_model::request_time::{RequestTime, RequestTimePart, TimeShare};
use threadcount_model::rounds::{RoundsDone, Skipped};
use threadcount_stats::{claims, compare, request_times, trust};

/// Where a result comes from: program, command, time and machine.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// Threadcount's version.
    pub threadcount: String,
    /// The command line.
    pub command: Vec<String>,
    /// Time of creation, in RFC 3339.
    pub created_at: String,
    pub machine: Machine,
}

/// Compares, judges and explains the records.
#[must_use]
pub fn conclude(
    experiment: &Experiment,
    records: Vec<Record>,
    rounds: Vec<RoundsDone>,
    origin: Origin,
) -> ResultDocument {
    let (trusted, why_not) = trust(experiment, &records);
    let findings = explain(experiment, &records);
    let request_times = times_of_requests(experiment, &records, &findings);
    ResultDocument {
        schema: SCHEMA.to_owned(),
        threadcount: origin.threadcount,
        command: origin.command,
        created_at: origin.created_at,
        machine: origin.machine,
        crossover: None,
        comparisons: compare(experiment, &records),
        findings,
        findings_not_shown: 0,
        request_times,
        claims: claims(experiment, &records),
        skipped: skipped(experiment),
        trusted,
        why_not,
        experiment: experiment.clone(),
        records,
        rounds,
    }
}

/// Divides the time of requests into activities for each variant and load, and names the queue wherever a finding names it.
#[must_use]
pub fn times_of_requests(
    experiment: &Experiment,
    records: &[Record],
    findings: &[Finding],
) -> Vec<RequestTime> {
    let mut times = request_times(experiment, records);
    times.iter_mut().for_each(|time| name_queue(time, findings));
    times
}

/// Names the queue in which requests without a thread wait, if a finding names that queue.
fn name_queue(time: &mut RequestTime, findings: &[Finding]) {
    let is_same = |name: &Option<String>, wanted: &String| name.as_ref().is_none_or(|name| name == wanted);
    let is_about_it =
        |finding: &&Finding| is_same(&finding.variant, &time.variant) && is_same(&finding.load, &time.load);
    let mut stations = findings.iter().filter(is_about_it).filter_map(|finding| finding.fact.station());
    let Some((queue, station)) = stations.find_map(|it| Some((it.queue_name()?, it))) else { return };
    time.queue = Some(queue);
    match station.servers {
        Some(servers) if station.resource == Resource::ServerPool => fill_pool(time, servers.count),
        Some(servers) => add_running(time, station, servers.count),
        None => {}
    }
}

/// Scales the parts to all threads of a full pool. Each of them has a request, but a few samples count a few threads too many or too few.
fn fill_pool(time: &mut RequestTime, pool_threads: f64) {
    let found: f64 = time.parts.iter().map(|part| part.threads).sum();
    // If the samples show far fewer threads than the pool has, the activity of the others is unknown.
    if found < MOSTLY_FULL * pool_threads {
        return;
    }
    let share = pool_threads / found;
    let on_threads_ms: f64 = time.parts.iter().map(|part| part.time.ms).sum();
    for part in &mut time.parts {
        part.threads *= share;
        part.time.ms *= share;
        part.time.interval = part.time.interval.map(|it| it.scaled(share));
    }
    let moved_ms = on_threads_ms * (1.0 - share);
    time.without_thread.ms += moved_ms;
    time.without_thread.interval = time.without_thread.interval.map(|it| it.shifted(moved_ms));
}

/// Moves the time of running threads out of the queue, because they run requests even if no sample shows which.
fn add_running(time: &mut RequestTime, station: &Station, threads: f64) {
    let activity = station.in_service.as_ref().map(|it| &it.activity).filter(|it| it.has_place());
    let Some((activity, service_ms)) = activity.zip(station.service_ms()) else { return };
    let place = |it: &ThreadActivity| (it.state, it.application.clone());
    if time.parts.iter().any(|part| place(&part.activity) == place(activity)) {
        return;
    }
    let ms = service_ms.min(time.without_thread.ms.max(0.0));
    time.without_thread.ms -= ms;
    time.without_thread.interval = time.without_thread.interval.map(|it| it.shifted(-ms));
    let time_share = TimeShare { ms, interval: None };
    let part = RequestTimePart { activity: activity.clone(), threads, time: time_share };
    let place = time.parts.partition_point(|it| it.time.ms >= ms);
    time.parts.insert(place, part);
}

fn skipped(experiment: &Experiment) -> Vec<Skipped> {
    let whole = experiment.variants.iter().filter_map(|variant| {
        let why = variant.skipped.clone()?;
        Some(Skipped { variant: variant.name.clone(), load: None, why })
    });
    let under_a_load = experiment.loads.iter().flat_map(|load| {
        let here = experiment.variants.iter().filter(|variant| variant.runs_under(load));
        here.filter_map(|variant| {
            let why = load.skipped.clone()?;
            Some(Skipped { variant: variant.name.clone(), load: Some(load.name.clone()), why })
        })
    });
    whole.chain(under_a_load).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::station::{InService, KnownBy, Servers};
    use threadcount_model::interval::Interval;
    use threadcount_model::record::wait_profile::{ThreadRole, ThreadState};

    /// A limit of 20 threads that each sleep for 50 ms: 400/s, so 100 requests in flight take 250 ms each.
    fn limit() -> Station {
        let sleeping = ThreadActivity {
            state: ThreadState::Sleep,
            application: Some("Elastic.load:6".to_owned()),
            ..ThreadActivity::default()
        };
        Station {
            servers: Some(Servers { count: 20.0, known_by: KnownBy::Gauge }),
            in_flight: Some(100.0),
            rate_per_s: Some(400.0),
            in_service: Some(InService { activity: sleeping, share: 1.0 }),
            ..Station::default()
        }
    }

    /// The time of a request, no part of which passed on a thread that is known to have a request.
    fn time() -> RequestTime {
        RequestTime {
            variant: "it".to_owned(),
            load: "c100".to_owned(),
            service_time_ms: 250.0,
            rate_per_s: 400.0,
            runs: 1,
            samples: 20,
            counted: ThreadRole::Request,
            idle_workers: 0.0,
            parts: Vec::new(),
            without_thread: TimeShare {
                ms: 250.0,
                interval: Some(Interval { low: 240.0, high: 260.0, confidence: 0.95 }),
            },
            queue: None,
        }
    }

    #[test]
    fn a_full_pool_has_a_request_on_each_thread_whatever_few_samples_count() {
        let part = |threads: f64| RequestTimePart {
            activity: ThreadActivity { state: ThreadState::Sleep, ..ThreadActivity::default() },
            threads,
            time: TimeShare {
                ms: threads * 1_000.0 / 400.0,
                interval: Some(Interval { low: 40.0, high: 60.0, confidence: 0.95 }),
            },
        };
        let with = |threads| {
            let without_thread = TimeShare { ms: 250.0 - threads * 2.5, interval: None };
            RequestTime { parts: vec![part(threads)], without_thread, ..time() }
        };
        let mut counted_too_often = with(25.0);
        fill_pool(&mut counted_too_often, 20.0);
        let found = &counted_too_often.parts[0];
        assert!((found.threads - 20.0).abs() < 1e-9 && (found.time.ms - 50.0).abs() < 1e-9, "{found:?}");
        assert!(found.time.interval.is_some_and(|it| (it.low - 32.0).abs() < 1e-9), "{found:?}");
        assert!((counted_too_often.without_thread.ms - 200.0).abs() < 1e-9, "{counted_too_often:?}");
        let mut one_between_two = with(19.0);
        fill_pool(&mut one_between_two, 20.0);
        assert!((one_between_two.parts[0].time.ms - 50.0).abs() < 1e-9, "{one_between_two:?}");
        assert!((one_between_two.without_thread.ms - 200.0).abs() < 1e-9, "{one_between_two:?}");
        let mut not_known = with(17.5);
        fill_pool(&mut not_known, 20.0);
        assert_eq!(not_known, with(17.5));
    }

    #[test]
    fn what_unknown_threads_do_for_requests_is_no_time_in_their_queue() {
        let mut of_unknown = time();
        add_running(&mut of_unknown, &limit(), 20.0);
        assert_eq!((of_unknown.parts[0].time.ms, of_unknown.without_thread.ms), (50.0, 200.0));
        assert_eq!(of_unknown.without_thread.interval.map(|it| (it.low, it.high)), Some((190.0, 210.0)));
        let once = of_unknown.clone();
        add_running(&mut of_unknown, &limit(), 20.0);
        assert_eq!(of_unknown, once, "threads that are known have their part");
    }
}
