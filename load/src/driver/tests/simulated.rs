//! A driver without a kernel for the engine's tests. It answers each request, and can be late, slow to connect, send its responses in two
//! pieces or all in one burst, or break.

use crate::clock::{Nanos, now_ns};
use crate::driver::{Completion, Event, Slot, Wake};
use crate::endpoint::Endpoint;
use crate::engine::thread_cpu_ns;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::marker::PhantomData;
use std::net::IpAddr;
use std::rc::Rc;
use std::thread::sleep;
use std::time::Duration;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
/// The place at which a response is cut in two; the pieces have different lengths.
const CUT: usize = 20;

/// The behaviour of the driver in a test.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Habits {
    /// After this many requests, the thread comes back this late from its wait, as after SIGSTOP.
    pub late_after: Option<(u64, Duration)>,
    /// The time from a request to its response.
    pub answers_after: Duration,
    /// All responses are held back until this moment, and until each connection waits for a response.
    pub stalls_until_ns: Nanos,
    /// The time by which the stamps are too early.
    pub stamps_early: Duration,
    /// Each response has a segment that came out of order.
    pub is_out_of_order: bool,
    /// CPU time that each connect costs.
    pub connect_costs: Duration,
    /// The number of connects that are accepted. Later ones are neither accepted nor refused, up to the one before `accepts_again_from`.
    pub accepts: Option<u32>,
    /// The connect, counted from 1, from which connects are accepted again.
    pub accepts_again_from: Option<u32>,
    /// This response, counted from 1, arrives in two pieces.
    pub splits: Option<u64>,
    /// The largest number of responses that one wait brings.
    pub most_per_wait: Option<u64>,
    /// The wait after this many requests fails.
    pub breaks_after: Option<u64>,
}

/// A step of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    TookAnswer,
    Sent,
}

/// Counts the actions of the engine.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// The number of requests over each slot.
    pub carried: Vec<u64>,
    /// The largest number of connects under way at once.
    pub most_connecting: u32,
    pub waits: Vec<Wait>,
    /// The steps of sending and taking, in order.
    pub steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    /// The number of requests that were sent before the wait.
    pub sent: u64,
    /// Whether each connection had a request under way.
    pub all_busy: bool,
    /// The events that could end the wait.
    pub wake: Wake,
    /// The longest time that the wait could last.
    pub at_most: Duration,
}

pub(crate) struct Simulated<'a> {
    habits: Habits,
    account: Rc<RefCell<Account>>,
    sent: u64,
    answered: u64,
    connects: u32,
    connecting: Vec<Slot>,
    /// The requests under way, with the times at which their responses arrive.
    waiting: VecDeque<(Slot, Nanos)>,
    came: VecDeque<(Slot, Event, Nanos)>,
    requests: PhantomData<&'a [u8]>,
}

impl<'a> Simulated<'a> {
    pub(crate) fn with(habits: Habits, slots: u32, account: Rc<RefCell<Account>>) -> Self {
        account.borrow_mut().carried = vec![0; slots as usize];
        Self {
            habits,
            account,
            sent: 0,
            answered: 0,
            connects: 0,
            connecting: Vec::new(),
            waiting: VecDeque::new(),
            came: VecDeque::new(),
            requests: PhantomData,
        }
    }

    fn answer(&mut self, slot: Slot, at_ns: Nanos) {
        self.answered += 1;
        let pieces = [CUT, ANSWER.len() - CUT];
        let pieces = if self.habits.splits == Some(self.answered) { &pieces[..] } else { &[ANSWER.len()] };
        self.came.extend(pieces.iter().map(|&len| (slot, Event::Received(len), at_ns)));
    }

    /// Whether responses that have arrived are held back.
    fn stalls(&mut self, now_ns: Nanos) -> bool {
        let until_ns = self.habits.stalls_until_ns;
        if now_ns >= until_ns && self.waiting.len() == self.account.borrow().carried.len() {
            self.habits.stalls_until_ns = 0;
        }
        self.habits.stalls_until_ns > 0
    }

    pub(crate) fn new(slots: u32, _: &[Endpoint], _: bool) -> io::Result<Self> {
        Ok(Self::with(Habits::default(), slots, Rc::default()))
    }

    pub(crate) fn connect(&mut self, slot: Slot, _: usize, _: Option<IpAddr>) -> io::Result<()> {
        let until_ns = thread_cpu_ns() + self.habits.connect_costs.as_nanos() as Nanos;
        while thread_cpu_ns() < until_ns {}
        self.connects += 1;
        let is_after = self.habits.accepts.is_some_and(|most| self.connects > most);
        if is_after && self.habits.accepts_again_from.is_none_or(|from| self.connects < from) {
            return Ok(());
        }
        self.connecting.push(slot);
        let mut account = self.account.borrow_mut();
        account.most_connecting = account.most_connecting.max(self.connecting.len() as u32);
        Ok(())
    }

    pub(crate) fn keep(&mut self, _: Slot, _: &[u8], _: Option<&'a [u8]>) {}

    pub(crate) fn send(&mut self, slot: Slot) {
        let mut account = self.account.borrow_mut();
        account.carried[slot as usize] += 1;
        account.steps.push(Step::Sent);
        self.sent += 1;
        self.waiting.push_back((slot, now_ns() + self.habits.answers_after.as_nanos() as Nanos));
    }

    pub(crate) fn write(&mut self, _: Slot, _: &[u8]) {}

    pub(crate) fn write_last(&mut self, _: Slot, _: &[u8]) {}

    pub(crate) fn skip(&mut self, _: Slot, _: u64) {}

    pub(crate) fn has_sent(&self, _: Slot) -> bool {
        true
    }

    pub(crate) fn close(&mut self, _: Slot) {}

    pub(crate) fn wait(&mut self, now_ns: Nanos, until_ns: Nanos, wake: Wake) -> io::Result<()> {
        let at_most = Duration::from_nanos(until_ns.saturating_sub(now_ns));
        let all_busy = self.waiting.len() == self.account.borrow().carried.len();
        self.account.borrow_mut().waits.push(Wait { sent: self.sent, all_busy, wake, at_most });
        if self.habits.breaks_after.is_some_and(|count| self.sent >= count) {
            return Err(io::Error::other("broken on purpose"));
        }
        if let Some((count, late)) = self.habits.late_after
            && self.sent >= count
        {
            // Requests under way are answered meanwhile; the thread sees the responses when it comes back.
            self.habits.late_after = None;
            sleep(late);
        }
        let look_ns = crate::clock::now_ns();
        let connected = self.connecting.drain(..).map(|slot| (slot, Event::Connected, look_ns));
        self.came.extend(connected);
        let most = if self.stalls(look_ns) { Some(0) } else { self.habits.most_per_wait };
        let until = most.map_or(u64::MAX, |most| self.answered + most);
        while self.answered < until
            && let Some((slot, at_ns)) = self.waiting.pop_front_if(|&mut (_, at_ns)| at_ns <= look_ns)
        {
            self.answer(slot, at_ns);
        }
        if self.came.is_empty() {
            sleep(at_most.min(Duration::from_millis(1)));
        }
        Ok(())
    }

    pub(crate) fn next(&mut self) -> Option<Completion> {
        let (slot, event, came_ns) = self.came.pop_front()?;
        let at_ns = now_ns();
        let mut stamp_ns = None;
        if matches!(event, Event::Received(_)) {
            self.account.borrow_mut().steps.push(Step::TookAnswer);
            stamp_ns = Some(came_ns - self.habits.stamps_early.as_nanos() as Nanos);
        }
        Some(Completion { slot, event, at_ns, stamp_ns })
    }

    pub(crate) fn has_pending(&mut self, slot: Slot) -> bool {
        self.came.iter().any(|&(other, ..)| other == slot)
    }

    pub(crate) fn is_quiet(&mut self, slot: Slot, _: bool) -> bool {
        !self.has_pending(slot)
    }

    pub(crate) fn out_of_order(&self, _: Slot) -> Option<u32> {
        Some(if self.habits.is_out_of_order { self.answered as u32 } else { 0 })
    }

    pub(crate) fn bytes(&self, len: usize) -> &[u8] {
        match len {
            CUT => &ANSWER[..CUT],
            _ => &ANSWER[ANSWER.len() - len..],
        }
    }

    pub(crate) fn bytes_sent(&self) -> u64 {
        0
    }
}
