//! The crossover inside one JVM before the runs: its answer, with the variants' names, and whether fresh JVMs confirm it.

use super::label::{RequestThreads, request_threads};
use crate::crossover::answer::{answers, has_verdict};
use crate::crossover::{baseline, cautions, of_all_kinds, periods, times, trust, why};
use serde::Serialize;
use threadcount_judge::result::ResultDocument;
use threadcount_model::comparison::Ratio;
use threadcount_model::crossover::Treatment;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::figures;
use threadcount_model::interval::Interval;
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;
use threadcount_stats::crossover::agreement::{Agreement, Warmth, agreement};
use threadcount_stats::crossover::comparison::{CrossoverDocument, TreatmentComparison};
use threadcount_stats::warmth::was_warm;

/// A crossover in sentences.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossoverView {
    /// `Tomcat 11.0.24, 40 periods in 46 seconds`.
    pub setting: String,
    /// One sentence per kind of thread except the first.
    pub answer: Vec<String>,
    /// Whether fresh JVMs confirm the answer, a sentence per kind of thread that a variant uses.
    pub confirmation: Vec<String>,
    /// What requests wait for on each kind of thread, and what each kind costs.
    pub why: Vec<String>,
    /// Cautions about the ratios, without a full stop.
    pub cautions: Vec<String>,
    pub trust: String,
}

#[must_use]
pub fn crossover(document: &ResultDocument) -> Option<CrossoverView> {
    let found = document.crossover.as_ref().filter(|it| !it.figures.is_empty())?;
    let load = document.experiment.loads.first()?;
    let name = |treatment| name_of(document, load, treatment);
    let compared = found.comparisons.iter();
    let with_verdict = compared.clone().filter(|it| has_verdict(found, it.treatment));
    let of_metric = |metric| {
        let of = |it: &TreatmentComparison| confirmation(document, load, found, (it.treatment, metric));
        with_verdict.clone().filter_map(of).collect::<Vec<_>>()
    };
    let mut confirmed = in_words(&of_metric(Metric::Rate));
    let response_times = [Metric::P50, Metric::P99].into_iter().flat_map(of_metric);
    confirmed.extend(response_times.filter(Confirmation::differs).map(|it| it.sentence()));
    let of_kinds = compared.flat_map(|it| cautions(it, &found.crossover, &name));
    let cautions = of_all_kinds(found).chain(of_kinds);
    let cautions = cautions.map(|it| it.trim_end_matches('.').to_owned());
    Some(CrossoverView {
        setting: format!("{}, {}", found.crossover.server, periods(found)),
        answer: answers(found, "Inside one JVM ", &name),
        confirmation: confirmed,
        why: why(found, &name),
        cautions: cautions.collect(),
        trust: trust(&found.crossover),
    })
}

/// The name of the variant with this kind of thread, or of the kind if no variant has it.
pub(crate) fn name_of(document: &ResultDocument, load: &LoadSpec, treatment: Treatment) -> String {
    variant(document, load, treatment).map_or_else(|| treatment.to_string(), str::to_owned)
}

/// The variant with this kind of thread. The server's own threads are those of the first variant, as which it is started.
fn variant<'d>(document: &'d ResultDocument, load: &LoadSpec, treatment: Treatment) -> Option<&'d str> {
    let mut variants = document.experiment.variants.iter().filter(|it| it.runs_under(load));
    if treatment == Treatment::Own {
        return variants.next().map(|it| it.name.as_str());
    }
    let wanted = RequestThreads::from_treatment(treatment, None)?;
    let first = document.experiment.variants.first()?;
    variants
        .find(|it| request_threads(document, load, it) == Some(wanted) && it.is_application_of(first))
        .map(|it| it.name.as_str())
}

/// The result of fresh JVMs for one kind of thread.
struct Confirmation<'d> {
    name: &'d str,
    /// `3 fresh JVMs of each kind`.
    jvms: String,
    /// The ratio of throughput, median or p99 in fresh JVMs.
    fresh: &'d Ratio,
    found: Agreement,
}

/// The result of fresh JVMs with this kind of thread; `None` if no variant has it or none was compared.
fn confirmation<'d>(
    document: &'d ResultDocument,
    load: &'d LoadSpec,
    found: &CrossoverDocument,
    (treatment, metric): (Treatment, Metric),
) -> Option<Confirmation<'d>> {
    let compared = found.comparisons.iter().find(|it| it.treatment == treatment)?;
    let one_jvm = match metric {
        Metric::P50 => compared.p50?,
        Metric::P99 => compared.p99?,
        _ => compared.rate,
    };
    let [name, baseline] = [treatment, baseline(&found.crossover)].map(|it| variant(document, load, it));
    let (name, baseline) = (name?, baseline?);
    let compared =
        document.comparisons_under(&load.name).find(|it| it.variant == name && it.baseline == baseline);
    let fresh = compared?.ratio(metric)?;
    let is_compared =
        |run: &&Record| run.load == load.name && [name, baseline].contains(&run.variant.as_str());
    let mut runs = document.records.iter().filter(is_compared);
    let are_warm = runs.all(|run| was_warm(run) != Some(false));
    let warmth = match (found.crossover.warm_up.steady, are_warm) {
        (_, false) => Warmth::FreshCold,
        (Some(false), true) => Warmth::OneCold,
        _ => Warmth::AllWarm,
    };
    let jvms = figures::plural(fresh.runs.0.min(fresh.runs.1), "fresh JVM");
    Some(Confirmation {
        name,
        jvms: format!("{jvms} of each kind"),
        fresh,
        found: agreement(&one_jvm, fresh, warmth),
    })
}

/// The confirmations in words; one sentence covers all kinds if it is the same for all.
fn in_words(all: &[Confirmation<'_>]) -> Vec<String> {
    let Some(first) = all.first() else { return Vec::new() };
    let is_same = all.iter().all(|it| it.jvms == first.jvms);
    if is_same && all.iter().all(|it| it.interval().is_none()) {
        return vec![format!("{}: too few to confirm it.", first.jvms)];
    }
    if is_same && all.iter().all(|it| it.found == Agreement::Agrees) {
        let noun = |at| if at == 0 { " the throughput" } else { "" };
        let ratio = |(at, it): (usize, &Confirmation<'_>)| format!("{} {}{}", it.name, it.ratio(), noun(at));
        let ratios: Vec<String> = all.iter().enumerate().map(ratio).collect();
        return vec![format!("{} agree: {}.", first.jvms, figures::listed(&ratios))];
    }
    all.iter().map(Confirmation::sentence).collect()
}

impl Confirmation<'_> {
    /// Whether fresh JVMs differ from the crossover, with an interval narrow enough to act on.
    fn differs(&self) -> bool {
        matches!(self.found, Agreement::Differs(_)) && self.interval().is_some()
    }

    /// The interval, unless it is too wide to act on.
    fn interval(&self) -> Option<Interval> {
        self.fresh.interval.filter(|it| it.is_readable(self.fresh.ratio))
    }

    /// `1.11x [1.05, 1.17]`.
    fn ratio(&self) -> String {
        let interval = self.interval().map_or_else(String::new, |it| format!(" {}", figures::interval(it)));
        format!("{}{interval}", times(self.fresh.ratio))
    }

    fn sentence(&self) -> String {
        let Self { name, jvms, found, .. } = self;
        if self.interval().is_none() {
            return format!("{name} in {jvms}: too few to confirm it.");
        }
        let of = if self.fresh.metric == Metric::Rate { "throughput" } else { self.fresh.metric.label() };
        let head = format!("{name} in {jvms}: {} the {of}", self.ratio());
        match found {
            Agreement::Agrees => format!("{head}, which agrees."),
            Agreement::Unknown => format!("{head}, and one interval is too wide to confirm the other."),
            Agreement::Differs(Warmth::FreshCold) => {
                format!("{head}, which differs. These JVMs were still warming up.")
            }
            Agreement::Differs(Warmth::OneCold) => {
                format!("{head}, which differs. The JVM of the crossover was still warming up.")
            }
            Agreement::Differs(Warmth::AllWarm) => format!("{head}, which differs. The cause is not known."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::view::view;
    use threadcount_judge::finding::{Fact, Finding};
    use threadcount_judge::findings::kind_and_number::KindAndNumber;
    use threadcount_model::doubt::TrustGrade;
    use threadcount_model::sample::run;
    use threadcount_stats::compare;

    /// Runs in fresh JVMs with these throughput ratios of virtual threads to a pool, after a crossover with a ratio of 1.11.
    fn document(ratios: &[f64]) -> ResultDocument {
        let pairs = ratios.iter().enumerate().flat_map(|(round, ratio)| {
            let of = |variant, rate_per_s| {
                let mut record = run(variant, "c100", rate_per_s, 10.0);
                record.round = round as u32 + 1;
                record
            };
            [of("pool", 3_000.0), of("loom", 3_000.0 * ratio)]
        });
        let records: Vec<Record> = pairs.collect();
        let variants = "{pool: {}, loom: {threads: virtual}}";
        let made = sample::document(variants, "[{clients: 100, duration: 1s}]", &records);
        let comparisons = compare(&made.experiment, &records);
        ResultDocument { comparisons, crossover: Some(sample::crossover(10, 0.01)), ..made }
    }

    #[test]
    fn its_answer_has_the_names_of_the_variants_and_fresh_jvms_with_the_same_kind_of_thread_confirm_it() {
        let view = view(&document(&[1.10, 1.12, 1.11, 1.11]));
        assert_eq!(
            view.answer[0],
            "A trade. Inside one JVM loom has 1.11x the throughput of pool, 3.40x [3.400, 3.400] the median response time and the \
             same p99 within 1 %."
        );
        assert!(
            view.answer[1].starts_with("4 fresh JVMs of each kind agree: loom 1.11x [1.")
                && view.answer[1].ends_with("] the throughput."),
            "{}",
            view.answer[1]
        );
    }

    #[test]
    fn a_crossover_alone_is_a_result_with_its_own_page_and_no_word_of_runs_that_were_never_planned() {
        let alone = ResultDocument { trusted: false, ..document(&[]) };
        let shown = view(&alone);
        assert_eq!((shown.no_verdict, shown.trust.grade), (None, TrustGrade::Good));
        assert_eq!(shown.trust.requests, "175,130 requests, none failed");
        let terminal = crate::terminal::terminal(&alone, None, crate::terminal::PLAIN);
        assert!(terminal.contains("virtual has 1.11x the throughput of own"), "{terminal}");
        assert!(!terminal.contains("No verdict") && !terminal.contains("never ran"), "{terminal}");
        assert!(terminal.contains("periods in") && !terminal.contains("0 runs"), "{terminal}");
        let page = crate::html::html(&alone).expect("a page");
        assert!(!page.contains("0 runs") && !page.contains("No complete run"), "{page}");
        let mut without_verdict = alone;
        without_verdict
            .crossover
            .iter_mut()
            .for_each(|it| it.figures.iter_mut().for_each(|it| it.failed = it.ok));
        assert_eq!(view(&without_verdict).trust.grade, TrustGrade::Poor);
    }

    #[test]
    fn kinds_that_fresh_jvms_confirm_alike_share_a_sentence() {
        let document = document(&[1.10, 1.12, 1.11, 1.11]);
        let fresh = document.comparisons[0].ratio(Metric::Rate).expect("a ratio");
        let of =
            |name, found| Confirmation { name, jvms: "4 fresh JVMs of each kind".to_owned(), fresh, found };
        let agrees = in_words(&[of("loom", Agreement::Agrees), of("sized", Agreement::Agrees)]).concat();
        assert!(agrees.contains("] the throughput and sized 1.11x ["), "{agrees}");
        let one_differs = [of("loom", Agreement::Agrees), of("sized", Agreement::Differs(Warmth::AllWarm))];
        assert_eq!(in_words(&one_differs).len(), 2);
        let unreadable = Interval { low: 0.16, high: 5.13, confidence: 0.95 };
        for interval in [None, Some(unreadable)] {
            let fresh = &Ratio { interval, ..fresh.clone() };
            let too_few = [Confirmation { fresh, ..of("loom", Agreement::Unknown) }];
            assert_eq!(in_words(&too_few), ["4 fresh JVMs of each kind: too few to confirm it."]);
        }
    }

    #[test]
    fn a_pool_that_was_compared_inside_one_jvm_leaves_no_question_of_kind_or_number() {
        let mut fresh = document(&[1.10, 1.12, 1.11, 1.11]);
        let confounded = KindAndNumber {
            pool_variant: "pool".to_owned(),
            pool_threads: 50,
            requests_in_flight: 100,
            sized_variant: None,
            arrivals: None,
        };
        fresh.findings.push(Finding {
            variant: Some("loom".to_owned()),
            load: Some("c100".to_owned()),
            runs: None,
            fact: Fact::KindAndNumber(confounded),
        });
        let open_after = |threads| {
            let treatment = Treatment::Platform { threads };
            let mut found = sample::crossover(10, 0.01).crossover;
            found.treatments[1] = treatment;
            let others = found.periods.iter_mut().filter(|it| it.treatment != Treatment::Own);
            others.for_each(|it| it.treatment = treatment);
            view(&fresh.clone().with_crossover(Some(found.into()))).open.concat()
        };
        assert!(open_after(99).contains("kind or number is open"), "{}", open_after(99));
        assert!(!open_after(100).contains("kind or number"), "{}", open_after(100));
    }

    #[test]
    fn fresh_jvms_that_differ_are_said_to_with_the_reason_where_it_is_known() {
        let warm = document(&[1.30, 1.32, 1.31, 1.31]);
        let said = crossover(&warm).expect("a crossover").confirmation.concat();
        assert!(said.ends_with("which differs. The cause is not known."), "{said}");
        let mut cold = warm;
        let warm_up = threadcount_model::record::WarmUp { levelled: Some(false), ..Default::default() };
        cold.records[0].warm_up = Some(warm_up);
        let said = crossover(&cold).expect("a crossover").confirmation.concat();
        assert!(said.ends_with("These JVMs were still warming up."), "{said}");
        let mut one_cold = document(&[1.30, 1.32, 1.31, 1.31]);
        one_cold.crossover.iter_mut().for_each(|it| it.crossover.warm_up.steady = Some(false));
        let said = crossover(&one_cold).expect("a crossover").confirmation.concat();
        assert!(said.ends_with("The JVM of the crossover was still warming up."), "{said}");
    }

    #[test]
    fn a_time_of_fresh_jvms_that_differs_is_said_to_and_one_that_agrees_is_in_the_answer_already() {
        // Inside one JVM the median is 3.40 times as long and p99 the same; here both are the same.
        let said = crossover(&document(&[1.10, 1.12, 1.11, 1.11])).expect("a crossover").confirmation;
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[1].starts_with("loom in 4 fresh JVMs of each kind: 1.00x [0."), "{said:?}");
        assert!(
            said[1].ends_with("the median response time, which differs. The cause is not known."),
            "{said:?}"
        );
    }

    #[test]
    fn without_a_variant_of_this_kind_nothing_is_confirmed_and_without_trust_the_answer_stands() {
        let mut other = document(&[1.10, 1.12]);
        other.experiment.variants.truncate(1);
        other.trusted = false;
        let view = view(&other);
        assert!(
            view.answer[0].starts_with("A trade. Inside one JVM virtual has 1.11x the throughput of pool"),
            "{view:?}"
        );
        assert_eq!(view.answer.len(), 1);
        assert!(view.no_verdict.is_some_and(|it| it.head.starts_with("No verdict from fresh JVMs")));
    }
}
