//! The report of a load on a JVM that was already running: where its requests spend their time, and what else limits it.

use crate::request_time;
use threadcount_judge::finding::Finding;
use threadcount_judge::words::finding::words;
use threadcount_model::record::Record;
use threadcount_model::request_time::RequestTime;
use threadcount_stats::request_time::OtherTraffic;

/// Lines on a request's time: the sentence, each part with its interval (or why there are no parts), then the findings.
#[must_use]
pub fn lines(record: &Record, times: &[RequestTime], findings: &[Finding]) -> Vec<String> {
    let mut lines = Vec::new();
    for time in times.iter().map(request_time::words) {
        lines.push(format!("  time: {}", time.sentence));
        lines.extend(time.parts.iter().map(|part| format!("    {}  {}", part.time, part.what)));
        lines.push(format!("    {}", time.basis));
    }
    lines.extend(request_time::sampling_ended(record).map(|why| format!("  time: {why}")));
    lines.extend(request_time::without_parts(record).map(|why| format!("  time (no parts): {why}")));
    lines.extend(findings.iter().map(finding));
    lines
}

/// The line for a request time that cannot be split into parts, because the JVM also served other traffic.
#[must_use]
pub fn others(others: &OtherTraffic) -> String {
    let OtherTraffic { request_threads, in_flight } = others;
    format!(
        "  time (no parts): the JVM served others too. On average {request_threads:.1} threads had a request, and {in_flight:.1} requests \
         of this load were in flight"
    )
}

fn finding(finding: &Finding) -> String {
    let words = words(finding);
    let advice = words.advice.map(|it| format!(". Try: {it}.")).unwrap_or_default();
    format!("  finding: {}{advice}", words.sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_judge::finding::Fact;
    use threadcount_judge::findings::limits::ResourceLimit;
    use threadcount_model::record::jvm::JvmReadings;
    use threadcount_model::record::wait_profile::{
        ThreadActivity, ThreadRole, ThreadState, WaitGroup, WaitProfile,
    };
    use threadcount_model::sample::{run, times, with_load};
    use threadcount_stats::request_time::{other_traffic, request_time};

    fn record(profile: WaitProfile) -> Record {
        let mut record = with_load(run("attached", "load", 1_000.0, 31.0), |load| {
            load.service_time_ms = Some(times(31.0));
        });
        record.jvm = Some(JvmReadings { wait_profile: Some(profile), ..JvmReadings::default() });
        record
    }

    #[test]
    fn the_time_of_a_request_has_the_words_of_a_run_and_what_is_found_stands_below_it() {
        let activity = ThreadActivity {
            state: ThreadState::Pool,
            resource: Some("HikariCP".to_owned()),
            application: Some("shop.Orders.find:42".to_owned()),
            ..ThreadActivity::default()
        };
        let groups = vec![WaitGroup { role: ThreadRole::Request, activity, threads: vec![31.0; 10] }];
        let record = record(WaitProfile { samples: 10, groups, ..WaitProfile::default() });
        let times: Vec<RequestTime> = request_time(&[&record]).into_iter().collect();
        let fact = Fact::Limits(ResourceLimit::GeneratorFiles { failed_requests: 3 });
        let finding = Finding { variant: None, load: None, runs: None, fact };
        let lines = lines(&record, &times, &[finding]);
        assert_eq!(lines[0], "  time: 31.0 ms = 31.0 waiting for a HikariCP connection (Orders.find:42)");
        assert_eq!(
            lines[1],
            "    31.0 ms [31.0, 31.0]  waiting for a HikariCP connection at shop.Orders.find:42"
        );
        assert_eq!(lines[3], "    10 samples of threads in 1 run");
        assert!(lines[4].starts_with("  finding: ") && lines.len() == 5, "{lines:?}");
    }

    #[test]
    fn threads_that_are_more_than_the_requests_of_the_load_serve_others() {
        let sentence_with = |threads: f64| {
            let activity = ThreadActivity { state: ThreadState::Lock, ..ThreadActivity::default() };
            let groups = vec![WaitGroup { role: ThreadRole::Request, activity, threads: vec![threads; 10] }];
            let profile = WaitProfile { samples: 10, groups, ..WaitProfile::default() };
            other_traffic(&record(profile)).map(|it| others(&it))
        };
        assert_eq!((sentence_with(31.0), sentence_with(40.0)), (None, None));
        let sentence = sentence_with(62.0).expect("others");
        assert!(
            sentence.contains("served others too. On average 62.0 threads had a request, and 31.0 requests"),
            "{sentence}"
        );
    }

    #[test]
    fn requests_that_hang_are_why_there_are_no_parts() {
        let group = WaitGroup { threads: vec![31.0; 10], ..WaitGroup::default() };
        let record = record(WaitProfile { samples: 10, groups: vec![group], ..WaitProfile::default() });
        // Ten requests were in flight from the beginning to the end: a quarter of all the time in flight.
        let hanging = with_load(record, |load| {
            load.elapsed_s = 10.0;
            load.requests.unfinished = 10;
            load.in_flight_at_end_age_ms = Some(10_000.0);
        });
        let lines = lines(&hanging, &[], &[]);
        assert!(
            lines[0].starts_with("  time (no parts): about 10 of 10 unfinished requests hang. "),
            "{lines:?}"
        );
        assert_eq!(lines.len(), 1);
    }

    #[test]
    fn why_threads_were_not_sampled_is_said_and_without_samples_nothing() {
        let ended = WaitProfile { ended: Some("no such field".to_owned()), ..WaitProfile::default() };
        assert_eq!(lines(&record(ended), &[], &[]), ["  time: threads were not sampled: no such field"]);
        assert_eq!(lines(&run("attached", "load", 1.0, 1.0), &[], &[]), Vec::<String>::new());
    }
}
