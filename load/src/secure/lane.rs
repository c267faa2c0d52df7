//! One connection's place in the load: it is opened, carries requests, breaks, and is opened again.

use super::connect::{Connector, Link};
use super::http1::{Http1Request, Idle};
use super::shard::{End, Shard};
use crate::clock::{Nanos, now_ns};
use crate::failure::FailureCause;
use crate::recorder::Exchange;
use bytes::Bytes;
use futures_util::future::join_all;
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// How long a closed loop waits after a failed connect, doubled at each further one in a row, so that a server that
/// refuses is not asked as fast as a core can. An open load keeps to its schedule instead.
const FIRST_REST: Duration = Duration::from_millis(1);
const LONGEST_REST: Duration = Duration::from_millis(100);

/// An exchange without a complete answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    pub cause: FailureCause,
    /// Of the answer, where one had begun.
    pub status: Option<u16>,
    pub again: Again,
}

/// May the request go over another connection, where this one was kept from an earlier request?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// No: it failed.
    Never,
    /// Yes, and it counts as sent again (RFC 9112 section 9.3.1, RFC 9113 section 8.7).
    Resend,
    /// Yes, and no byte of it left before.
    Send,
}

impl Broken {
    pub const fn malformed(how: &'static str, status: Option<u16>) -> Self {
        Self { cause: FailureCause::Malformed(how), status, again: Again::Never }
    }
}

/// One request in the words of the protocol it goes over. It stays the same when it is sent again.
#[derive(Default)]
struct Said {
    http1: Option<Http1Request>,
    http2: Option<http::Request<Bytes>>,
}

/// One connection and the streams that share it.
pub(super) struct Lane<'s, 'w> {
    shard: &'s Shard<'w>,
    connector: &'s Connector<'w>,
    /// The account's number of its first stream.
    first: usize,
    link: RefCell<Option<Link>>,
    /// Held while the connection is opened, so that all streams wait for the same one.
    opening: Mutex<()>,
    /// How many streams a connection turned out to have.
    width: Cell<Option<usize>>,
    /// Failed connects in a row, and the last one.
    refusals: Cell<u32>,
    last_refusal: Cell<Option<(Nanos, FailureCause)>>,
}

impl<'s, 'w> Lane<'s, 'w> {
    pub fn new(number: u32, shard: &'s Shard<'w>, connector: &'s Connector<'w>) -> Self {
        Self {
            shard,
            connector,
            first: number as usize * shard.plan.streams_per_connection.get() as usize,
            link: RefCell::new(None),
            opening: Mutex::new(()),
            width: Cell::new(None),
            refusals: Cell::new(0),
            last_refusal: Cell::new(None),
        }
    }

    /// Carries requests until there are none. One stream goes ahead until a connection tells how many it may have.
    pub async fn run(self) {
        let ControlFlow::Continue(mut begun) = self.open_in_advance().await else { return };
        while self.width.get().is_none() {
            match begun.take() {
                Some(exchange) => self.carry(self.first, exchange).await,
                None if self.turn(self.first).await => {}
                None => return,
            }
        }
        let streams = 0..self.width.get().unwrap_or(1);
        let first = |index| begun.filter(|_| index == 0);
        join_all(streams.map(|index| self.stream(self.first + index, first(index)))).await;
    }

    async fn stream(&self, stream: usize, begun: Option<Exchange>) {
        if let Some(exchange) = begun {
            self.carry(stream, exchange).await;
        }
        while self.turn(stream).await {}
    }

    /// Waits for the first request while the connection is being opened, so that in an open load the request is sent
    /// when it is due and what is still missing of the connection is part of its time. Breaks when there is no request.
    async fn open_in_advance(&self) -> ControlFlow<(), Option<Exchange>> {
        if !self.shard.plan.keep_alive {
            self.width.set(Some(1));
            return ControlFlow::Continue(None);
        }
        let mut begin = pin!(self.shard.begin(self.first));
        let mut open = pin!(async { (self.connector.connect_in_advance().await, now_ns()) });
        let mut opened = None;
        let begun = loop {
            tokio::select! {
                begun = &mut begin => break begun,
                made = &mut open, if opened.is_none() => opened = Some(made),
            }
        };
        let Some(exchange) = begun else { return ControlFlow::Break(()) };
        let (link, at_ns) = match opened {
            Some(opened) => opened,
            None => open.await,
        };
        ControlFlow::Continue(match link {
            Ok(link) => {
                self.keep(link);
                let is_closed_loop = self.shard.is_closed_loop();
                Some(if is_closed_loop { self.shard.begin_again(self.first) } else { exchange })
            }
            Err(cause) if at_ns >= exchange.sent_ns || self.shard.is_closed_loop() => {
                self.refuse(cause);
                self.shard.end(self.first, exchange, End::Failed(cause, None));
                self.rest().await;
                None
            }
            // Nobody waited for that attempt: the request makes its own.
            Err(_) => Some(exchange),
        })
    }

    /// One request. False: nothing is left to begin.
    async fn turn(&self, stream: usize) -> bool {
        let Some(exchange) = self.shard.begin(stream).await else { return false };
        self.carry(stream, exchange).await;
        true
    }

    /// Takes a begun request to its end.
    async fn carry(&self, stream: usize, exchange: Exchange) {
        let mut said = Said::default();
        let mut may_go_again = true;
        loop {
            let (link, was_kept) = match self.link().await {
                Ok(link) => link,
                Err(cause) => {
                    self.shard.end(stream, exchange, End::Failed(cause, None));
                    return self.rest().await;
                }
            };
            match self.exchange(link, &mut said).await {
                Ok(status) => return self.shard.end(stream, exchange, End::Answered(status)),
                Err(broken) if was_kept && may_go_again && broken.again != Again::Never => {
                    may_go_again = false;
                    if broken.again == Again::Resend {
                        self.shard.resent();
                    }
                }
                Err(broken) => {
                    return self.shard.end(stream, exchange, End::Failed(broken.cause, broken.status));
                }
            }
        }
    }

    /// Sends the request over a connection and returns the status of its answer.
    async fn exchange(&self, link: Link, said: &mut Said) -> Result<u16, Broken> {
        let limit = self.shard.plan.request_timeout;
        match link {
            Link::Http1(mut http1) => {
                let request = said.http1.get_or_insert_with(|| self.shard.next_http1());
                let answer = within(limit, http1.exchange(request)).await?;
                if answer.keep_alive {
                    self.keep(Link::Http1(http1));
                }
                Ok(answer.status)
            }
            Link::Http2(http2) => {
                let request = said.http2.get_or_insert_with(|| self.shard.next_http2()).clone();
                let status = within(limit, http2.exchange(request)).await;
                if http2.is_closed() || status.is_err_and(|broken| broken.again != Again::Never) {
                    self.discard(http2.number);
                }
                status
            }
        }
    }

    /// The kept connection, or a new one. True: it was kept from an earlier request.
    async fn link(&self) -> Result<(Link, bool), FailureCause> {
        let asked_ns = now_ns();
        if let Some(link) = self.kept()? {
            return Ok((link, true));
        }
        let _opening = self.opening.lock().await;
        if let Some(link) = self.kept()? {
            return Ok((link, true));
        }
        match self.last_refusal.get() {
            Some((at_ns, cause)) if at_ns > asked_ns => return Err(cause),
            _ => {}
        }
        match self.connector.connect().await {
            Ok(link) => {
                if let Link::Http2(http2) = &link {
                    self.keep(Link::Http2(http2.clone()));
                }
                self.refusals.set(0);
                Ok((link, false))
            }
            Err(cause) => {
                self.refuse(cause);
                Err(cause)
            }
        }
    }

    /// The kept connection if it still is one. Bytes that came over it unasked are the next request's failure, since
    /// the answer before them was complete and something must tell.
    fn kept(&self) -> Result<Option<Link>, FailureCause> {
        let mut kept = self.link.borrow_mut();
        match kept.take() {
            Some(Link::Http2(http2)) if !http2.is_closed() => {
                *kept = Some(Link::Http2(http2.clone()));
                Ok(Some(Link::Http2(http2)))
            }
            Some(Link::Http1(mut http1)) => match http1.idle_state() {
                Idle::Ready => Ok(Some(Link::Http1(http1))),
                Idle::Closed => Ok(None),
                Idle::UnaskedBytes => Err(FailureCause::Malformed("bytes nobody asked for")),
            },
            Some(Link::Http2(_)) | None => Ok(None),
        }
    }

    /// Keeps a connection for the next request, where connections are kept.
    fn keep(&self, link: Link) {
        if !self.shard.plan.keep_alive {
            return;
        }
        if self.width.get().is_none() {
            let asked = self.shard.plan.streams_per_connection.get() as usize;
            self.width.set(Some(match &link {
                Link::Http1(_) => 1,
                Link::Http2(http2) => asked.min(http2.max_streams()),
            }));
        }
        *self.link.borrow_mut() = Some(link);
    }

    fn discard(&self, number: u64) {
        let mut link = self.link.borrow_mut();
        if matches!(&*link, Some(Link::Http2(http2)) if http2.number == number) {
            *link = None;
        }
    }

    fn refuse(&self, cause: FailureCause) {
        self.refusals.update(|refusals| refusals.saturating_add(1));
        self.last_refusal.set(Some((now_ns(), cause)));
    }

    async fn rest(&self) {
        if self.shard.is_closed_loop() {
            let doubled = FIRST_REST * (1 << self.refusals.get().saturating_sub(1).min(10));
            tokio::time::sleep(doubled.min(LONGEST_REST)).await;
        } else {
            tokio::task::yield_now().await;
        }
    }
}

/// Gives an exchange up when its time is over.
async fn within<T>(limit: Duration, exchange: impl Future<Output = Result<T, Broken>>) -> Result<T, Broken> {
    let too_late = Broken { cause: FailureCause::RequestTimeout, status: None, again: Again::Never };
    timeout(limit, exchange).await.unwrap_or(Err(too_late))
}
