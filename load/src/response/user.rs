//! The values and cookies that a virtual user has received.

use super::capture::LONGEST_VALUE_BYTES;
use super::{Capture, CookieJar, Kept, MOST_KEPT_BYTES, ResponseParts};
use crate::failure::FailureCause;
use std::sync::Arc;

/// The failure when the limit of all connections leaves no room.
pub(crate) const NO_ROOM: FailureCause = FailureCause::NotKept(
    "what is read of all responses is larger than 48 MiB together; use fewer connections, or read less of each response",
);
const _: () = assert!(MOST_KEPT_BYTES == 48 << 20, "the sentence names it");
const TOO_LONG: FailureCause =
    FailureCause::NotKept("a captured value is longer than 64 KiB; capture a part of it");

/// The captured values and cookies that a virtual user has received and sends with its next requests. A virtual user is one connection, or
/// the place of one HTTP/2 stream.
#[derive(Debug, Default)]
pub struct VirtualUser {
    captures: Arc<[Capture]>,
    /// The values in the order of `captures`; each is empty until the first response that contains it.
    values: Vec<Kept>,
    /// The cookies; `None`: cookies are not kept.
    cookies: Option<CookieJar>,
}

impl VirtualUser {
    /// A user that has seen no response.
    #[must_use]
    pub fn new(captures: Arc<[Capture]>, keeps_cookies: bool) -> Self {
        let values = captures.iter().map(|_| Kept::default()).collect();
        Self { captures, values, cookies: keeps_cookies.then(CookieJar::default) }
    }

    /// Takes over the values and cookies of a response. A value that is not in it stays, because not every response contains each value.
    /// `now_s`, in seconds since 1970, decides which cookies have expired.
    ///
    /// # Errors
    /// A value or a cookie cannot be kept; the earlier one stays.
    pub fn learn(&mut self, response: &ResponseParts<'_>, now_s: i64) -> Result<(), FailureCause> {
        let mut learned = Ok(());
        for (capture, held) in self.captures.iter().zip(&mut self.values) {
            let Some(value) = capture.find(response).filter(|value| **value != **held) else { continue };
            let mut kept = Kept::default();
            if value.len() > LONGEST_VALUE_BYTES {
                learned = Err(TOO_LONG);
            } else if kept.push(&value) {
                *held = kept;
            } else {
                learned = Err(NO_ROOM);
            }
        }
        let are_kept = self.cookies.as_mut().is_none_or(|cookies| cookies.update(response, now_s));
        if are_kept { learned } else { Err(NO_ROOM) }
    }

    /// The last value of a capture; empty before the first one.
    #[must_use]
    pub fn value(&self, name: &str) -> &[u8] {
        let place = self.captures.iter().position(|capture| capture.name == name);
        place.map_or(&[], |place| &*self.values[place])
    }

    /// The cookies; `None` if there are none, or they are not kept.
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
        user.learn(&ResponseParts::new(200, b"X-Token: one\r\n", br#"{"id": 7}"#), 0).unwrap();
        assert_eq!((user.value("token"), user.value("id")), (&b"one"[..], &b"7"[..]));
        user.learn(&ResponseParts::new(200, b"X-Token: two\r\n", b"no json"), 0).unwrap();
        assert_eq!((user.value("token"), user.value("id")), (&b"two"[..], &b"7"[..]));
        assert_eq!(user.value("unknown"), b"");
    }

    #[test]
    fn cookies_are_kept_only_where_they_are_wanted() {
        let response = ResponseParts::new(200, b"Set-Cookie: a=b\r\n", b"");
        let mut without = user(false);
        without.learn(&response, 0).unwrap();
        assert!(without.cookies().is_none());
        let mut with = user(true);
        assert!(with.cookies().is_none(), "none has come yet");
        with.learn(&response, 0).unwrap();
        assert!(with.cookies().is_some());
    }

    #[test]
    fn a_value_that_is_too_long_is_refused_and_the_one_before_stays() {
        let mut user = user(false);
        user.learn(&ResponseParts::new(200, b"", br#"{"id": 7}"#), 0).unwrap();
        let long = format!(r#"{{"id": "{}"}}"#, "x".repeat(LONGEST_VALUE_BYTES + 1));
        assert_eq!(user.learn(&ResponseParts::new(200, b"", long.as_bytes()), 0), Err(TOO_LONG));
        assert_eq!(user.value("id"), b"7");
        let longest = format!(r#"{{"id": "{}"}}"#, "x".repeat(LONGEST_VALUE_BYTES));
        user.learn(&ResponseParts::new(200, b"", longest.as_bytes()), 0).unwrap();
        assert_eq!(user.value("id").len(), LONGEST_VALUE_BYTES);
    }
}
