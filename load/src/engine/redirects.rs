//! Follows redirects.

use super::connection::{Place, Rendered, State, StreamState};
use super::inspection::Redirected;
use super::worker::Worker;
use crate::clock::{Nanos, unix_now_s};
use crate::failure::FailureCause;
use crate::request::redirect;
use crate::response::{Charge, NO_ROOM};
use http::HeaderValue;
use std::sync::Arc;

/// The largest number of redirects of one request.
const MOST_REDIRECTS: u32 = 10;

impl Worker<'_> {
    /// Sends the request to the place to which its complete response redirects it. Its due and sent times stay. `is_open` is true if its
    /// connection may carry it.
    ///
    /// # Errors
    /// It cannot be sent there, and has ended.
    pub(super) fn follow(
        &mut self,
        place: Place,
        (status, location): (u16, &[u8]),
        is_open: bool,
        now_ns: Nanos,
    ) -> Result<(), FailureCause> {
        let slot = self.width.slot(place);
        let Some(inspection) = &mut self.inspection else { return Ok(()) };
        let stream = &mut self.streams[place as usize];
        let target = stream.exchange.target;
        let (request, redirects) = match inspection.take_redirected(place) {
            Some(before) => (before.request, before.redirects),
            None => (self.writer.again(target, stream.number, Some(inspection.user(place))), 0),
        };
        if redirects == MOST_REDIRECTS {
            return Err(FailureCause::Redirect("ten led to another one"));
        }
        if !self.driver.has_sent(slot) {
            return Err(FailureCause::Redirect("it came before the request had been sent"));
        }
        let mut request = redirect::next(request, status, location, self.plan.requests.origin())?;
        if let Some(jar) = inspection.user(place).cookies().filter(|_| !self.writer.has_own_cookies(target)) {
            let mut cookies = Vec::new();
            let are_sent = jar.write_value(&mut cookies, unix_now_s());
            redirect::set_cookies(&mut request, HeaderValue::from_bytes(&cookies).ok().filter(|_| are_sent));
        }
        // The path exists three times: in the request, in the rendered request and in the driver's bytes.
        let path_bytes = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
        let charge = Charge::new(3 * path_bytes).ok_or(NO_ROOM)?;
        stream.is_head = request.method() == http::Method::HEAD;
        stream.is_idempotent = request.method().is_idempotent();
        let connection = &self.connections[slot as usize];
        if connection.is_http2() {
            stream.rendered = Rendered::Http2(Arc::new(redirect::http2(&request)));
        } else {
            redirect::http1(&request, self.plan.keep_alive, &mut stream.http1);
            stream.rendered = Rendered::Http1;
        }
        if self.session_kind.is_none() {
            self.driver.keep(slot, &stream.http1, None);
        }
        inspection.keep_redirected(place, Redirected { request, redirects: redirects + 1, _charge: charge });
        self.connections[slot as usize].is_reused = true;
        if is_open && self.connections[slot as usize].state == State::Open {
            self.send(place, now_ns);
        } else {
            self.wait_for_another_connection(place, now_ns);
            // The redirected request has not been sent over the new connection yet, so it may be sent again once.
            self.streams[place as usize].was_resent = false;
        }
        debug_assert!(self.streams[place as usize].state != StreamState::Idle, "it is in flight");
        Ok(())
    }
}
