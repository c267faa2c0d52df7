//! Inspection of responses: only for loads that need it, because it copies each response.

use super::connection::Place;
use crate::clock::unix_now_s;
use crate::failure::FailureCause;
use crate::http2::KeptResponse;
use crate::plan::LoadPlan;
use crate::response::{BodyCheck, RawResponse, ResponseParts, VirtualUser};
use std::sync::Arc;

/// What each stream's virtual user has learned, and the response that is coming.
pub(super) struct Inspection<'a> {
    users: Vec<VirtualUser>,
    raw: Vec<RawResponse>,
    check: Option<&'a BodyCheck>,
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
                check: plan.expected_body.as_ref(),
            })
        })
    }

    /// Whose values and cookies a request sends.
    pub(super) fn user(&self, place: Place) -> &VirtualUser {
        &self.users[place as usize]
    }

    /// A response is awaited.
    pub(super) fn begin(&mut self, place: Place) {
        self.raw[place as usize].clear();
    }

    /// The next bytes of an HTTP/1.1 response.
    pub(super) fn take(&mut self, place: Place, bytes: &[u8]) {
        self.raw[place as usize].push(bytes);
    }

    /// The HTTP/1.1 response is complete: what is wrong with its body.
    pub(super) fn judge(&mut self, place: Place) -> Option<FailureCause> {
        let (user, check) = (&mut self.users[place as usize], self.check);
        self.raw[place as usize].parts().and_then(|parts| judge(user, check, &parts))
    }

    /// The same of an HTTP/2 response.
    pub(super) fn judge_kept(
        &mut self,
        place: Place,
        status: u16,
        kept: &KeptResponse,
    ) -> Option<FailureCause> {
        let parts = ResponseParts::new(status, &kept.fields, &kept.body);
        judge(&mut self.users[place as usize], self.check, &parts)
    }
}

fn judge(
    user: &mut VirtualUser,
    check: Option<&BodyCheck>,
    parts: &ResponseParts<'_>,
) -> Option<FailureCause> {
    user.learn(parts, unix_now_s());
    if check.is_none_or(|check| check.accepts(parts.body)) {
        return None;
    }
    let is_encoded = parts.values("Content-Encoding").any(|coding| !coding.eq_ignore_ascii_case(b"identity"));
    Some(if is_encoded { FailureCause::EncodedBody } else { FailureCause::UnexpectedBody })
}
