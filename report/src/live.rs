//! The limits of a running JVM in words.

use super::figures::{self, milliseconds as ms};
use threadcount_judge::finding::Finding;
use threadcount_judge::words::finding::words;
use threadcount_model::record::jvm::{EVENTS, VISIT};
use threadcount_model::record::run_delay::{RunDelay, RunDelays};

/// A limit, and advice on what to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitWords {
    pub sentence: String,
    pub advice: Option<String>,
}

/// The limits of the JVM, the most important first, or one sentence that none was found.
#[must_use]
pub fn limits(window_s: f64, findings: &[Finding], old_requests: u32) -> Vec<LimitWords> {
    if findings.is_empty() {
        let sentence = format!("none found in the last {window_s:.0} s");
        let advice = (old_requests > 0).then(|| {
            let requests = figures::plural(old_requests, "request");
            let have = if old_requests == 1 { "has" } else { "have" };
            format!(
                "{requests} {have} had no response for 5 s and longer. Unless they are long polls, try: threadcount diagnose"
            )
        });
        return vec![LimitWords { sentence, advice }];
    }
    let limit = |finding: &Finding| {
        let words = words(finding);
        LimitWords { sentence: words.sentence, advice: words.advice.map(|it| format!("Try: {it}.")) }
    };
    findings.iter().map(limit).collect()
}

/// The sentence for a JVM that has not been watched long enough to judge.
#[must_use]
pub fn too_early() -> LimitWords {
    LimitWords { sentence: "not judged yet: less than 5 s watched".to_owned(), advice: None }
}

/// The note on a service that was loaded while the probe observed it.
#[must_use]
pub fn attached(pid: u32) -> String {
    format!(
        "The probe was in process {pid} meanwhile and used some of its CPU. There is no second variant, and so no verdict."
    )
}

/// Run delays in words: how long runnable virtual threads waited for a carrier, and platform threads for a core.
#[must_use]
pub fn delays(delays: &RunDelays) -> String {
    let kind = |who: &str, awaited: &str, delay: Option<RunDelay>| {
        let RunDelay { p99_ms, max_ms, .. } = delay?;
        Some(format!("{who} waited for {awaited} p99 {}, longest {}", ms(p99_ms), ms(max_ms)))
    };
    let kinds = [
        kind("a virtual thread", "a carrier", delays.virtual_threads),
        kind("a platform thread", "a core", delays.platform_threads),
    ];
    kinds.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The note on lines that the probe dropped because nobody read them in time.
#[must_use]
pub fn dropped(lines: u64) -> String {
    let noun = if lines == 1 { "line was" } else { "lines were" };
    format!(
        "{} {noun} dropped: threadcount was stopped or too slow to read them",
        super::figures::count(lines)
    )
}

/// A problem of the probe, e.g. that a bean throws when it is read, or why the probe left the JVM by itself.
#[must_use]
pub fn problem(subject: &str, why: &str) -> String {
    let words = match subject {
        VISIT => format!("the probe has left the JVM: {why}"),
        EVENTS => format!("no flight recording, so nothing on collections, pins, code and allocation: {why}"),
        _ => format!("cannot read {subject}: {why}"),
    };
    threadcount_model::printable::printable(&words).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_judge::finding::Fact;
    use threadcount_judge::findings::limits::ResourceLimit;

    #[test]
    fn a_limit_has_its_sentence_and_what_to_try() {
        let fact = Fact::Limits(ResourceLimit::ServerFiles { open: 1_022, at_most: 1_024 });
        let finding = Finding { variant: None, load: None, runs: None, fact };
        let [limit] = &limits(10.0, &[finding], 0)[..] else { panic!("one limit") };
        let expected = "the server had 1,022 of at most 1,024 files open (100 %); each connection takes one";
        assert_eq!(limit.sentence, expected);
        assert!(limit.advice.as_ref().is_some_and(|it| it.starts_with("Try: ") && it.ends_with('.')));
    }

    #[test]
    fn delays_are_said_for_each_kind_of_thread_that_there_is() {
        let delay = |p99_ms| Some(RunDelay { count: 900, p50_ms: 0.1, p99_ms, max_ms: 1.1 * p99_ms });
        let both = RunDelays {
            virtual_threads: delay(1_800.0),
            platform_threads: delay(4.0),
            ..RunDelays::default()
        };
        assert_eq!(
            delays(&both),
            "a virtual thread waited for a carrier p99 1.80 s, longest 1.98 s; a platform thread waited for a core p99 4.00 ms, \
             longest 4.40 ms"
        );
        let platform = RunDelays { virtual_threads: None, ..both };
        assert_eq!(delays(&platform), "a platform thread waited for a core p99 4.00 ms, longest 4.40 ms");
    }

    #[test]
    fn what_cannot_be_read_is_said_without_the_control_characters_that_its_reason_may_have() {
        assert_eq!(
            problem("shop:type=Pool", "closed\u{1b}[2J"),
            "cannot read shop:type=Pool: closed\\u001b[2J"
        );
        assert_eq!(problem("visit", "3 MiB are free"), "the probe has left the JVM: 3 MiB are free");
        assert_eq!(
            problem("events", "3 MiB are free"),
            "no flight recording, so nothing on collections, pins, code and allocation: 3 MiB are free"
        );
    }

    #[test]
    fn no_limit_is_said_with_the_time_it_is_about() {
        let none = |old_requests| limits(10.0, &[], old_requests).remove(0);
        assert_eq!(none(0), LimitWords { sentence: "none found in the last 10 s".to_owned(), advice: None });
        let hint = "20 requests have had no response for 5 s and longer. Unless they are long polls, try: threadcount diagnose";
        assert_eq!(none(20).advice.as_deref(), Some(hint));
        assert_eq!(dropped(1), "1 line was dropped: threadcount was stopped or too slow to read them");
        assert_eq!(
            dropped(1_200),
            "1,200 lines were dropped: threadcount was stopped or too slow to read them"
        );
    }
}
