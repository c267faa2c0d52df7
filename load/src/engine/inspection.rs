//! Inspection of responses: only for loads that need it, because it copies each response.

use super::connection::Place;
use crate::clock::unix_now_s;
use crate::failure::FailureCause;
use crate::http2::KeptResponse;
use crate::plan::LoadPlan;
use crate::request::redirect;
use crate::response::{BodyCheck, RawResponse, ResponseParts, VirtualUser};
use bytes::Bytes;
use http::Request;
use std::sync::Arc;

/// What each stream's virtual user has learned, and the response that is coming.
pub(super) struct Inspection<'a> {
    users: Vec<VirtualUser>,
    raw: Vec<RawResponse>,
    /// Requests that were redirected: what was sent last, and how many redirects led to it.
    redirected: Vec<Option<Box<Redirected>>>,
    check: Option<&'a BodyCheck>,
    follows: bool,
}

/// A request after redirects.
pub(super) struct Redirected {
    pub request: Request<Bytes>,
    pub redirects: u32,
}

/// What a response that is complete leads to.
pub(super) enum Judgement {
    Fine,
    /// What is wrong with its body.
    Fault(FailureCause),
    /// The request goes on to this `Location`.
    Redirect(Vec<u8>),
}

impl<'a> Inspection<'a> {
    /// `None`: nothing is to be looked for.
    pub(super) fn new(plan: &'a LoadPlan, places: u32) -> Option<Box<Self>> {
        let captures: Arc<[_]> = plan.captures.clone().into();
        plan.reads_responses().then(|| {
            Box::new(Self {
                users: (0..places)
                    .map(|_| VirtualUser::new(Arc::clone(&captures), plan.keep_cookies))
                    .collect(),
                raw: (0..places).map(|_| RawResponse::default()).collect(),
                redirected: (0..places).map(|_| None).collect(),
                check: plan.expected_body.as_ref(),
                follows: plan.follow_redirects,
            })
        })
    }

    /// Whose values and cookies a request sends.
    pub(super) fn user(&self, place: Place) -> &VirtualUser {
        &self.users[place as usize]
    }

    /// Another request begins.
    pub(super) fn begin_request(&mut self, place: Place) {
        self.redirected[place as usize] = None;
    }

    /// What was sent last, if it was redirected.
    pub(super) fn take_redirected(&mut self, place: Place) -> Option<Box<Redirected>> {
        self.redirected[place as usize].take()
    }

    pub(super) fn keep_redirected(&mut self, place: Place, redirected: Redirected) {
        self.redirected[place as usize] = Some(Box::new(redirected));
    }

    /// A response is awaited.
    pub(super) fn begin(&mut self, place: Place) {
        self.raw[place as usize].clear();
    }

    /// The next bytes of an HTTP/1.1 response.
    pub(super) fn take(&mut self, place: Place, bytes: &[u8]) {
        self.raw[place as usize].push(bytes);
    }

    /// The HTTP/1.1 response is complete.
    pub(super) fn judge(&mut self, place: Place) -> Judgement {
        let (user, check, follows) = (&mut self.users[place as usize], self.check, self.follows);
        let parts = self.raw[place as usize].parts();
        parts.map_or(Judgement::Fine, |parts| judge(user, check, follows, &parts))
    }

    /// The same of an HTTP/2 response.
    pub(super) fn judge_kept(&mut self, place: Place, status: u16, kept: &KeptResponse) -> Judgement {
        let parts = ResponseParts::new(status, &kept.fields, &kept.body);
        judge(&mut self.users[place as usize], self.check, self.follows, &parts)
    }
}

fn judge(
    user: &mut VirtualUser,
    check: Option<&BodyCheck>,
    follows: bool,
    parts: &ResponseParts<'_>,
) -> Judgement {
    user.learn(parts, unix_now_s());
    if follows
        && redirect::is_followed(parts.status)
        && let Some(location) = parts.values("Location").next()
    {
        return Judgement::Redirect(location.to_vec());
    }
    if check.is_none_or(|check| check.accepts(parts.body)) {
        return Judgement::Fine;
    }
    let is_encoded = parts.values("Content-Encoding").any(|coding| !coding.eq_ignore_ascii_case(b"identity"));
    Judgement::Fault(if is_encoded { FailureCause::EncodedBody } else { FailureCause::UnexpectedBody })
}
