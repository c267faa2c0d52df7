//! A request's time and its parts in words: `31 ms = 19 waiting for a HikariCP connection (OrderRepository.find:42) + ...`.

mod activity;
mod unit;
mod without_parts;

pub use without_parts::{not_sampled, sampling_ended, without_parts};

use activity::{in_full, in_short};
use serde::Serialize;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::activity::activity_words;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::figures;
use threadcount_model::record::wait_profile::{ThreadRole, ThreadState};
use threadcount_model::request_time::{RequestTime, RequestTimePart, TimeShare};
use unit::Unit;

/// A sentence adds up the parts below this share of the whole.
const WORTH_NAMING: f64 = 0.02;

/// A remainder below this share of the whole is left out; a larger one would visibly keep the parts from adding up.
const WORTH_ADDING: f64 = 0.01;

/// Maximum number of parts that a full sentence names; [`NAMED_IN_BRIEF`] is that of a brief one.
const NAMED: usize = 5;
const NAMED_IN_BRIEF: usize = 2;

/// The time of one variant's requests in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestTimeWords {
    pub variant: String,
    /// The time and its parts in one sentence, without a full stop.
    pub sentence: String,
    /// The same sentence with the interval of each part.
    pub sentence_with_intervals: String,
    /// The time and its largest parts, without their places in the code.
    pub brief: String,
    /// Each part with its interval, the longest first; the time without a thread comes last.
    pub parts: Vec<PartWords>,
    /// `142 samples of threads in 2 runs`.
    pub basis: String,
}

/// One part, as a line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartWords {
    /// `19.2 ms [18.1, 20.3]`.
    pub time: String,
    /// The activity of the requests, with class and line.
    pub what: String,
    /// Share of the whole, 0 to 1; below 0 if sampling found more threads than there were requests.
    pub share: f64,
    /// The kind of time, which decides the colour.
    pub kind: PartKind,
}

/// The kind of time that a part of a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartKind {
    /// Running on a core, or ready to run.
    Runs,
    /// Waiting for something in this process.
    WaitsHere,
    /// Waiting for another process or a file.
    WaitsOutside,
    /// Sleeping on purpose, or waiting for something unknown.
    Rests,
    /// The request was in flight, but no thread worked on it.
    WithoutThread,
}

/// The request times of each variant under a load, in words.
#[must_use]
pub fn under(document: &ResultDocument, load: &LoadSpec) -> Vec<RequestTimeWords> {
    on_one_scale(document, load).into_iter().map(|(time, _)| words(time)).collect()
}

/// The request time of each variant under a load, with its share (0 to 1) of the longest one.
#[must_use]
pub fn on_one_scale<'a>(document: &'a ResultDocument, load: &LoadSpec) -> Vec<(&'a RequestTime, f64)> {
    let times: Vec<&RequestTime> = document.request_times.iter().filter(|it| it.load == load.name).collect();
    let longest_ms = times.iter().map(|time| time.service_time_ms).fold(f64::MIN_POSITIVE, f64::max);
    times.into_iter().map(|time| (time, time.service_time_ms / longest_ms)).collect()
}

#[must_use]
pub fn words(time: &RequestTime) -> RequestTimeWords {
    let time = &of_requests_alone(time);
    let unit = Unit::for_total(time.service_time_ms);
    let share = |ms: f64| if time.service_time_ms > 0.0 { ms / time.service_time_ms } else { 0.0 };
    let part = |part: &RequestTimePart| PartWords {
        time: unit.with_interval(part.time),
        what: in_full(&part.activity),
        share: time.share(part),
        kind: kind(part.activity.state),
    };
    let left = PartWords {
        time: unit.with_interval(time.without_thread),
        what: without_thread_in_full(time),
        share: share(time.without_thread.ms),
        kind: PartKind::WithoutThread,
    };
    let runs = figures::plural(time.runs, "run");
    let counted = match time.counted {
        ThreadRole::Request => "",
        ThreadRole::Application => {
            "; no server that is known was seen: all threads with frames of the application, those of its own jobs too"
        }
    };
    RequestTimeWords {
        variant: time.variant.clone(),
        sentence: sentence(time, |it| unit.number(it.ms)),
        sentence_with_intervals: sentence(time, |it| unit.number_with_interval(it)),
        brief: brief(time),
        parts: time.parts.iter().map(part).chain([left]).collect(),
        basis: format!("{} of threads in {runs}{counted}", figures::plural(time.samples, "sample")),
    }
}

/// The time with its parts scaled down to the measured total if sampling, by chance, found more threads than requests.
fn of_requests_alone(time: &RequestTime) -> RequestTime {
    let mut time = time.clone();
    let found_ms: f64 = time.parts.iter().map(|part| part.time.ms).sum();
    if time.without_thread.ms < 0.0 && found_ms > 0.0 {
        let share = time.service_time_ms / found_ms;
        for part in &mut time.parts {
            part.time.ms *= share;
            part.time.interval = part.time.interval.map(|it| it.scaled(share));
        }
        time.without_thread = TimeShare { ms: 0.0, interval: None };
    }
    time
}

/// The time and its parts as a sentence; `number` formats the time of a part.
fn sentence(time: &RequestTime, number: impl Fn(TimeShare) -> String) -> String {
    let unit = Unit::for_total(time.service_time_ms);
    let is_named = |part: &&RequestTimePart| time.share(part) >= WORTH_NAMING;
    let named: Vec<&RequestTimePart> = time.parts.iter().filter(is_named).take(NAMED).collect();
    let mut terms: Vec<String> =
        named.iter().map(|part| format!("{} {}", number(part.time), in_short(&part.activity))).collect();
    let others: f64 = time.parts.iter().map(|part| part.time.ms).sum::<f64>()
        - named.iter().map(|part| part.time.ms).sum::<f64>();
    let is_said = |ms: f64| unit.number(ms) != unit.number(0.0);
    if is_said(others) {
        terms.push(format!("{} other", unit.number(others)));
    }
    let left = time.without_thread.ms;
    if is_said(left) && left > 0.0 {
        terms.push(format!("{} {}", number(time.without_thread), without_thread(time)));
    }
    format!("{} {} = {}", unit.number(time.service_time_ms), unit.name, terms.join(" + "))
}

/// `101.0 ms per request = 50.1 ms sleeping + 50.9 ms queued for the pool`.
fn brief(time: &RequestTime) -> String {
    let terms = largest(time);
    let longest_ms = terms.iter().map(|(ms, _)| *ms).fold(0.0, f64::max);
    let unit = Unit::for_total(time.service_time_ms).with_digits_of(longest_ms);
    let sum: f64 = terms.iter().map(|(ms, _)| ms).sum();
    let left_out = time.service_time_ms - sum;
    // If the parts are complete, the last one absorbs the rounding error.
    let is_complete = left_out < WORTH_ADDING * time.service_time_ms;
    let whole = unit.rounded(time.service_time_ms);
    let mut left = whole;
    let word = |(place, (ms, what)): (usize, &(f64, String))| {
        let is_last = is_complete && place + 1 == terms.len();
        let own = unit.rounded(*ms).min(left);
        let shown = if is_last && (left - own) <= unit.step() * 1.5 { left } else { own };
        left -= shown;
        format!("{} {what}", unit.shown(shown))
    };
    let words: Vec<String> = terms.iter().enumerate().map(word).collect();
    format!("{} per request = {}", unit.shown(whole), words.join(" + "))
}

/// The largest kinds of time, ms, the sum of the others, and the time without a thread.
fn largest(time: &RequestTime) -> Vec<(f64, String)> {
    let share_ms = |share: f64| share * time.service_time_ms;
    let mut kinds: Vec<(f64, String)> = Vec::new();
    for part in &time.parts {
        let (ms, what) = (part.time.ms, activity_words(&part.activity));
        match kinds.iter_mut().find(|(_, known)| *known == what) {
            Some((sum, _)) => *sum += ms,
            None => kinds.push((ms, what)),
        }
    }
    kinds.sort_by(|a, b| b.0.total_cmp(&a.0));
    let named = kinds.iter().take(NAMED_IN_BRIEF).filter(|(ms, _)| *ms >= share_ms(WORTH_NAMING)).count();
    let rest = kinds.split_off(named);
    let others: f64 = rest.iter().map(|(ms, _)| ms).sum();
    kinds.extend([(others, "other".to_owned()), (time.without_thread.ms, without_thread(time))]);
    kinds.retain(|(ms, _)| *ms >= share_ms(WORTH_ADDING));
    kinds
}

fn without_thread(time: &RequestTime) -> String {
    let queue = time.queue.as_ref().map(|queue| format!("queued for {queue}"));
    queue.unwrap_or_else(|| "waiting without a thread".to_owned())
}

fn without_thread_in_full(time: &RequestTime) -> String {
    let idle = match time.idle_workers {
        idle if idle < 0.05 => String::new(),
        idle => format!("; {} idle threads in pools", figures::plain(idle)),
    };
    format!("{}{idle}", without_thread(time))
}

/// The kind of time that a thread spends in a state.
#[must_use]
pub const fn kind(state: ThreadState) -> PartKind {
    match state {
        ThreadState::Running | ThreadState::ClassLoading => PartKind::Runs,
        ThreadState::Carrier
        | ThreadState::Monitor
        | ThreadState::Lock
        | ThreadState::Semaphore
        | ThreadState::Pool
        | ThreadState::Queue
        | ThreadState::Safepoint => PartKind::WaitsHere,
        ThreadState::Socket
        | ThreadState::Connect
        | ThreadState::SocketWrite
        | ThreadState::NameLookup
        | ThreadState::File
        | ThreadState::Future => PartKind::WaitsOutside,
        ThreadState::Native | ThreadState::Sleep | ThreadState::Select | ThreadState::Wait => PartKind::Rests,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::interval::Interval;
    use threadcount_model::record::wait_profile::ThreadActivity;

    fn part(state: ThreadState, resource: Option<&str>, application: &str, ms: f64) -> RequestTimePart {
        let activity = ThreadActivity {
            state,
            resource: resource.map(str::to_owned),
            application: Some(application.to_owned()),
            ..ThreadActivity::default()
        };
        let interval = Some(Interval { low: ms * 0.9, high: ms * 1.1, confidence: 0.95 });
        RequestTimePart { activity, threads: ms, time: TimeShare { ms, interval } }
    }

    fn time(parts: Vec<RequestTimePart>, service_time_ms: f64) -> RequestTime {
        let sum: f64 = parts.iter().map(|part| part.time.ms).sum();
        RequestTime {
            variant: "virtual".to_owned(),
            load: "c31".to_owned(),
            service_time_ms,
            rate_per_s: 1_000.0,
            runs: 1,
            samples: 40,
            counted: ThreadRole::Request,
            idle_workers: 0.0,
            parts,
            without_thread: TimeShare { ms: service_time_ms - sum, interval: None },
            queue: None,
        }
    }

    #[test]
    fn the_sentence_adds_up_to_the_service_time_and_names_pool_peer_class_and_line() {
        let mut reading = part(ThreadState::Socket, None, "shop.OrderRepository.find:44", 9.0);
        reading.activity.peer = Some("127.0.0.1:5432".to_owned());
        let parts = vec![
            part(ThreadState::Pool, Some("HikariCP"), "shop.OrderRepository.find:42", 19.04),
            reading,
            part(ThreadState::Running, None, "shop.Orders.render:7", 3.0),
        ];
        assert_eq!(
            words(&time(parts, 31.0)).sentence,
            "31.0 ms = 19.0 waiting for a HikariCP connection (OrderRepository.find:42) + 9.0 reading from \
             127.0.0.1:5432 (OrderRepository.find:44) + 3.0 running"
        );
    }

    #[test]
    fn a_sentence_may_have_the_interval_of_each_part() {
        let parts = vec![part(ThreadState::Sleep, None, "a.A.a:1", 20.0)];
        let expected = "31.0 ms = 20.0 [18.0, 22.0] sleeping (A.a:1) + 11.0 waiting without a thread";
        assert_eq!(words(&time(parts, 31.0)).sentence_with_intervals, expected);
    }

    #[test]
    fn a_brief_sentence_has_the_two_largest_kinds_of_time() {
        let part_in = |state, ms| part(state, None, "a.A.a:1", ms);
        let parts = vec![
            part_in(ThreadState::Sleep, 20.0),
            part_in(ThreadState::Running, 15.0),
            part_in(ThreadState::Sleep, 10.0),
            part_in(ThreadState::File, 9.0),
            part_in(ThreadState::Select, 6.0),
        ];
        let expected = "80.0 ms per request = 30.0 ms sleeping + 15.0 ms running + 15.0 ms other + 20.0 ms waiting without \
                        a thread";
        assert_eq!(words(&time(parts, 80.0)).brief, expected);
    }

    #[test]
    fn a_small_kind_of_time_is_other_where_the_brief_parts_would_not_add_up_without_it() {
        let part_in = |state, ms| part(state, None, "a.A.a:1", ms);
        let parts = vec![part_in(ThreadState::Sleep, 48.5), part_in(ThreadState::Running, 1.9)];
        assert_eq!(
            words(&RequestTime { queue: Some("the pool".to_owned()), ..time(parts, 100.8) }).brief,
            "100.8 ms per request = 48.5 ms sleeping + 1.9 ms other + 50.4 ms queued for the pool"
        );
    }

    #[test]
    fn parts_are_never_more_than_their_whole_however_they_are_rounded() {
        let sleeping =
            |ms, whole_ms| words(&time(vec![part(ThreadState::Sleep, None, "a.A.a:1", ms)], whole_ms));
        let brief = |ms, whole_ms| sleeping(ms, whole_ms).brief;
        assert_eq!(
            brief(50.0, 50.5),
            "50.5 ms per request = 50.0 ms sleeping",
            "what is left is not worth saying"
        );
        assert_eq!(brief(51.5, 51.3), "51.3 ms per request = 51.3 ms sleeping", "found too often");
        assert_eq!(
            brief(150.5, 301.0),
            "301 ms per request = 151 ms sleeping + 150 ms waiting without a thread",
            "both end in .5"
        );
        assert_eq!(
            brief(50.5, 101.0),
            "101.0 ms per request = 50.5 ms sleeping + 50.5 ms waiting without a thread",
            "three digits of the parts"
        );
        assert!(
            (sleeping(60.0, 50.0).parts[0].share - 1.0).abs() < 1e-9,
            "a bar is no longer than its whole"
        );
    }

    #[test]
    fn a_client_waits_for_a_response_and_others_for_a_result() {
        let waits = |resource| {
            let part = part(ThreadState::Future, Some(resource), "shop.Prices.of:21", 31.0);
            words(&time(vec![part], 31.0)).sentence
        };
        let response = "31.0 ms = 31.0 waiting for a response to HttpClient (Prices.of:21)";
        assert_eq!(waits("java.net.http.HttpClient"), response);
        let result = "31.0 ms = 31.0 waiting for a result of CompletableFuture (Prices.of:21)";
        assert_eq!(waits("java.util.concurrent.CompletableFuture"), result);
    }

    #[test]
    fn a_pool_whose_name_begins_with_a_vowel_has_its_article() {
        let parts = vec![part(ThreadState::Pool, Some("Agroal"), "shop.Orders.find:42", 31.0)];
        let expected = "31.0 ms = 31.0 waiting for an Agroal connection (Orders.find:42)";
        assert_eq!(words(&time(parts, 31.0)).sentence, expected);
    }

    #[test]
    fn what_no_thread_had_is_its_own_part_and_the_queue_is_named_where_it_is_known() {
        let lock =
            || part(ThreadState::Lock, Some("java.util.concurrent.locks.ReentrantLock"), "a.A.a:1", 50.0);
        assert_eq!(
            words(&time(vec![lock()], 100.0)).sentence,
            "100 ms = 50 waiting for a ReentrantLock (A.a:1) + 50 waiting without a thread"
        );
        assert_eq!(
            words(&time(vec![lock()], 48.0)).sentence,
            "48.0 ms = 48.0 waiting for a ReentrantLock (A.a:1)",
            "chance found more threads than requests"
        );
        let queue = Some("`boundedElastic-*`".to_owned());
        assert_eq!(
            words(&RequestTime { queue, ..time(vec![lock()], 100.0) }).sentence,
            "100 ms = 50 waiting for a ReentrantLock (A.a:1) + 50 queued for `boundedElastic-*`"
        );
    }

    proptest::proptest! {
        #[test]
        fn no_sentence_has_a_negative_part_or_an_empty_place(
            found_ms in proptest::collection::vec(0.0..200.0_f64, 0..8),
            service_time_ms in 0.01..500.0_f64,
            has_place: bool,
        ) {
            let mut parts: Vec<RequestTimePart> =
                found_ms.iter().map(|&ms| part(ThreadState::Sleep, None, "a.A.a:1", ms)).collect();
            parts.iter_mut().for_each(|part| {
                part.activity.application = part.activity.application.take().filter(|_| has_place);
            });
            let words = words(&time(parts, service_time_ms));
            let lines = words.parts.iter().flat_map(|part| [&part.time, &part.what]);
            for text in lines.chain([&words.sentence, &words.sentence_with_intervals, &words.brief]) {
                proptest::prop_assert!(!["-", "()", "more threads than"].iter().any(|it| text.contains(it)), "{text}");
            }
        }
    }

    #[test]
    fn small_parts_are_added_up_and_the_unit_suits_the_whole() {
        let parts =
            (0..10).map(|line| part(ThreadState::Sleep, None, &format!("a.A.a:{line}"), 0.05)).collect();
        let words = words(&time(parts, 0.5));
        assert!(words.sentence.starts_with("500 µs = 50 sleeping (A.a:0) + "), "{}", words.sentence);
        assert!(words.sentence.ends_with("+ 250 other"), "{}", words.sentence);
    }

    #[test]
    fn details_have_each_part_with_its_interval_its_whole_place_and_who_holds_it() {
        let mut monitor = part(ThreadState::Monitor, Some("shop.Orders"), "shop.Orders.add:7", 8.0);
        monitor.activity.holder = Some("shop.Orders.save:88".to_owned());
        let words = words(&time(vec![monitor], 10.0));
        let lines: Vec<_> = words.parts.iter().map(|part| format!("{} {}", part.time, part.what)).collect();
        assert_eq!(
            lines,
            [
                "8.0 ms [7.2, 8.8] waiting for the monitor of Orders at shop.Orders.add:7; held at shop.Orders.save:88",
                "2.0 ms waiting without a thread",
            ]
        );
        assert_eq!(words.basis, "40 samples of threads in 1 run");
    }

    #[test]
    fn details_say_that_who_runs_may_wait_for_a_core() {
        let words = words(&time(vec![part(ThreadState::Running, None, "shop.Orders.render:7", 10.0)], 10.0));
        let expected = "running or waiting for a core, most often at shop.Orders.render:7";
        assert_eq!(words.parts[0].what, expected);
        assert_eq!(words.sentence, "10.0 ms = 10.0 running");
    }
}
