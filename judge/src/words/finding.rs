//! Findings in words: the sentence, what to try, and the figures behind it.

use super::figure::fact_figures;
use crate::finding::{Finding, RunsShowing};
use threadcount_model::figures::plural;

/// A finding in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingWords {
    /// The fact in a few words, for a line of the first screen; without a full stop at its end.
    pub brief: String,
    /// The fact with all its figures, without a full stop.
    pub sentence: String,
    /// A change to try; never a certainty.
    pub advice: Option<String>,
    /// The figures that the finding rests on, with their names in JSON: `longest pause 330 ms`.
    pub evidence: Vec<String>,
}

/// The words for one kind of finding, implemented by the type of its figures.
pub(crate) trait Words {
    /// The fact.
    fn sentence(&self) -> String;

    /// The fact alone, if the first clause of the sentence is too long or tells too little.
    fn brief(&self) -> Option<String> {
        None
    }

    /// A change to try.
    fn advice(&self) -> Option<String>;
}

/// A finding in words.
#[must_use]
pub fn words(finding: &Finding) -> FindingWords {
    let (figures, runs) = (finding.fact.words(), finding.runs);
    let seen_in = runs.map(|it| format!("seen in {} of {}", it.showing, plural(it.complete, "run")));
    let sentence = figures.sentence();
    FindingWords {
        brief: figures.brief().unwrap_or_else(|| first_clause(&sentence).to_owned()),
        sentence: sentence + &runs.map(in_few_runs).unwrap_or_default(),
        advice: figures.advice(),
        evidence: fact_figures(&finding.fact).into_iter().chain(seen_in).collect(),
    }
}

/// The first clause of a sentence, which is the fact; the rest explains it.
fn first_clause(sentence: &str) -> &str {
    let (first, _) = sentence.split_once(". ").unwrap_or((sentence, ""));
    first.split_once("; ").map_or(first, |(first, _)| first)
}

/// The remark behind a sentence that only one run, or only some of several runs, support.
fn in_few_runs(runs: RunsShowing) -> String {
    match runs {
        RunsShowing { complete: 1, .. } => " (1 run)".to_owned(),
        RunsShowing { showing, complete } if showing < complete => {
            format!(" (in {showing} of {complete} runs)")
        }
        RunsShowing { .. } => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Fact;
    use crate::findings::accept_queue::AcceptQueueOverflow;
    use crate::findings::generator::{GeneratorBottleneck, LimitedGenerator};
    use crate::findings::memory_growth::{GrowingMemory, MemoryGrowth};

    fn finding(fact: Fact, runs: Option<RunsShowing>) -> Finding {
        Finding { variant: Some("a".into()), load: Some("c4".into()), runs, fact }
    }

    #[test]
    fn a_finding_stands_in_the_result_with_its_rule_and_its_figures_and_without_a_sentence() {
        let fact = Fact::AcceptQueue(AcceptQueueOverflow { overflows: 7, syn_retransmits: 9, clients: 200 });
        let one = finding(fact, Some(RunsShowing { showing: 2, complete: 3 }));
        let json = serde_json::to_value(&one).unwrap();
        let expected = serde_json::json!({
            "variant": "a", "load": "c4", "runs": {"showing": 2, "complete": 3}, "rule": "accept-queue",
            "figures": {"overflows": 7, "syn_retransmits": 9, "clients": 200},
        });
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_value::<Finding>(json).unwrap(), one);
        assert_eq!(words(&one).evidence.last().map(String::as_str), Some("seen in 2 of 3 runs"));
    }

    #[test]
    fn a_finding_of_one_run_or_of_some_of_several_says_so_behind_its_sentence() {
        let grown = MemoryGrowth {
            memory: GrowingMemory::ResidentSet,
            from_bytes: 2e8,
            to_bytes: 3e8,
            window_s: 10.0,
        };
        let sentence_of = |fact: Fact, showing, complete| {
            words(&finding(fact, Some(RunsShowing { showing, complete }))).sentence
        };
        let all = sentence_of(Fact::MemoryGrowth(grown), 3, 3);
        assert_eq!(sentence_of(Fact::MemoryGrowth(grown), 1, 1), format!("{all} (1 run)"));
        assert_eq!(sentence_of(Fact::MemoryGrowth(grown), 2, 3), format!("{all} (in 2 of 3 runs)"));
    }

    #[test]
    fn a_full_external_tool_is_named_with_its_processes() {
        let sentence = |full_processes, processes| {
            let limited = LimitedGenerator::External { full_processes, processes };
            let bottleneck = GeneratorBottleneck {
                limited,
                cpu_share: 0.993,
                cpu_us_per_request: 10.0,
                send_lag_p99_ms: None,
            };
            words(&finding(Fact::Generator(bottleneck), None)).sentence
        };
        assert_eq!(
            sentence(1, 1),
            "the load tool was the bottleneck: it used 99 % of a core and can use no more than one. The figures are those of the tool, not of the server"
        );
        assert!(
            sentence(2, 5).contains("2 of its 5 processes used up to 99 % of a core"),
            "{}",
            sentence(2, 5)
        );
    }
}
