//! Why the time of a request has no parts.

use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::figures;
use threadcount_model::record::Record;
use threadcount_stats::hung_requests::HungRequests;
use threadcount_stats::request_time::{NoParts, OtherTraffic, no_parts};
use threadcount_stats::runs::complete;

/// Why threads were not sampled, or no longer, or say nothing of requests: a sentence without a full stop for each variant.
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

/// The figures are those of the first such run.
fn without_parts_of(document: &ResultDocument, load: &LoadSpec, variant: &str) -> Option<String> {
    let runs = complete(&document.records, variant, &load.name);
    let reasons: Vec<String> = runs.iter().filter_map(|run| without_parts(run)).collect();
    let first = reasons.first()?;
    let which = match reasons.len() {
        all if all == runs.len() => String::new(),
        some => format!(" in {some} of {} runs", runs.len()),
    };
    Some(format!("{variant}: no parts of the time of a request{which}: {first}"))
}

/// Why what threads did in a run says nothing of the requests that completed; `None`: it does, or there are no samples.
#[must_use]
pub fn without_parts(record: &Record) -> Option<String> {
    Some(match no_parts(record)? {
        NoParts::HungRequests(hung) => hung_requests(&hung),
        NoParts::OtherTraffic(OtherTraffic { request_threads, in_flight }) => format!(
            "{request_threads:.1} threads had a request while {in_flight:.1} requests of the load were in flight, on average; the \
             others work on requests that timed out earlier, or that something else sent"
        ),
    })
}

fn hung_requests(hung: &HungRequests) -> String {
    format!(
        "about {} of {} unfinished requests hang; the unfinished ones are {} old on average, while 99 % of the completed ones took at \
         most {}, and they take {} of the time of all requests in flight",
        figures::count(hung.hung),
        figures::count(hung.unfinished),
        figures::milliseconds(hung.age_ms),
        figures::milliseconds(hung.completed_p99_ms),
        figures::percent(hung.share)
    )
}

/// Why the threads of a run were not sampled, or no longer; `None`: they were.
#[must_use]
pub fn sampling_ended(record: &Record) -> Option<String> {
    let profile = record.jvm.as_ref()?.wait_profile.as_ref()?;
    let why = profile.ended.as_ref()?;
    let what = if profile.samples == 0 { "were not sampled" } else { "were not sampled to the end" };
    Some(format!("threads {what}: {why}"))
}
