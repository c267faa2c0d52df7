//! The answer in one sentence: which variant, by how much, at what cost.

use super::headline::{Direction, Headline, asked_for, headline, is_of_pair, of_load, under};
use crate::summary::capital;
use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::figures;
use threadcount_model::rounds::RoundsEnd;
use threadcount_stats::runs::{complete, is_complete};

/// Of more loads that contradict the sentence, only the number is said.
const MOST_CONTRADICTIONS: usize = 2;

/// The answer: in full for the first load, in short for the last, and what other loads have against it.
#[must_use]
pub fn answer(document: &ResultDocument) -> String {
    interrupted(document) + &answer_of_runs(document)
}

fn answer_of_runs(document: &ResultDocument) -> String {
    let loads = &document.experiment.loads;
    let headlines: Vec<Headline<'_>> = loads.iter().filter_map(|load| headline(document, load)).collect();
    let Some(first) = headlines.first() else {
        let pairs = pairs(document, &[]);
        return if pairs.is_empty() { nothing_to_compare(document) } else { pairs.trim_start().to_owned() };
    };
    let mut answer = first.sentence() + &first.equals(document);
    if loads.len() > 1 {
        answer = format!("{}, {answer}", under(first.load));
    }
    let last = headlines.last().filter(|last| last.load.name != first.load.name);
    if let Some(last) = last {
        answer.push_str(&format!("; {}", last.short(first)));
    }
    let said: Vec<Headline<'_>> = [Some(first), last].into_iter().flatten().copied().collect();
    answer.push_str(&contradictions(document, &said));
    capital(&answer) + "." + &pairs(document, &said)
}

/// The mark of a session that ended early.
fn interrupted(document: &ResultDocument) -> String {
    let ended = |why| document.rounds.iter().any(|done| done.why == why);
    let runs = document.records.iter().filter(|record| is_complete(record)).count();
    let runs = figures::plural(runs, "complete run");
    if ended(RoundsEnd::Interrupted) {
        format!("Interrupted after {runs}. ")
    } else if ended(RoundsEnd::DiskFull) {
        format!("Ended early, as the disk is full, after {runs}. ")
    } else {
        String::new()
    }
}

/// Why there is no ratio under any load.
fn nothing_to_compare(document: &ResultDocument) -> String {
    let loads = || document.experiment.loads.iter();
    let measured = |load: &LoadSpec| {
        let variants = document.experiment.variants.iter().filter(|variant| variant.runs_under(load));
        variants.filter(|variant| !complete(&document.records, &variant.name, &load.name).is_empty()).count()
    };
    let most = loads().map(measured).max().unwrap_or(0);
    let without_capacity = loads().any(|load| load.workload.capacity().is_some() && measured(load) > 1);
    match most {
        0 => "Nothing to compare: no variant has a complete run.".to_owned(),
        1 => "Nothing to compare: only one variant has a complete run.".to_owned(),
        // What each search found is said below.
        _ if without_capacity => {
            "No ratio of capacities: the search of the baseline, or of each other variant, ended without the server's own limit."
                .to_owned()
        }
        _ => "No ratio: under no load do the baseline and another variant have complete runs.".to_owned(),
    }
}

/// The pairs that `compare_with` asks for, and those of one variant on two Javas, a sentence each.
fn pairs(document: &ResultDocument, said: &[Headline<'_>]) -> String {
    let loads = || document.experiment.loads.iter();
    let is_said =
        |it: &Headline<'_>| said.iter().any(|said| is_of_pair(said, it) && said.load.name == it.load.name);
    let of_baseline = loads().flat_map(|load| of_load(document, load));
    let between_javas = of_baseline.filter(|it| is_between_javas(document, it) && !is_said(it));
    let asked = loads().flat_map(|load| asked_for(document, load));
    between_javas
        .chain(asked)
        .map(|it| format!(" {}, {}.", capital(&under(it.load)), it.sentence()))
        .collect()
}

fn is_between_javas(document: &ResultDocument, headline: &Headline<'_>) -> bool {
    let named = |name: &str| document.experiment.variants.iter().find(|variant| variant.name == name);
    let comparison = headline.comparison;
    named(&comparison.variant)
        .zip(named(&comparison.baseline))
        .is_some_and(|(variant, baseline)| variant.differs_in_java(baseline))
}

/// What the sentence would hide: loads under which a variant that it names does otherwise than it says. The worst first.
fn contradictions(document: &ResultDocument, said: &[Headline<'_>]) -> String {
    let loads = document.experiment.loads.iter().flat_map(|load| of_load(document, load));
    let mut against: Vec<Headline<'_>> = loads.filter(|it| contradicts(it, said)).collect();
    against.sort_by_key(Headline::direction);
    let before = said.last().into_iter().chain(&against);
    let words = against.iter().zip(before).take(MOST_CONTRADICTIONS).map(|(it, before)| {
        let but = if is_beyond(it, said) { "but " } else { "" };
        format!("; {but}{}", it.short(before))
    });
    let mut words: String = words.collect();
    if let more @ 1.. = against.len().saturating_sub(MOST_CONTRADICTIONS) {
        words.push_str(&format!("; and {more} more that differ, see the tables"));
    }
    words
}

/// Is it of a variant that the sentence names, under a load that it does not speak of, and does it say otherwise?
fn contradicts(other: &Headline<'_>, said: &[Headline<'_>]) -> bool {
    let is_said = said.iter().any(|it| is_of_pair(it, other) && it.load.name == other.load.name);
    let mut of_variant = said.iter().filter(|it| is_of_pair(it, other)).peekable();
    if is_said || of_variant.peek().is_none() {
        return false;
    }
    // Of a variant that is said to be worse, a tail that is worse as well is no surprise.
    let hides_what_is_worse = !other.worse().is_empty()
        && other.direction() > Some(Direction::Worse)
        && of_variant.all(|it| it.worse().is_empty());
    is_beyond(other, said) || hides_what_is_worse
}

/// Is its direction not between those that are said of the same variant? Better at one end and worse at the other is no
/// difference somewhere between them.
fn is_beyond(other: &Headline<'_>, said: &[Headline<'_>]) -> bool {
    let Some(direction) = other.direction() else { return false };
    let of_variant = said.iter().filter(|it| is_of_pair(it, other)).filter_map(Headline::direction);
    let directions: Vec<Direction> = of_variant.collect();
    match (directions.iter().min(), directions.iter().max()) {
        (Some(lowest), Some(highest)) => direction < *lowest || direction > *highest,
        _ => direction != Direction::Same,
    }
}
