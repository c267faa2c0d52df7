//! io_uring: one system call per round of the event loop both submits and waits.
//!
//! Each connection has one multishot receive that lasts as long as the connection and takes its buffers from a ring that
//! all share; a request is one send, and a static one completes without a word unless it fails. The ring has a single
//! issuer and runs the kernel's part of the work only when the loop waits (`IORING_SETUP_DEFER_TASKRUN`, Linux 6.1).

mod connecting;
mod files;
mod pending;
mod receiving;
mod ring;
mod sending;
mod stamped;

use super::buffers::Buffers;
use super::outgoing::Outgoing;
use super::socket::{self, RawAddress};
use super::stamps;
use super::{Chunk, Completion, Driver, Event, LEAST_SKIPPED, Slot, Wake};
use crate::clock::{self, NANOS_PER_S, Nanos};
use crate::endpoint::Endpoint;
use crate::request::RenderedRequest;
use files::Files;
use io_uring::types::{CancelBuilder, TimeoutFlags, Timespec};
use io_uring::{EnterFlags, IoUring, cqueue, opcode, squeue};
use pending::Pending;
use receiving::Receiving;
use ring::{is_passing, set_up, sleep_until, tolerate};
use rustix::net::{Shutdown, shutdown};
use stamped::Stamped;
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

/// How many completions end a sleep early. Without a limit, the kernel would go on receiving a burst of
/// responses past the moment at which the next request is due.
const ENDS_SLEEP: u32 = 32;

/// How often a full submission queue is submitted again before the ring counts as broken.
const MOST_TRIES: u32 = 10;

/// What the alarm's completion carries instead of a connection and an action.
const ALARM: u64 = u64::MAX;
/// The same of a cancellation: the completion of its target has the result.
const CANCELLATION: u64 = u64::MAX - 1;

pub(crate) struct Uring {
    /// Before everything that the kernel may access, so that it goes first.
    ring: IoUring,
    buffers: Buffers,
    files: Files,
    sockets: Vec<Socket>,
    endpoints: Vec<Endpoint>,
    /// The same as the kernel reads them.
    addresses: Vec<RawAddress>,
    /// Copies of requests that the kernel may still be sending over connections that were closed.
    retired: Vec<(u64, Outgoing)>,
    /// Sockets to be closed when what was queued for them has been submitted: until then their numbers must not name others.
    closing: Vec<(Slot, OwnedFd)>,
    /// Ends a wait at a moment. Set once per moment rather than once per wait, because setting and cancelling a
    /// timer costs more than anything else in an open load, most of all inside a virtual machine.
    alarm_ns: Nanos,
    /// The same moment where the kernel reads it when the alarm is submitted.
    alarm: Box<Timespec>,
    /// The buffer of the last completion, to be given back.
    in_use: Option<u16>,
    /// Whose receive was for once, and has to be begun again unless its next bytes are skipped.
    to_receive: Option<Slot>,
    /// Why the ring could not take an entry.
    broken: Option<io::Error>,
    /// Connects since the last submission.
    connects: u32,
    /// When the last wait returned, or something was submitted after it.
    seen_ns: Nanos,
    /// When the last wait returned.
    waited_ns: Nanos,
    pending: Pending,
    /// The kernel's clock, if it stamps.
    stamped: Option<Stamped>,
    /// The kernel supports waits with an absolute timeout (`IORING_ENTER_ABS_TIMER`, Linux 6.12).
    can_sleep: bool,
    /// Sockets that are connecting or whose request is on its way: someone must bring them on.
    under_way: u32,
    bytes_sent: u64,
}

/// What each send and receive needs fills one cache line, up to the copies of `outgoing`.
#[derive(Debug, Default)]
#[repr(C, align(64))]
struct Socket {
    fd: Option<OwnedFd>,
    /// Counts the slot's connections, so that a completion of an earlier one is known.
    generation: u32,
    /// A send failed because the server has closed; what the server sent before that is still to be received.
    send_error: i32,
    is_connecting: bool,
    /// The completion of a send is awaited; only where there is one.
    is_sending: bool,
    /// Its completions that were counted and are still to be taken ([`Pending`]).
    pending: u16,
    receiving: Receiving,
    outgoing: Outgoing,
}

/// What a completion completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Connect = 0,
    Receive = 1,
    Send = 2,
    /// A send without a completion for success.
    SilentSend = 3,
}

impl Driver for Uring {
    const NAME: &'static str = "io_uring";
    const BATCH: usize = 32;

    fn new(slots: u32, endpoints: &[Endpoint], stamps: bool) -> io::Result<Self> {
        let ring = set_up(slots)?;
        let buffers = Buffers::register(&ring, slots)?;
        let files = Files::register(&ring, slots);
        // A time in the past: a kernel without support returns an error.
        let can_sleep = tolerate(sleep_until(&ring, 1, 1)).is_ok();
        Ok(Self {
            stamped: (stamps && stamps::are_known()).then(Stamped::new),
            can_sleep,
            under_way: 0,
            ring,
            buffers,
            files,
            sockets: (0..slots).map(|_| Socket::default()).collect(),
            endpoints: endpoints.to_vec(),
            addresses: endpoints.iter().map(RawAddress::new).collect::<io::Result<_>>()?,
            retired: Vec::new(),
            closing: Vec::with_capacity(slots as usize),
            alarm_ns: Nanos::MAX,
            alarm: Box::default(),
            in_use: None,
            to_receive: None,
            broken: None,
            connects: 0,
            seen_ns: clock::now_ns(),
            waited_ns: 0,
            pending: Pending::default(),
            bytes_sent: 0,
        })
    }

    fn connect(&mut self, slot: Slot, endpoint: usize, source: Option<IpAddr>) -> io::Result<()> {
        self.begin_connect(slot, endpoint, source)
    }

    unsafe fn keep(&mut self, slot: Slot, request: RenderedRequest<'_>) {
        // SAFETY: the caller's promise, and `close` retires a request that the kernel is not done with; an open connection
        // whose request has not left gets no other one (see `has_sent`).
        unsafe { self.sockets[slot as usize].outgoing.keep(request) }
    }

    fn send(&mut self, slot: Slot) {
        self.sockets[slot as usize].outgoing.rewind();
        self.push_send(slot);
    }

    fn write(&mut self, slot: Slot, bytes: &[u8]) {
        let socket = &mut self.sockets[slot as usize];
        socket.outgoing.write(bytes, !socket.is_sending);
        if !socket.is_sending {
            self.push_send(slot);
        }
    }

    fn write_last(&mut self, slot: Slot, bytes: &[u8]) {
        let socket = &self.sockets[slot as usize];
        if let Some(fd) = socket.fd.as_ref().filter(|_| !socket.is_sending) {
            socket::send_at_once(fd, bytes);
        }
    }

    fn skip(&mut self, slot: Slot, bytes: u64) {
        // On a Unix socket MSG_TRUNC copies, and there is no buffer for it.
        let is_tcp = self.endpoints.iter().all(Endpoint::is_tcp);
        if self.stamped.is_some() || bytes < LEAST_SKIPPED || !is_tcp {
            return;
        }
        match self.sockets[slot as usize].receiving {
            Receiving::Once if self.to_receive == Some(slot) => {
                self.to_receive = None;
                self.push_skip(slot, bytes, true);
            }
            Receiving::Multishot => {
                let socket = &mut self.sockets[slot as usize];
                socket.receiving = Receiving::Cancelling;
                let receive = socket.user_data(slot, Action::Receive);
                let cancel = opcode::AsyncCancel::new(receive).build();
                self.push(&cancel.flags(squeue::Flags::SKIP_SUCCESS).user_data(CANCELLATION));
            }
            Receiving::Once | Receiving::Cancelling | Receiving::Skipping(_) => {}
        }
    }

    fn has_sent(&self, slot: Slot) -> bool {
        !self.sockets[slot as usize].is_sending
    }

    fn has_queued(&self, slot: Slot) -> bool {
        self.sockets[slot as usize].outgoing.has_queued()
    }

    fn close(&mut self, slot: Slot) {
        let socket = &mut self.sockets[slot as usize];
        let Some(fd) = socket.fd.take() else { return };
        self.under_way -= u32::from(std::mem::take(&mut socket.is_connecting)) + u32::from(socket.is_sending);
        if std::mem::take(&mut socket.is_sending) {
            let user_data = socket.user_data(slot, Action::Send);
            self.retired.push((user_data, socket.outgoing.leave_to_kernel()));
        }
        socket.outgoing.forget_stream();
        self.to_receive = self.to_receive.filter(|&other| other != slot);
        // The ring's receive holds the socket open: only this makes it complete. It fails when the server was faster.
        let _ = shutdown(&fd, Shutdown::Both);
        self.files.retire(slot);
        self.closing.push((slot, fd));
    }

    fn submit(&mut self) -> io::Result<()> {
        tolerate(self.submit_all())
    }

    fn wait(&mut self, now_ns: Nanos, until_ns: Nanos, wake: Wake) -> io::Result<()> {
        self.give_back();
        if let Some(error) = self.broken.take() {
            return Err(error);
        }
        let may_sleep = wake == Wake::OnTime && self.can_sleep && until_ns > now_ns;
        if may_sleep && self.under_way == 0 {
            let slept = sleep_until(&self.ring, ENDS_SLEEP, until_ns);
            self.after_signal(slept)?;
        } else if may_sleep && !self.ring.submission().is_empty() {
            // Small requests have left when this returns, and then there is nothing more to bring on its way.
            tolerate(self.enter(0))?;
        } else {
            if until_ns < self.alarm_ns {
                self.set_alarm(until_ns);
            }
            let entered = self.enter(usize::from(until_ns > now_ns));
            self.after_signal(entered)?;
        }
        self.look_at_clock();
        self.waited_ns = self.seen_ns;
        self.pending.wait_ended(self.ring.completion().len());
        self.connects = 0;
        if self.ring.submission().is_empty() {
            self.close_sockets();
        }
        Ok(())
    }

    fn next(&mut self) -> Option<Completion> {
        self.give_back();
        loop {
            let entry = self.ring.completion().next()?;
            // What the wait brought was there when it returned, whatever was submitted since then.
            let at_ns = if self.count_off(&entry) { self.waited_ns } else { self.seen_ns };
            if let Some((slot, event)) = self.take(&entry) {
                let stamp_ns = self.stamp_of(event, at_ns);
                return Some(Completion { slot, event, at_ns, stamp_ns });
            }
            self.give_back();
        }
    }

    fn has_pending(&mut self, slot: Slot) -> bool {
        self.has_completion(slot)
    }

    fn is_quiet(&mut self, slot: Slot, is_stale: bool) -> bool {
        self.has_nothing_to_read(slot, is_stale)
    }

    fn out_of_order(&self, slot: Slot) -> Option<u32> {
        stamps::out_of_order(self.sockets[slot as usize].fd.as_ref()?)
    }

    fn bytes(&self, chunk: Chunk) -> &[u8] {
        self.buffers.bytes(chunk.buffer, self.bytes_from(), chunk.len as usize)
    }

    fn bytes_sent(&self) -> u64 {
        self.bytes_sent
    }
}

impl Drop for Uring {
    /// A ring that is closed ends its requests later, in the kernel's own time (liburing #835): until then it could receive
    /// into buffers that are free, or send from them.
    fn drop(&mut self) {
        let cancelled = self.ring.submitter().register_sync_cancel(None, CancelBuilder::any());
        if cancelled.is_err_and(|error| error.kind() != io::ErrorKind::NotFound) {
            self.buffers.leak();
            std::mem::forget(std::mem::take(&mut self.sockets));
            std::mem::forget(std::mem::take(&mut self.retired));
        }
    }
}

impl Uring {
    fn give_back(&mut self) {
        if let Some(slot) = self.to_receive.take() {
            self.push_receive(slot);
        }
        if let Some(buffer) = self.in_use.take() {
            self.buffers.give_back(buffer);
        }
    }

    fn look_at_clock(&mut self) {
        self.seen_ns = self.stamped.as_mut().map_or_else(clock::now_ns, |stamped| stamped.clock.read());
    }

    fn enter(&mut self, at_least: usize) -> io::Result<usize> {
        let to_submit = self.ring.submission().len() as u32;
        // SAFETY: no argument is passed. Deferred work runs only with GETEVENTS, whether or not there is a wait.
        unsafe {
            let flags = EnterFlags::GETEVENTS.bits();
            self.ring.submitter().enter::<libc::sigset_t>(to_submit, at_least as u32, flags, None)
        }
    }

    /// A wait that a signal ended did not bring what arrived while the process was stopped: the kernel is asked once more.
    fn after_signal(&mut self, waited: io::Result<usize>) -> io::Result<()> {
        let is_interrupted = |error: &io::Error| error.kind() == io::ErrorKind::Interrupted;
        tolerate(if waited.as_ref().is_err_and(is_interrupted) { self.enter(0) } else { waited })
    }

    /// Has the next wait end at a moment at the latest.
    fn set_alarm(&mut self, at_ns: Nanos) {
        *self.alarm = Timespec::new().sec(at_ns / NANOS_PER_S).nsec((at_ns % NANOS_PER_S) as u32);
        let timeout = opcode::Timeout::new(&raw const *self.alarm).flags(TimeoutFlags::ABS).build();
        self.push(&timeout.user_data(ALARM));
        self.alarm_ns = at_ns;
    }

    fn submit_all(&mut self) -> io::Result<()> {
        while !self.ring.submission().is_empty() {
            self.ring.submit()?;
        }
        self.connects = 0;
        self.close_sockets();
        // What failed at once is already there to be seen. Only a wait compares the kernel's clock with ours: after a step of one of
        // them, the completions of this round still have stamps from before it.
        self.seen_ns = clock::now_ns();
        Ok(())
    }

    fn close_sockets(&mut self) {
        for (slot, _) in self.closing.drain(..) {
            self.files.remove(&self.ring, slot);
        }
    }

    /// Queues an entry. A ring that cannot take it is broken, which the next wait reports.
    fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: what the entry points at outlives its execution: static requests and copies by `keep`, the address and the
        // buffers because they are dropped after the ring, descriptors because they are closed after the submission.
        let mut tries = 0..MOST_TRIES;
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            let Err(error) = self.submit_all() else { continue };
            // What is short for a moment (memory, room for completions) is there when the kernel has done its part of the work.
            if tries.next().is_none() || !is_passing(&error) {
                self.broken = Some(error);
                return;
            }
            let _ = self.enter(0);
        }
    }

    /// The engine's event for a completion, if any.
    fn take(&mut self, entry: &cqueue::Entry) -> Option<(Slot, Event)> {
        match entry.user_data() {
            ALARM => {
                self.alarm_ns = Nanos::MAX;
                return None;
            }
            CANCELLATION => return None,
            _ => {}
        }
        let (slot, action) = (entry.user_data() as Slot, Action::of(entry.user_data()));
        let result = entry.result();
        self.in_use = cqueue::buffer_select(entry.flags());
        let socket = self.sockets.get_mut(slot as usize)?;
        if socket.fd.is_none() || socket.user_data(slot, action) != entry.user_data() {
            self.retired.retain(|&(user_data, _)| user_data != entry.user_data());
            return None;
        }
        if action == Action::Connect {
            self.under_way -= u32::from(std::mem::take(&mut socket.is_connecting));
        }
        let event = match action {
            Action::Receive => self.received(slot, result, entry.flags()),
            Action::Connect if result < 0 => Some(Event::Failed(-result)),
            Action::Connect => {
                self.push_receive(slot);
                Some(Event::Connected)
            }
            Action::Send | Action::SilentSend => self.sent(slot, result, action),
        };
        event.map(|event| (slot, event))
    }
}

impl Socket {
    fn user_data(&self, slot: Slot, action: Action) -> u64 {
        u64::from(self.generation) << 34 | (action as u64) << 32 | u64::from(slot)
    }
}

impl Action {
    fn of(user_data: u64) -> Self {
        match user_data >> 32 & 3 {
            0 => Self::Connect,
            1 => Self::Receive,
            2 => Self::Send,
            _ => Self::SilentSend,
        }
    }
}
