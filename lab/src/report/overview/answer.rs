//! The answer in one sentence: which variant, by how much, at what cost.

use super::headline::{Direction, Headline, asked_for, headline, of_load, under};
use crate::model::result::ResultDocument;
use crate::report::summary::capital;

/// Of more loads that contradict the sentence, only the number is said.
const MOST_CONTRADICTIONS: usize = 2;

/// The answer: in full for the first load, in short for the last, and what other loads have against it.
#[must_use]
pub fn answer(document: &ResultDocument) -> String {
    let loads = &document.experiment.loads;
    let headlines: Vec<Headline<'_>> = loads.iter().filter_map(|load| headline(document, load)).collect();
    let Some(first) = headlines.first() else {
        return "Nothing to compare: only one variant has a complete run.".to_owned();
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
    capital(&answer) + "." + &pairs(document)
}

/// The pairs that `compare_with` asks for, a sentence each.
fn pairs(document: &ResultDocument) -> String {
    let loads = document.experiment.loads.iter();
    let asked = loads.flat_map(|load| asked_for(document, load));
    asked.map(|it| format!(" {}, {}.", capital(&under(it.load)), it.sentence())).collect()
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
    let is_said = said.iter().any(|it| is_of_variant(it, other) && it.load.name == other.load.name);
    let mut of_variant = said.iter().filter(|it| is_of_variant(it, other)).peekable();
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
    let of_variant = said.iter().filter(|it| is_of_variant(it, other)).filter_map(Headline::direction);
    let directions: Vec<Direction> = of_variant.collect();
    match (directions.iter().min(), directions.iter().max()) {
        (Some(lowest), Some(highest)) => direction < *lowest || direction > *highest,
        _ => direction != Direction::Same,
    }
}

fn is_of_variant(a: &Headline<'_>, b: &Headline<'_>) -> bool {
    (&a.comparison.variant, &a.comparison.baseline) == (&b.comparison.variant, &b.comparison.baseline)
}
