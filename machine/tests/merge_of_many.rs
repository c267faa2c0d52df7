//! A thousand processes are merged in bounded memory, and to the last request.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on shall panic")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use threadcount_load::merge::{Line, Merge, Message, PlanText, ShareBegin, ShareEnd, ShareSecond};
use threadcount_load::outcome::{LoadOutcome, Second};
use threadcount_load::plan::{Arrivals, LoadPlan, LoadShare, RateShape, Stop};
use threadcount_load::recorder::Slice;
use threadcount_load::request::{RequestSource, Target};
use threadcount_load::times::Times;

const PODS: u32 = 1_000;
const SECONDS: u32 = 10;
const PER_SECOND: u64 = 200;
/// The most memory that one merge may use at once.
const MOST_BYTES: usize = 200_000_000;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST_IN_USE: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, which knows how many bytes are in use.
struct Measuring;

#[global_allocator]
static ALLOCATOR: Measuring = Measuring;

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Measuring {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let in_use = IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST_IN_USE.fetch_max(in_use, Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The outcome of one process, with response times of about 1 to 80 ms.
fn outcome(kind: u64) -> LoadOutcome {
    let mut outcome = LoadOutcome::default();
    outcome.started_unix_ns = 1_700_000_000_000_000_000 + kind * 1_000_000;
    outcome.ended_ns = u64::from(SECONDS) * 1_000_000_000;
    for index in 0..SECONDS {
        let mut slice = Slice::new(index);
        for request in 0..PER_SECOND {
            let ns = 1_000_000 + (kind * 7 + request * request * 13 + u64::from(index)) % 79 * 1_000_003;
            outcome.response_time.record_ns(ns);
            outcome.service_time.record_ns(ns - 10_000);
            outcome.send_lag.record_ns(10_000 + request * 17);
            outcome.own_lag.record_ns(10_000 + request * 17);
            slice.response_us.saturating_record(ns / 1_000);
        }
        let mut second = Second::default();
        (second.index, second.counts.sent, second.counts.ok) = (index, PER_SECOND, PER_SECOND);
        second.response_us = Some(slice.response_us);
        outcome.seconds.push(second);
    }
    (outcome.counts.sent, outcome.counts.ok) =
        (u64::from(SECONDS) * PER_SECOND, u64::from(SECONDS) * PER_SECOND);
    outcome
}

fn begin() -> ShareBegin {
    let target = Target::get("http://127.0.0.1:8080/").unwrap();
    let source = Arc::new(RequestSource::new(vec![target]).unwrap());
    let shape = RateShape::Constant { rate_per_s: f64::from(PODS) * PER_SECOND as f64 };
    let stop = Stop::Duration(Duration::from_secs(SECONDS.into()));
    let plan = LoadPlan::open(source, shape, Arrivals::Constant, NonZeroU32::new(PODS).unwrap(), stop);
    ShareBegin::new("load".to_owned(), PlanText::new(&plan))
}

#[test]
fn a_thousand_histograms_and_series_need_less_than_200_mb() {
    // `threadcount merge` does this as well.
    threadcount_machine::freed_memory::keep();
    let kinds: Vec<LoadOutcome> = (0..10).map(outcome).collect();
    let mut expected = Times::default();
    for index in 0..PODS as usize {
        expected.merge(&kinds[index % kinds.len()].response_time);
    }
    let messages: Vec<Vec<Message>> = kinds
        .iter()
        .map(|outcome| {
            let seconds =
                outcome.seconds.iter().map(|second| Message::Second(ShareSecond::new(second).unwrap()));
            let end = Message::End(Box::new(ShareEnd::new(outcome, None)));
            std::iter::once(Message::Begin(begin())).chain(seconds).chain([end]).collect()
        })
        .collect();

    let before = IN_USE.load(Ordering::Relaxed);
    MOST_IN_USE.store(before, Ordering::Relaxed);
    let (mut merge, mut bytes, mut spent) = (Merge::default(), 0, Duration::ZERO);
    for index in 0..PODS {
        let share = LoadShare::new(index, PODS).unwrap();
        for (number, message) in (0..).zip(&messages[index as usize % messages.len()]) {
            let text = Line::new(share, number, message.clone()).text().unwrap();
            bytes += text.len() + 1;
            let began = Instant::now();
            merge.line(&text).unwrap();
            spent += began.elapsed();
        }
    }
    let began = Instant::now();
    let merged = merge.finish(&mut |_| {}).unwrap();
    spent += began.elapsed();
    let needed = MOST_IN_USE.load(Ordering::Relaxed) - before;
    println!("{PODS} processes, {bytes} bytes of lines: {} ms, {needed} bytes", spent.as_millis());

    let all = u64::from(PODS) * u64::from(SECONDS) * PER_SECOND;
    assert_eq!((merged.outcome.counts.sent, merged.outcome.response_time.count()), (all, all));
    assert_eq!(merged.outcome.response_time.summary(), expected.summary());
    let seconds: Vec<u64> = merged.outcome.seconds.iter().map(|second| second.counts.ok).collect();
    assert_eq!(seconds, vec![u64::from(PODS) * PER_SECOND; SECONDS as usize]);
    assert_eq!(merged.outcome.pods.len(), PODS as usize);
    assert!(needed < MOST_BYTES, "{needed} bytes");
    assert!(bytes / (PODS as usize) < 100_000, "{bytes} bytes of lines");
}
