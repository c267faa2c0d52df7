//! The reasons why the time of a request cannot be split into parts.

use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::figures;
use threadcount_model::record::Record;
use threadcount_stats::hung_requests::HungRequests;
use threadcount_stats::request_time::{FEWEST_SAMPLES, NoParts, OtherTraffic, no_parts};

/// A sentence per variant (without a full stop) that tells why its threads were not sampled to the end or do not describe requests.
#[must_use]
pub fn not_sampled(document: &ResultDocument, load: &LoadSpec) -> Vec<String> {
    let mut sentences = Vec::new();
    for record in document.records.iter().filter(|record| record.load == load.name) {
        let Some(why) = sampling_ended(record) else { continue };
        let sentence = format!("{}: {why}", record.variant);
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    let variants = document.experiment.variants.iter();
    sentences.extend(variants.filter_map(|variant| without_parts_of(document, load, &variant.name)));
    sentences
}

/// The reason why a variant has no parts, with the figures of the first such run.
fn without_parts_of(document: &ResultDocument, load: &LoadSpec, variant: &str) -> Option<String> {
    let runs = document.counted_runs(variant, &load.name);
    let reasons: Vec<String> = runs.iter().filter_map(|run| without_parts(run)).collect();
    let Some(first) = reasons.first() else { return too_few(variant, &runs) };
    let which = match reasons.len() {
        all if all == runs.len() => String::new(),
        some => format!(" in {some} of {} runs", runs.len()),
    };
    Some(format!("{variant} has no parts of the time of a request{which}: {first}"))
}

/// The reason if threads were sampled, but not often enough.
fn too_few(variant: &str, runs: &[&Record]) -> Option<String> {
    let profiles = runs.iter().filter_map(|run| run.jvm.as_ref()?.wait_profile.as_ref());
    let samples: u32 = profiles.map(|profile| profile.samples).sum();
    (1..FEWEST_SAMPLES).contains(&samples).then(|| {
        let samples = figures::plural(samples, "sample");
        format!("{variant} has no parts of the time of a request: {samples} of its threads, and {FEWEST_SAMPLES} are needed")
    })
}

/// The reason why a run's samples do not describe its completed requests; `None` if they do or there are no samples.
#[must_use]
pub fn without_parts(record: &Record) -> Option<String> {
    Some(match no_parts(record)? {
        NoParts::HungRequests(hung) => hung_requests(&hung),
        NoParts::OtherTraffic(OtherTraffic { request_threads, in_flight }) => format!(
            "{request_threads:.1} threads had a request while {in_flight:.1} requests of the load were in flight, on average. The \
             others work on requests that timed out earlier, or that something else sent"
        ),
    })
}

fn hung_requests(hung: &HungRequests) -> String {
    format!(
        "about {} of {} unfinished requests hang. The unfinished ones are {} old on average, while 99 % of the completed ones took at \
         most {}. They take {} of the time of all requests in flight",
        figures::count(hung.hung),
        figures::count(hung.unfinished),
        figures::milliseconds(hung.age_ms),
        figures::milliseconds(hung.completed_p99_ms),
        figures::percent(hung.share)
    )
}

/// The reason why sampling a run's threads never began or ended early; `None` if it did not.
#[must_use]
pub fn sampling_ended(record: &Record) -> Option<String> {
    let profile = record.jvm.as_ref()?.wait_profile.as_ref()?;
    let why = profile.ended.as_ref()?;
    let trouble = if profile.samples == 0 { "were not sampled" } else { "were not sampled to the end" };
    Some(format!("threads {trouble}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_threads_were_not_sampled_is_said_once_for_each_variant() {
        use threadcount_model::record::jvm::JvmReadings;
        use threadcount_model::record::wait_profile::WaitProfile;
        let mut record = threadcount_model::sample::run("virtual", "c4", 1.0, 1.0);
        let profile = WaitProfile { ended: Some("no such field".to_owned()), ..WaitProfile::default() };
        record.jvm = Some(JvmReadings { wait_profile: Some(profile), ..JvmReadings::default() });
        let records = [record.clone(), record];
        let document = crate::sample::document("{virtual: {}}", "[{clients: 4, duration: 1s}]", &records);
        assert_eq!(
            not_sampled(&document, &document.experiment.loads[0]),
            ["virtual: threads were not sampled: no such field"]
        );
    }

    #[test]
    fn why_threads_say_nothing_of_requests_is_said_once_for_each_variant() {
        use threadcount_model::record::jvm::JvmReadings;
        use threadcount_model::record::wait_profile::{WaitGroup, WaitProfile};
        // Ten requests were in flight; `threads` is the number of sampled threads.
        let with_threads = |threads: f64| {
            let group = WaitGroup { threads: vec![threads; 10], ..WaitGroup::default() };
            let profile = WaitProfile { samples: 10, groups: vec![group], ..WaitProfile::default() };
            let mut record = threadcount_model::sample::run("virtual", "c4", 1_000.0, 10.0);
            record.jvm = Some(JvmReadings { wait_profile: Some(profile), ..JvmReadings::default() });
            record
        };
        let sentences = |records: &[Record]| {
            let document = crate::sample::document("{virtual: {}}", "[{clients: 4, duration: 1s}]", records);
            not_sampled(&document, &document.experiment.loads[0])
        };
        let reason = "30.0 threads had a request while 10.0 requests of the load were in flight, on average. The others work on \
             requests that timed out earlier, or that something else sent";
        let all = format!("virtual has no parts of the time of a request: {reason}");
        assert_eq!(sentences(&[with_threads(30.0), with_threads(31.0)]), [all]);
        let one = format!("virtual has no parts of the time of a request in 1 of 2 runs: {reason}");
        assert_eq!(sentences(&[with_threads(10.0), with_threads(30.0)]), [one]);
        assert_eq!(sentences(&[with_threads(10.0)]), Vec::<String>::new());
    }

    #[test]
    fn too_few_samples_are_counted_and_none_is_no_reason() {
        use threadcount_model::record::jvm::JvmReadings;
        use threadcount_model::record::wait_profile::WaitProfile;
        let sentences = |samples: u32| {
            let mut record = threadcount_model::sample::run("virtual", "c4", 1_000.0, 10.0);
            let wait_profile = Some(WaitProfile { samples, ..WaitProfile::default() });
            record.jvm = Some(JvmReadings { wait_profile, ..JvmReadings::default() });
            let document =
                crate::sample::document("{virtual: {}}", "[{clients: 4, duration: 1s}]", &[record]);
            not_sampled(&document, &document.experiment.loads[0])
        };
        let expected =
            "virtual has no parts of the time of a request: 1 sample of its threads, and 3 are needed";
        assert_eq!(sentences(1), [expected]);
        assert_eq!([sentences(0), sentences(3)], [Vec::<String>::new(), Vec::new()]);
    }

    #[test]
    fn how_many_requests_hang_is_said_with_what_shows_it() {
        let hung =
            HungRequests { hung: 60, unfinished: 100, age_ms: 4_802.0, completed_p99_ms: 10.0, share: 0.6 };
        let expected = "about 60 of 100 unfinished requests hang. The unfinished ones are 4.80 s old on average, while 99 % of the \
             completed ones took at most 10.0 ms. They take 60 % of the time of all requests in flight";
        assert_eq!(hung_requests(&hung), expected);
    }
}
