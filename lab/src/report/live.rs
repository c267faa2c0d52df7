//! What limits a running JVM, in words.

use super::findings::words;
use crate::model::finding::Finding;

/// A limit, and what to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitWords {
    pub sentence: String,
    pub advice: Option<String>,
}

/// What limits it, the most important first; a sentence where nothing does.
#[must_use]
pub fn limits(window_s: f64, findings: &[Finding]) -> Vec<LimitWords> {
    if findings.is_empty() {
        let sentence = format!("none found in the last {window_s:.0} s");
        return vec![LimitWords { sentence, advice: None }];
    }
    let limit = |finding: &Finding| {
        let words = words(finding);
        LimitWords { sentence: words.sentence, advice: words.advice.map(|it| format!("Try: {it}.")) }
    };
    findings.iter().map(limit).collect()
}

/// Before there is enough to judge.
#[must_use]
pub fn too_early() -> LimitWords {
    LimitWords { sentence: "not judged yet: less than 5 s watched".to_owned(), advice: None }
}

/// A service that was loaded while it was observed.
#[must_use]
pub fn attached(pid: u32) -> String {
    format!(
        "Process {pid} had the probe in it meanwhile, which costs it a little. It was compared with nothing, so there is no verdict."
    )
}

/// Lines that nobody read in time.
#[must_use]
pub fn dropped(lines: u64) -> String {
    let noun = if lines == 1 { "line was" } else { "lines were" };
    format!(
        "{} {noun} dropped: threadcount was stopped or too slow to read them",
        super::figures::count(lines)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::finding::{Explanation, Fact, ResourceLimit};

    #[test]
    fn a_limit_has_its_sentence_and_what_to_try() {
        let fact = Fact::Limits(ResourceLimit::ServerFiles { open: 1_022, at_most: 1_024 });
        let finding = Finding { variant: None, load: None, runs: None, explanation: Explanation::Fact(fact) };
        let [limit] = &limits(10.0, &[finding])[..] else { panic!("one limit") };
        let expected = "the server had 1,022 of at most 1,024 files open (100 %); each connection takes one";
        assert_eq!(limit.sentence, expected);
        assert!(limit.advice.as_ref().is_some_and(|it| it.starts_with("Try: ") && it.ends_with('.')));
    }

    #[test]
    fn no_limit_is_said_with_the_time_it_is_about() {
        assert_eq!(limits(10.0, &[])[0].sentence, "none found in the last 10 s");
        assert_eq!(dropped(1), "1 line was dropped: threadcount was stopped or too slow to read them");
        assert_eq!(
            dropped(1_200),
            "1,200 lines were dropped: threadcount was stopped or too slow to read them"
        );
    }
}
