//! What one virtual user has learned from its responses.

use super::{Capture, CookieJar, ResponseParts};
use std::sync::Arc;

/// What one virtual user (one connection, or one HTTP/2 stream's place) has learned from its responses and sends with
/// its next requests: captured values and cookies.
#[derive(Clone, Debug, Default)]
pub struct VirtualUser {
    captures: Arc<[Capture]>,
    /// In the order of `captures`; empty until the first response that has the value.
    values: Vec<Vec<u8>>,
    /// Its cookies; `None`: cookies are not kept.
    cookies: Option<CookieJar>,
}

impl VirtualUser {
    /// A user that has seen no response.
    #[must_use]
    pub fn new(captures: Arc<[Capture]>, keeps_cookies: bool) -> Self {
        let values = vec![Vec::new(); captures.len()];
        Self { captures, values, cookies: keeps_cookies.then(CookieJar::default) }
    }

    /// Takes over the values and cookies of a response. A value that is not in it stays as it was: not every response
    /// of a load has each. `now_s`: seconds since 1970, which decides what cookie has expired.
    pub fn learn(&mut self, response: &ResponseParts<'_>, now_s: i64) {
        for (capture, held) in self.captures.iter().zip(&mut self.values) {
            if let Some(value) = capture.find(response) {
                held.clear();
                held.extend_from_slice(&value);
            }
        }
        if let Some(cookies) = &mut self.cookies {
            cookies.update(response, now_s);
        }
    }

    /// The last value of a capture; empty before the first one.
    #[must_use]
    pub fn value(&self, name: &str) -> &[u8] {
        let place = self.captures.iter().position(|capture| capture.name == name);
        place.map_or(&[], |place| self.values[place].as_slice())
    }

    /// Its cookies, where it keeps them and has some.
    #[must_use]
    pub fn cookies(&self) -> Option<&CookieJar> {
        self.cookies.as_ref().filter(|jar| !jar.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(keeps_cookies: bool) -> VirtualUser {
        let captures = ["token=header:X-Token", "id=json:/id"].map(|written| written.parse().unwrap());
        VirtualUser::new(captures.into(), keeps_cookies)
    }

    #[test]
    fn a_value_stays_until_a_response_has_another() {
        let mut user = user(false);
        assert_eq!(user.value("token"), b"");
        user.learn(&ResponseParts::new(200, b"X-Token: one\r\n", br#"{"id": 7}"#), 0);
        assert_eq!((user.value("token"), user.value("id")), (&b"one"[..], &b"7"[..]));
        user.learn(&ResponseParts::new(200, b"X-Token: two\r\n", b"no json"), 0);
        assert_eq!((user.value("token"), user.value("id")), (&b"two"[..], &b"7"[..]));
        assert_eq!(user.value("unknown"), b"");
    }

    #[test]
    fn cookies_are_kept_only_where_they_are_wanted() {
        let response = ResponseParts::new(200, b"Set-Cookie: a=b\r\n", b"");
        let mut without = user(false);
        without.learn(&response, 0);
        assert!(without.cookies().is_none());
        let mut with = user(true);
        assert!(with.cookies().is_none(), "none has come yet");
        with.learn(&response, 0);
        assert!(with.cookies().is_some());
    }
}
