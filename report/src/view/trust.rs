//! Trust in a result: its grade and what lowers it, requests, the generator's health, the spread of rounds, problems of runs.

use super::remarks::{Remark, findings_not_shown, remarks, runs_with};
use crate::crossover;
use crate::load_words::{load_words, runs_words};
use crate::observing::observations;
use crate::shares::shares;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::reasons;
use threadcount_load::outcome::Counts;
use threadcount_load::report::{FailureReason, LoadReport, failure_reasons};
use threadcount_model::doubt::{Doubt, TrustGrade};
use threadcount_model::experiment::Experiment;
use threadcount_model::figures;
use threadcount_model::record::Record;
use threadcount_model::rounds::RoundsDone;
use threadcount_stats::crossover::comparison::CrossoverDocument;
use threadcount_stats::disturbance;
use threadcount_stats::spread::spreads;

/// How far the figures can be trusted, and why not further.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trust {
    pub grade: TrustGrade,
    /// The gravest doubt and what can still be concluded, without a full stop; `None` if the grade is good.
    pub lowered_by: Option<String>,
    /// The number of requests and of failed ones, a sentence without a full stop.
    pub requests: String,
    /// The generator's health, spread, requests in flight, rounds, shared cores, and what could not be observed.
    pub basis: Vec<String>,
    /// Problems of runs, one remark per kind.
    pub remarks: Vec<Remark>,
    /// The remarks as text, each with its runs, and the load generator's warnings.
    pub all_remarks: Vec<String>,
    /// The cost of observing the JVM from inside, which happens outside the measured windows.
    pub observation: Vec<String>,
}

/// Send lags below a microsecond are not shown.
const FINEST_LAG_MS: f64 = 0.001;

/// Maximum number of variants that a doubt names; more are only counted.
const MOST_NAMED: usize = 2;

/// Reads a result's trust from its records.
#[must_use]
pub fn trust(document: &ResultDocument) -> Trust {
    match &document.crossover {
        Some(found) => of_crossover(found),
        None => of_runs(document),
    }
}

/// The trust of a crossover: a verdict at all, an undisturbed machine, a warm JVM.
pub(crate) fn of_crossover(found: &CrossoverDocument) -> Trust {
    let mut compared = found.comparisons.iter();
    let has_verdict = compared.any(|it| crossover::answer::has_verdict(found, it.treatment));
    let is_cold = found.crossover.warm_up.steady == Some(false);
    let (grade, lowered_by) = match has_verdict {
        false => (TrustGrade::Poor, Some("the crossover has no verdict")),
        true if disturbance::of_crossover(&found.crossover).is_some() => {
            (TrustGrade::Fair, Some("the machine was busy with something else"))
        }
        true if is_cold => (TrustGrade::Fair, Some("a JVM was still warming up")),
        true => (TrustGrade::Good, None),
    };
    let lowered_by = lowered_by.map(str::to_owned);
    Trust {
        grade,
        lowered_by,
        requests: crossover::trust(&found.crossover).trim_end_matches('.').to_owned(),
        basis: Vec::new(),
        remarks: Vec::new(),
        all_remarks: Vec::new(),
        observation: Vec::new(),
    }
}

fn of_runs(document: &ResultDocument) -> Trust {
    let sent = Sent::from_runs(&document.records);
    let divided = divided_by(&document.records);
    let basis = [health(document)].into_iter().chain(sent.in_flight()).chain(divided);
    Trust {
        grade: document.grade(),
        lowered_by: lowered_by(document),
        requests: sent.sentence(&document.records),
        basis: basis.chain(rounds(document)).chain(shares(document)).collect(),
        remarks: remarks(document),
        all_remarks: all_remarks(document),
        observation: observations(document),
    }
}

/// The doubt that lowers the grade with its runs, and what follows from it.
fn lowered_by(document: &ResultDocument) -> Option<String> {
    let first = document.lowered_by()?;
    let is_alike = |it: &&Doubt| it.reason.rank() == first.reason.rank();
    let alike: Vec<&Doubt> = document.why_not.iter().filter(is_alike).collect();
    let who = match runs_with(&alike) {
        0 | 1 => runs_words(&document.experiment, &first.variant, &first.load),
        all if all >= document.records.len() => "every run".to_owned(),
        all if first.reason.is_about_a_run() => format!("{all} of {} runs", document.records.len()),
        _ => {
            let variants: BTreeSet<&str> = alike.iter().map(|it| it.variant.as_str()).collect();
            match variants.len() {
                ..=MOST_NAMED => variants.into_iter().collect::<Vec<_>>().join(" and "),
                many => format!("{many} variants"),
            }
        }
    };
    let doubt_words = format!("{} ({who})", reasons::in_short(&first.reason));
    Some(match document.grade() {
        TrustGrade::Fair => format!("{doubt_words}; {}", reasons::allows(&first.reason)),
        _ => doubt_words,
    })
}

/// `3 of at most 10 rounds with 400 clients and 1,000 clients, each planned comparison is decided`.
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

/// The widest spread of the throughput among variants with at least two rounds.
fn widest_spread(document: &ResultDocument) -> Option<f64> {
    let spreads = spreads(&document.experiment, &document.records);
    spreads.into_iter().filter(|spread| spread.runs > 1).map(|spread| spread.rate).reduce(f64::max)
}

/// The note that costs per request are divided by all responses, if some of these were unexpected.
fn divided_by(records: &[Record]) -> Option<String> {
    let loads = || records.iter().filter_map(|record| record.measured.as_ref());
    let answered = figures::count(loads().map(LoadReport::answered).sum::<u64>());
    loads()
        .any(|load| load.answered() > load.requests.ok)
        .then(|| format!("figures per request divide by all {answered} responses"))
}

/// The requests of all runs, added up.
struct Sent<'a> {
    sent: u64,
    failed: u64,
    unfinished: u64,
    reasons: BTreeMap<FailureReason<'a>, u64>,
}

impl<'a> Sent<'a> {
    fn from_runs(records: &'a [Record]) -> Self {
        let loads = || records.iter().filter_map(|record| record.measured.as_ref());
        let sum = |count: fn(&Counts) -> u64| loads().map(|load| count(&load.requests)).sum::<u64>();
        Self {
            sent: sum(Counts::of_window),
            failed: sum(|it| it.failed),
            unfinished: sum(|it| it.unfinished),
            reasons: failure_reasons(loads()),
        }
    }

    fn sentence(&self, records: &[Record]) -> String {
        let sent = figures::count(self.sent);
        if self.sent == 0 && self.failed == 0 && records.iter().any(|record| record.benchmark.is_some()) {
            return "a benchmark: no requests".to_owned();
        }
        match (self.sent, self.failed) {
            (0, 0) => return "nothing was measured, because no request was sent".to_owned(),
            (_, 0) => return format!("{sent} requests, none failed"),
            _ => {}
        }
        let counted = |(reason, &count)| format!("{reason} {}", figures::count(count));
        let reasons: Vec<String> = self.reasons.iter().map(counted).collect();
        let loads = || records.iter().filter_map(|record| record.measured.as_ref());
        let body = loads().find_map(|load| load.first_failing_body.as_ref());
        let body = body.map(|body| format!("the first body: {body}"));
        let why: Vec<String> =
            Some(reasons.join(", ")).filter(|it| !it.is_empty()).into_iter().chain(body).collect();
        let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
        format!("{} of {sent} requests failed{why}", figures::count(self.failed))
    }

    fn in_flight(&self) -> Option<String> {
        let unfinished = figures::count(self.unfinished);
        (self.sent > 0).then(|| format!("{unfinished} requests were in flight at the end"))
    }
}

/// Each doubt, each warning, and the number of findings that are not shown.
fn all_remarks(document: &ResultDocument) -> Vec<String> {
    let not_shown = findings_not_shown(document).map(|it| format!("{}: {}", it.runs, it.text));
    document.why_not.iter().map(reasons::doubt).chain(warnings(document)).chain(not_shown).collect()
}

/// Each warning once, with the variants and loads that it concerns.
fn warnings(document: &ResultDocument) -> Vec<String> {
    let mut warnings: Vec<(&str, Vec<String>, usize)> = Vec::new();
    for record in &document.records {
        let failure = record.failure.iter().map(|failure| failure.why.as_str());
        let measured = record.measured.iter().flat_map(|load| &load.warnings).map(String::as_str);
        for text in failure.chain(measured) {
            let known = warnings.iter().position(|(known, ..)| *known == text).unwrap_or_else(|| {
                warnings.push((text, Vec::new(), 0));
                warnings.len() - 1
            });
            let who = runs_words(&document.experiment, &record.variant, &record.load);
            let (_, speakers, runs) = &mut warnings[known];
            *runs += 1;
            if !speakers.contains(&who) {
                speakers.push(who);
            }
        }
    }
    let words = |(text, speakers, runs): (&str, Vec<String>, usize)| match runs {
        runs if runs == document.records.len() => format!("every run: {text}"),
        _ => format!("{}: {text}", speakers.join("; ")),
    };
    warnings.into_iter().map(words).collect()
}

/// The note that nobody knows what else used the CPU of servers on other machines, which no doubt covers.
pub(super) fn unseen(experiment: &Experiment) -> Option<String> {
    let targets: Vec<&str> = experiment
        .variants
        .iter()
        .filter(|variant| variant.target().is_some())
        .map(|variant| variant.name.as_str())
        .collect();
    (!targets.is_empty())
        .then(|| format!("only responses of {} were seen, not what the servers used", targets.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::document;
    use threadcount_model::record::RunFailure;

    fn failed(variant: &str, why: &str) -> Record {
        let failure = Some(RunFailure { why: why.to_owned(), ..RunFailure::default() });
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
            ["3 of at most 10 rounds, each planned comparison is decided"]
        );
        assert_eq!(
            sentences(&[done("c400", 3, 10, decided), done("c1000", 2, 2, "as-requested")]),
            [
                "3 of at most 10 rounds with 400 clients, each planned comparison is decided",
                "2 rounds with 1,000 clients, as requested"
            ]
        );
        assert!(sentences(&[]).is_empty());
    }

    #[test]
    fn findings_that_are_not_shown_are_counted_in_both_lists_of_remarks() {
        let with = |findings_not_shown| ResultDocument {
            findings_not_shown,
            ..document("{a: {}}", "[{clients: 4, duration: 1s}]", &[])
        };
        let expected =
            "findings: 2 of another version not shown, as this one does not know their kind or figures";
        assert_eq!(all_remarks(&with(2)).last().map(String::as_str), Some(expected));
        assert!(remarks(&with(2)).iter().any(|it| it.runs == "findings"));
        assert!(!remarks(&with(0)).iter().any(|it| it.runs == "findings"));
    }

    #[test]
    fn a_warning_is_said_once_with_all_who_said_it() {
        let records = [failed("a", "late"), failed("a", "late"), failed("b", "late"), failed("b", "lost")];
        let warned = |records: &[Record]| {
            warnings(&document("{a: {}, b: {}}", "[{clients: [400, 1000], duration: 1s}]", records))
        };
        assert_eq!(warned(&records), ["a, 400 clients; b, 400 clients: late", "b, 400 clients: lost"]);
        assert_eq!(warned(&records[..3]), ["every run: late"]);
    }
}
