//! Trust: the generator's health, the spread of the rounds, failures and warnings.

use crate::load_words::load_words;
use crate::observing::observations;
use serde::Serialize;
use std::collections::BTreeMap;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::reasons;
use threadcount_load::report::LoadReport;
use threadcount_model::figures;
use threadcount_model::record::Record;
use threadcount_model::rounds::RoundsDone;
use threadcount_stats::spread::spreads;

/// Whether the figures are trusted, and why not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Trust {
    /// `false`: no verdict.
    pub trusted: bool,
    /// Why not; the most important first.
    pub why_not: Vec<String>,
    /// The generator's health and the spread, as one sentence.
    pub sentence: String,
    /// Counts of the requests, as one sentence.
    pub requests: String,
    /// The number of rounds and why they ended, one sentence per reason.
    pub rounds: Vec<String>,
    /// Warnings of the runs, each once, with the number of runs.
    pub warnings: Vec<String>,
    /// What observing the JVM from inside cost, outside the measured windows.
    pub observation: Vec<String>,
}

/// Send lags below a microsecond are not shown.
const FINEST_LAG_MS: f64 = 0.001;

/// Reads a result's trust from its records.
#[must_use]
pub fn trust(document: &ResultDocument) -> Trust {
    Trust {
        trusted: document.trusted,
        why_not: why_not(document),
        sentence: health(document),
        requests: requests(&document.records),
        rounds: rounds(document),
        warnings: remarks(document).chain(warnings(&document.records)).collect(),
        observation: observations(document),
    }
}

/// A result without a complete run has no other doubt where nothing could run on this machine.
fn why_not(document: &ResultDocument) -> Vec<String> {
    match document.trusted {
        true => Vec::new(),
        false if document.why_not.is_empty() => vec!["nothing was measured".to_owned()],
        false => document.why_not.iter().map(reasons::doubt).collect(),
    }
}

/// `3 of at most 10 rounds with 400 clients and 1,000 clients, each comparison is decided`.
fn rounds(document: &ResultDocument) -> Vec<String> {
    let mut alike: Vec<(&RoundsDone, Vec<String>)> = Vec::new();
    for done in &document.rounds {
        let load = document.experiment.load(&done.load);
        let words = load.map_or_else(|| done.load.clone(), load_words);
        let same = |a: &RoundsDone| (a.rounds, a.at_most, a.why) == (done.rounds, done.at_most, done.why);
        match alike.iter_mut().find(|(first, _)| same(first)) {
            Some((_, loads)) => loads.push(words),
            None => alike.push((done, vec![words])),
        }
    }
    let all_alike = alike.len() == 1;
    let sentence = |(done, loads): (&RoundsDone, Vec<String>)| {
        let rounds = figures::plural(done.at_most.max(1) as usize, "round");
        let rounds =
            if done.rounds < done.at_most { format!("{} of at most {rounds}", done.rounds) } else { rounds };
        let under = if all_alike { String::new() } else { format!(" with {}", loads.join(" and ")) };
        format!("{rounds}{under}, {}", reasons::rounds_end(done.why))
    };
    alike.into_iter().map(sentence).collect()
}

/// Remarks on figures that are trusted.
fn remarks(document: &ResultDocument) -> impl Iterator<Item = String> {
    document.why_not.iter().filter(|_| document.trusted).map(reasons::doubt)
}

fn health(document: &ResultDocument) -> String {
    let generators =
        || document.records.iter().filter_map(|record| record.measured.as_ref()).map(|load| &load.generator);
    let mut parts = Vec::new();
    if let Some(share) = generators().map(|generator| generator.cpu_share).reduce(f64::max) {
        let lag =
            generators().filter_map(|generator| generator.send_lag_ms).map(|lag| lag.p99).reduce(f64::max);
        let sent = lag.map_or_else(String::new, |lag| {
            format!(", send lag p99 {}", figures::milliseconds(lag.max(FINEST_LAG_MS)))
        });
        parts.push(format!("generator at most {} of a core{sent}", figures::percent(share)));
    }
    parts.push(match widest_spread(document) {
        Some(spread) => format!("rounds within {}", figures::percent(spread)),
        None if document.is_any_complete() => "one round, so no spread".to_owned(),
        None => "no complete run".to_owned(),
    });
    parts.join("; ")
}

/// Of all variants that have two rounds or more.
fn widest_spread(document: &ResultDocument) -> Option<f64> {
    let spreads = spreads(&document.experiment, &document.records);
    spreads.into_iter().filter(|spread| spread.runs > 1).map(|spread| spread.rate).reduce(f64::max)
}

fn requests(records: &[Record]) -> String {
    let (mut sent, mut failed, mut unfinished) = (0, 0, 0);
    let mut causes: BTreeMap<&str, u64> = BTreeMap::new();
    for load in records.iter().filter_map(|record| record.measured.as_ref()) {
        sent += load.requests.of_window();
        failed += load.requests.failed;
        unfinished += load.requests.unfinished;
        for (cause, count) in &load.failures {
            *causes.entry(cause).or_default() += count;
        }
    }
    if sent == 0 && failed == 0 && records.iter().any(|record| record.benchmark.is_some()) {
        return "a benchmark: no requests".to_owned();
    }
    let in_flight = format!("{} in flight at the end", figures::count(unfinished));
    if failed == 0 {
        return format!("{} requests, none failed, {in_flight}", figures::count(sent));
    }
    let causes: Vec<String> =
        causes.iter().map(|(cause, count)| format!("{cause} {}", figures::count(*count))).collect();
    let loads = || records.iter().filter_map(|record| record.measured.as_ref());
    let body = loads().find_map(|load| load.first_failing_body.as_ref());
    let body = body.map_or_else(String::new, |body| format!("; the first body: {body}"));
    let answered = loads().map(LoadReport::answered).sum::<u64>();
    let divided = if loads().any(|load| load.answered() > load.requests.ok) {
        format!("; figures per request divide by all {} responses", figures::count(answered))
    } else {
        String::new()
    };
    format!(
        "{} of {} requests failed ({}{body}), {in_flight}{divided}",
        figures::count(failed),
        figures::count(sent),
        causes.join(", ")
    )
}

/// Each warning once, with its variants and loads, or every run.
fn warnings(records: &[Record]) -> Vec<String> {
    let mut warnings: Vec<(&str, Vec<String>, usize)> = Vec::new();
    for record in records {
        let failure = record.failure.iter().map(|failure| failure.why.as_str());
        let measured = record.measured.iter().flat_map(|load| &load.warnings).map(String::as_str);
        for text in failure.chain(measured) {
            let known = warnings.iter().position(|(known, ..)| *known == text).unwrap_or_else(|| {
                warnings.push((text, Vec::new(), 0));
                warnings.len() - 1
            });
            let who = format!("{} under {}", record.variant, record.load);
            let (_, speakers, runs) = &mut warnings[known];
            *runs += 1;
            if !speakers.contains(&who) {
                speakers.push(who);
            }
        }
    }
    let words = |(text, speakers, runs): (&str, Vec<String>, usize)| match runs {
        runs if runs == records.len() => format!("every run: {text}"),
        _ => format!("{}: {text}", speakers.join(", ")),
    };
    warnings.into_iter().map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::document;
    use threadcount_model::record::RunFailure;

    fn failed(variant: &str, why: &str) -> Record {
        let failure = Some(RunFailure { why: why.to_owned(), log_tail: Vec::new() });
        Record { variant: variant.to_owned(), load: "c400".to_owned(), failure, ..Record::default() }
    }

    #[test]
    fn rounds_that_ended_for_the_same_reason_are_one_sentence() {
        let done = |load: &str, rounds, at_most, why: &str| serde_json::json!({"load": load, "rounds": rounds, "at_most": at_most, "why": why});
        let sentences = |done: &[serde_json::Value]| {
            let document = document("{a: {}}", "[{clients: [400, 1000], duration: 1s}]", &[]);
            let done = serde_json::from_value(done.into()).expect("rounds");
            rounds(&ResultDocument { rounds: done, ..document })
        };
        let decided = "comparisons-decided";
        assert_eq!(
            sentences(&[done("c400", 3, 10, decided), done("c1000", 3, 10, decided)]),
            ["3 of at most 10 rounds, each comparison is decided"]
        );
        assert_eq!(
            sentences(&[done("c400", 3, 10, decided), done("c1000", 2, 2, "as-requested")]),
            [
                "3 of at most 10 rounds with 400 clients, each comparison is decided",
                "2 rounds with 1,000 clients, as requested"
            ]
        );
        assert!(sentences(&[]).is_empty());
    }

    #[test]
    fn a_warning_is_said_once_with_all_who_said_it() {
        let records = [failed("a", "late"), failed("a", "late"), failed("b", "late"), failed("b", "lost")];
        assert_eq!(warnings(&records), ["a under c400, b under c400: late", "b under c400: lost"]);
        assert_eq!(warnings(&records[..3]), ["every run: late"]);
    }
}
