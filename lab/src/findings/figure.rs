//! Figures inside the sentences of findings.

use threadcount_load::report::thousands;

/// `3,961`: rounded, with commas between the thousands.
pub(super) fn whole(value: f64) -> String {
    thousands(&format!("{:.0}", value.max(0.0)))
}

/// `50.2 ms`, `0.35 ms`: three digits.
pub(super) fn ms(value: f64) -> String {
    match value {
        _ if value >= 100.0 => format!("{} ms", whole(value)),
        _ if value >= 10.0 => format!("{value:.1} ms"),
        _ => format!("{value:.2} ms"),
    }
}

/// `91 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// `418 MB`.
pub(super) fn mb(bytes: f64) -> String {
    format!("{} MB", whole(bytes / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_grouped() {
        assert_eq!([0.0, 999.4, 1_000.0, 1_234_567.0].map(whole), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.351, 50.24, 1_234.0].map(ms), ["0.35 ms", "50.2 ms", "1,234 ms"]);
        assert_eq!(percent(0.914), "91 %");
        assert_eq!(mb(1_234_567_890.0), "1,235 MB");
    }
}
