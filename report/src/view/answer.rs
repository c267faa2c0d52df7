//! The answer in sentences: which variant wins, by how much, what gets worse, and which variants do as well.

use super::headline::{Direction, Headline, asked_for, best, headline, is_of_pair, of_load, overlap, under};
use crate::load_words::load_words;
use crate::sentences::capital;
use threadcount_judge::decision::decision;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::decision::{self as decision_words, is_yes_or_no};
use threadcount_judge::words::metric::noun;
use threadcount_judge::words::reasons;
use threadcount_model::doubt::Doubt;
use threadcount_model::experiment::pairs::Pair;
use threadcount_model::experiment::{LoadSpec, Workload};
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_model::rounds::RoundsEnd;
use threadcount_stats::decision::Decision;
use threadcount_stats::runs::is_complete;

/// Maximum number of loads contradicting the answer that are named; more are only counted.
const MOST_CONTRADICTIONS: usize = 2;

/// Maximum number of equally good variants that are named; more are only counted.
const MOST_EQUALS: usize = 2;

/// The sentences of the answer with their full stops, the most important first.
#[must_use]
pub fn answer(document: &ResultDocument) -> Vec<String> {
    let sentences = interrupted(document).into_iter().chain(of_runs(document));
    sentences.map(|sentence| format!("{sentence}.")).collect()
}

fn of_runs(document: &ResultDocument) -> Vec<String> {
    let loads = &document.experiment.loads;
    let headlines = leading(document);
    let pairs = loads.iter().flat_map(|load| asked_for(document, load)).filter(Headline::is_decided);
    let pairs = pairs.filter(|pair| {
        headlines.is_empty() || is_planned(document, pair) || is_largest_pool(document, pair, &headlines)
    });
    let pairs: Vec<String> = pairs.map(|it| with_load(&it)).collect();
    let Some(first) = headlines.first() else {
        return if pairs.is_empty() { vec![nothing_to_compare(document)] } else { pairs };
    };
    let last = headlines.last().filter(|last| last.load.name != first.load.name);
    let decided = asked(document).map(|it| it.1);
    // With several loads the sentence is long enough, so response times are named only if the decision rests on them.
    let better = |headline: &Headline<'_>| match headline.direction() {
        Some(Direction::Same) => headline.better(document),
        _ if last.is_none() || decided == Some(Decision::Trade) => headline.better(document),
        _ => Vec::new(),
    };
    let word = word(document);
    let mut sentences =
        vec![word.map_or_else(String::new, |it| format!("{it}. ")) + &with_times(first, &better(first))];
    match last.map(|last| (last, better(last))) {
        Some((last, times))
            if is_same_measure(first, last) && times.is_empty() && better(first).is_empty() =>
        {
            sentences[0].push_str(&continued(last));
        }
        Some((last, times)) => sentences.push(with_times(last, &times)),
        None => {}
    }
    let lead: Vec<Headline<'_>> = [Some(first), last].into_iter().flatten().copied().collect();
    sentences.extend(contradictions(document, &lead));
    sentences.extend(lead.iter().filter_map(worse));
    match as_well_under_both(document, &lead) {
        Some(sentence) => sentences.push(sentence),
        None => sentences.extend(lead.iter().filter_map(|it| as_well(document, it))),
    }
    sentences.extend(better_ones(document, &lead));
    sentences.extend(between_javas(document, &lead));
    sentences.extend(pairs);
    sentences
}

/// Whether the experiment asks for this comparison itself.
fn is_planned(document: &ResultDocument, it: &Headline<'_>) -> bool {
    let beside = document.experiment.pairs_beside(it.load);
    let is_it = |pair: &Pair<'_>| {
        pair.variant.name == it.comparison.variant && pair.other.name == it.comparison.baseline
    };
    !beside.iter().any(is_it)
}

/// Whether it compares the virtual threads of the answer with the largest pool, unless that pool is named as equally good.
fn is_largest_pool(document: &ResultDocument, it: &Headline<'_>, lead: &[Headline<'_>]) -> bool {
    let is_lead = |lead: &&Headline<'_>| {
        lead.load.name == it.load.name && lead.comparison.variant == it.comparison.variant
    };
    let pools = document.experiment.kind_pairs(it.load).into_iter();
    let largest = pools.max_by_key(|pair| pair.variant.written_pool(it.load));
    let is_named = |lead: &Headline<'_>| {
        lead.equals(document).iter().any(|equal| equal.comparison.variant == it.comparison.baseline)
    };
    largest.is_some_and(|pair| pair.variant.name == it.comparison.baseline)
        && lead.iter().find(is_lead).is_some_and(|lead| !is_named(lead))
}

/// The comparisons with which the answer begins: the decisive ones if there are any, and those with an effect first.
fn leading(document: &ResultDocument) -> Vec<Headline<'_>> {
    let loads = document.experiment.loads.iter();
    let mut all: Vec<Headline<'_>> = loads.filter_map(|load| headline(document, load)).collect();
    if all.iter().any(Headline::is_decided) {
        all.retain(Headline::is_decided);
    }
    let has_effect = |it: &Headline<'_>| it.direction().is_some_and(|direction| direction != Direction::Same);
    if !all.first().is_some_and(has_effect) && all.last().is_some_and(has_effect) {
        all.reverse();
    }
    all
}

/// The variant that the answer is about, and the decision on it; `None` if several are the best, each under another load.
pub(crate) fn asked(document: &ResultDocument) -> Option<(String, Decision)> {
    let all = leading(document);
    let lead = all.first()?;
    let variant = lead.comparison.variant.clone();
    let is_one = all.iter().all(|it| is_of_pair(it, lead));
    decision(document, &variant).filter(|_| is_one).map(|decision| (variant, decision))
}

/// The decision in a word, unless the first sentence itself says that nothing is known yet.
pub(super) fn word(document: &ResultDocument) -> Option<&'static str> {
    let is_decided = leading(document).first()?.is_decided();
    let (_, decision) = asked(document).filter(|(_, it)| *it != Decision::NotKnownYet || is_decided)?;
    Some(decision_words::word(decision, is_yes_or_no(&document.experiment.question)))
}

/// Sentences on the best variant of each load, if it is another one and surely better than the leading one.
fn better_ones(document: &ResultDocument, lead: &[Headline<'_>]) -> Vec<String> {
    let better = lead.iter().filter_map(|lead| {
        let may_be_as_good =
            |it: &Headline<'_>| it.direction() == lead.direction() && overlap(it.ratio, lead.ratio);
        let best = best(document, lead.load).filter(|it| it.direction() == Some(Direction::Better))?;
        (!is_of_pair(&best, lead) && !may_be_as_good(&best)).then_some(best)
    });
    better.map(|it| with_load(&it)).collect()
}

/// Sentences that compare one variant on two Java versions, unless the answer already states them.
fn between_javas(document: &ResultDocument, lead: &[Headline<'_>]) -> Vec<String> {
    let is_said =
        |it: &Headline<'_>| lead.iter().any(|lead| is_of_pair(lead, it) && lead.load.name == it.load.name);
    let experiment = &document.experiment;
    let is_between = |headline: &Headline<'_>| {
        let pair = [&headline.comparison.variant, &headline.comparison.baseline]
            .map(|name| experiment.variant(name));
        matches!(pair, [Some(variant), Some(baseline)] if variant.differs_in_java(baseline))
    };
    let all = experiment.loads.iter().flat_map(|load| of_load(document, load));
    let wanted = all.filter(|it| it.is_decided() && is_between(it) && !is_said(it));
    wanted.map(|it| with_load(&it)).collect()
}

/// Whether the second ratio can be added to the first one's sentence, because it has the same variants, noun and verdict.
fn is_same_measure(first: &Headline<'_>, other: &Headline<'_>) -> bool {
    is_of_pair(first, other)
        && noun(first.load.workload) == noun(other.load.workload)
        && first.is_decided() == other.is_decided()
        && first.unreadable.is_none()
        && other.unreadable.is_none()
}

/// `virtual has 1.98x the throughput of platform with 400 clients`.
fn with_load(headline: &Headline<'_>) -> String {
    with_times(headline, &[])
}

/// `virtual has 1.98x the throughput of platform and 0.39x the p99 with 400 clients`.
fn with_times(headline: &Headline<'_>, times: &[String]) -> String {
    let all: Vec<String> = std::iter::once(headline.clause()).chain(times.iter().cloned()).collect();
    match headline.load.workload.answer() {
        // The words for these loads are as long as the sentence, so only the table contains them.
        Metric::Capacity | Metric::Score => figures::listed(&all),
        _ => format!("{} {}", figures::listed(&all), under(headline.load)),
    }
}

/// `, and 4.62x with 1,000 clients`.
fn continued(last: &Headline<'_>) -> String {
    format!(", and {}x {}", figures::ratio(last.ratio.ratio), under(last.load))
}

/// The sentence on what gets worse, which the answer must not hide.
fn worse(headline: &Headline<'_>) -> Option<String> {
    let parts = headline.worse();
    let variant = &headline.comparison.variant;
    (!parts.is_empty())
        .then(|| format!("But {variant} has {} {}", figures::listed(&parts), under(headline.load)))
}

/// `platform-sized has as much with 400 clients (2.00x) and with 1,000 clients (4.29x), with 424 and 1,024 OS threads; virtual has 28`
/// if the same variant does as well under both loads.
fn as_well_under_both(document: &ResultDocument, lead: &[Headline<'_>]) -> Option<String> {
    let [first, last] = lead else { return None };
    let (equals, later) = (first.equals(document), last.equals(document));
    let ([equal], [later]) = (equals.as_slice(), later.as_slice()) else { return None };
    let (name, as_good) = (&equal.comparison.variant, as_good(first.load.workload));
    if later.comparison.variant != *name || !is_same_measure(first, last) {
        return None;
    }
    let with = |it: &Headline<'_>| format!("{} ({}x)", under(it.load), figures::ratio(it.ratio.ratio));
    let threads = match [equal, later, first, last].map(os_threads) {
        [Some(equal), Some(later), Some(own), Some(own_later)] if own == own_later && equal != own => {
            let all = if equal == later { equal } else { format!("{equal} and {later}") };
            format!(", with {all} OS threads; {} has {own}", first.comparison.variant)
        }
        _ => String::new(),
    };
    Some(format!("{name} has {as_good} {} and {}{threads}", with(equal), with(later)))
}

fn os_threads(headline: &Headline<'_>) -> Option<String> {
    Some(figures::figure(Metric::OsThreads, headline.os_threads()?.variant_value))
}

/// `With 400 clients, platform-sized has as much (2.00x), with 424 OS threads; virtual has 28`.
fn as_well(document: &ResultDocument, best: &Headline<'_>) -> Option<String> {
    let equals = best.equals(document);
    let under = capital(&under(best.load));
    let as_good = as_good(best.load.workload);
    let ratio = |it: &Headline<'_>| figures::ratio(it.ratio.ratio);
    let other_threads = |it: &Headline<'_>| os_threads(it).filter(|it| Some(it) != os_threads(best).as_ref());
    match equals.as_slice() {
        [] => None,
        [only] => {
            let name = &best.comparison.variant;
            let threads =
                other_threads(only).zip(os_threads(best)).map_or_else(String::new, |(other, own)| {
                    format!(", with {other} OS threads; {name} has {own}")
                });
            Some(format!("{under}, {} has {as_good} ({}x){threads}", only.comparison.variant, ratio(only)))
        }
        several => {
            // OS threads of every variant would make the sentence too long.
            let are_all_named = several.len() <= MOST_EQUALS;
            let each = several.iter().map(|equal| {
                let threads = other_threads(equal).filter(|_| are_all_named);
                let threads = threads.map_or_else(String::new, |threads| format!(", {threads} OS threads"));
                format!("{} ({}x{threads})", equal.comparison.variant, ratio(equal))
            });
            let mut each: Vec<String> = each.take(MOST_EQUALS).collect();
            match several.len() - each.len() {
                0 => {}
                1 => each.push("another one".to_owned()),
                more => each.push(format!("{more} others")),
            }
            Some(format!("{under}, {} have {as_good}", figures::listed(&each)))
        }
    }
}

/// The words for an equally good variant. They name no metric beyond that of the answer, because no other is known to be equal.
const fn as_good(load: Workload) -> &'static str {
    match load.answer() {
        Metric::P50 | Metric::Score => "as short a time",
        Metric::Capacity => "as high a one",
        _ => "as much",
    }
}

/// `No verdict on java-25 with 10,000 clients: the load generator was the bottleneck.`, for each serious doubt.
pub(super) fn in_doubt(document: &ResultDocument) -> Vec<String> {
    let serious = document.why_not.iter().filter(|doubt| doubt.reason.is_serious());
    let sentence = |doubt: &Doubt| {
        let load = document.experiment.load(&doubt.load);
        let with = load.map_or_else(String::new, |load| format!(" {}", under(load)));
        format!("No verdict on {}{with}: {}.", doubt.variant, reasons::reason(doubt).trim_end_matches('.'))
    };
    serious.map(sentence).collect()
}

/// The note on a session that ended early.
fn interrupted(document: &ResultDocument) -> Option<String> {
    let ended = |why| document.rounds.iter().any(|done| done.why == why);
    let runs = document.records.iter().filter(|record| is_complete(record)).count();
    let runs = figures::plural(runs, "complete run");
    if ended(RoundsEnd::Interrupted) {
        Some(format!("Interrupted after {runs}"))
    } else {
        ended(RoundsEnd::DiskFull).then(|| format!("Ended early, as the disk is full, after {runs}"))
    }
}

/// The reason why no load has a ratio.
fn nothing_to_compare(document: &ResultDocument) -> String {
    let loads = || document.experiment.loads.iter();
    let measured = |load: &LoadSpec| {
        let variants = document.experiment.variants.iter().filter(|variant| variant.runs_under(load));
        variants.filter(|variant| !document.counted_runs(&variant.name, &load.name).is_empty()).count()
    };
    let most = loads().map(measured).max().unwrap_or(0);
    let without_capacity = loads().any(|load| load.workload.capacity().is_some() && measured(load) > 1);
    let why = match most {
        0 => "Nothing to compare: no variant has a complete run",
        1 => "Nothing to compare: only one variant has a complete run",
        _ if without_capacity => {
            "No ratio of capacities: the search of one side ended without the server's own limit"
        }
        _ => "No ratio: under no load do the baseline and another variant have complete runs",
    };
    why.to_owned()
}

/// Sentences on loads that contradict the answer for a variant that it names, the worst first.
fn contradictions(document: &ResultDocument, lead: &[Headline<'_>]) -> Vec<String> {
    let loads = document.experiment.loads.iter().flat_map(|load| of_load(document, load));
    let mut against: Vec<Headline<'_>> = loads.filter(|it| contradicts(it, lead)).collect();
    against.sort_by_key(Headline::direction);
    let sentence = |headline: &Headline<'_>| {
        let ratio = format!("{}x the {}", figures::ratio(headline.ratio.ratio), noun(headline.load.workload));
        let all: Vec<String> = std::iter::once(ratio).chain(headline.worse()).collect();
        format!("But {} has {} {}", headline.comparison.variant, figures::listed(&all), under(headline.load))
    };
    let mut sentences: Vec<String> = against.iter().take(MOST_CONTRADICTIONS).map(sentence).collect();
    if let more @ 1.. = against.len().saturating_sub(MOST_CONTRADICTIONS) {
        let loads: Vec<String> =
            against.iter().skip(MOST_CONTRADICTIONS).map(|it| load_words(it.load)).collect();
        sentences.push(match more {
            1 => format!("The table differs with {} as well", loads.concat()),
            more => format!("{more} more rows of the tables differ"),
        });
    }
    sentences
}

/// Whether `other` contradicts what the answer states (`lead`) about the same variant under other loads.
fn contradicts(other: &Headline<'_>, lead: &[Headline<'_>]) -> bool {
    let is_said = lead.iter().any(|it| is_of_pair(it, other) && it.load.name == other.load.name);
    let mut of_variant = lead.iter().filter(|it| is_of_pair(it, other)).peekable();
    if is_said || of_variant.peek().is_none() {
        return false;
    }
    // If the answer already calls a variant worse, a worse tail is no surprise.
    let hides_what_is_worse = !other.worse().is_empty()
        && other.direction() > Some(Direction::Worse)
        && of_variant.all(|it| it.worse().is_empty());
    is_beyond(other, lead) || hides_what_is_worse
}

/// Whether the direction lies outside those lead for the same variant. A variant that is better at one end and worse at
/// the other shows no difference somewhere between.
fn is_beyond(other: &Headline<'_>, lead: &[Headline<'_>]) -> bool {
    let Some(direction) = other.direction() else { return false };
    let of_variant = lead.iter().filter(|it| is_of_pair(it, other)).filter_map(Headline::direction);
    let directions: Vec<Direction> = of_variant.collect();
    match (directions.iter().min(), directions.iter().max()) {
        (Some(lowest), Some(highest)) => direction < *lowest || direction > *highest,
        _ => direction != Direction::Same,
    }
}
