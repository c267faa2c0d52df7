//! Renders the requests of one thread.

use super::compiled::Compiled;
use super::fields::FieldRequest;
use super::source::{Order, RequestSource};
use super::template::Values;
use crate::random::{self, Purpose};
use crate::response::VirtualUser;
use crate::share::{LoadShare, RowTurn};
use bytes::Bytes;
use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;
use std::sync::Arc;

/// One request, ready for the wire.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RenderedRequest<'a, 's> {
    /// The HTTP/1.1 request, with its head and body.
    pub bytes: &'a [u8],
    /// The same bytes in the source if nothing in the request varies, so that sending it needs no copy.
    pub fixed: Option<&'s [u8]>,
    /// A HEAD request, whose response has no body whatever its head says (RFC 9112 section 6.3).
    pub is_head: bool,
    /// The method is idempotent, so the request may be sent again if a kept-alive connection turns out to be closed (RFC 9110 section
    /// 9.2.2).
    pub is_idempotent: bool,
    /// Its own headers contain `Connection: close`, so that nothing is sent over its connection after it (RFC 9112 section 9.6).
    pub closes: bool,
    /// The number of its target in the source, from 0.
    pub target: u32,
}

/// Renders the requests of one thread; it owns the buffers and the random numbers.
#[derive(Debug)]
pub struct RequestWriter<'s> {
    source: &'s RequestSource,
    keep_alive: bool,
    /// The share of the load to which these requests belong.
    share: LoadShare,
    connections: u32,
    /// The rendered request for every call, if there is one target and nothing in it varies.
    only: Option<RenderedRequest<'s, 's>>,
    order: Xoshiro256PlusPlus,
    values: Xoshiro256PlusPlus,
    buffer: Vec<u8>,
    body: Vec<u8>,
    /// HTTP/2 requests that never vary, by target. Each thread has its own, because sharing them would mean shared reference counts.
    fields: Vec<Option<Arc<FieldRequest>>>,
}

impl RequestSource {
    /// A writer for one thread. `keep_alive: false` adds `Connection: close`.
    #[must_use]
    pub fn writer(&self, thread: u32, seed: u64, keep_alive: bool) -> RequestWriter<'_> {
        RequestWriter::new(self, thread, seed, keep_alive)
    }
}

impl<'s> RequestWriter<'s> {
    pub(super) fn new(source: &'s RequestSource, thread: u32, seed: u64, keep_alive: bool) -> Self {
        let only = match source.targets.as_slice() {
            [target] => target.as_static(keep_alive).map(|bytes| rendered((0, target), bytes, Some(bytes))),
            _ => None,
        };
        Self {
            source,
            keep_alive,
            share: LoadShare::WHOLE,
            connections: 1,
            only,
            order: random::stream(seed, Purpose::Order, thread),
            values: random::stream(seed, Purpose::Values, thread),
            buffer: Vec::new(),
            body: Vec::new(),
            fields: vec![None; source.targets.len()],
        }
    }

    /// Writes the requests of a process with a share of a load over this many connections. The rows of data files are divided between them
    /// too.
    #[must_use]
    pub fn for_share(self, share: LoadShare, connections: u32) -> Self {
        Self { share, connections, ..self }
    }

    fn row(&self, number: u64) -> RowTurn {
        RowTurn::of(self.share, number, self.connections)
    }

    /// Request number `number` of the load, for an HTTP/1.1 connection. Allocates nothing in the steady state.
    #[inline]
    pub fn http1(&mut self, number: u64) -> RenderedRequest<'_, 's> {
        match self.only {
            Some(request) => request,
            None => self.one_of_many(number, None),
        }
    }

    /// Request number `number` of the load, sent by a virtual user with captured values and cookies.
    pub fn http1_of(&mut self, number: u64, user: Option<&VirtualUser>) -> RenderedRequest<'_, 's> {
        match self.only {
            Some(request) if user.is_none_or(|user| user.cookies().is_none()) => request,
            _ => self.one_of_many(number, user),
        }
    }

    fn one_of_many(&mut self, number: u64, user: Option<&VirtualUser>) -> RenderedRequest<'_, 's> {
        let (at, target) = self.target(number);
        let sends_cookies = !target.has_own_cookies && user.is_some_and(|user| user.cookies().is_some());
        if let Some(bytes) = target.as_static(self.keep_alive).filter(|_| !sends_cookies) {
            return rendered((at, target), bytes, Some(bytes));
        }
        let row = self.row(number);
        let values = Values { random: &mut self.values, number, row, body_length: 0, user };
        target.render(self.keep_alive, &mut self.buffer, &mut self.body, values);
        rendered((at, target), &self.buffer, None)
    }

    /// Request number `number` of the load for a library that writes it itself. The URI is absolute and its authority replaces `Host`;
    /// headers that belong to one HTTP/1.1 connection are left out.
    pub fn http(&mut self, number: u64) -> http::Request<Bytes> {
        self.http_of(number, None).1
    }

    /// Like [`http`](Self::http), sent by a virtual user, with the number of its target.
    pub fn http_of(&mut self, number: u64, user: Option<&VirtualUser>) -> (u32, http::Request<Bytes>) {
        let (at, target) = self.target(number);
        let row = self.row(number);
        (at, target.library.render(Values { random: &mut self.values, number, row, body_length: 0, user }))
    }

    /// Request number `number` as a list of fields, sent by a virtual user, with the number of its target. Allocates nothing in the steady
    /// state if nothing in it varies.
    pub(crate) fn fields_of(&mut self, number: u64, user: Option<&VirtualUser>) -> (u32, Arc<FieldRequest>) {
        let (at, target) = self.target(number);
        let is_static = target.library.is_static(user);
        if let Some(request) = self.fields[at as usize].as_ref().filter(|_| is_static) {
            return (at, Arc::clone(request));
        }
        let row = self.row(number);
        let values = Values { random: &mut self.values, number, row, body_length: 0, user };
        let request = Arc::new(target.library.render_fields(values, is_static.then_some(at)));
        if is_static {
            self.fields[at as usize] = Some(Arc::clone(&request));
        }
        (at, request)
    }

    /// Request number `number` to this target once more, sent by a virtual user; the caller changes it to follow a redirect.
    pub(crate) fn again(&mut self, at: u32, number: u64, user: Option<&VirtualUser>) -> http::Request<Bytes> {
        let row = self.row(number);
        let values = Values { random: &mut self.values, number, row, body_length: 0, user };
        self.source.targets[at as usize].library.render(values)
    }

    /// Whether this target has a `Cookie` header of its own, which is sent instead of the user's cookies.
    pub(crate) fn has_own_cookies(&self, at: u32) -> bool {
        self.source.targets[at as usize].has_own_cookies
    }

    fn target(&mut self, number: u64) -> (u32, &'s Compiled) {
        let source = self.source;
        let at = match &source.order {
            Order::InTurn => (number % source.targets.len() as u64) as usize,
            Order::ByWeight(sums) => {
                let drawn = self.order.random_range(0..sums.last().copied().unwrap_or(1));
                sums.partition_point(|&sum| sum <= drawn)
            }
        };
        (at as u32, &source.targets[at])
    }
}

fn rendered<'a, 's>(
    (at, target): (u32, &Compiled),
    bytes: &'a [u8],
    fixed: Option<&'s [u8]>,
) -> RenderedRequest<'a, 's> {
    RenderedRequest {
        bytes,
        fixed,
        is_head: target.is_head,
        is_idempotent: target.is_idempotent,
        closes: target.closes,
        target: at,
    }
}
