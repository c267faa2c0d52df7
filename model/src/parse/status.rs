//! Status codes.

use threadcount_load::plan::ExpectedStatus;

/// Status codes and ranges: `200`, `200,300-399`, `2xx`.
///
/// # Errors
/// The text cannot be read; the error says what to write instead.
pub fn expected_status(text: &str) -> Result<ExpectedStatus, String> {
    let range = |part: &str| {
        if let Some(class) = part.strip_suffix("xx").and_then(|class| class.parse::<u16>().ok()) {
            return (class < 10).then(|| (class * 100, class * 100 + 99));
        }
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        Some((low.trim().parse().ok()?, high.trim().parse().ok()?))
    };
    let is_status = |&(low, high): &(u16, u16)| 100 <= low && low <= high && high <= 599;
    let one = |part: &str| {
        range(part.trim()).filter(is_status).ok_or_else(|| {
            format!("`{part}` is not a status from 100 to 599: write codes, ranges or classes, e.g. 200,301-399 or 2xx")
        })
    };
    text.split(',').map(one).collect::<Result<_, String>>().map(ExpectedStatus::ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_statuses_are_codes_ranges_and_classes() {
        let expected = expected_status("200, 301-303,4xx").unwrap();
        let accepted: Vec<u16> = (100..600).filter(|&status| expected.accepts(status)).collect();
        assert_eq!(accepted[..4], [200, 301, 302, 303]);
        assert_eq!(accepted.len(), 4 + 100);
        assert_eq!(expected.to_string(), "200,301-303,400-499");
        for text in ["", "99", "600", "300-200", "abc", "20x", "200,", "999xx"] {
            assert!(expected_status(text).is_err(), "{text}");
        }
    }
}
