//! Tests of what is counted, and in which figure.

use super::*;
use std::sync::mpsc::channel;

const MS: Nanos = 1_000_000;

fn due_at(due_ms: u64) -> Exchange {
    let due_ns = due_ms * MS;
    Exchange { due_ns, ready_ns: due_ns, sent_ns: due_ns, ..Exchange::default() }
}

#[test]
fn of_the_lead_in_only_what_is_in_flight_at_its_end_counts() {
    let (progress, slices) = channel();
    let mut recorder = Recorder::new(0, progress);
    recorder.start(0, 1_000 * MS);
    for due_ms in [100, 200, 950] {
        recorder.sent(due_at(due_ms));
    }
    recorder.ok(due_at(100), 200, 150 * MS);
    recorder.failed(due_at(200), FailureCause::RequestTimeout, None, 900 * MS);
    assert!(recorder.is_in_lead_in());
    recorder.ok(due_at(950), 200, 1_010 * MS);
    recorder.sent(due_at(1_010));
    recorder.unfinished(due_at(1_010), 1_500 * MS);
    recorder.finish();
    let counts = recorder.total.counts;
    assert_eq!((counts.in_flight_at_start, counts.sent), (1, 1));
    assert_eq!((counts.ok, counts.failed, counts.unfinished), (1, 0, 1));
    assert_eq!(recorder.total.in_flight_at_start_ns, 50 * u128::from(MS));
    assert_eq!((recorder.total.response_time.count(), recorder.total.failed_time.count()), (1, 0));
    assert_eq!((recorder.status[200], recorder.total.failures.len()), (1, 0));
    let seconds: Vec<_> =
        slices.iter().map(|it| (it.slice.index, it.slice.counts.sent, it.slice.counts.ok)).collect();
    assert_eq!(seconds, [(0, 1, 1)]);
}

#[test]
fn the_first_byte_of_a_response_in_one_piece_came_with_its_last() {
    let (progress, _slices) = channel();
    let mut recorder = Recorder::new(0, progress);
    recorder.start(0, 0);
    for (due_ms, first_ms, last_ms) in [(0, None, 7), (10, Some(12), 40), (50, Some(45), 60)] {
        recorder.sent(due_at(due_ms));
        recorder.ok(due_at(due_ms), 200, last_ms * MS);
        if let Some(first_ms) = first_ms {
            recorder.first_byte(due_at(due_ms), first_ms * MS, last_ms * MS);
        }
    }
    recorder.finish();
    let times = &recorder.total.first_byte_time;
    let ms = |quantile| times.at_quantile(quantile).as_secs_f64() * 1e3;
    assert_eq!((times.count(), recorder.total.service_time.count()), (3, 3));
    assert!(ms(0.0) < 0.002, "no first byte came before its request was sent");
    assert!((ms(0.5) - 2.0).abs() < 0.01 && (ms(1.0) - 7.0).abs() < 0.01, "{:?}", times.summary());
}

#[test]
fn what_was_due_in_the_lead_in_and_is_sent_after_it_or_never_was_waiting_at_the_start() {
    let waiting = |has_schedule| {
        let (progress, _slices) = channel();
        let mut recorder = Recorder::new(0, progress).with_schedule(has_schedule);
        recorder.start(0, 1_000 * MS);
        recorder.sent(due_at(900));
        let sent_late = |due_ms: u64| Exchange { sent_ns: (due_ms + 20) * MS, ..due_at(due_ms) };
        [980, 999, 1_000, 1_010].into_iter().for_each(|due_ms| recorder.sent(sent_late(due_ms)));
        recorder.not_sent(970 * MS, 2_000 * MS);
        recorder.not_sent(1_500 * MS, 2_000 * MS);
        let counts = recorder.total.counts;
        assert_eq!((counts.in_flight_at_start, counts.sent, counts.not_sent), (1, 4, 2));
        (counts.waiting_at_start, counts.due())
    };
    assert_eq!(waiting(true), (3, 3), "due at 1,000, 1,010 and 1,500 ms");
    assert_eq!(waiting(false).0, 0, "a closed loop has no requests that wait");
}
