//! One thread's view of the source.

use super::compiled::Compiled;
use super::source::{Order, RequestSource};
use super::template::Values;
use crate::response::VirtualUser;
use bytes::Bytes;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// One request, ready for the wire.
#[derive(Clone, Copy, Debug)]
pub struct RenderedRequest<'a> {
    /// The HTTP/1.1 request, head and body.
    pub bytes: &'a [u8],
    /// True for HEAD: the answer has no body whatever its head says (RFC 9112 section 6.3).
    pub is_head: bool,
    /// True where the method is idempotent, so that it may be sent again when a kept-alive connection turns out to
    /// be closed (RFC 9110 section 9.2.2).
    pub is_idempotent: bool,
    /// True where `bytes` lies in the source, unchanged as long as it lives (no copy is needed to send it).
    pub is_static: bool,
}

/// One thread's view of the source: it holds the buffers and the random numbers.
#[derive(Debug)]
pub struct RequestWriter<'s> {
    source: &'s RequestSource,
    keep_alive: bool,
    /// The answer to every call, where there is one target and nothing in it varies.
    only: Option<RenderedRequest<'s>>,
    /// Which target is next, where they come in turn.
    turn: usize,
    /// The next request's number in the load. The threads' numbers are `index`, `index + threads`, ..: no two are
    /// the same, and nothing is shared.
    number: u64,
    threads: u32,
    random: SmallRng,
    buffer: Vec<u8>,
    body: Vec<u8>,
}

impl<'s> RequestWriter<'s> {
    pub(super) fn new(
        source: &'s RequestSource,
        index: u32,
        threads: u32,
        seed: u64,
        keep_alive: bool,
    ) -> Self {
        let only = match source.targets.as_slice() {
            [target] => target.as_static(keep_alive).map(|bytes| rendered(target, bytes, true)),
            _ => None,
        };
        // The golden ratio's bits set the threads' seeds apart; two loads with neighbouring seeds share none.
        let seed = seed.wrapping_add(u64::from(index).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Self {
            source,
            keep_alive,
            only,
            turn: index as usize % source.targets.len(),
            number: u64::from(index),
            threads,
            random: SmallRng::seed_from_u64(seed),
            buffer: Vec::new(),
            body: Vec::new(),
        }
    }

    /// The next request for an HTTP/1.1 connection. No allocation in the steady state.
    #[inline]
    pub fn next_http1(&mut self) -> RenderedRequest<'_> {
        match self.only {
            Some(request) => request,
            None => self.next_of_many(),
        }
    }

    /// The next request of a virtual user, with its captured values and cookies.
    pub fn next_http1_of(&mut self, user: &VirtualUser) -> RenderedRequest<'_> {
        match self.only {
            Some(request) if user.cookies().is_none() => request,
            _ => self.next_with(Some(user)),
        }
    }

    fn next_of_many(&mut self) -> RenderedRequest<'_> {
        self.next_with(None)
    }

    fn next_with(&mut self, user: Option<&VirtualUser>) -> RenderedRequest<'_> {
        let (target, number) = self.next();
        let sends_cookies = !target.has_own_cookies && user.is_some_and(|user| user.cookies().is_some());
        if let Some(bytes) = target.as_static(self.keep_alive).filter(|_| !sends_cookies) {
            return rendered(target, bytes, true);
        }
        let values = Values { random: &mut self.random, number, body_length: 0, user };
        target.render(self.keep_alive, &mut self.buffer, &mut self.body, values);
        rendered(target, &self.buffer, false)
    }

    /// The next request for a library that writes it itself: the URI is absolute and its authority stands for `Host`;
    /// headers that belong to one HTTP/1.1 connection are left out.
    pub fn next_http(&mut self) -> http::Request<Bytes> {
        self.next_library(None)
    }

    /// The next request of a virtual user for a library that writes it itself.
    pub fn next_http_of(&mut self, user: &VirtualUser) -> http::Request<Bytes> {
        self.next_library(Some(user))
    }

    fn next_library(&mut self, user: Option<&VirtualUser>) -> http::Request<Bytes> {
        let (target, number) = self.next();
        target.library.render(Values { random: &mut self.random, number, body_length: 0, user })
    }

    fn next(&mut self) -> (&'s Compiled, u64) {
        let source = self.source;
        let at = match &source.order {
            Order::InTurn => {
                let at = self.turn;
                self.turn = if at + 1 == source.targets.len() { 0 } else { at + 1 };
                at
            }
            Order::ByWeight(sums) => {
                let drawn = self.random.random_range(0..sums.last().copied().unwrap_or(1));
                sums.partition_point(|&sum| sum <= drawn)
            }
        };
        let number = self.number;
        self.number = number.wrapping_add(u64::from(self.threads));
        (&source.targets[at], number)
    }
}

fn rendered<'a>(target: &Compiled, bytes: &'a [u8], is_static: bool) -> RenderedRequest<'a> {
    RenderedRequest { bytes, is_head: target.is_head, is_idempotent: target.is_idempotent, is_static }
}
