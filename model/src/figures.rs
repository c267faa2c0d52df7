//! Numbers as text, the same in every output: thousands separated, three significant digits, then the unit.
//! Whole numbers keep all their digits.

use crate::comparison::Ratio;
use crate::interval::Interval;
use crate::metric::{Metric, Unit};
use threadcount_load::report::thousands;

/// The largest number whose digits mean something: a float holds no more than sixteen.
const MOST_WHOLE: f64 = 1e16;

/// A number with three significant digits: `7,846`, `101`, `50.4`, `1.98`, `0.0812`.
#[must_use]
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    let magnitude = value.abs();
    let decimals = match magnitude {
        m if m >= 99.95 => 0,
        m if m >= 9.995 => 1,
        m if m >= 0.9995 || m == 0.0 => 2,
        m => (2.0 - m.log10().floor()).clamp(0.0, 9.0) as usize,
    };
    let digits = fixed(value, decimals);
    match magnitude {
        0.0 => "0".to_owned(),
        m if m < 0.1 => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        _ => thousands(&digits),
    }
}

/// A number with this many decimals; one beyond [`MOST_WHOLE`] with an exponent, `1.00e308`. A result that rounds to zero has no sign:
/// an empty sum is -0.0.
#[must_use]
pub fn fixed(value: f64, decimals: usize) -> String {
    if value.abs() > MOST_WHOLE && value.is_finite() {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        _ => text,
    }
}

/// The value that [`number`] shows: arithmetic with it gives what a reader gets.
#[must_use]
pub fn as_shown(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10_f64.powi((2 - value.abs().log10().floor() as i32).max(0));
    (value * scale).round() / scale
}

/// A number of unknown kind: whole numbers without a fraction, others like [`number`].
#[must_use]
pub fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { thousands(&fixed(value, 0)) } else { number(value) }
}

/// A whole number with thousands separators.
#[must_use]
pub fn count(value: u64) -> String {
    thousands(&value.to_string())
}

/// A number and its unit, apart so that a pair can show the unit once.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Quantity {
    number: String,
    unit: &'static str,
}

impl Quantity {
    fn new(number: String, unit: &'static str) -> Self {
        Self { number, unit }
    }

    fn text(&self) -> String {
        format!("{}{}", self.number, self.unit)
    }
}

fn quantity(metric: Metric, value: f64) -> Quantity {
    match metric.unit() {
        Unit::PerSecond => Quantity::new(number(value), "/s"),
        Unit::Milliseconds => time(value),
        Unit::Bytes => memory_quantity(value),
        Unit::Microseconds => Quantity::new(number(value), " µs"),
        Unit::Cores => Quantity::new(number(value), " cores"),
        Unit::Percent => Quantity::new(number(value), " %"),
        Unit::Count if value.is_finite() => Quantity::new(thousands(&fixed(value, 0)), ""),
        Unit::Count | Unit::PerRequest => Quantity::new(number(value), ""),
    }
}

fn time(ms: f64) -> Quantity {
    match ms.abs() {
        size if size >= 999.5 => Quantity::new(number(ms / 1e3), " s"),
        size if size >= 0.999_5 || size == 0.0 => Quantity::new(number(ms), " ms"),
        size if size >= 0.001 => Quantity::new(number(ms * 1e3), " µs"),
        _ if ms.is_finite() => Quantity::new("under 1".to_owned(), " µs"),
        _ => Quantity::new(number(ms), " ms"),
    }
}

fn memory_quantity(bytes: f64) -> Quantity {
    const UNITS: [(f64, &str); 4] = [(1e9, " GB"), (1e6, " MB"), (1e3, " kB"), (1.0, " B")];
    let (size, unit) = UNITS.into_iter().find(|(size, _)| bytes.abs() >= *size).unwrap_or((1.0, " B"));
    let scaled = bytes / size;
    if scaled.abs() >= 100.0 || size == 1.0 {
        Quantity::new(thousands(&fixed(scaled, 0)), unit)
    } else {
        Quantity::new(number(scaled), unit)
    }
}

/// A metric's figure with its unit: `7,846/s`, `50.4 ms`, `418 MB` (10^6 bytes), `223`.
#[must_use]
pub fn figure(metric: Metric, value: f64) -> String {
    quantity(metric, value).text()
}

/// Bytes in decimal units: `1.08 GB`, `418 MB`.
#[must_use]
pub fn bytes(value: u64) -> String {
    memory(value as f64)
}

/// A mean number of bytes, which may have a fraction: `1.08 GB`, `418 MB`.
#[must_use]
pub fn memory(bytes: f64) -> String {
    memory_quantity(bytes).text()
}

/// `3,961`: rounded to a whole number.
#[must_use]
pub fn whole(value: f64) -> String {
    thousands(&fixed(value.max(0.0), 0))
}

/// A rate: `7,846/s`, `12.5/s`.
#[must_use]
pub fn rate(per_s: f64) -> String {
    figure(Metric::Rate, per_s)
}

/// A time given in milliseconds: `412 µs`, `50.4 ms`, `12.3 s`.
#[must_use]
pub fn milliseconds(value: f64) -> String {
    time(value).text()
}

/// A ratio without a unit: `1.98`, `0.50`, `12.3`, `0.0213`, `under 0.001`.
#[must_use]
pub fn ratio(value: f64) -> String {
    const LEAST: f64 = 0.001;
    if value < LEAST { format!("under {LEAST}") } else { end_of_interval(value) }
}

fn end_of_interval(value: f64) -> String {
    if (0.1..9.995).contains(&value) { format!("{value:.2}") } else { number(value) }
}

/// An interval whose ends differ by more than this factor carries no information, so it gets no digits.
const NOTHING_KNOWN: f64 = 1_000.0;

/// An interval: `[1.96, 2.00]`, with a third decimal where two would show both ends as the same.
#[must_use]
pub fn interval(interval: Interval) -> String {
    let Interval { low, high, .. } = interval;
    if low > 0.0 && high / low > NOTHING_KNOWN {
        let low = if low < 0.1 { "under 0.1".to_owned() } else { ratio(low) };
        let high = if high > 10.0 { "over 10".to_owned() } else { ratio(high) };
        return format!("[{low}, {high}]");
    }
    let ends = [low, high].map(end_of_interval);
    let [low, high] = if ends[0] == ends[1] { [low, high].map(|end| format!("{end:.3}")) } else { ends };
    format!("[{low}, {high}]")
}

/// The interval of a ratio as text, if there is one.
#[must_use]
pub fn interval_of(ratio: &Ratio) -> Option<String> {
    ratio.interval.map(interval)
}

/// A share as per cent: `6 %`, `0.9 %`, `45 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() {
        "? %".to_owned()
    } else if percent.abs() >= 9.95 || percent == 0.0 {
        format!("{percent:.0} %")
    } else if percent.abs() >= 0.05 {
        format!("{percent:.1} %")
    } else {
        "under 0.1 %".to_owned()
    }
}

/// A time in RFC 3339, in UTC, without the fraction of its second; other text stays as it is.
#[must_use]
pub fn moment(rfc_3339: &str) -> String {
    let moment: Result<jiff::Timestamp, _> = rfc_3339.parse();
    moment.map_or_else(|_| rfc_3339.to_owned(), |moment| moment.strftime("%FT%TZ").to_string())
}

/// `a`, `a and b`, `a, b and c`.
#[must_use]
pub fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `1 more run`, `3 more runs`.
#[must_use]
pub fn more_runs(count: u32) -> String {
    format!("{} more run{}", self::count(count.into()), if count == 1 { "" } else { "s" })
}

/// `1 run`, `3 runs`.
#[must_use]
pub fn plural(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", self::count(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_three_significant_digits_and_separators() {
        let cases = [
            (7_846.3, "7,846"),
            (1_234_567.0, "1,234,567"),
            (999.96, "1,000"),
            (99.96, "100"),
            (100.63, "101"),
            (50.42, "50.4"),
            (9.996, "10.0"),
            (1.984, "1.98"),
            (0.9996, "1.00"),
            (0.5021, "0.502"),
            (0.0812, "0.0812"),
            (0.08, "0.08"),
            (0.0, "0"),
            (-1_234.0, "-1,234"),
            (1e308, "1.00e308"),
            (f64::NAN, "?"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text, "{value}");
        }
    }

    #[test]
    fn arithmetic_with_a_number_as_shown_is_the_readers_own() {
        let cases = [
            (50.076, 50.1),
            (0.062_34, 0.0623),
            (1_234.4, 1_234.0),
            (99.96, 100.0),
            (9.996, 10.0),
            (0.0, 0.0),
        ];
        for (value, shown) in cases {
            assert!((as_shown(value) - shown).abs() < 1e-12, "{value}: {}", as_shown(value));
        }
    }

    #[test]
    fn a_ratio_has_two_decimals_unless_it_is_very_small_or_large() {
        let cases = [(1.9, "1.90"), (0.5021, "0.50"), (12.34, "12.3"), (0.0213, "0.0213"), (0.999, "1.00")];
        let of_nothing = [(0.0, "under 0.001"), (-0.0, "under 0.001"), (1e-12, "under 0.001")];
        for (value, text) in cases.into_iter().chain(of_nothing) {
            assert_eq!(ratio(value), text, "{value}");
        }
        assert_eq!(number(1e-12), "0");
    }

    #[test]
    fn an_interval_shows_that_it_is_one() {
        let shown = |low, high| interval(Interval { low, high, confidence: 0.95 });
        assert_eq!(shown(1.96, 2.0), "[1.96, 2.00]");
        assert_eq!(shown(0.1974, 0.2034), "[0.197, 0.203]");
    }

    #[test]
    fn memory_is_shown_in_decimal_units() {
        assert_eq!(bytes(418_000_000), "418 MB");
        assert_eq!(bytes(1_077_936_128), "1.08 GB");
        assert_eq!(bytes(16_700_000), "16.7 MB");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(0), "0 B");
    }

    #[test]
    fn times_have_a_fitting_unit() {
        let cases = [
            (0.0, "0 ms"),
            (0.000_4, "under 1 µs"),
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
            assert_eq!(milliseconds(ms), expected, "{ms}");
        }
        assert_eq!((rate(7_845.6), rate(12.5), rate(0.0)), ("7,846/s".into(), "12.5/s".into(), "0/s".into()));
        assert_eq!([0.0, 999.4, 1_234_567.0].map(whole), ["0", "999", "1,234,567"]);
        assert_eq!(memory(1_234_567_890.0), "1.23 GB");
    }

    #[test]
    fn shares_are_per_cent() {
        assert_eq!(percent(0.061), "6.1 %");
        assert_eq!(percent(0.45), "45 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.0001), "under 0.1 %");
    }

    #[test]
    fn a_moment_has_no_fraction() {
        assert_eq!(moment("2026-11-20T23:53:35.689991565Z"), "2026-11-20T23:53:35Z");
        assert_eq!(moment("2026-11-20T23:53:35.6+01:00"), "2026-11-20T22:53:35Z");
        assert_eq!(moment("2026-11-20T23:53:35Z"), "2026-11-20T23:53:35Z");
        assert_eq!(moment("some day"), "some day");
    }

    #[test]
    fn one_run_is_not_runs() {
        assert_eq!(plural(1, "run"), "1 run");
        assert_eq!(plural(2, "run"), "2 runs");
    }

    #[test]
    fn an_interval_that_says_nothing_has_no_digits() {
        let text = |low, high| interval(Interval { low, high, confidence: 0.95 });
        assert_eq!(text(0.001_72, 884.9), "[under 0.1, over 10]");
        assert_eq!(text(0.5, 884.9), "[0.50, over 10]");
        assert_eq!(text(0.24, 3.9), "[0.24, 3.90]");
        assert_eq!(text(110.0, 130.0), "[110, 130]");
    }
}
