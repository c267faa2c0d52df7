//! Adds up the seconds of a load from those of its threads while it runs.

use crate::outcome::{Second, SecondTimes};
use crate::recorder::{Progress, Slice};
use std::collections::BTreeMap;

/// Adds up the threads' slices of each second, and reports a second as soon as every thread is past it.
pub(crate) fn seconds(
    progress: impl IntoIterator<Item = Progress>,
    threads: u32,
    on_second: &mut dyn FnMut(&Second),
) -> Vec<Second> {
    let mut open: BTreeMap<u32, Slice> = BTreeMap::new();
    let mut past = vec![0; threads as usize];
    let mut seconds = Vec::new();
    for Progress { thread, slice, past: thread_past } in progress {
        open.entry(slice.index).or_insert_with(|| Slice::new(slice.index)).merge(&slice);
        if let Some(past) = past.get_mut(thread as usize) {
            *past = thread_past;
        }
        let all_past = past.iter().copied().min().unwrap_or(u32::MAX);
        // After the threads have ended, nothing here tells how much of the last second had passed.
        let have_all_ended = all_past == u32::MAX;
        let later = if have_all_ended { BTreeMap::new() } else { open.split_off(&all_past) };
        let over = std::mem::replace(&mut open, later);
        let last = over.keys().next_back().copied().filter(|_| have_all_ended);
        for slice in over.into_values() {
            close(&slice, last == Some(slice.index), &mut seconds, on_second);
        }
    }
    for slice in open.into_values() {
        close(&slice, true, &mut seconds, on_second);
    }
    seconds
}

/// Reports a second that is over. `ends_load` is true if the load may have ended with it.
pub(crate) fn close(
    slice: &Slice,
    ends_load: bool,
    seconds: &mut Vec<Second>,
    on_second: &mut dyn FnMut(&Second),
) {
    let ms = |us: u64| us as f64 / 1e3;
    let times = &slice.response_us;
    let mut second = Second {
        index: slice.index,
        length_s: 1.0,
        offset_s: 0.0,
        counts: slice.counts,
        response_ms: (!times.is_empty()).then(|| SecondTimes {
            p50: ms(times.value_at_quantile(0.5)),
            p99: ms(times.value_at_quantile(0.99)),
            max: ms(times.max()),
        }),
        ends_load,
        response_us: Some(times.clone()),
    };
    on_second(&second);
    second.response_us = None;
    seconds.push(second);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::{Exchange, Recorder};
    use std::sync::mpsc::channel;

    const S: u64 = 1_000_000_000;

    fn complete(recorder: &mut Recorder, at_ns: u64) {
        let exchange = Exchange { due_ns: at_ns, ready_ns: at_ns, sent_ns: at_ns, ..Exchange::default() };
        recorder.sent(exchange);
        recorder.ok(exchange, 200, at_ns + 1_000);
    }

    #[test]
    fn seconds_are_reported_while_they_pass_although_one_thread_has_finished() {
        let (sender, received) = channel();
        let mut short = Recorder::new(0, sender.clone());
        let mut long = Recorder::new(1, sender);
        short.start(0, 0);
        long.start(0, 0);
        complete(&mut short, 0);
        short.finish();
        let (report, reported) = channel();
        let collector = std::thread::spawn(move || {
            let told = |second: &Second| (second.index, second.counts.ok, second.ends_load);
            seconds(&received, 2, &mut |second| report.send(told(second)).unwrap())
        });
        complete(&mut long, 0);
        complete(&mut long, S);
        let first = reported.recv_timeout(std::time::Duration::from_secs(20));
        assert_eq!(first, Ok((0, 2, false)), "one thread is past it, the other has finished");
        complete(&mut long, 3 * S);
        let second = reported.recv_timeout(std::time::Duration::from_secs(20));
        assert_eq!(second, Ok((1, 1, false)), "in which the one that has finished had no part");
        long.finish();
        assert_eq!(collector.join().unwrap().len(), 3);
        assert_eq!(reported.iter().collect::<Vec<_>>(), [(3, 1, true)]);
    }
}
