//! How the values of flags are read: numbers as people write them, and an answer that shows what to write instead.
//!
//! clap puts the flag's name in front of each message (`invalid value '5' for '--duration <TIME>': ...`).

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;
use threadcount_load::plan::{ExpectedStatus, RateShape, Step};

/// A whole number, e.g. `64`, `1_000_000`, `10k`, `2M`.
///
/// # Errors
/// What to write instead.
pub fn count(text: &str) -> Result<u64, String> {
    let wrong = || "write a whole number, e.g. 64, 1_000_000, 10k or 2M".to_owned();
    let number = number(text).ok_or_else(wrong)?;
    let is_whole = number >= 0.0 && number.fract() == 0.0 && number <= 9_007_199_254_740_992.0;
    if is_whole { Ok(number as u64) } else { Err(wrong()) }
}

/// A whole number above 0.
///
/// # Errors
/// What to write instead.
pub fn positive(text: &str) -> Result<NonZeroU64, String> {
    NonZeroU64::new(count(text)?).ok_or_else(|| "it must be at least 1".to_owned())
}

/// A whole number from 1 to 4,294,967,295.
///
/// # Errors
/// What to write instead.
pub fn positive_u32(text: &str) -> Result<NonZeroU32, String> {
    NonZeroU32::try_from(positive(text)?).map_err(|_| "it must be below 4_294_967_296".to_owned())
}

/// Requests per second: `5000`, `5000/s`, `10k/s`, `300/m`.
///
/// # Errors
/// What to write instead.
pub fn rate(text: &str) -> Result<f64, String> {
    let wrong = || "write requests per second or per minute, e.g. 5000, 5000/s, 10k or 300/m".to_owned();
    let (amount, per_s) = match text.split_once('/') {
        None | Some((_, "s")) => (text.trim_end_matches("/s"), 1.0),
        Some((amount, "m" | "min")) => (amount, 60.0),
        Some(_) => return Err(wrong()),
    };
    let rate_per_s = number(amount).ok_or_else(wrong)? / per_s;
    if rate_per_s > 0.0 {
        Ok(rate_per_s)
    } else {
        Err("it must be above 0; for as fast as the server answers, leave the rate out".to_owned())
    }
}

/// A time with its unit: `10s`, `500ms`, `1m30s`.
///
/// # Errors
/// What to write instead.
pub fn duration(text: &str) -> Result<Duration, String> {
    if number(text).is_some() {
        return Err(format!("it has no unit: write {text}s for seconds, {text}ms for milliseconds"));
    }
    let time = humantime::parse_duration(text)
        .map_err(|_| "write a time with its unit, e.g. 10s, 500ms or 1m30s".to_owned())?;
    if time.is_zero() { Err("it must be longer than 0".to_owned()) } else { Ok(time) }
}

/// `--timeout`: wrk's users write `-t2` for two threads.
///
/// # Errors
/// What to write instead.
pub fn timeout(text: &str) -> Result<Duration, String> {
    duration(text).map_err(|message| match number(text) {
        Some(_) => format!("{message}; for a number of threads write --threads {text}"),
        None => message,
    })
}

/// A straight line from one rate to another: `100:5000:30s`.
///
/// # Errors
/// What to write instead.
pub fn ramp(text: &str) -> Result<RateShape, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let &[from, to, over] = parts.as_slice() else {
        return Err("write first rate, last rate and time, e.g. 100:5000:30s".to_owned());
    };
    Ok(RateShape::Ramp { from_per_s: rate(from)?, to_per_s: rate(to)?, over: duration(over)? })
}

/// One rate after the other: `100:10s,500:10s`.
///
/// # Errors
/// What to write instead.
pub fn steps(text: &str) -> Result<RateShape, String> {
    let step = |part: &str| {
        let (amount, lasts) = part
            .split_once(':')
            .ok_or_else(|| format!("in `{part}`: write rate and time, e.g. 100:10s,500:10s"))?;
        let in_part = |message: String| format!("in `{part}`: {message}");
        Ok(Step { rate_per_s: rate(amount).map_err(in_part)?, lasts: duration(lasts).map_err(in_part)? })
    };
    text.split(',').map(step).collect::<Result<_, String>>().map(RateShape::Steps)
}

/// Status codes and ranges: `200`, `200,300-399`, `2xx`.
///
/// # Errors
/// What to write instead.
pub fn expected_status(text: &str) -> Result<ExpectedStatus, String> {
    let range = |part: &str| {
        if let Some(class) = part.strip_suffix("xx").and_then(|class| class.parse::<u16>().ok()) {
            return Some((class * 100, class * 100 + 99));
        }
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        Some((low.trim().parse().ok()?, high.trim().parse().ok()?))
    };
    let is_status = |&(low, high): &(u16, u16)| 100 <= low && low <= high && high <= 599;
    let one = |part: &str| {
        range(part.trim()).filter(is_status).ok_or_else(|| {
            format!("`{part}` is no status from 100 to 599: write codes, ranges or classes, e.g. 200,301-399 or 2xx")
        })
    };
    text.split(',').map(one).collect::<Result<_, String>>().map(ExpectedStatus::ranges)
}

/// Cores by their number in /proc/cpuinfo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cores(pub Vec<usize>);

/// Cores and ranges of cores: `0,1`, `0-3,6`.
///
/// # Errors
/// What to write instead.
pub fn cores(text: &str) -> Result<Cores, String> {
    let wrong = || "write core numbers or ranges, e.g. 0,1 or 0-3".to_owned();
    let mut cores = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u16>().map(usize::from).map_err(|_| wrong());
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(wrong());
        }
        cores.extend(first..=last);
    }
    Ok(Cores(cores))
}

/// A finite number, with `_` between digits and k or M behind it if one likes.
fn number(text: &str) -> Option<f64> {
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => text.strip_suffix('M').map_or((text, 1.0), |digits| (digits, 1e6)),
    };
    let starts_with_digit = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    // "1e5" and "inf" are numbers to Rust, and to nobody who types a flag.
    let plain = digits.chars().all(|digit| digit.is_ascii_digit() || digit == '.' || digit == '_');
    if !(starts_with_digit && plain) {
        return None;
    }
    let number = digits.replace('_', "").parse::<f64>().ok()?;
    // 1.001 * 1000 is not quite 1001 in binary: a number of thousands is right to a thousandth.
    Some(if factor > 1.0 { (number * factor * 1e3).round() / 1e3 } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        let cases = [
            ("0", 0),
            ("64", 64),
            ("1_000_000", 1_000_000),
            ("10k", 10_000),
            ("1.001k", 1_001),
            ("2M", 2_000_000),
        ];
        for (text, expected) in cases {
            assert_eq!(count(text), Ok(expected), "{text}");
        }
        for text in ["", "k", "-1", "1.5", "1e3", "inf", "ten", "1,000", "_1", "99999999999999999999"] {
            assert!(count(text).is_err(), "{text}");
        }
        assert!(positive("0").is_err());
        assert!(positive_u32("5000M").is_err());
    }

    #[test]
    fn a_rate_is_per_second_unless_it_says_per_minute() {
        for (text, expected) in
            [("5000", 5_000.0), ("5000/s", 5_000.0), ("10k/s", 10_000.0), ("300/m", 5.0), ("0.5", 0.5)]
        {
            assert_eq!(rate(text), Ok(expected), "{text}");
        }
        for text in ["0", "-5", "5/h", "5/", "/s", "fast"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_needs_a_unit_and_the_answer_shows_how() {
        assert_eq!(duration("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1_500)));
        assert_eq!(
            duration("10").unwrap_err(),
            "it has no unit: write 10s for seconds, 10ms for milliseconds"
        );
        assert!(timeout("2").unwrap_err().ends_with("for a number of threads write --threads 2"));
        for text in ["", "0s", "ten", "5 parsecs"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shapes_are_lists_of_rates_and_times() {
        let over = Duration::from_secs(30);
        assert_eq!(ramp("100:5k:30s"), Ok(RateShape::Ramp { from_per_s: 100.0, to_per_s: 5_000.0, over }));
        let step = |rate_per_s, seconds| Step { rate_per_s, lasts: Duration::from_secs(seconds) };
        assert_eq!(steps("100:10s,500:5s"), Ok(RateShape::Steps(vec![step(100.0, 10), step(500.0, 5)])));
        assert!(ramp("100:500").is_err());
        assert!(steps("100:10s,500").unwrap_err().starts_with("in `500`:"));
        assert!(steps("100:10").unwrap_err().contains("no unit"));
    }

    #[test]
    fn expected_statuses_are_codes_ranges_and_classes() {
        let expected = expected_status("200, 301-303,4xx").unwrap();
        let accepted: Vec<u16> = (100..600).filter(|&status| expected.accepts(status)).collect();
        assert_eq!(accepted[..4], [200, 301, 302, 303]);
        assert_eq!(accepted.len(), 4 + 100);
        for text in ["", "99", "600", "300-200", "abc", "20x", "200,"] {
            assert!(expected_status(text).is_err(), "{text}");
        }
    }

    #[test]
    fn cores_are_numbers_and_ranges() {
        assert_eq!(cores("0-2,5"), Ok(Cores(vec![0, 1, 2, 5])));
        assert!(cores("2-1").is_err());
    }
}
