//! Durations, counts, rates and figures as people write them.

use super::fault::Fault;
use super::yaml::{Kind, Node};

/// Units of durations, longest name first, with their length in seconds.
const DURATION_UNITS: [(&str, f64); 5] =
    [("min", 60.0), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

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

/// Seconds: `12s`, `50ms`, `2m` (or `2min`), `1h`, `1m30s`. A number without a unit is refused.
#[must_use]
pub fn duration_s(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut total = None;
    while !rest.is_empty() {
        let (number, after) = split_number(rest)?;
        let &(unit, seconds) = DURATION_UNITS.iter().find(|(unit, _)| after.starts_with(unit))?;
        total = Some(total.unwrap_or(0.0) + number * seconds);
        rest = &after[unit.len()..];
    }
    total
}

/// A whole number: `400`, `1_000_000`, `10k`, `1.5M`.
#[must_use]
pub fn count(text: &str) -> Option<u64> {
    let (number, unit) = split_number(text.trim())?;
    let value = number * magnitude(unit)?;
    (value.fract() == 0.0 && value <= 9e15).then_some(value as u64)
}

/// Requests per second: `5000/s`, `5k/s`, `600/min`, or the bare number, which is per second.
#[must_use]
pub fn rate_per_s(text: &str) -> Option<f64> {
    let (number, per_s) = match text.trim().split_once('/') {
        None => (text.trim(), 1.0),
        Some((number, "s")) => (number, 1.0),
        Some((number, "min" | "m")) => (number, 1.0 / 60.0),
        Some(_) => return None,
    };
    let (value, unit) = split_number(number)?;
    let rate = value * magnitude(unit)? * per_s;
    (rate > 0.0).then_some(rate)
}

/// A figure with or without a unit: `3967.8`, `1_000`, `200ms` (in ms), `0.2s` (in ms), `512 MiB` (in bytes).
#[must_use]
pub fn figure(text: &str) -> Option<f64> {
    let (number, unit) = split_number(text.trim())?;
    Some(number * figure_unit(unit.trim_start())?)
}

/// A share: `5%`, `0.1 %`.
#[must_use]
pub fn share(text: &str) -> Option<f64> {
    let (number, after) = split_number(text.trim())?;
    (after.trim_start() == "%" && number <= 100.0).then_some(number / 100.0)
}

/// What a unit multiplies a figure with; nothing written is 1.
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
    Some((digits.replace('_', "").parse().ok()?, rest))
}

fn magnitude(unit: &str) -> Option<f64> {
    match unit {
        "" => Some(1.0),
        "k" | "K" => Some(1e3),
        "M" => Some(1e6),
        _ => None,
    }
}

impl Node {
    /// The text of a single value.
    pub(super) fn text(&self, what: &str) -> Result<&str, Fault> {
        match &self.kind {
            Kind::Scalar(text) => Ok(text),
            _ => Err(self.wrong(what, "a single value")),
        }
    }

    /// The items of a list.
    pub(super) fn items(&self, what: &str) -> Result<&[Self], Fault> {
        match &self.kind {
            Kind::List(items) => Ok(items),
            _ => Err(self.wrong(what, "a list: `[a, b]`, or lines that begin with `- `")),
        }
    }

    /// A list of texts.
    pub(super) fn texts(&self, what: &str) -> Result<Vec<String>, Fault> {
        self.items(what)?.iter().map(|item| item.text(what).map(str::to_owned)).collect()
    }

    /// A whole number of at least 1.
    pub(super) fn positive(&self, what: &str) -> Result<u64, Fault> {
        let text = self.text(what)?;
        count(text).filter(|&number| number > 0).ok_or_else(|| {
            self.bad(what, "a whole number from 1").help("write it like 400, 1_000_000, 10k or 1.5M")
        })
    }

    /// A whole number of at least 1 that fits 32 bits.
    pub(super) fn positive_u32(&self, what: &str) -> Result<u32, Fault> {
        let number = self.positive(what)?;
        u32::try_from(number).map_err(|_| self.bad(what, "smaller than 4,294,967,296"))
    }

    /// `true` or `false`.
    pub(super) fn truth(&self, what: &str) -> Result<bool, Fault> {
        match self.text(what)? {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.bad(what, "true or false")),
        }
    }

    /// A whole number, zero too, that fits 32 bits.
    pub(super) fn whole_u32(&self, what: &str) -> Result<u32, Fault> {
        let number = count(self.text(what)?).and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| self.bad(what, "a whole number").help("write 0, 1, 2, ..."))
    }

    /// A duration in seconds.
    pub(super) fn seconds(&self, what: &str) -> Result<f64, Fault> {
        let text = self.text(what)?;
        duration_s(text).ok_or_else(|| {
            let help = "write the unit: 12s, 50ms, 2m, 1h, 1m30s";
            self.bad(what, "a duration").help(match count(text) {
                Some(_) => format!("{help}; perhaps `{text}s`?"),
                None => help.to_owned(),
            })
        })
    }

    /// A duration longer than nothing, in seconds.
    pub(super) fn positive_seconds(&self, what: &str) -> Result<f64, Fault> {
        let seconds = self.seconds(what)?;
        if seconds > 0.0 { Ok(seconds) } else { Err(self.bad(what, "longer than nothing")) }
    }

    /// A rate per second.
    pub(super) fn rate(&self, what: &str) -> Result<f64, Fault> {
        rate_per_s(self.text(what)?)
            .ok_or_else(|| self.bad(what, "a rate").help("write it like 5000/s, 5k/s or 600/min"))
    }

    /// A share of the whole.
    pub(super) fn share(&self, what: &str) -> Result<f64, Fault> {
        share(self.text(what)?)
            .ok_or_else(|| self.bad(what, "a share").help("write it in per cent: 5%, 0.1%"))
    }

    /// A figure in the unit of its metric.
    pub(super) fn figure(&self, what: &str) -> Result<f64, Fault> {
        figure(self.text(what)?)
            .ok_or_else(|| self.bad(what, "a number").help("write it like 3967.8, 1_000, 200ms or 512 MiB"))
    }

    /// A mistake in a single value.
    pub(super) fn bad(&self, what: &str, expected: &str) -> Fault {
        let written = self.text(what).unwrap_or_default();
        Fault::new(
            self.span.clone(),
            format!("`{what}` must be {expected}, and `{written}` is not"),
            "this value",
        )
    }

    fn wrong(&self, what: &str, expected: &str) -> Fault {
        let message = format!("`{what}` must be {}, and this is {}", short(expected), self.noun());
        Fault::new(self.span.clone(), message, format!("expected {expected}"))
    }
}

fn short(expected: &str) -> &str {
    expected.split(':').next().unwrap_or(expected)
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
        for (text, seconds) in known {
            assert_eq!(duration_s(text), Some(seconds), "{text}");
        }
        for text in ["", "12", "s", "-1s", "12 s", "12x", "1m30", "1..2s", "_1s"] {
            assert_eq!(duration_s(text), None, "{text}");
        }
    }

    #[test]
    fn counts_may_have_underscores_and_magnitudes() {
        let known = [("400", 400), ("1_000_000", 1_000_000), ("10k", 10_000), ("1.5M", 1_500_000), ("0", 0)];
        for (text, number) in known {
            assert_eq!(count(text), Some(number), "{text}");
        }
        for text in ["", "-1", "1.5", "10 k", "1e6", "k", "1_", "_1", "99999999999999999999", "0x10"] {
            assert_eq!(count(text), None, "{text}");
        }
    }

    #[test]
    fn rates_are_per_second_or_per_minute() {
        assert_eq!(rate_per_s("5000/s"), Some(5000.0));
        assert_eq!(rate_per_s("5k/s"), Some(5000.0));
        assert_eq!(rate_per_s("600/min"), Some(10.0));
        assert_eq!(rate_per_s("2500"), Some(2500.0));
        for text in ["", "0/s", "/s", "5000/h", "fast", "5000 per s"] {
            assert_eq!(rate_per_s(text), None, "{text}");
        }
    }

    #[test]
    fn shares_are_per_cent() {
        assert_eq!((share("5%"), share("0.5 %"), share("0%")), (Some(0.05), Some(0.005), Some(0.0)));
        for text in ["5", "0.05", "%", "101%", "-1%"] {
            assert_eq!(share(text), None, "{text}");
        }
    }

    #[test]
    fn figures_take_the_unit_of_their_metric() {
        assert_eq!(figure("3967.7610"), Some(3967.761));
        assert_eq!(figure("0.1661s"), Some(166.1));
        assert_eq!(figure("236_544 KiB"), Some(242_221_056.0));
        assert_eq!(figure("12 parsecs"), None);
    }
}
