//! The answer of a crossover: a sentence per kind of thread, or why there is no verdict.

use super::{baseline, name, shown, times};
use threadcount_judge::words::decision as decision_words;
use threadcount_judge::words::metric::bound;
use threadcount_model::comparison::Verdict;
use threadcount_model::crossover::Treatment;
use threadcount_model::figures;
use threadcount_stats::crossover::CrossoverRatio;
use threadcount_stats::crossover::comparison::{CrossoverDocument, TreatmentComparison, TreatmentFigures};
use threadcount_stats::crossover::decision::decision;
use threadcount_stats::decision::Decision;

/// The answer covers at most this many kinds of thread; the table shows all.
const MOST_ANSWERS: usize = 3;
/// Above this share of failed requests, the failures themselves may move the median or the p99.
const MOST_FAILED: f64 = 0.001;
/// Above this share of responses to requests sent before a switch, part of the throughput belongs to the other kind of thread.
const MOST_OVERLAPPING: f64 = 0.05;
/// A requested rate counts as reached if it is missed by no more than this share, plus what chance explains.
const REACHED: f64 = 0.02;
/// Chance explains this many standard deviations of random (Poisson) arrivals.
const DEVIATIONS: f64 = 3.0;

/// The answer's sentences.
pub(crate) fn answers(document: &CrossoverDocument) -> Vec<String> {
    if let Some(why) = no_verdict(document) {
        return vec![why];
    }
    let name = |treatment| name(&document.crossover, treatment);
    let own = name(baseline(&document.crossover));
    let others = document.crossover.treatments.iter().skip(1);
    let mut others: Vec<Treatment> = others.copied().collect();
    // The kind of thread that the question is about comes first.
    let asked = decided(document).map(|it| it.0);
    others.sort_by_key(|it| Some(*it) != asked);
    let sentence = |(at, &treatment): (usize, &Treatment)| {
        let figures = document.figures.iter().find(|it| it.treatment == treatment)?;
        let comparison = document.comparisons.iter().find(|it| it.treatment == treatment);
        let before = at.checked_sub(1).map(|before| others[before]);
        let are_nouns_known = before.is_some_and(|it| is_different(document, it));
        let name = name(treatment);
        Some(match (why_unfit(figures), comparison) {
            (Some(why), _) => format!("No verdict on {name}, as {why}."),
            (None, Some(it)) if are_nouns_known && is_different(document, treatment) => {
                format!("{name} has {}.", figures::listed(&ratios(it)))
            }
            (None, Some(it)) => match verdict(document, it, &own) {
                Some(verdict) => format!("{name} has {verdict}."),
                None => format!("No verdict on {name}, as too few responses of it or of {own} have a time."),
            },
            (None, None) => format!("No verdict on {name}, as no block of periods has a response of it."),
        })
    };
    let mut sentences: Vec<String> =
        others.iter().enumerate().filter_map(sentence).take(MOST_ANSWERS).collect();
    if let Some((first, word)) = sentences.first_mut().zip(decision_word(document)) {
        first.insert_str(0, &word);
    }
    sentences
}

/// The kind of thread that the question is about, with the decision on it: virtual threads, or the first kind if they were not compared.
/// `None` if there is no verdict on it.
pub(crate) fn decided(document: &CrossoverDocument) -> Option<(Treatment, Decision)> {
    let others = document.crossover.treatments.get(1..)?;
    let asked = *others.iter().find(|it| is_virtual(**it)).or(others.first())?;
    let has_verdict = |treatment| has_verdict(document, treatment);
    let decision = decision(document, asked, has_verdict).filter(|_| has_verdict(asked))?;
    Some((asked, decision))
}

/// Whether the question is about virtual threads, so that it is answered by yes or no. For another kind the answer is better or worse.
const fn is_virtual(treatment: Treatment) -> bool {
    matches!(treatment, Treatment::Virtual { .. })
}

/// The first word of the answer.
pub(crate) fn word(document: &CrossoverDocument) -> Option<&'static str> {
    decided(document).map(|(asked, decision)| decision_words::word(decision, is_virtual(asked)))
}

/// The first word of the answer, with the pool that is as good.
fn decision_word(document: &CrossoverDocument) -> Option<String> {
    let name = |treatment| name(&document.crossover, treatment);
    let (asked, decision) = decided(document)?;
    let word = decision_words::word(decision, is_virtual(asked));
    Some(match decision {
        Decision::OnlyTheNumber(threads) => {
            let pool = name(Treatment::Platform { threads });
            format!("{word}: {pool} is as good as {}. ", name(asked))
        }
        _ => format!("{word}. "),
    })
}

/// Whether throughput, median and p99 all differ, so that later sentences need not name the figures again.
fn is_different(document: &CrossoverDocument, treatment: Treatment) -> bool {
    let is_word = |ratio: &CrossoverRatio| {
        matches!(ratio.verdict, Verdict::Higher | Verdict::Lower)
            && ratio.interval.is_some_and(|interval| interval.is_readable(ratio.ratio))
    };
    let comparison = document.comparisons.iter().find(|it| it.treatment == treatment);
    document.crossover.rate_per_s.is_none()
        && has_verdict(document, treatment)
        && comparison.is_some_and(|comparison| {
            [Some(&comparison.rate), comparison.p50.as_ref(), comparison.p99.as_ref()]
                .into_iter()
                .all(|ratio| ratio.is_some_and(is_word))
        })
}

/// `1.98x`, `0.49x [0.49, 0.50]`, `0.39x [0.38, 0.40]`; only the table shows the interval of the throughput.
fn ratios(comparison: &TreatmentComparison) -> Vec<String> {
    let of_times = [&comparison.p50, &comparison.p99].into_iter().flatten().map(shown);
    std::iter::once(times(comparison.rate.ratio)).chain(of_times).collect()
}

/// Whether the answer concludes anything about this kind of thread.
pub(crate) fn has_verdict(document: &CrossoverDocument, treatment: Treatment) -> bool {
    let figures = document.figures.iter().find(|it| it.treatment == treatment);
    let is_fit = figures.is_some_and(|it| why_unfit(it).is_none());
    let comparison = document.comparisons.iter().find(|it| it.treatment == treatment);
    is_fit
        && comparison.is_some_and(|it| verdict(document, it, "").is_some())
        && no_verdict(document).is_none()
}

/// The reason why no kind of thread can be compared, if there is one.
fn no_verdict(document: &CrossoverDocument) -> Option<String> {
    let crossover = &document.crossover;
    let name = |treatment| name(crossover, treatment);
    if document.figures.is_empty() {
        return Some("No verdict, as no block of periods was completed.".to_owned());
    }
    if let Some(why) = &crossover.generator_limit {
        return Some(format!("No verdict, as {why}."));
    }
    let is_behind = |it: &&TreatmentFigures| crossover.rate_per_s.is_some_and(|rate| !reaches(it, rate));
    if let Some((behind, asked_per_s)) = document.figures.iter().find(is_behind).zip(crossover.rate_per_s) {
        return Some(format!(
            "No verdict, as {} completes {} of {}, and its queue delays the others; choose a lower rate.",
            name(behind.treatment),
            figures::rate(behind.rate_per_s),
            figures::rate(asked_per_s)
        ));
    }
    let own = document.figures.iter().find(|it| it.treatment == baseline(crossover));
    let of_own =
        own.and_then(|it| Some(format!("No verdict against {}, as {}.", name(it.treatment), why_unfit(it)?)));
    of_own.or_else(|| failed_between(document))
}

/// The reason for no verdict when requests failed across a switch: nobody can tell which kind of thread they ran on.
fn failed_between(document: &CrossoverDocument) -> Option<String> {
    let requests = document.crossover.requests;
    let all = requests.ok + requests.failed;
    let is_unfit = document.figures.iter().any(|it| why_unfit(it).is_some());
    let is_too_much = !is_unfit && requests.failed as f64 > MOST_FAILED * all as f64;
    is_too_much.then(|| {
        let (failed, all) = (figures::count(requests.failed), figures::count(all));
        format!("No verdict, as {failed} of {all} requests failed, many of them after a switch.")
    })
}

/// Whether the requested rate was reached; failed requests count, because they do not queue.
fn reaches(figures: &TreatmentFigures, asked_per_s: f64) -> bool {
    let by_chance = DEVIATIONS / (figures.ok.max(1) as f64).sqrt();
    let ended = (figures.ok + figures.failed) as f64 / figures.ok.max(1) as f64;
    figures.rate_per_s * ended >= asked_per_s * (1.0 - REACHED - by_chance)
}

/// The reason why these figures describe only a part of the requests.
fn why_unfit(figures: &TreatmentFigures) -> Option<String> {
    let all = figures.ok + figures.failed;
    if figures.failed as f64 > MOST_FAILED * all as f64 {
        let (failed, all) = (figures::count(figures.failed), figures::count(all));
        return Some(format!("{failed} of its {all} requests failed"));
    }
    if figures.overlapping as f64 > MOST_OVERLAPPING * figures.ok as f64 {
        let share = figures::percent(figures.overlapping as f64 / figures.ok as f64);
        return Some(format!("{share} of its responses are to requests from before a switch"));
    }
    (figures.silent_periods > 0).then(|| {
        let periods = figures::plural(figures.periods as u64, "period");
        format!("it had no response in {} of {periods}", figures.silent_periods)
    })
}

/// `1.11x the throughput of own, 3.40x [3.20, 3.60] the median response time and the same p99 within 1 %`. The median leads
/// when the load asks for a fixed rate; `None` if no ratio is known.
fn verdict(document: &CrossoverDocument, comparison: &TreatmentComparison, own: &str) -> Option<String> {
    let mut nouns =
        vec![(comparison.p50.as_ref(), "median response time", true), (comparison.p99.as_ref(), "p99", true)];
    if document.crossover.rate_per_s.is_none() {
        // The table shows the interval of the throughput.
        nouns.insert(0, (Some(&comparison.rate), "throughput", false));
    }
    let (mut parts, mut inconclusive) = (Vec::new(), Vec::new());
    for (ratio, noun, with_interval) in nouns {
        let Some(ratio) = ratio else { continue };
        let baseline = parts.is_empty().then_some(own);
        match part(ratio, noun, with_interval, baseline) {
            Some(part) => parts.push(part),
            None => inconclusive.push(noun.to_owned()),
        }
    }
    if !inconclusive.is_empty() {
        let against = if parts.is_empty() { format!(" against {own}") } else { String::new() };
        parts.push(format!("an inconclusive {}{against}", figures::listed(&inconclusive)));
    }
    if let Some(rate) = document.crossover.rate_per_s.filter(|_| !parts.is_empty()) {
        parts.push(format!("completes {}, as requested", figures::rate(rate)));
    }
    (!parts.is_empty()).then(|| figures::listed(&parts))
}

/// One ratio in words, naming `baseline` if given; `None` if the ratio is inconclusive.
fn part(ratio: &CrossoverRatio, noun: &str, with_interval: bool, baseline: Option<&str>) -> Option<String> {
    let with = |word: &str| baseline.map_or_else(String::new, |baseline| format!(" {word} {baseline}"));
    let interval = ratio.interval.filter(|it| it.is_readable(ratio.ratio))?;
    match ratio.verdict {
        Verdict::Higher | Verdict::Lower => {
            let shown =
                if with_interval { format!(" {}", figures::interval(interval)) } else { String::new() };
            Some(format!("{}{shown} the {noun}{}", times(ratio.ratio), with("of")))
        }
        Verdict::NoDifference => {
            Some(format!("the same {noun}{} within {}", with("as"), bound(interval.largest_difference())))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::crossover;
    use threadcount_model::crossover::{Crossover, CrossoverPeriod};

    const VIRTUAL: Treatment = Treatment::Virtual { limit: None };

    fn after(change: impl Fn(&mut Crossover)) -> Vec<String> {
        let mut made = crossover(10, 0.01).crossover;
        change(&mut made);
        answers(&made.into())
    }

    fn of_kind(
        crossover: &mut Crossover,
        treatment: Treatment,
    ) -> impl Iterator<Item = &mut CrossoverPeriod> {
        crossover.periods.iter_mut().filter(move |it| it.treatment == treatment)
    }

    #[test]
    fn figures_that_are_all_inconclusive_share_one_phrase() {
        let mut document: CrossoverDocument = crossover(10, 0.01);
        let it = &mut document.comparisons[0];
        [Some(&mut it.rate), it.p50.as_mut(), it.p99.as_mut()]
            .into_iter()
            .flatten()
            .for_each(|it| it.verdict = Verdict::NotEnoughRuns);
        assert_eq!(
            answers(&document),
            [
                "Not known yet. virtual has an inconclusive throughput, median response time and p99 against platform (200)."
            ]
        );
    }

    #[test]
    fn a_second_kind_with_figures_of_the_same_form_has_its_ratios_alone() {
        let three = |change: fn(&mut CrossoverPeriod)| {
            let mut made = crossover(10, 0.01).crossover;
            made.periods.iter_mut().filter(|period| period.treatment == VIRTUAL).for_each(|period| {
                period.response_times.weighted_ms.iter_mut().for_each(|(ms, _)| *ms *= 1.5);
            });
            let treatment = Treatment::Platform { threads: 400 };
            let alike: Vec<CrossoverPeriod> = of_kind(&mut made, VIRTUAL).map(|it| it.clone()).collect();
            made.periods.extend(alike.into_iter().map(|it| CrossoverPeriod { treatment, ..it }));
            made.treatments.push(treatment);
            of_kind(&mut made, treatment).for_each(change);
            answers(&made.into())
        };
        let sentences = three(|_| ());
        assert!(
            sentences[0].starts_with(
                "Only the number of threads: platform-400 is as good as virtual. virtual has 1.11x "
            ),
            "{sentences:?}"
        );
        assert!(
            sentences[1].starts_with("platform-400 has 1.11x, 5.10x [") && sentences[1].ends_with("]."),
            "{sentences:?}"
        );
        assert!(!sentences[1].contains("the p99"), "{sentences:?}");
        let other = three(|it| it.failed = it.ok);
        assert!(other[1].starts_with("No verdict on platform-400, as "), "{other:?}");
        assert!(other[0].starts_with("A trade. "), "a pool whose requests fail is not as good: {other:?}");
        let same = three(|it| it.response_times.weighted_ms.iter_mut().for_each(|(ms, _)| *ms /= 1.5));
        assert!(same[1].ends_with("the same p99 within 1 %."), "{same:?}");
    }

    #[test]
    fn a_kind_of_thread_whose_requests_failed_has_no_verdict_and_a_few_of_many_change_nothing() {
        let with_failures =
            |treatment, each: u64| after(|it| of_kind(it, treatment).for_each(|period| period.failed = each));
        assert_eq!(
            with_failures(VIRTUAL, 300),
            ["No verdict on virtual, as 6,000 of its 72,590 requests failed."]
        );
        assert_eq!(
            with_failures(Treatment::Own, 300),
            ["No verdict against platform (200), as 6,000 of its 66,000 requests failed."]
        );
        assert!(with_failures(VIRTUAL, 1)[0].starts_with("A trade. virtual has 1.11x"));
    }

    #[test]
    fn a_kind_of_thread_that_stalled_is_named_with_its_periods() {
        let stall = |crossover: &mut Crossover| {
            of_kind(crossover, VIRTUAL).take(2).for_each(|period| period.ok = 0);
        };
        assert_eq!(after(stall), ["No verdict on virtual, as it had no response in 2 of 20 periods."]);
    }

    #[test]
    fn a_kind_of_thread_whose_responses_are_mostly_those_of_the_kind_before_has_no_verdict() {
        let with = |overlapping| {
            after(move |it| of_kind(it, VIRTUAL).for_each(|period| period.overlapping = overlapping))
        };
        assert_eq!(
            with(333),
            ["No verdict on virtual, as 10 % of its responses are to requests from before a switch."]
        );
        assert!(with(3)[0].starts_with("A trade. virtual has 1.11x"));
    }

    #[test]
    fn a_load_generator_at_its_limit_leaves_no_verdict() {
        let why = "the generator was the bottleneck: 98 % of a core";
        let limited = after(|it| it.generator_limit = Some(why.to_owned()));
        assert_eq!(limited, ["No verdict, as the generator was the bottleneck: 98 % of a core."]);
    }

    #[test]
    fn under_a_rate_that_both_reach_the_median_leads_and_one_that_is_missed_has_no_verdict() {
        let at = |rate_per_s: f64| after(|it| it.rate_per_s = Some(rate_per_s));
        let reached = at(3_000.0);
        assert!(
            reached[0].starts_with("No. virtual has 3.40x [")
                && reached[0].contains("] the median response time of platform (200), the same p99 within ")
                && reached[0].ends_with(" and completes 3,000/s, as requested."),
            "{reached:?}"
        );
        assert_eq!(
            at(6_000.0),
            [
                "No verdict, as platform (200) completes 3,000/s of 6,000/s, and its queue delays the others; choose a lower rate."
            ]
        );
    }
}
