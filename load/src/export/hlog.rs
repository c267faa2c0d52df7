//! HdrHistogram's interval log, which its `HistogramLogProcessor` and viewers read: one tagged interval for each kind of
//! time, over the whole run, at the full three digits that were recorded. Values are nanoseconds.

use crate::clock::{Nanos, now_ns};
use crate::outcome::LoadOutcome;
use crate::times::Times;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, IntervalLogWriterError, Tag};
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

/// The column `Interval_Max` is in milliseconds, as the Java library writes it for nanoseconds.
const MAX_VALUE_DIVISOR: f64 = 1e6;

/// Writes the intervals `response`, `service` and `failed`; one that recorded nothing is left out.
///
/// # Errors
/// What `out` says.
pub fn write_log(outcome: &LoadOutcome, out: &mut dyn Write) -> io::Result<()> {
    let mut out = out;
    let mut serializer = V2DeflateSerializer::new();
    let started = wall_clock(outcome.started_ns);
    // The base time too: it makes the intervals' timestamps offsets without any guessing by the reader.
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("[Logged with threadcount; values in nanoseconds, Interval_Max in milliseconds]")
        .add_comment("[Histogram log format version 1.3]")
        .with_start_time(started)
        .with_base_time(started)
        .with_max_value_divisor(MAX_VALUE_DIVISOR)
        .begin_log_with(&mut out, &mut serializer)?;
    let length = Duration::from_nanos(outcome.ended_ns.saturating_sub(outcome.started_ns));
    let kinds: [(&str, &Times); 3] = [
        ("response", &outcome.response_time),
        ("service", &outcome.service_time),
        ("failed", &outcome.failed_time),
    ];
    for (tag, times) in kinds.into_iter().filter(|(_, times)| times.count() > 0) {
        log.write_histogram(times.histogram(), Duration::ZERO, length, Tag::new(tag)).map_err(|error| {
            match error {
                IntervalLogWriterError::IoError(error) => error,
                IntervalLogWriterError::SerializeError(error) => io::Error::other(error),
            }
        })?;
    }
    Ok(())
}

/// The wall-clock time of a moment on the monotonic clock.
fn wall_clock(moment_ns: Nanos) -> SystemTime {
    SystemTime::now() - Duration::from_nanos(now_ns().saturating_sub(moment_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    #[test]
    fn the_librarys_own_reader_gets_back_every_recorded_time() {
        let ended_ns = now_ns();
        let mut outcome =
            LoadOutcome { started_ns: ended_ns - 2_500_000_000, ended_ns, ..LoadOutcome::default() };
        for ms in 1..=100 {
            outcome.response_time.record_ns(ms * 2_000_000);
            outcome.service_time.record_ns(ms * 1_000_000);
        }
        let mut text = Vec::new();
        write_log(&outcome, &mut text).unwrap();
        let entries: Vec<LogEntry<'_>> = IntervalLogIterator::new(&text).map(Result::unwrap).collect();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        assert!(
            matches!(entries[0], LogEntry::StartTime(at) if at < now && now - at < Duration::from_secs(600))
        );
        assert!(matches!(entries[1], LogEntry::BaseTime(_)));
        let expected = [("response", &outcome.response_time), ("service", &outcome.service_time)];
        assert_eq!(entries.len(), 2 + expected.len());
        for (entry, (tag, times)) in entries[2..].iter().zip(expected) {
            let LogEntry::Interval(interval) = entry else { panic!("{entry:?}") };
            assert_eq!(interval.tag().unwrap().as_str(), tag);
            assert_eq!(interval.start_timestamp(), Duration::ZERO);
            assert_eq!(interval.duration(), Duration::from_millis(2_500));
            let bytes =
                base64::engine::general_purpose::STANDARD.decode(interval.encoded_histogram()).unwrap();
            let read: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
            assert_eq!(&read, times.histogram());
            assert!((interval.max() - times.histogram().max() as f64 / 1e6).abs() < 0.001);
        }
    }
}
