//! The cookies of one virtual user.

use super::{Kept, ResponseParts, cookie_date};

/// The largest number of cookies of one user, as for one site in browsers (RFC 6265 section 6.1).
const MAX_COOKIES: usize = 50;
/// The longest cookie, name and value, in bytes.
const MAX_COOKIE_BYTES: usize = 4_096;

/// The cookies of one virtual user: names and values that the server sets and deletes.
///
/// A load goes to one origin, so `Domain` and `Secure` change nothing. `Path` is ignored: every request sends every cookie, until `Max-Age`
/// or `Expires` ends it. Times are seconds since 1970.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CookieJar {
    cookies: Vec<Cookie>,
}

#[derive(Debug, PartialEq, Eq)]
struct Cookie {
    name: Kept,
    value: Kept,
    /// When the cookie expires; `None`: it lasts as long as the load.
    ends_s: Option<i64>,
}

impl Cookie {
    fn lasts_at(&self, now_s: i64) -> bool {
        self.ends_s.is_none_or(|ends_s| ends_s > now_s)
    }
}

impl CookieJar {
    /// Applies the `Set-Cookie` headers of a response that is complete at `now_s`, and removes expired cookies. Returns `false` if the
    /// limit of all connections left no room for a cookie.
    pub fn update(&mut self, response: &ResponseParts<'_>, now_s: i64) -> bool {
        self.cookies.retain(|cookie| cookie.lasts_at(now_s));
        let refused = response.values("Set-Cookie").filter(|line| !self.set(line, now_s));
        refused.count() == 0
    }

    /// Whether there are no cookies at all.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Appends the value of the `Cookie` header for a request that is sent at `now_s`: `a=b; c=d`. Returns `false` if every cookie has
    /// expired.
    pub fn write_value(&self, out: &mut Vec<u8>, now_s: i64) -> bool {
        let begin = out.len();
        for Cookie { name, value, .. } in self.cookies.iter().filter(|cookie| cookie.lasts_at(now_s)) {
            if out.len() > begin {
                out.extend_from_slice(b"; ");
            }
            out.extend_from_slice(name);
            out.push(b'=');
            out.extend_from_slice(value);
        }
        out.len() > begin
    }

    /// Applies one `Set-Cookie` line, parsed as in RFC 6265 section 5.2. Returns `false` if there is no room for the cookie.
    fn set(&mut self, line: &[u8], now_s: i64) -> bool {
        let mut parts = line.split(|&byte| byte == b';');
        let pair = parts.next().unwrap_or_default();
        let Some(equals) = memchr::memchr(b'=', pair) else { return true };
        let (name, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
        let has_control = pair.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t');
        if name.is_empty() || has_control || pair.len() > MAX_COOKIE_BYTES {
            return true;
        }
        let held = self.cookies.iter().position(|held| *held.name == *name);
        let ends_s = ends_s(parts, now_s);
        let is_over = ends_s.is_some_and(|ends_s| ends_s <= now_s);
        if is_over || (held.is_none() && self.cookies.len() >= MAX_COOKIES) {
            held.filter(|_| is_over).into_iter().for_each(|at| drop(self.cookies.remove(at)));
            return true;
        }
        let mut cookie = Cookie { name: Kept::default(), value: Kept::default(), ends_s };
        let is_kept = cookie.name.push(name) && cookie.value.push(value);
        match held.filter(|_| is_kept) {
            Some(at) => self.cookies[at] = cookie,
            None if is_kept => self.cookies.push(cookie),
            None => {}
        }
        is_kept
    }
}

/// When a cookie that is set at `now_s` expires. `Max-Age` takes precedence over `Expires`.
fn ends_s<'a>(attributes: impl Iterator<Item = &'a [u8]>, now_s: i64) -> Option<i64> {
    let (mut by_age, mut by_date) = (None, None);
    for attribute in attributes {
        let Some(equals) = memchr::memchr(b'=', attribute) else { continue };
        let (name, value) = (attribute[..equals].trim_ascii(), attribute[equals + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"max-age") {
            let age_s = std::str::from_utf8(value).ok().and_then(|text| text.parse::<i64>().ok());
            by_age = age_s.map(|age_s| now_s.saturating_add(age_s)).or(by_age);
        } else if name.eq_ignore_ascii_case(b"expires") {
            by_date = cookie_date::unix_seconds(value).or(by_date);
        }
    }
    by_age.or(by_date)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_S: i64 = 1_800_000_000;

    fn sent_after(lines: &[&str]) -> String {
        sent_at(NOW_S, lines)
    }

    /// The cookies that a request at `then_s` sends, after responses with these lines at `NOW_S`.
    fn sent_at(then_s: i64, lines: &[&str]) -> String {
        let mut jar = CookieJar::default();
        for line in lines {
            let fields = format!("Content-Type: text/html\r\nSet-Cookie: {line}\r\n");
            jar.update(&ResponseParts::new(200, fields.as_bytes(), b""), NOW_S);
        }
        let mut out = Vec::new();
        assert_eq!(jar.write_value(&mut out, then_s), !out.is_empty());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn cookies_are_sent_back_in_the_order_in_which_they_came() {
        assert_eq!(
            sent_after(&["JSESSIONID=A1; Path=/; HttpOnly", "b = c=d ; Secure"]),
            "JSESSIONID=A1; b=c=d"
        );
        assert_eq!(sent_after(&[]), "");
        assert_eq!(sent_after(&["a="]), "a=");
    }

    #[test]
    fn the_last_value_of_a_name_replaces_the_one_before() {
        assert_eq!(sent_after(&["a=1", "b=2", "a=3"]), "a=3; b=2");
    }

    #[test]
    fn a_cookie_that_has_expired_is_deleted() {
        for deletion in [
            "a=; Max-Age=0",
            "a=x; max-age=-1; Expires=Fri, 01 Jan 2100 00:00:00 GMT",
            "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
            "a=deleted; expires=Thu, 01-Jan-1970 00:00:10 GMT; path=/",
        ] {
            assert_eq!(sent_after(&["a=1", "b=2", deletion]), "b=2", "{deletion}");
            assert_eq!(sent_after(&[deletion]), "", "{deletion}");
        }
    }

    #[test]
    fn a_cookie_that_expires_later_is_kept() {
        for kept in [
            "a=1; Max-Age=60",
            "a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
            "a=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT",
            "a=1; Expires=soon",
            "a=1; Max-Age=soon",
        ] {
            assert_eq!(sent_after(&[kept]), "a=1", "{kept}");
        }
    }

    #[test]
    fn a_cookie_ends_when_its_time_is_over() {
        let lines =
            ["a=1; Max-Age=60", "b=2; Expires=Fri, 15 Jan 2027 08:02:00 GMT", "c=3", "d=4; Max-Age=5"];
        assert_eq!(sent_at(NOW_S + 4, &lines), "a=1; b=2; c=3; d=4");
        assert_eq!(sent_at(NOW_S + 59, &lines), "a=1; b=2; c=3");
        assert_eq!(sent_at(NOW_S + 60, &lines), "b=2; c=3");
        assert_eq!(sent_at(NOW_S + 120, &lines), "c=3");
        assert_eq!(
            sent_at(NOW_S + 9, &["d=4; Max-Age=5", "d=5"]),
            "d=5",
            "set again for as long as the load"
        );
        assert_eq!(sent_at(NOW_S + 5, &["d=4; Max-Age=5"]), "");
        assert_eq!(sent_at(i64::MAX, &[&format!("e=1; Max-Age={}", i64::MAX)]), "");
    }

    #[test]
    fn what_would_break_a_request_or_has_no_name_is_not_kept() {
        assert_eq!(sent_after(&["nothing", "=value", "a=b\u{1}c"]), "");
        assert_eq!(sent_after(&[&format!("a={}", "x".repeat(5_000))]), "");
    }

    #[test]
    fn memory_is_bounded() {
        let many: Vec<String> = (0..60).map(|number| format!("c{number}=1")).collect();
        let lines: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(sent_after(&lines).split("; ").count(), MAX_COOKIES);
    }
}
