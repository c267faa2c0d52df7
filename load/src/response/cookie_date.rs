//! The date of a cookie's `Expires`, in the many forms that servers write (RFC 6265 section 5.1.1).

const MONTHS: [&[u8]; 12] =
    [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];

/// Parses a date into seconds since 1970; `None` if it is not a date.
pub(super) fn unix_seconds(text: &[u8]) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    let is_delimiter = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b':';
    for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
        if time.is_none() && token.contains(&b':') {
            time = time_of_day(token);
        } else if day.is_none() && token.len() <= 2 && number(token).is_some() {
            day = number(token);
        } else if month.is_none() && month_number(token).is_some() {
            month = month_number(token);
        } else if year.is_none() && (2..=4).contains(&token.len()) {
            year = number(token).map(full_year);
        }
    }
    let (day, month, year) = (day?, month?, year?);
    let is_date = (1..=31).contains(&day) && year >= 1601;
    is_date.then_some(days_since_1970(year, month, day) * 86_400 + time?)
}

fn number(token: &[u8]) -> Option<i64> {
    token.iter().all(u8::is_ascii_digit).then(|| std::str::from_utf8(token).ok()?.parse().ok())?
}

fn month_number(token: &[u8]) -> Option<i64> {
    let short = token.get(..3)?.to_ascii_lowercase();
    (1..).zip(MONTHS).find(|&(_, name)| name == short).map(|(number, _)| number)
}

const fn full_year(year: i64) -> i64 {
    match year {
        70..=99 => year + 1900,
        0..=69 => year + 2000,
        _ => year,
    }
}

/// Seconds since midnight of `hh:mm:ss`.
fn time_of_day(token: &[u8]) -> Option<i64> {
    let mut parts = token.split(|&byte| byte == b':').map(number);
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    (hours < 24 && minutes < 60 && seconds < 60).then(|| hours * 3_600 + minutes * 60 + seconds)
}

/// Days since 1970 in the Gregorian calendar. Years begin in March, so that a leap day is the last day of its year.
const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    365 * year + year / 4 - year / 100 + year / 400 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_of_http_and_the_dashes_of_servers_are_read() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06-Nov-1994 08:49:37 GMT",
        ] {
            assert_eq!(unix_seconds(text.as_bytes()), Some(784_111_777), "{text}");
        }
        assert_eq!(unix_seconds(b"Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(unix_seconds(b"Thu, 29 Feb 2024 00:00:01 GMT"), Some(1_709_164_801));
    }

    #[test]
    fn what_is_not_a_date_is_none() {
        for text in [
            "",
            "0",
            "-1",
            "tomorrow",
            "32 Jan 2020 00:00:00",
            "1 Jan 2020",
            "1 Jan 2020 25:00:00",
            "1 Jan 2020 4444444400000182832:49:37",
        ] {
            assert_eq!(unix_seconds(text.as_bytes()), None, "{text}");
        }
    }
}
