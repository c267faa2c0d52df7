//! Times on the command line: `300ms`, `2s`, `1m`.

use std::time::Duration;

/// Reads a time with its unit (`us`, `ms`, `s`, `m`, `h`).
///
/// # Errors
/// What to write, when the number or the unit is missing.
pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time: write a number and a unit, such as 300ms, 2s or 1m");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let seconds = match unit {
        "us" => number / 1e6,
        "ms" => number / 1e3,
        "s" => number,
        "m" => number * 60.0,
        "h" => number * 3_600.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

/// Writes a time as [`parse`] reads it, in the largest unit that needs no fraction.
#[must_use]
pub fn text(time: Duration) -> String {
    let us = time.as_micros();
    match us {
        _ if us.is_multiple_of(1_000_000) => format!("{}s", us / 1_000_000),
        _ if us.is_multiple_of(1_000) => format!("{}ms", us / 1_000),
        _ => format!("{us}us"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_is_read() {
        assert_eq!(parse("250us").unwrap(), Duration::from_micros(250));
        assert_eq!(parse("300ms").unwrap(), Duration::from_millis(300));
        assert_eq!(parse("2.5s").unwrap(), Duration::from_millis(2_500));
        assert_eq!(parse("1m").unwrap(), Duration::from_secs(60));
        assert_eq!(parse("1h").unwrap(), Duration::from_secs(3_600));
    }

    #[test]
    fn a_time_without_number_or_unit_is_refused_with_an_example() {
        for text in ["300", "ms", "", "-1s", "3 s", "3x"] {
            assert!(parse(text).unwrap_err().contains("300ms"), "{text}");
        }
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        for us in [1, 999, 1_000, 1_500, 300_000, 2_000_000] {
            let time = Duration::from_micros(us);
            assert_eq!(parse(&text(time)).unwrap(), time);
        }
        assert_eq!(text(Duration::from_millis(200)), "200ms");
    }
}
