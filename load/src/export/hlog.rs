//! HdrHistogram's interval log (format 1.3), for its `HistogramLogProcessor` and viewers; values are in nanoseconds.
//!
//! Lines without a tag contain the response times of each second, with the two digits that are kept per second. Lines with the tags
//! `response`, `service`, `first_byte` and `failed` contain those times over the whole run, with three digits.

use crate::outcome::{LoadOutcome, Second};
use crate::times::Times;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

const LEGEND: &str = r#""StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram""#;
/// The bounds and digits of a second's histogram: from 1 µs to 1 h.
const SECOND_BOUNDS_NS: (u64, u64, u8) = (1_000, 3_600 * 1_000_000_000, 2);

/// A log that is written while the load runs, so that memory stays constant.
pub struct HistogramLog<W: Write> {
    out: W,
    serializer: V2DeflateSerializer,
    /// The second that is not written yet, because its length is known only when the next one begins.
    pending: Option<Second>,
}

impl<W: Write> HistogramLog<W> {
    /// Begins a log. `started` is the start of the load on the wall clock.
    ///
    /// # Errors
    /// The error of `out`.
    pub fn begin(mut out: W, started: SystemTime) -> io::Result<Self> {
        let epoch_s = started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        writeln!(out, "#[Histogram log format version 1.3]")?;
        writeln!(out, "#[Logged with threadcount; values in nanoseconds, Interval_Max in milliseconds]")?;
        writeln!(
            out,
            "#[Lines without a tag are the response times of one second, those with a tag of the whole run]"
        )?;
        writeln!(out, "#[StartTime: {epoch_s:.3} (seconds since epoch)]")?;
        // With the base time, readers know that the timestamps are offsets and need not guess.
        writeln!(out, "#[BaseTime: {epoch_s:.3} (seconds since epoch)]")?;
        writeln!(out, "{LEGEND}")?;
        Ok(Self { out, serializer: V2DeflateSerializer::new(), pending: None })
    }

    /// Adds a second as [`Control::on_second`](crate::run::Control) gives it.
    ///
    /// # Errors
    /// The error of `out`.
    pub fn second(&mut self, second: &Second) -> io::Result<()> {
        match self.pending.replace(second.clone()) {
            Some(full) => self.write_second(&full, full.length_s),
            None => Ok(()),
        }
    }

    /// Ends the log with the whole run's histograms; one that recorded nothing is left out.
    ///
    /// # Errors
    /// The error of `out`.
    pub fn finish(mut self, outcome: &LoadOutcome) -> io::Result<W> {
        if let Some(last) = self.pending.take() {
            let known = outcome.seconds.iter().rev().find(|second| second.index == last.index);
            self.write_second(&last, known.map_or(last.length_s, |second| second.length_s))?;
        }
        let kinds: [(&str, &Times); 4] = [
            ("Tag=response,", &outcome.response_time),
            ("Tag=service,", &outcome.service_time),
            ("Tag=first_byte,", &outcome.first_byte_time),
            ("Tag=failed,", &outcome.failed_time),
        ];
        for (tag, times) in kinds.into_iter().filter(|(_, times)| times.count() > 0) {
            self.write_interval(tag, 0.0, outcome.elapsed_s(), times.histogram())?;
        }
        self.out.flush()?;
        Ok(self.out)
    }

    fn write_second(&mut self, second: &Second, length_s: f64) -> io::Result<()> {
        let Some(response_us) = &second.response_us else { return Ok(()) };
        self.write_interval("", f64::from(second.index), length_s, &in_ns(response_us)?)
    }

    fn write_interval(
        &mut self,
        tag: &str,
        start_s: f64,
        length_s: f64,
        times: &Histogram<u64>,
    ) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.serializer.serialize(times, &mut bytes).map_err(io::Error::other)?;
        let max_ms = times.max() as f64 / 1e6;
        writeln!(self.out, "{tag}{start_s:.3},{length_s:.3},{max_ms:.3},{}", STANDARD.encode(bytes))
    }
}

/// The histogram of a second in nanoseconds, the unit of the rest of the log.
fn in_ns(response_us: &Histogram<u64>) -> io::Result<Histogram<u64>> {
    let (low, high, digits) = SECOND_BOUNDS_NS;
    let mut response_ns = Histogram::new_with_bounds(low, high, digits).map_err(io::Error::other)?;
    for step in response_us.iter_recorded() {
        response_ns
            .saturating_record_n(step.value_iterated_to().saturating_mul(1_000), step.count_at_value());
    }
    Ok(response_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::SecondCounts;
    use crate::recorder::Slice;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogHistogram, IntervalLogIterator, LogEntry};
    use std::time::Duration;

    const MS: u64 = 1_000_000;

    fn second(index: u32, response_ms: &[u64]) -> Second {
        let mut slice = Slice::new(index);
        response_ms.iter().for_each(|ms| slice.response_us.saturating_record(ms * 1_000));
        let ok = response_ms.len() as u64;
        Second {
            index,
            length_s: 1.0,
            counts: SecondCounts { ok, ..SecondCounts::default() },
            response_us: Some(slice.response_us),
            ..Second::default()
        }
    }

    fn written() -> (Vec<u8>, LoadOutcome) {
        let mut text = Vec::new();
        let mut log = HistogramLog::begin(&mut text, SystemTime::now()).unwrap();
        let mut outcome = LoadOutcome { ended_ns: 1_500 * MS, ..LoadOutcome::default() };
        for mut second in [second(0, &[10, 20]), second(1, &[300])] {
            log.second(&second).unwrap();
            second.length_s = if second.index == 1 { 0.5 } else { 1.0 };
            outcome.seconds.push(second);
        }
        for ms in [10, 20, 300] {
            outcome.response_time.record_ns(ms * MS);
            outcome.service_time.record_ns(ms * MS / 2);
        }
        log.finish(&outcome).unwrap();
        (text, outcome)
    }

    fn histogram(interval: &IntervalLogHistogram<'_>) -> Histogram<u64> {
        let bytes = STANDARD.decode(interval.encoded_histogram()).unwrap();
        Deserializer::new().deserialize(&mut &bytes[..]).unwrap()
    }

    fn intervals(text: &[u8]) -> Vec<IntervalLogHistogram<'_>> {
        let entries = IntervalLogIterator::new(text).map(Result::unwrap);
        entries
            .filter_map(|entry| match entry {
                LogEntry::Interval(interval) => Some(interval),
                LogEntry::StartTime(_) | LogEntry::BaseTime(_) => None,
            })
            .collect()
    }

    #[test]
    fn the_librarys_own_reader_gets_back_the_whole_run_exactly() {
        let (text, outcome) = written();
        let intervals = intervals(&text);
        let tagged: Vec<_> = intervals.iter().filter(|interval| interval.tag().is_some()).collect();
        assert_eq!(tagged.len(), 2, "nothing failed, so there is no such interval");
        for (interval, (tag, times)) in
            tagged.into_iter().zip([("response", &outcome.response_time), ("service", &outcome.service_time)])
        {
            assert_eq!(interval.tag().unwrap().as_str(), tag);
            assert_eq!(
                (interval.start_timestamp(), interval.duration()),
                (Duration::ZERO, Duration::from_millis(1_500))
            );
            assert_eq!(&histogram(interval), times.histogram());
        }
    }

    #[test]
    fn each_second_is_an_interval_of_its_own_with_its_true_length() {
        let (text, _) = written();
        let intervals = intervals(&text);
        let seconds: Vec<_> = intervals.iter().filter(|interval| interval.tag().is_none()).collect();
        let times = |index: usize| {
            (seconds[index].start_timestamp().as_millis(), seconds[index].duration().as_millis())
        };
        assert_eq!((seconds.len(), times(0), times(1)), (2, (0, 1_000), (1_000, 500)));
        let near = |measured: u64, ms: u64| measured.abs_diff(ms * MS) < ms * MS / 50;
        let first = histogram(seconds[0]);
        assert_eq!(first.len(), 2);
        assert!(near(first.value_at_quantile(0.5), 10) && near(first.max(), 20), "{first:?}");
        assert!((seconds[1].max() - 300.0).abs() < 6.0);
    }

    #[test]
    fn the_start_is_the_wall_clock_in_seconds_since_the_epoch() {
        let (text, _) = written();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let starts: Vec<Duration> = IntervalLogIterator::new(&text)
            .filter_map(|entry| match entry.unwrap() {
                LogEntry::StartTime(at) | LogEntry::BaseTime(at) => Some(at),
                LogEntry::Interval(_) => None,
            })
            .collect();
        assert_eq!(starts.len(), 2);
        assert!(starts.iter().all(|at| now.abs_diff(*at) < Duration::from_secs(600)), "{starts:?}");
    }
}
