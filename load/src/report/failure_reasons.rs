//! The reasons why requests failed, in one load or in several.

use super::LoadReport;
use crate::failure::FailureCause;
use std::collections::BTreeMap;
use std::fmt;

/// A reason why requests failed. `Display` prints the sentence of the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FailureReason<'a> {
    Cause(FailureCause),
    /// The words of an external load tool, which has no causes.
    Words(&'a str),
}

impl fmt::Display for FailureReason<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cause(cause) => write!(out, "{cause}"),
            Self::Words(words) => out.write_str(words),
        }
    }
}

/// The number of failed requests of these loads by reason.
#[must_use]
pub fn failure_reasons<'a>(
    loads: impl IntoIterator<Item = &'a LoadReport>,
) -> BTreeMap<FailureReason<'a>, u64> {
    let mut failed = BTreeMap::new();
    for load in loads {
        let causes = load.failure_causes.iter().map(|(&cause, count)| (FailureReason::Cause(cause), count));
        let words = load.failures.iter().filter(|_| load.failure_causes.is_empty());
        let words = words.map(|(words, count)| (FailureReason::Words(words), count));
        causes.chain(words).for_each(|(reason, count)| *failed.entry(reason).or_default() += count);
    }
    failed
}

/// The most frequent reason for failures of these loads; `None`: there was no failure.
#[must_use]
pub fn most_frequent_failure<'a>(
    loads: impl IntoIterator<Item = &'a LoadReport>,
) -> Option<FailureReason<'a>> {
    failure_reasons(loads).into_iter().max_by_key(|&(_, count)| count).map(|(reason, _)| reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(words: &[(&str, u64)], causes: &[(FailureCause, u64)]) -> LoadReport {
        LoadReport {
            failures: words.iter().map(|&(words, count)| (words.to_owned(), count)).collect(),
            failure_causes: causes.iter().copied().collect(),
            ..LoadReport::default()
        }
    }

    #[test]
    fn failures_of_one_cause_add_up_whatever_their_words_are() {
        let cause = FailureCause::NoPortLeft;
        let loads =
            [load(&[("no port", 3)], &[(cause, 3)]), load(&[("no source port left", 4)], &[(cause, 4)])];
        assert_eq!(failure_reasons(&loads), BTreeMap::from([(FailureReason::Cause(cause), 7)]));
        assert_eq!(FailureReason::Cause(cause).to_string(), "no source port left");
    }

    #[test]
    fn an_external_load_tool_has_words_alone() {
        let causes = [(FailureCause::RequestTimeout, 1), (FailureCause::ConnectionReset, 2)];
        let loads = [load(&[("counted as failed by ab", 5)], &[]), load(&[], &causes)];
        assert_eq!(failure_reasons(&loads).len(), 3);
        let most = |loads: &[LoadReport]| most_frequent_failure(loads).map(|it| it.to_string());
        assert_eq!(most(&loads).as_deref(), Some("counted as failed by ab"));
        assert_eq!(most(&loads[1..]).as_deref(), Some("connection reset"));
        assert_eq!(most(&[]), None);
    }
}
