//! A driver without a kernel, for tests: it holds every response back until all connections wait for one, and then
//! brings all of them at once, as a server does after a stall.

use super::{Chunk, Completion, Driver, Event, Slot, Wake};
use crate::clock::{Nanos, now_ns};
use crate::endpoint::Endpoint;
use crate::request::RenderedRequest;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::rc::Rc;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// What the engine did, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    TookAnswer,
    Sent,
}

pub(crate) struct Burst {
    /// Answers are held back until then, so that what they are a burst between is due.
    not_before_ns: Nanos,
    slots: usize,
    waiting: Vec<Slot>,
    came: VecDeque<(Slot, Event)>,
    bytes_sent: u64,
    steps: Rc<RefCell<Vec<Step>>>,
}

impl Burst {
    /// A driver that holds its first responses back until `not_before_ns` and records what the engine does.
    pub(crate) fn until(not_before_ns: Nanos, slots: u32, steps: Rc<RefCell<Vec<Step>>>) -> Self {
        let slots = slots as usize;
        Self { not_before_ns, slots, waiting: Vec::new(), came: VecDeque::new(), bytes_sent: 0, steps }
    }
}

impl Driver for Burst {
    const NAME: &'static str = "burst";
    /// Never reached: what is sent within a burst is sent because it is due.
    const BATCH: usize = 1_000_000;

    fn new(slots: u32, _: &[Endpoint], _: bool) -> io::Result<Self> {
        Ok(Self::until(0, slots, Rc::default()))
    }

    fn connect(&mut self, slot: Slot, _: usize, _: Option<IpAddr>) -> io::Result<()> {
        self.came.push_back((slot, Event::Connected));
        Ok(())
    }

    unsafe fn keep(&mut self, _: Slot, _: RenderedRequest<'_>) {}

    fn send(&mut self, slot: Slot) {
        self.steps.borrow_mut().push(Step::Sent);
        self.waiting.push(slot);
        self.bytes_sent += 1;
    }

    fn write(&mut self, _: Slot, _: &[u8]) {}

    fn write_last(&mut self, _: Slot, _: &[u8]) {}

    fn skip(&mut self, _: Slot, _: u64) {}

    fn has_pending(&mut self, slot: Slot) -> bool {
        self.came.iter().any(|&(other, _)| other == slot)
    }

    fn is_quiet(&mut self, slot: Slot, _: bool) -> bool {
        !self.has_pending(slot)
    }

    fn out_of_order(&self, _: Slot) -> Option<u32> {
        Some(0)
    }

    fn has_sent(&self, _: Slot) -> bool {
        true
    }

    fn has_queued(&self, _: Slot) -> bool {
        false
    }

    fn close(&mut self, _: Slot) {}

    fn submit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self, now_ns: Nanos, _: Nanos, _: Wake) -> io::Result<()> {
        let everybody_waits = self.waiting.len() == self.slots || self.not_before_ns == 0;
        if self.came.is_empty() && everybody_waits && now_ns >= self.not_before_ns {
            self.not_before_ns = 0;
            let answer = Event::Received(Chunk { buffer: 0, len: ANSWER.len() as u32 });
            self.came.extend(self.waiting.drain(..).map(|slot| (slot, answer)));
        }
        Ok(())
    }

    fn next(&mut self) -> Option<Completion> {
        let (slot, event) = self.came.pop_front()?;
        if matches!(event, Event::Received(_)) {
            self.steps.borrow_mut().push(Step::TookAnswer);
        }
        Some(Completion { slot, event, at_ns: now_ns(), stamp_ns: None })
    }

    fn bytes(&self, _: Chunk) -> &[u8] {
        ANSWER
    }

    fn bytes_sent(&self) -> u64 {
        self.bytes_sent
    }
}
