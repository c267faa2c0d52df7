//! The percentile distribution in the format of HdrHistogram's `outputPercentileDistribution`, in milliseconds, for its plotters
//! (<https://hdrhistogram.github.io/HdrHistogram/plotFiles.html>) and for users of wrk2.

use crate::times::Times;
use std::io::{self, Write};

/// Lines for each halving of the distance to 100 %: HdrHistogram's own default.
const TICKS_PER_HALF_DISTANCE: u32 = 5;
const NS_PER_MS: f64 = 1e6;

/// Writes the distribution, values in milliseconds with the three digits of the histogram.
///
/// # Errors
/// The error of `out`.
pub fn write_percentiles(times: &Times, out: &mut dyn Write) -> io::Result<()> {
    let histogram = times.histogram();
    let ms = |ns: u64| ns as f64 / NS_PER_MS;
    writeln!(out, "{:>12} {:>14} {:>10} {:>14}\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")?;
    let mut count = 0;
    for step in histogram.iter_quantiles(TICKS_PER_HALF_DISTANCE) {
        count += step.count_since_last_iteration();
        let (value_ms, quantile) = (ms(step.value_iterated_to()), step.quantile_iterated_to());
        if quantile < 1.0 {
            let inverse = 1.0 / (1.0 - quantile);
            writeln!(out, "{value_ms:12.3} {quantile:14.12} {count:10} {inverse:14.2}")?;
        } else {
            writeln!(out, "{value_ms:12.3} {quantile:14.12} {count:10}")?;
        }
    }
    let (mean_ms, stddev_ms) = (histogram.mean() / NS_PER_MS, histogram.stdev() / NS_PER_MS);
    writeln!(out, "#[Mean    = {mean_ms:12.3}, StdDeviation   = {stddev_ms:12.3}]")?;
    writeln!(out, "#[Max     = {:12.3}, Total count    = {:12}]", ms(histogram.max()), histogram.len())?;
    let sub_buckets = 2_u64 * 10_u64.pow(u32::from(histogram.sigfig()));
    let sub_buckets = sub_buckets.next_power_of_two();
    writeln!(out, "#[Buckets = {:12}, SubBuckets     = {sub_buckets:12}]", histogram.buckets())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(times: &Times) -> String {
        let mut out = Vec::new();
        write_percentiles(times, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// `(value in ms, percentile, count)` of each data line, as HdrHistogram's plotter splits them.
    fn parsed(text: &str) -> Vec<(f64, f64, u64)> {
        let data = text.lines().skip(2).filter(|line| !line.starts_with('#'));
        data.map(|line| {
            let mut fields = line.split_whitespace();
            let mut next = || fields.next().unwrap();
            (next().parse().unwrap(), next().parse().unwrap(), next().parse().unwrap())
        })
        .collect()
    }

    #[test]
    fn a_small_distribution_is_written_as_the_java_library_writes_it() {
        let mut times = Times::default();
        for ms in [1, 2, 3, 4] {
            times.record_ns(ms * 1_000_000);
        }
        let text = written(&times);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "       Value     Percentile TotalCount 1/(1-Percentile)");
        assert_eq!(lines[1], "");
        assert_eq!(lines[2], "       1.000 0.000000000000          1           1.00");
        assert_eq!(lines[lines.len() - 4], "       4.002 1.000000000000          4");
        assert_eq!(lines[lines.len() - 3], "#[Mean    =        2.500, StdDeviation   =        1.118]");
        assert_eq!(lines[lines.len() - 2], "#[Max     =        4.002, Total count    =            4]");
        assert!(lines[lines.len() - 1].ends_with(", SubBuckets     =         2048]"), "{text}");
    }

    #[test]
    fn read_back_the_percentiles_are_those_that_were_recorded() {
        let mut times = Times::default();
        for us in 1..=10_000 {
            times.record_ns(us * 1_000);
        }
        let lines = parsed(&written(&times));
        for &(value_ms, quantile, count) in &lines {
            let true_ms = (quantile * 10_000.0).ceil().max(1.0) / 1_000.0;
            assert!((value_ms - true_ms).abs() <= true_ms * 0.001 + 0.001, "{value_ms} {quantile}");
            assert!((count as f64) >= quantile * 10_000.0 - 1e-6, "{count} {quantile}");
        }
        assert_eq!(lines.last().unwrap().2, 10_000);
        assert!(lines.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 < pair[1].1));
    }

    #[test]
    fn an_empty_distribution_has_no_lines_but_its_total() {
        let text = written(&Times::default());
        assert!(parsed(&text).is_empty(), "{text}");
        assert!(text.contains("Total count    =            0]"), "{text}");
    }
}
