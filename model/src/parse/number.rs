//! Numbers: counts, shares, figures with their units.

use std::num::{NonZeroU32, NonZeroU64};

/// Whole numbers above this are not exact.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// Units of figures: times in milliseconds, sizes in bytes (`KB` is 1,000 bytes, `KiB` 1,024).
const FIGURE_UNITS: [(&str, f64); 8] = [
    ("ms", 1.0),
    ("s", 1_000.0),
    ("KiB", 1_024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
];

/// A whole number: `400`, `1_000_000`, `10k`, `1.5M`.
///
/// # Errors
/// The text cannot be read; the error says what to write instead.
pub fn count(text: &str) -> Result<u64, String> {
    let is_whole = |number: &f64| number.fract() == 0.0 && *number <= LARGEST;
    let whole = number(text).filter(is_whole);
    whole
        .map(|number| number as u64)
        .ok_or_else(|| "write a whole number, e.g. 64, 1_000_000, 10k or 1.5M".to_owned())
}

/// A whole number above 0.
///
/// # Errors
/// The text cannot be read; the error says what to write instead.
pub fn positive(text: &str) -> Result<NonZeroU64, String> {
    NonZeroU64::new(count(text)?).ok_or_else(|| "it must be at least 1".to_owned())
}

/// A whole number from 1 to 4,294,967,295.
///
/// # Errors
/// The text cannot be read; the error says what to write instead.
pub fn positive_u32(text: &str) -> Result<NonZeroU32, String> {
    NonZeroU32::try_from(positive(text)?).map_err(|_| "it must be below 4_294_967_296".to_owned())
}

/// A share of the whole: `5%`, `0.1 %`.
///
/// # Errors
/// The text cannot be read; the error says what to write instead.
pub fn share(text: &str) -> Result<f64, String> {
    let percent =
        split_number(text.trim()).filter(|(number, unit)| unit.trim_start() == "%" && *number <= 100.0);
    percent
        .map(|(number, _)| number / 100.0)
        .ok_or_else(|| "write it in per cent, e.g. 5% or 0.1%".to_owned())
}

/// A figure with or without a unit: `3967.8`, `1_000`, `200ms` (in ms), `0.2s` (in ms), `512 MiB` (in bytes).
///
/// # Errors
/// The text cannot be read; the error says what to write instead.
pub fn figure(text: &str) -> Result<f64, String> {
    let in_unit =
        split_number(text.trim()).and_then(|(number, unit)| Some(number * figure_unit(unit.trim_start())?));
    in_unit.ok_or_else(|| "write it like 3967.8, 1_000, 200ms or 512 MiB".to_owned())
}

/// The factor of a unit; 1 for no unit.
#[must_use]
pub fn figure_unit(unit: &str) -> Option<f64> {
    if unit.is_empty() {
        return Some(1.0);
    }
    FIGURE_UNITS.iter().find(|(name, _)| *name == unit).map(|&(_, factor)| factor)
}

/// The number at the beginning of a text (digits with `_` between them, one point) and what follows.
#[must_use]
pub fn split_number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !matches!(c, '0'..='9' | '_' | '.')).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || digits.ends_with('_') {
        return None;
    }
    let number: f64 = digits.replace('_', "").parse().ok()?;
    number.is_finite().then_some((number, rest))
}

/// A number, perhaps with a suffix k or M.
pub(super) fn number(text: &str) -> Option<f64> {
    let (number, unit) = split_number(text.trim())?;
    let factor = match unit {
        "" => return Some(number),
        "k" | "K" => 1e3,
        "M" => 1e6,
        _ => return None,
    };
    // 1.001 * 1000 is not exactly 1001 in binary, so the result is rounded to a thousandth.
    Some((number * factor * 1e3).round() / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_have_underscores_and_magnitudes() {
        let known = [
            ("0", 0),
            ("400", 400),
            ("1_000_000", 1_000_000),
            ("10k", 10_000),
            ("1.001k", 1_001),
            ("1.5M", 1_500_000),
        ];
        for (text, number) in known {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        let wrong = [
            "",
            "k",
            "-1",
            "1.5",
            "1e3",
            "inf",
            "ten",
            "1,000",
            "_1",
            "1_",
            "10 k",
            "0x10",
            "99999999999999999999",
        ];
        for text in wrong {
            assert!(count(text).is_err(), "{text}");
        }
        assert!(count(&"9".repeat(400)).is_err(), "more than a float holds");
        assert!(positive("0").is_err());
        assert!(positive_u32("5000M").is_err());
    }

    #[test]
    fn shares_are_per_cent() {
        assert_eq!((share("5%"), share("0.5 %"), share("0%")), (Ok(0.05), Ok(0.005), Ok(0.0)));
        for text in ["5", "0.05", "%", "101%", "-1%"] {
            assert!(share(text).is_err(), "{text}");
        }
    }

    #[test]
    fn figures_take_the_unit_of_their_metric() {
        assert_eq!(figure("3967.7610"), Ok(3967.761));
        assert_eq!(figure("0.1661s"), Ok(166.1));
        assert_eq!(figure("236_544 KiB"), Ok(242_221_056.0));
        assert!(figure("12 parsecs").is_err());
    }
}
