//! Capacity in words: each variant's highest sustainable rate, and why it is not higher.

use crate::load_words::{limit_words, metric_words};
use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::experiment::capacity::Capacity;
use threadcount_model::figures as words;
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;
use threadcount_model::record::capacity::{
    CapacitySearch, CapacityStep, SearchEnd, StepFailure, StepVerdict,
};
use threadcount_stats::runs::mean;

/// One sentence per variant that was searched, in the experiment's order; empty unless the load is a capacity search.
#[must_use]
pub fn sentences(document: &ResultDocument, load: &LoadSpec) -> Vec<String> {
    let Some(capacity) = load.workload.capacity() else { return Vec::new() };
    let variants = document.experiment.variants.iter();
    let sentences = variants.filter_map(|variant| {
        let name = variant.name.as_str();
        let searched: Vec<&Record> =
            document.runs_of(name, &load.name).filter(|record| record.capacity.is_some()).collect();
        let last = searched.last()?.capacity.as_ref()?;
        let found = document.figures(name, &load.name, Metric::Capacity);
        Some(match mean(&found) {
            Some(mean) => sustained(name, mean, &found, &capacity, last),
            None => not_found(name, &searched, &capacity),
        })
    });
    sentences.collect()
}

fn sustained(name: &str, mean: f64, found: &[f64], capacity: &Capacity, last: &CapacitySearch) -> String {
    let limit = limit_words(capacity);
    let rate = words::figure(Metric::Capacity, mean);
    let lowest = found.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = found.iter().copied().fold(0.0, f64::max);
    let rounds = match found.len() {
        1 => "in one round".to_owned(),
        rounds => format!("{} to {} in {rounds} rounds", words::number(lowest), words::number(highest)),
    };
    let why = match last.ended {
        SearchEnd::Found | SearchEnd::Silent => format!("; {}", end(last, capacity.metric)),
        _ => String::new(),
    };
    format!("{name}: capacity {rate}, the highest sustainable rate with {limit} ({rounds}){why}")
}

/// The sentence for a variant in which no round found the server's own limit: the highest rate that it sustained.
fn not_found(name: &str, searched: &[&Record], capacity: &Capacity) -> String {
    let limit = limit_words(capacity);
    let searches = searched.iter().filter_map(|record| record.capacity.as_ref());
    let best =
        searches.max_by(|a, b| a.sustained_per_s.unwrap_or(0.0).total_cmp(&b.sustained_per_s.unwrap_or(0.0)));
    let Some(best) = best else { return format!("{name} was not searched") };
    let why = end(best, capacity.metric);
    match (best.sustained_per_s.map(|rate| words::figure(Metric::Capacity, rate)), best.ended) {
        (Some(rate), SearchEnd::Generator) => {
            format!(
                "{name}: capacity {rate} or more with {limit}; the load generator was the bottleneck above it ({why})"
            )
        }
        (Some(rate), SearchEnd::Ceiling | SearchEnd::Silent) => {
            format!("{name}: capacity {rate} or more with {limit}; {why}")
        }
        (Some(rate), _) => format!("{name}: capacity probably {rate} with {limit}; {why}"),
        (None, _) => format!("{name}: no sustainable rate with {limit}; {why}"),
    }
}

/// The reason why a search ended: how the lowest rate above the sustained one failed, or why no such rate was tried.
#[must_use]
pub fn end(search: &CapacitySearch, limited: Metric) -> String {
    let above = |step: &&CapacityStep| search.sustained_per_s.is_none_or(|held| step.asked_per_s > held);
    let wanted = match search.ended {
        SearchEnd::Generator => StepVerdict::Generator,
        _ => StepVerdict::Broken,
    };
    let refused = search.steps.iter().filter(above).filter(|step| step.verdict == wanted);
    let lowest = refused.min_by(|a, b| a.asked_per_s.total_cmp(&b.asked_per_s));
    match (search.ended, lowest) {
        (SearchEnd::Unfinished, _) => "the search was cut short".to_owned(),
        (SearchEnd::Silent, _) => silence(search),
        (SearchEnd::Ceiling, _) => "no higher rate may be tried; raise `to:`".to_owned(),
        (SearchEnd::Undecided, _) => {
            "its steps contradict each other; make them longer with `duration:`".to_owned()
        }
        (_, Some(step)) => {
            let reason = step
                .why
                .as_ref()
                .map_or_else(|| "it was not sustained".to_owned(), |why| failure(why, limited));
            format!("at {} {reason}", words::rate(step.asked_per_s))
        }
        (_, None) => "nothing was sustained".to_owned(),
    }
}

/// The rate after which the server stopped responding, with the line of its log that tells why.
fn silence(search: &CapacitySearch) -> String {
    let after = search.steps.last().map_or_else(
        || "before the first step".to_owned(),
        |step| format!("after {}", words::rate(step.asked_per_s)),
    );
    let log = search.log_trouble.as_ref().map(|line| format!("; its log: {line}")).unwrap_or_default();
    format!("{after} the server stopped responding{log}")
}

/// The reason why a step was not sustained; `limited` is the response-time metric that the limit applies to.
#[must_use]
pub fn failure(failure: &StepFailure, limited: Metric) -> String {
    match failure {
        StepFailure::RequestsFailed { failed, sent, cause } => {
            let cause = cause.as_deref().unwrap_or("unknown");
            let (failed, sent) = (words::count(*failed), words::count(*sent));
            format!("{failed} of {sent} requests failed, most of them: {cause}")
        }
        StepFailure::LimitExceeded { time_ms } => {
            format!("{} was {}", metric_words(limited), words::milliseconds(*time_ms))
        }
        StepFailure::NoResponse => "no request had a response".to_owned(),
        StepFailure::RateMissed { reached_per_s, asked_per_s } => {
            format!(
                "the throughput was {} instead of {}",
                words::rate(*reached_per_s),
                words::rate(*asked_per_s)
            )
        }
        StepFailure::BacklogGrew { requests } => {
            format!("{} more requests were waiting at its end than at half time", words::whole(*requests))
        }
        StepFailure::GeneratorBusy { cpu_share } => {
            format!("the busiest thread of the load generator used {} of a core", words::percent(*cpu_share))
        }
        StepFailure::GeneratorLate { send_lag_p99_ms } => {
            let lag = words::milliseconds(*send_lag_p99_ms);
            format!("the load generator had a send lag p99 of {lag} with a connection free")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::document;
    use threadcount_model::sample::{run, step};

    fn slow(asked_per_s: f64, time_ms: f64) -> CapacityStep {
        let why = StepFailure::LimitExceeded { time_ms };
        step(asked_per_s, StepVerdict::Broken, Some(why))
    }

    fn busy(asked_per_s: f64) -> CapacityStep {
        step(asked_per_s, StepVerdict::Generator, Some(StepFailure::GeneratorBusy { cpu_share: 0.97 }))
    }

    fn searched(variant: &str, sustained_per_s: f64, ended: SearchEnd, above: CapacityStep) -> Record {
        let search = CapacitySearch {
            sustained_per_s: Some(sustained_per_s),
            ended,
            log_trouble: None,
            steps: vec![above],
        };
        Record { capacity: Some(search), ..run(variant, "capacity", 3_900.0, 60.0) }
    }

    fn sentences_about(records: Vec<Record>) -> Vec<String> {
        let document = document("{platform: {}, virtual: {}}", "[{capacity: {p99: 200ms}}]", &records);
        sentences(&document, &document.experiment.loads[0])
    }

    #[test]
    fn each_variant_says_what_it_sustains_and_what_stood_in_the_way() {
        let records = vec![
            searched("virtual", 9_300.0, SearchEnd::Found, slow(9_900.0, 312.0)),
            searched("platform", 3_900.0, SearchEnd::Found, slow(4_100.0, 900.0)),
            searched("virtual", 9_500.0, SearchEnd::Found, slow(9_950.0, 313.0)),
        ];
        assert_eq!(
            sentences_about(records),
            [
                "platform: capacity 3,900/s, the highest sustainable rate with p99 within 200 ms (in one round); at 4,100/s p99 was 900 ms",
                "virtual: capacity 9,400/s, the highest sustainable rate with p99 within 200 ms (9,300 to 9,500 in 2 rounds); at 9,950/s p99 was 313 ms",
            ]
        );
    }

    #[test]
    fn a_bound_that_is_not_the_servers_is_said_to_be_none() {
        let generator = searched("virtual", 8_000.0, SearchEnd::Generator, busy(9_000.0));
        let ceiling = searched("platform", 5_000.0, SearchEnd::Ceiling, slow(9_900.0, 312.0));
        assert_eq!(
            sentences_about(vec![generator, ceiling]),
            [
                "platform: capacity 5,000/s or more with p99 within 200 ms; no higher rate may be tried; raise `to:`",
                "virtual: capacity 8,000/s or more with p99 within 200 ms; the load generator was the bottleneck above \
                 it (at 9,000/s the busiest thread of the load generator used 97 % of a core)",
            ]
        );
    }

    #[test]
    fn what_ended_the_search_is_the_lowest_step_above_the_rate_that_is_sustained() {
        let ended = |ended: SearchEnd| {
            let search = CapacitySearch {
                sustained_per_s: Some(1_000.0),
                ended,
                log_trouble: Some("java.lang.OutOfMemoryError: Java heap space".to_owned()),
                steps: vec![
                    slow(1_000.0, 300.0),
                    step(1_000.0, StepVerdict::Sustained, None),
                    busy(4_000.0),
                    slow(2_000.0, 900.0),
                    slow(1_050.0, 201.0),
                ],
            };
            end(&search, Metric::P99)
        };
        assert_eq!(ended(SearchEnd::Found), "at 1,050/s p99 was 201 ms");
        let generator = "at 4,000/s the busiest thread of the load generator used 97 % of a core";
        assert_eq!(ended(SearchEnd::Generator), generator);
        let silent = "after 1,050/s the server stopped responding; its log: java.lang.OutOfMemoryError: Java heap space";
        assert_eq!(ended(SearchEnd::Silent), silent);
        assert_eq!(ended(SearchEnd::Ceiling), "no higher rate may be tried; raise `to:`");
        assert_eq!(ended(SearchEnd::Unfinished), "the search was cut short");
    }

    #[test]
    fn each_reason_has_its_figures() {
        let failed = StepFailure::RequestsFailed { failed: 1, sent: 4_000, cause: Some("timeout".into()) };
        assert_eq!(failure(&failed, Metric::P99_9), "1 of 4,000 requests failed, most of them: timeout");
        let missed = StepFailure::RateMissed { reached_per_s: 977.5, asked_per_s: 1_000.0 };
        assert_eq!(failure(&missed, Metric::P99_9), "the throughput was 978/s instead of 1,000/s");
        let grew = StepFailure::BacklogGrew { requests: 100.0 };
        assert_eq!(
            failure(&grew, Metric::P99_9),
            "100 more requests were waiting at its end than at half time"
        );
        let slow = StepFailure::LimitExceeded { time_ms: 5_000.0 };
        assert_eq!(failure(&slow, Metric::P99_9), "p99.9 was 5.00 s");
        let late = StepFailure::GeneratorLate { send_lag_p99_ms: 7.2 };
        assert_eq!(
            failure(&late, Metric::P99_9),
            "the load generator had a send lag p99 of 7.20 ms with a connection free"
        );
    }
}
