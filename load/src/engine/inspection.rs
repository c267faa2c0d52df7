//! Inspects responses, for loads that check or use their contents.

use super::connection::Place;
use crate::clock::unix_now_s;
use crate::failure::FailureCause;
use crate::plan::LoadPlan;
use crate::request::redirect;
use crate::response::{BodyCheck, Charge, NO_ROOM, ReadParts, ResponseReader, VirtualUser};
use bytes::Bytes;
use http::Request;
use std::sync::Arc;

/// The values that the virtual user of each stream has learned, and the HTTP/1.1 responses that are being read.
pub(super) struct Inspection<'a> {
    users: Vec<VirtualUser>,
    parts: Arc<ReadParts>,
    readers: Vec<ResponseReader>,
    /// For each stream a redirected request: what was sent last, and after how many redirects.
    redirected: Vec<Option<Box<Redirected>>>,
    check: Option<&'a BodyCheck>,
    follows: bool,
}

/// A request after one or more redirects.
pub(super) struct Redirected {
    pub request: Request<Bytes>,
    pub redirects: u32,
    /// The memory account of the path, whose length the server chose.
    pub _charge: Charge,
}

/// The judgement of a complete response.
pub(super) enum Judgement {
    Fine,
    /// The body is wrong.
    Fault(FailureCause),
    /// The response redirects the request to this `Location`.
    Redirect(Vec<u8>),
}

impl<'a> Inspection<'a> {
    /// An inspection for a plan; `None` if the plan reads nothing of its responses.
    pub(super) fn new(plan: &'a LoadPlan, places: u32) -> Option<Box<Self>> {
        let captures: Arc<[_]> = plan.captures.clone().into();
        let parts = Arc::new(ReadParts::new(plan));
        plan.reads_responses().then(|| {
            Box::new(Self {
                users: (0..places)
                    .map(|_| VirtualUser::new(Arc::clone(&captures), plan.keep_cookies))
                    .collect(),
                readers: (0..places).map(|_| ResponseReader::new(Arc::clone(&parts))).collect(),
                parts,
                redirected: (0..places).map(|_| None).collect(),
                check: plan.expected_body.as_ref(),
                follows: plan.follow_redirects,
            })
        })
    }

    /// The virtual user whose values and cookies a request sends.
    pub(super) fn user(&self, place: Place) -> &VirtualUser {
        &self.users[place as usize]
    }

    /// Prepares for another request of the stream.
    pub(super) fn begin_request(&mut self, place: Place) {
        self.redirected[place as usize] = None;
    }

    /// Takes the request that was sent last, if it was redirected.
    pub(super) fn take_redirected(&mut self, place: Place) -> Option<Box<Redirected>> {
        self.redirected[place as usize].take()
    }

    pub(super) fn keep_redirected(&mut self, place: Place, redirected: Redirected) {
        self.redirected[place as usize] = Some(Box::new(redirected));
    }

    /// The parts of responses that are read.
    pub(super) fn parts(&self) -> &Arc<ReadParts> {
        &self.parts
    }

    /// The reader of a stream's HTTP/1.1 response.
    pub(super) fn reader(&mut self, place: Place) -> &mut ResponseReader {
        &mut self.readers[place as usize]
    }

    /// Judges a complete HTTP/1.1 response.
    pub(super) fn judge(&mut self, place: Place, status: u16) -> Judgement {
        let reader = &mut self.readers[place as usize];
        judge(&mut self.users[place as usize], self.check, self.follows, (status, reader))
    }

    /// Judges a complete HTTP/2 response.
    pub(super) fn judge_read(&mut self, place: Place, status: u16, reader: &mut ResponseReader) -> Judgement {
        judge(&mut self.users[place as usize], self.check, self.follows, (status, reader))
    }
}

fn judge(
    user: &mut VirtualUser,
    check: Option<&BodyCheck>,
    follows: bool,
    (status, reader): (u16, &mut ResponseReader),
) -> Judgement {
    let judgement = judged(user, check, follows, (status, reader));
    // Returns the memory, which other connections may use.
    reader.clear();
    judgement
}

fn judged(
    user: &mut VirtualUser,
    check: Option<&BodyCheck>,
    follows: bool,
    (status, reader): (u16, &ResponseReader),
) -> Judgement {
    if reader.is_cut() {
        return Judgement::Fault(NO_ROOM);
    }
    let response = reader.response(status);
    if let Err(fault) = user.learn(&response, unix_now_s()) {
        return Judgement::Fault(fault);
    }
    if follows
        && redirect::is_followed(status)
        && let Some(location) = response.values("Location").next()
    {
        return Judgement::Redirect(location.to_vec());
    }
    if check.is_none_or(|check| reader.is_accepted_by(check)) {
        return Judgement::Fine;
    }
    let is_encoded =
        response.values("Content-Encoding").any(|coding| !coding.eq_ignore_ascii_case(b"identity"));
    Judgement::Fault(if is_encoded { FailureCause::EncodedBody } else { FailureCause::UnexpectedBody })
}
