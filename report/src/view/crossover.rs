//! A crossover: its answer, its reasons, and how far it can be trusted.

use crate::crossover::answer::answers;
use crate::crossover::{cautions, of_all_kinds, trust, why};
use serde::Serialize;
use threadcount_judge::result::ResultDocument;

/// A crossover in sentences.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossoverView {
    /// The decision, and one sentence per kind of thread except the first.
    pub answer: Vec<String>,
    /// What requests wait for on each kind of thread, and what each kind costs.
    pub why: Vec<String>,
    /// Cautions about the ratios, without a full stop.
    pub cautions: Vec<String>,
    pub trust: String,
}

#[must_use]
pub fn crossover(document: &ResultDocument) -> Option<CrossoverView> {
    let found = document.crossover.as_ref()?;
    let of_kinds = found.comparisons.iter().flat_map(|it| cautions(it, &found.crossover));
    let cautions = of_all_kinds(found).chain(of_kinds);
    let cautions = cautions.map(|it| it.trim_end_matches('.').to_owned());
    Some(CrossoverView {
        answer: answers(found),
        why: why(found),
        cautions: cautions.collect(),
        trust: trust(&found.crossover),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::view::view;
    use threadcount_model::doubt::TrustGrade;

    #[test]
    fn a_crossover_is_a_result_with_its_own_page_and_no_word_of_runs_that_were_never_planned() {
        let variants = "{platform: {}, virtual: {threads: virtual}}";
        let made = sample::document(variants, "[{clients: 100, duration: 1s}]", &[]);
        let document =
            ResultDocument { trusted: false, crossover: Some(sample::crossover(10, 0.01)), ..made };
        let shown = view(&document);
        assert_eq!((shown.no_verdict, shown.trust.grade), (None, TrustGrade::Good));
        assert_eq!(shown.trust.requests, "175,130 requests, none failed");
        let terminal = crate::terminal::terminal(&document, None, crate::terminal::PLAIN);
        assert!(terminal.contains("virtual has 1.11x the throughput of platform (200)"), "{terminal}");
        assert!(!terminal.contains("No verdict") && !terminal.contains("never ran"), "{terminal}");
        assert!(terminal.contains("periods in") && !terminal.contains("0 runs"), "{terminal}");
        let page = crate::html::html(&document).expect("a page");
        assert!(!page.contains("0 runs") && !page.contains("No complete run"), "{page}");
        let mut without_verdict = document;
        let figures = without_verdict.crossover.iter_mut().flat_map(|it| &mut it.figures);
        figures.for_each(|it| it.failed = it.ok);
        assert_eq!(view(&without_verdict).trust.grade, TrustGrade::Poor);
    }
}
