//! Rates, constant and changing.

use super::number::number;
use super::time::duration;
use crate::experiment::{Shape, ShapeStep};

/// The upper bound of a rate, per second; more is a typing mistake.
const HIGHEST_PER_S: f64 = 1e8;

/// Requests per second: `5000`, `5000/s`, `10k/s`, `600/min`.
///
/// # Errors
/// The text cannot be read; the error says what to write instead.
pub fn rate(text: &str) -> Result<f64, String> {
    match rate_or_zero(text)? {
        0.0 => Err("it must be above 0; for the highest throughput, leave the rate out".to_owned()),
        rate_per_s => Ok(rate_per_s),
    }
}

/// A rate, or zero, which an end of a ramp may have.
fn rate_or_zero(text: &str) -> Result<f64, String> {
    let wrong = || "write requests per second or per minute, e.g. 5000/s, 10k/s or 600/min".to_owned();
    let (amount, per_s) = match text.trim().split_once('/') {
        None => (text, 1.0),
        Some((amount, "s")) => (amount, 1.0),
        Some((amount, "m" | "min")) => (amount, 60.0),
        Some(_) => return Err(wrong()),
    };
    let rate_per_s = number(amount).ok_or_else(wrong)? / per_s;
    if rate_per_s > HIGHEST_PER_S { Err("it is more than 100M/s".to_owned()) } else { Ok(rate_per_s) }
}

/// A straight line from one rate to another: `100:5000:30s`. One of the two may be zero.
///
/// # Errors
/// The text cannot be read; the error says what to write instead.
pub fn ramp(text: &str) -> Result<Shape, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let &[from, to, over] = parts.as_slice() else {
        return Err("write first rate, last rate and time, e.g. 100:5000:30s".to_owned());
    };
    let over_s = duration(over)?.as_secs_f64();
    let (from_per_s, to_per_s) = (rate_or_zero(from)?, rate_or_zero(to)?);
    if from_per_s == 0.0 && to_per_s == 0.0 {
        return Err("one of its two rates must be above 0, e.g. 0:5000:30s".to_owned());
    }
    Ok(Shape::Ramp { from_per_s, to_per_s, over_s })
}

/// One rate after the other: `100:10s,500:10s`.
///
/// # Errors
/// The text cannot be read; the error says what to write instead.
pub fn steps(text: &str) -> Result<Shape, String> {
    let step = |part: &str| {
        let (amount, lasts) = part
            .split_once(':')
            .ok_or_else(|| format!("in `{part}`: write rate and time, e.g. 100:10s,500:10s"))?;
        let in_part = |message: String| format!("in `{part}`: {message}");
        let lasts_s = duration(lasts).map_err(in_part)?.as_secs_f64();
        Ok(ShapeStep { rate_per_s: rate(amount).map_err(in_part)?, lasts_s })
    };
    text.split(',').map(str::trim).map(step).collect::<Result<_, String>>().map(Shape::Steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_per_second_unless_it_says_per_minute() {
        let known = [
            ("5000", 5_000.0),
            ("5000/s", 5_000.0),
            ("10k/s", 10_000.0),
            ("300/m", 5.0),
            ("600/min", 10.0),
            ("0.5", 0.5),
        ];
        for (text, expected) in known {
            assert_eq!(rate(text), Ok(expected), "{text}");
        }
        for text in ["", "0", "0/s", "-5", "5/h", "5/", "/s", "fast", "5000 per s", "9999M"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shapes_are_lists_of_rates_and_times() {
        assert_eq!(
            ramp("100:5k:30s"),
            Ok(Shape::Ramp { from_per_s: 100.0, to_per_s: 5_000.0, over_s: 30.0 })
        );
        assert_eq!(ramp("0:10:1s"), Ok(Shape::Ramp { from_per_s: 0.0, to_per_s: 10.0, over_s: 1.0 }));
        assert_eq!(ramp("10/s:0:1s"), Ok(Shape::Ramp { from_per_s: 10.0, to_per_s: 0.0, over_s: 1.0 }));
        assert!(ramp("0:0:1s").unwrap_err().contains("one of its two rates must be above 0"));
        assert!(ramp("-1:10:1s").is_err());
        let step = |rate_per_s, lasts_s| ShapeStep { rate_per_s, lasts_s };
        assert_eq!(steps("100:10s, 500:5s"), Ok(Shape::Steps(vec![step(100.0, 10.0), step(500.0, 5.0)])));
        assert!(ramp("100:500").is_err());
        assert!(steps("100:10s,500").unwrap_err().starts_with("in `500`:"));
        assert!(steps("100:10").unwrap_err().contains("no unit"));
    }
}
