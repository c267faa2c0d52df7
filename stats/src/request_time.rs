//! Divides the time of a request by Little's law (J. D. C. Little, "A proof for the queuing formula L = λW", Operations Research 9, 1961):
//! the mean number of requests in a state = throughput x mean time in it.

mod observed;
mod series;

use super::resampled::Samples;
use super::runs::complete;
use observed::Observed;
pub use observed::{NoParts, OtherTraffic};
use series::{Series, time_share};
use threadcount_model::experiment::Experiment;
use threadcount_model::record::Record;
use threadcount_model::record::wait_profile::ThreadRole;
use threadcount_model::request_time::{RequestTime, RequestTimePart, TimeShare};

/// If more than this share of the requests is on threads of a known server, that is the server.
const KNOWN_SERVER: f64 = 0.5;
/// The fewest samples of threads that a run needs. A single sample shows one moment, in which 400 requests that began together may all
/// sleep.
pub const FEWEST_SAMPLES: u32 = 3;

/// The reason why the parts of this run's request time would be false; `None` if they can be shown.
#[must_use]
pub fn no_parts(run: &Record) -> Option<NoParts> {
    Observed::read(run)?.no_parts()
}

/// The requests in this run's JVM that the load does not know of; `None` if there are none.
#[must_use]
pub fn other_traffic(run: &Record) -> Option<OtherTraffic> {
    Observed::read(run)?.other_traffic()
}

/// The time of requests for each variant and load whose threads were sampled at enough moments.
#[must_use]
pub fn request_times(experiment: &Experiment, records: &[Record]) -> Vec<RequestTime> {
    let mut times = Vec::new();
    for load in &experiment.loads {
        for variant in experiment.variants.iter().filter(|variant| load.includes(&variant.name)) {
            let time = request_time(&complete(records, &variant.name, &load.name));
            times.extend(time.filter(|it| it.samples >= FEWEST_SAMPLES));
        }
    }
    times
}

/// The time of requests in the runs of one variant under one load.
#[must_use]
pub fn request_time(runs: &[&Record]) -> Option<RequestTime> {
    let windows: Vec<Observed<'_>> = runs.iter().filter_map(|run| Observed::of(run)).collect();
    let first = windows.first()?;
    let counted = counted_role(&windows);
    let samples = samples(&windows);
    let mut series: Vec<Series> = Vec::new();
    let mut before = 0;
    for window in &windows {
        window.add_to(&mut series, counted, before, samples.number());
        before += window.samples();
    }
    let weighted = |figure: fn(&Observed<'_>) -> f64| {
        let all: f64 = windows.iter().map(Observed::weight).sum();
        windows.iter().map(|window| figure(window) * window.weight()).sum::<f64>() / all
    };
    let service_time_ms = weighted(|window| window.service_time_ms);
    let mut parts: Vec<RequestTimePart> = series.iter().map(|series| series.part(&samples)).collect();
    parts.sort_by(|a, b| b.time.ms.total_cmp(&a.time.ms));
    Some(RequestTime {
        variant: first.record.variant.clone(),
        load: first.record.load.clone(),
        service_time_ms,
        rate_per_s: weighted(|window| window.rate_per_s),
        runs: windows.len() as u32,
        samples: samples.number() as u32,
        counted,
        idle_workers: weighted(|window| window.profile.idle_workers),
        parts,
        without_thread: without_thread(&windows, &series, &samples),
        queue: None,
    })
}

fn samples(windows: &[Observed<'_>]) -> Samples {
    let weight = |window: &Observed<'_>| {
        (0..window.samples()).map(|sample| window.profile.weight(sample)).collect::<Vec<f64>>()
    };
    // A request in flight is in all samples of its time: from a random moment on, it stays this long on average.
    let residual = windows.iter().map(|window| window.residual_ms).fold(0.0, f64::max);
    let known: Vec<f64> = windows.iter().flat_map(|window| window.profile.sample_s.iter().copied()).collect();
    let between_ms = 1_000.0 * known.iter().sum::<f64>() / known.len().max(1) as f64;
    let resembling = if between_ms > 0.0 { residual / between_ms } else { 0.0 };
    Samples::new(windows.iter().map(weight).collect(), resembling)
}

/// The role of the threads whose requests are counted. An unknown server has only frames of the application. A few threads of a known
/// server may belong to another server in the same process; then the threads that are as many as the requests in flight count.
fn counted_role(windows: &[Observed<'_>]) -> ThreadRole {
    let sum = |figure: &dyn Fn(&Observed<'_>) -> f64| {
        windows.iter().map(|window| window.weight() * figure(window)).sum::<f64>()
    };
    let in_flight = sum(&|window| window.in_flight());
    let known = sum(&|window| window.threads(ThreadRole::Request));
    let application = sum(&|window| window.threads(ThreadRole::Application));
    if application == 0.0 || known >= KNOWN_SERVER * in_flight {
        return ThreadRole::Request;
    }
    let left = in_flight - known;
    let fits = (0.5 * left..2.0 * left).contains(&application);
    if known == 0.0 || fits { ThreadRole::Application } else { ThreadRole::Request }
}

/// The rest of the service time in each run, which passed on no thread.
fn without_thread(windows: &[Observed<'_>], series: &[Series], samples: &Samples) -> TimeShare {
    let on_threads = |at: usize| series.iter().map(|series| series.ms[at]).sum::<f64>();
    let service_time_ms =
        windows.iter().flat_map(|window| std::iter::repeat_n(window.service_time_ms, window.samples()));
    let left: Vec<f64> = service_time_ms.enumerate().map(|(at, ms)| ms - on_threads(at)).collect();
    time_share(&left, samples)
}

#[cfg(test)]
mod tests {
    use super::super::random::SplitMix64;
    use super::*;
    use crate::hung_requests::HungRequests;
    use threadcount_model::record::jvm::JvmReadings;
    use threadcount_model::record::wait_profile::{ThreadActivity, ThreadState, WaitGroup, WaitProfile};
    use threadcount_model::sample::{run, times, with_load};

    fn group(role: ThreadRole, state: ThreadState, place: &str, threads: Vec<f64>) -> WaitGroup {
        let application = Some(place.to_owned());
        WaitGroup {
            role,
            activity: ThreadActivity { state, application, ..ThreadActivity::default() },
            threads,
        }
    }

    /// A run of 1,000 requests per second of 31 ms each: 31 in flight.
    fn observed(groups: Vec<WaitGroup>) -> Record {
        let samples = groups.first().map_or(10, |group| group.threads.len()) as u32;
        let mut record = with_load(run("it", "load", 1_000.0, 31.0), |load| {
            load.service_time_ms = Some(times(31.0));
        });
        let profile = WaitProfile { samples, groups, ..WaitProfile::default() };
        record.jvm = Some(JvmReadings { wait_profile: Some(profile), ..JvmReadings::default() });
        record
    }

    fn parts(time: &RequestTime) -> Vec<(ThreadState, f64)> {
        time.parts.iter().map(|part| (part.activity.state, (part.time.ms * 1e6).round() / 1e6)).collect()
    }

    #[test]
    fn threads_by_throughput_are_milliseconds_per_request_and_the_rest_is_its_own_part() {
        use ThreadRole::{Application, Request};
        let record = observed(vec![
            group(Request, ThreadState::Running, "a.A.a:1", vec![3.0; 10]),
            group(Request, ThreadState::Pool, "a.B.b:2", vec![19.0; 10]),
            group(Request, ThreadState::Socket, "a.C.c:3", vec![8.0; 10]),
            // A job of the application itself is not part of a request.
            group(Application, ThreadState::Sleep, "a.Job.run:4", vec![1.0; 10]),
        ]);
        let time = request_time(&[&record]).unwrap();
        assert_eq!(
            parts(&time),
            [(ThreadState::Pool, 19.0), (ThreadState::Socket, 8.0), (ThreadState::Running, 3.0)]
        );
        assert!((time.without_thread.ms - 1.0).abs() < 1e-9);
        let sum = time.parts.iter().map(|part| part.time.ms).sum::<f64>() + time.without_thread.ms;
        assert!((sum - time.service_time_ms).abs() < 1e-9);
        let interval = time.parts[0].time.interval.unwrap();
        assert!((interval.low - 19.0).abs() < 1e-9 && (interval.high - 19.0).abs() < 1e-9);
    }

    #[test]
    fn requests_that_are_unfinished_at_the_end_of_the_window_took_their_part_of_the_threads_time() {
        // Ten clients one after the other for 6.2 s with requests of 400 ms: 150 complete, and ten are 200 ms old at the end.
        let record = observed(vec![group(ThreadRole::Request, ThreadState::Lock, "a.A.a:1", vec![10.0; 10])]);
        let record = with_load(record, |load| {
            load.service_time_ms = Some(times(400.0));
            load.in_flight_at_end_age_ms = Some(200.0);
            (load.requests.ok, load.requests.unfinished) = (150, 10);
            load.rate_per_s.completed = 150.0 / 6.2;
        });
        let time = request_time(&[&record]).unwrap();
        assert_eq!(parts(&time), [(ThreadState::Lock, 400.0)]);
        assert!(time.without_thread.ms.abs() < 1e-9, "{time:?}");
    }

    #[test]
    fn what_had_passed_of_requests_when_the_window_began_took_none_of_its_threads_time() {
        // Ten clients with requests of 400 ms for 6 s: ten are 100 ms old at the beginning and again at the end; 150 complete.
        let record = observed(vec![group(ThreadRole::Request, ThreadState::Lock, "a.A.a:1", vec![10.0; 10])]);
        let record = with_load(record, |load| {
            load.service_time_ms = Some(times(400.0));
            load.in_flight_at_end_age_ms = Some(100.0);
            load.in_flight_at_start_age_ms = Some(100.0);
            (load.requests.ok, load.requests.unfinished, load.requests.in_flight_at_start) = (150, 10, 10);
            load.rate_per_s.completed = 150.0 / 6.0;
        });
        let time = request_time(&[&record]).unwrap();
        assert_eq!(parts(&time), [(ThreadState::Lock, 400.0)]);
    }

    #[test]
    fn where_requests_failed_the_threads_may_be_theirs_and_nothing_is_said() {
        let record = observed(vec![group(ThreadRole::Request, ThreadState::Lock, "a.A.a:1", vec![31.0; 10])]);
        let failing = |failed| {
            let record = record.clone();
            request_time(&[&with_load(record, |load| {
                (load.requests.ok, load.requests.failed) = (1_000, failed)
            })])
        };
        assert!(failing(10).is_some());
        assert_eq!(failing(11), None);
        let slowly = with_load(record.clone(), |load| {
            (load.requests.ok, load.requests.failed) = (1_000, 9);
            load.failed_time_ms = Some(times(2_000.0));
        });
        assert_eq!(request_time(&[&slowly]), None, "few of the requests, and a third of the time");
    }

    #[test]
    fn while_the_jvm_stops_all_threads_those_that_could_run_are_stopped_and_those_that_wait_wait() {
        use ThreadRole::Request;
        let mut record = observed(vec![
            group(Request, ThreadState::Running, "a.A.a:1", vec![10.0; 10]),
            group(Request, ThreadState::Pool, "a.B.b:2", vec![20.0; 10]),
        ]);
        let elapsed_s = record.measured.as_ref().unwrap().elapsed_s;
        record.jvm.as_mut().unwrap().safepoints.total_ms = 200.0 * elapsed_s;
        let time = request_time(&[&record]).unwrap();
        let expected =
            [(ThreadState::Pool, 20.0), (ThreadState::Running, 8.0), (ThreadState::Safepoint, 2.0)];
        assert_eq!(parts(&time), expected);
        assert!((time.without_thread.ms - 1.0).abs() < 1e-9, "{time:?}");
    }

    #[test]
    fn more_threads_than_requests_are_shown_as_a_negative_rest() {
        let record = observed(vec![group(ThreadRole::Request, ThreadState::Lock, "a.A.a:1", vec![33.0; 10])]);
        assert!((request_time(&[&record]).unwrap().without_thread.ms + 2.0).abs() < 1e-9);
    }

    #[test]
    fn threads_of_requests_that_the_load_gave_up_are_no_part_of_those_that_completed() {
        use ThreadRole::Request;
        // 1,000 requests per second of 10 ms each, beside threads that are still stuck in requests that timed out earlier.
        let stuck = |threads| {
            let groups = vec![
                group(Request, ThreadState::Sleep, "a.A.a:1", vec![10.0; 10]),
                group(Request, ThreadState::Lock, "a.B.b:2", vec![threads; 10]),
            ];
            with_load(observed(groups), |load| load.service_time_ms = Some(times(10.0)))
        };
        let record = stuck(20.0);
        let others = OtherTraffic { request_threads: 30.0, in_flight: 10.0 };
        assert_eq!(no_parts(&record), Some(NoParts::OtherTraffic(others)));
        assert_eq!(request_time(&[&record]), None);
        let healthy = request_time(&[&record, &stuck(0.0)]).unwrap();
        assert_eq!((healthy.runs, parts(&healthy)[0]), (1, (ThreadState::Sleep, 10.0)));
        // If there are a few threads too many, what they do may be what stuck threads do.
        let few = request_time(&[&stuck(2.0)]).unwrap();
        let shares: Vec<f64> = few.parts.iter().map(|part| few.least_share(part.time.ms)).collect();
        assert!((shares[0] - 0.8).abs() < 1e-9 && shares[1].abs() < 1e-9, "{shares:?}");
    }

    #[test]
    fn requests_that_hang_have_no_share_in_those_that_completed() {
        // 60 of 100 clients hang on a lock, for 2 s when the window of 6 s begins; the requests of the others sleep for 10 ms.
        let hanging = |hung: f64| {
            let groups = vec![
                group(ThreadRole::Request, ThreadState::Lock, "a.A.a:1", vec![hung; 10]),
                group(ThreadRole::Request, ThreadState::Sleep, "a.B.b:2", vec![100.0 - hung; 10]),
            ];
            let age_ms = |of_hung: f64| Some((hung * of_hung + (100.0 - hung) * 5.0) / 100.0);
            with_load(observed(groups), |load| {
                load.elapsed_s = 6.0;
                load.service_time_ms = Some(times(10.0));
                load.rate_per_s.completed = (100.0 - hung) * 100.0;
                let requests = &mut load.requests;
                (requests.ok, requests.in_flight_at_start) = ((100 - hung as u64) * 600, 100);
                requests.unfinished = 100;
                load.in_flight_at_start_age_ms = age_ms(2_000.0);
                load.in_flight_at_end_age_ms = age_ms(8_000.0);
            })
        };
        assert_eq!(request_time(&[&hanging(60.0)]), None);
        let why = no_parts(&hanging(60.0));
        assert!(matches!(why, Some(NoParts::HungRequests(HungRequests { hung: 60, .. }))), "{why:?}");
        assert_eq!(parts(&request_time(&[&hanging(0.0)]).unwrap())[0], (ThreadState::Sleep, 10.0));
    }

    #[test]
    fn the_interval_covers_the_truth_about_as_often_as_it_says() {
        let mut random = SplitMix64(1);
        let covered = (0..200).filter(|_| {
            // Twenty of many threads are drawn, each waits with probability 0.5: of 20 in flight 10.
            let mut drawn = || (0..20).map(|_| random.below(2) as f64).sum::<f64>();
            let record = observed(vec![group(
                ThreadRole::Request,
                ThreadState::Lock,
                "a.A.a:1",
                (0..30).map(|_| drawn()).collect(),
            )]);
            let interval = request_time(&[&record]).unwrap().parts[0].time.interval.unwrap();
            (interval.low..=interval.high).contains(&10.0)
        });
        let covered = covered.count();
        assert!((176..=200).contains(&covered), "{covered} of 200");
    }

    #[test]
    fn few_samples_have_no_interval_and_runs_without_samples_no_times() {
        let record = observed(vec![group(ThreadRole::Request, ThreadState::Lock, "a.A.a:1", vec![3.0; 4])]);
        assert_eq!(request_time(&[&record]).unwrap().parts[0].time.interval, None);
        assert_eq!(request_time(&[&run("it", "load", 1_000.0, 31.0)]), None);
    }

    #[test]
    fn one_moment_has_no_parts_and_several_runs_of_one_moment_each_have() {
        let record = observed(vec![group(ThreadRole::Request, ThreadState::Sleep, "a.A.a:1", vec![12.0])]);
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {it: {}}\nloads: [{name: load, clients: 31, duration: 1s}]\n";
        let experiment = threadcount_config::parse("x", "x.yaml", text, false).expect("an experiment");
        let samples = |runs: usize| {
            let records = vec![record.clone(); runs];
            request_times(&experiment, &records).iter().map(|time| time.samples).collect::<Vec<u32>>()
        };
        assert_eq!([samples(1), samples(2), samples(3)], [vec![], vec![], vec![3]]);
    }

    #[test]
    fn runs_are_added_sample_by_sample_each_with_its_own_throughput() {
        let lock = |threads| {
            observed(vec![group(ThreadRole::Request, ThreadState::Lock, "a.A.a:1", vec![threads; 10])])
        };
        let faster = with_load(lock(20.0), |load| load.rate_per_s.completed = 2_000.0);
        let time = request_time(&[&lock(20.0), &faster]).unwrap();
        assert_eq!(parts(&time), [(ThreadState::Lock, 15.0)]);
        assert_eq!((time.runs, time.samples), (2, 20));
    }

    #[test]
    fn what_is_left_is_of_the_service_time_of_each_run() {
        let on_threads = |ms: f64| {
            let group = group(ThreadRole::Request, ThreadState::Lock, "a.A.a:1", vec![ms; 10]);
            with_load(observed(vec![group]), |load| load.service_time_ms = Some(times(ms)))
        };
        let runs = [100.0, 200.0, 300.0].map(on_threads);
        let left = request_time(&runs.iter().collect::<Vec<_>>()).unwrap().without_thread;
        let interval = left.interval.unwrap();
        assert!(left.ms.abs() < 1e-9 && interval.low.abs() < 1e-9 && interval.high.abs() < 1e-9, "{left:?}");
    }

    #[test]
    fn runs_that_do_not_agree_whom_it_reads_from_name_nobody() {
        let reading = |peer: &str| {
            let mut group = group(ThreadRole::Request, ThreadState::Socket, "a.A.a:1", vec![20.0; 10]);
            group.activity.peer = Some(peer.to_owned());
            observed(vec![group])
        };
        let peer = |records: &[&Record]| request_time(records).unwrap().parts[0].activity.peer.clone();
        let (database, another) = (reading("127.0.0.1:5432"), reading("127.0.0.1:49153"));
        assert_eq!(peer(&[&database, &database]).as_deref(), Some("127.0.0.1:5432"));
        assert_eq!(peer(&[&database, &another]), None);
    }

    #[test]
    fn a_server_that_is_not_known_is_read_from_the_frames_of_the_application() {
        let record =
            observed(vec![group(ThreadRole::Application, ThreadState::Lock, "a.A.a:1", vec![30.0; 10])]);
        let time = request_time(&[&record]).unwrap();
        assert_eq!((time.counted, parts(&time)), (ThreadRole::Application, vec![(ThreadState::Lock, 30.0)]));
    }

    fn counted(request: f64, application: f64) -> ThreadRole {
        let group = |role, threads| group(role, ThreadState::Lock, "a.A.a:1", vec![threads; 10]);
        let record =
            observed(vec![group(ThreadRole::Request, request), group(ThreadRole::Application, application)]);
        request_time(&[&record]).unwrap().counted
    }

    #[test]
    fn a_few_threads_of_a_known_server_do_not_make_it_the_server_where_those_of_the_application_are_the_requests()
     {
        use ThreadRole::{Application, Request};
        // 31 in flight.
        assert_eq!([counted(1.0, 30.0), counted(2.0, 29.0), counted(10.0, 21.0)], [Application; 3]);
        // A job or two beside a server that answers asynchronously, and many beside one that does not.
        assert_eq!([counted(8.0, 2.0), counted(16.0, 15.0), counted(31.0, 100.0)], [Request; 3]);
        assert_eq!(counted(8.0, 200.0), Request, "more than there are requests");
        assert_eq!(counted(0.0, 2.0), Application, "nothing else is known");
        assert_eq!(counted(0.5, 2.0), Request, "a server without threads, and the application's main thread");
    }

    #[test]
    fn samples_count_by_what_they_stand_for() {
        let threads = [vec![10.0; 9], vec![28.0]].concat();
        let mut record = observed(vec![group(ThreadRole::Request, ThreadState::Lock, "a.A.a:1", threads)]);
        let profile = record.jvm.as_mut().unwrap().wait_profile.as_mut().unwrap();
        profile.sample_s = [vec![0.1; 9], vec![0.9]].concat();
        assert_eq!(parts(&request_time(&[&record]).unwrap()), [(ThreadState::Lock, 19.0)]);
    }
}
