//! Thousands separators for reports.

/// A number in digits with commas between the thousands: `1,234,567`, `-1,234.5`.
#[must_use]
pub fn thousands(digits: &str) -> String {
    let (sign, rest) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let (whole, fraction) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    text.push_str(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text.push_str(fraction);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_stand_between_the_thousands_and_nowhere_else() {
        let cases = [
            ("0", "0"),
            ("999", "999"),
            ("1000", "1,000"),
            ("1234567", "1,234,567"),
            ("-123456", "-123,456"),
            ("-1234.5678", "-1,234.5678"),
            ("0.0812", "0.0812"),
        ];
        for (digits, text) in cases {
            assert_eq!(thousands(digits), text);
        }
    }
}
