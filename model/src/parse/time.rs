//! Times with their units.

use super::number::{number, split_number};
use crate::experiment::warm_up::WarmUpTime;
use std::time::Duration;

/// Units, longest name first, with their length in seconds.
const UNITS: [(&str, f64); 6] =
    [("min", 60.0), ("ms", 1e-3), ("us", 1e-6), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// Longer than anything here lasts, and short enough for every clock.
const LONGEST_S: f64 = 366.0 * 24.0 * 3600.0;

/// Seconds, perhaps 0: `12s`, `50ms`, `2m` (or `2min`), `1h`, `1m30s`.
///
/// # Errors
/// The text cannot be read; the error says what to write instead.
pub fn seconds(text: &str) -> Result<f64, String> {
    let text = text.trim();
    if number(text).is_some() {
        return Err(format!("it has no unit: write {text}s for seconds, {text}ms for milliseconds"));
    }
    let seconds =
        sum(text).ok_or_else(|| "write a time with its unit, e.g. 12s, 50ms, 2m, 1h or 1m30s".to_owned())?;
    if seconds > LONGEST_S { Err("it is longer than a year".to_owned()) } else { Ok(seconds) }
}

/// A longest warm-up, or `auto`.
///
/// # Errors
/// The text cannot be read; the error says what to write instead.
pub fn warm_up(text: &str) -> Result<WarmUpTime, String> {
    if text.trim() == "auto" {
        return Ok(WarmUpTime::Auto);
    }
    seconds(text).map(WarmUpTime::AtMost).map_err(|help| format!("{help}; or auto"))
}

/// A time longer than nothing.
///
/// # Errors
/// The text cannot be read; the error says what to write instead.
pub fn duration(text: &str) -> Result<Duration, String> {
    let zero = || Err("it must be longer than 0".to_owned());
    if number(text) == Some(0.0) {
        return zero();
    }
    let duration = Duration::from_secs_f64(seconds(text)?);
    if duration.is_zero() { zero() } else { Ok(duration) }
}

/// `--timeout`, with a hint for users of wrk, who write `-t2` for two threads.
///
/// # Errors
/// The text cannot be read; the error says what to write instead.
pub fn timeout(text: &str) -> Result<Duration, String> {
    duration(text).map_err(|message| match number(text) {
        Some(_) => format!("{message}; for a number of threads write --threads {text}"),
        None => message,
    })
}

/// `--duration`, with a hint for users of curl, who write a body behind `-d`.
///
/// # Errors
/// The text cannot be read; the error says what to write instead.
pub fn load_duration(text: &str) -> Result<Duration, String> {
    duration(text).map_err(|message| match text.starts_with(|c: char| c.is_ascii_digit()) {
        true => message,
        false => "-d is a time, e.g. 30s or 5m; for a body write --data TEXT or --data @FILE".to_owned(),
    })
}

fn sum(text: &str) -> Option<f64> {
    let mut rest = text;
    let mut total = None;
    while !rest.is_empty() {
        let (number, after) = split_number(rest)?;
        let &(unit, seconds) = UNITS.iter().find(|(unit, _)| after.starts_with(unit))?;
        total = Some(total.unwrap_or(0.0) + number * seconds);
        rest = &after[unit.len()..];
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let known = [
            ("12s", 12.0),
            ("50ms", 0.05),
            ("2m", 120.0),
            ("2min", 120.0),
            ("1h", 3600.0),
            ("1m30s", 90.0),
            ("0.5s", 0.5),
            ("0s", 0.0),
        ];
        for (text, expected) in known {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in ["", "12", "s", "-1s", "12 s", "12x", "1m30", "1..2s", "_1s", "5 parsecs", "9999h"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert!(seconds(&format!("{}h", "9".repeat(300))).is_err(), "more than a clock holds");
    }

    #[test]
    fn a_body_in_place_of_a_duration_is_answered_with_the_flag_of_bodies() {
        for body in ["{\"a\":1}", "[1]", "a=b&c=d", "@order.json", "<a/>"] {
            assert!(load_duration(body).unwrap_err().contains("write --data TEXT"), "{body}");
        }
        assert_eq!(load_duration("30s"), Ok(Duration::from_secs(30)));
        assert!(load_duration("30").unwrap_err().starts_with("it has no unit"));
    }

    #[test]
    fn a_time_without_a_unit_is_answered_with_both() {
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1_500)));
        assert_eq!(
            duration("10").unwrap_err(),
            "it has no unit: write 10s for seconds, 10ms for milliseconds"
        );
        for zero in ["0", "0s", "0.0ms"] {
            assert_eq!(duration(zero).unwrap_err(), "it must be longer than 0", "{zero}");
        }
        assert!(timeout("2").unwrap_err().ends_with("for a number of threads write --threads 2"));
    }
}
