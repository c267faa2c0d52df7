//! Figures as a person reads them: three digits, a fitting unit, thousands apart.

pub use crate::report::figures::{bytes, count};

/// A time in milliseconds as `412 µs`, `1.23 ms`, `50.1 ms`, `1.23 s`.
#[must_use]
pub fn time(ms: f64) -> String {
    if ms < 0.001 {
        "<1 µs".to_owned()
    } else if ms < 0.999_5 {
        format!("{} µs", digits(ms * 1e3))
    } else if ms < 999.5 {
        format!("{} ms", digits(ms))
    } else {
        format!("{} s", digits(ms / 1e3))
    }
}

/// A rate as `7,846/s` or `12.5/s`.
#[must_use]
pub fn rate(per_s: f64) -> String {
    format!("{}/s", digits(per_s))
}

/// `1 connection`, `64 connections`.
#[must_use]
pub fn plural(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Three digits at least; all of them before the point.
fn digits(value: f64) -> String {
    match value {
        value if value >= 99.95 => count(value.round() as u64),
        value if value >= 9.995 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_fitting_unit() {
        let cases = [
            (0.0, "<1 µs"),
            (0.001, "1.00 µs"),
            (0.0994, "99.4 µs"),
            (0.412, "412 µs"),
            (0.9996, "1.00 ms"),
            (9.996, "10.0 ms"),
            (50.12, "50.1 ms"),
            (999.4, "999 ms"),
            (1_234.0, "1.23 s"),
            (3_600_000.0, "3,600 s"),
        ];
        for (ms, expected) in cases {
            assert_eq!(time(ms), expected, "{ms}");
        }
    }

    #[test]
    fn counts_rates_and_bytes_are_set_in_thousands() {
        assert_eq!((count(0), count(999), count(1_000)), ("0".into(), "999".into(), "1,000".into()));
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(
            (rate(7_845.6), rate(12.5), rate(0.0)),
            ("7,846/s".into(), "12.5/s".into(), "0.00/s".into())
        );
        assert_eq!(
            (bytes(999), bytes(1_500), bytes(20_100_000)),
            ("999 B".into(), "1.50 kB".into(), "20.1 MB".into())
        );
        assert_eq!((plural(1, "thread"), plural(64, "thread")), ("1 thread".into(), "64 threads".into()));
    }
}
