//! Drives sockets with edge-triggered epoll: one `recv` and one `send` per request, one `epoll_wait` per batch of events, and no
//! `epoll_ctl` after a connection was opened.

use super::outgoing::Outgoing;
use super::stamps::{self, CONTROL_BYTES, KernelClock, RealNanos};
use super::{Completion, Event, Slot, Wake, socket};
use crate::clock::{NANOS_PER_S, Nanos, now_ns};
use crate::endpoint::Endpoint;
use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
/// The mark of the timer's events, in place of a slot and a generation.
const ALARM: u64 = u64::MAX;
/// The largest number of events that one wait takes.
const EVENTS: usize = 256;
/// The largest number of bytes that one `recv` takes.
const BUFFER_BYTES: usize = 64 * 1024;
/// The largest number of immediate further reads until the next wait. Without this limit, a server that sends faster than the engine reads
/// would keep the engine from its other connections, its deadlines and its end.
const READS_AT_ONCE: u32 = 16;
/// The largest number of bytes for one system call (MAX_RW_COUNT in linux/fs.h is a page below 2 GiB).
const MOST_PER_CALL: u64 = 1 << 30;

/// One thread's sockets. After [`close`](Epoll::close), no event of the old connection is reported, even if its slot is used again. `'a` is
/// the lifetime of requests that lie in the plan.
pub(crate) struct Epoll<'a> {
    epoll: OwnedFd,
    /// Ends a wait at a given moment. It is set once per moment rather than once per wait, because setting and cancelling a timer costs
    /// more than anything else in an open load, especially inside a virtual machine.
    timer: OwnedFd,
    /// The time at which the timer expires; `MAX` after it has expired.
    alarm_ns: Nanos,
    endpoints: Vec<Endpoint>,
    sockets: Vec<Socket<'a>>,
    events: Vec<epoll::Event>,
    /// The index of the next event in `events`.
    next_event: usize,
    /// The socket that may hold more bytes, or its end, right after those that were just read.
    reading: Option<Slot>,
    /// How many immediate further reads are still allowed before the next wait.
    reads_left: u32,
    /// Sockets that may hold more bytes and are read after the next wait, because no event will announce these bytes.
    unread: Vec<Slot>,
    /// Results that are known without a wait, passed to the engine as events. `Ended` stands for a socket that must be read: its server
    /// closed before a `send`, or it had to wait for the next turn.
    at_once: Vec<(Slot, Event)>,
    buffer: Box<[u8]>,
    /// The kernel's clock; `None` if the kernel does not stamp.
    kernel: Option<KernelClock>,
    /// The stamp of the bytes that were received last.
    stamp: Option<RealNanos>,
    /// The number of sockets that are connecting, or whose request has not left completely: they need attention even when responses may
    /// wait.
    under_way: u32,
    bytes_sent: u64,
}

#[derive(Debug, Default)]
struct Socket<'a> {
    fd: Option<OwnedFd>,
    /// The number of the slot's connection, by which events of an earlier connection are recognised.
    generation: u32,
    is_connecting: bool,
    /// A part of the request did not fit into the kernel's buffer and leaves later.
    is_sending: bool,
    outgoing: Outgoing<'a>,
    /// The number of next bytes that need not be copied.
    skipping: u64,
    /// The server has closed: the end of the stream follows the last bytes without another event.
    has_ended: bool,
    /// A `send` failed because the server has closed. The bytes that the server sent before that are read first.
    send_error: Option<Errno>,
}

impl<'a> Epoll<'a> {
    /// Makes a driver for this many slots and these endpoints. `stamps`: enable the kernel's receive stamps.
    pub(crate) fn new(slots: u32, endpoints: &[Endpoint], stamps: bool) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        // The timer is edge-triggered, so it need not be read: each expiry is one event.
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &timer, epoll::EventData::new_u64(ALARM), flags)?;
        Ok(Self {
            epoll,
            timer,
            alarm_ns: Nanos::MAX,
            endpoints: endpoints.to_vec(),
            sockets: (0..slots).map(|_| Socket::default()).collect(),
            events: Vec::with_capacity(EVENTS),
            next_event: 0,
            reading: None,
            reads_left: READS_AT_ONCE,
            unread: Vec::new(),
            at_once: Vec::with_capacity(slots as usize),
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            kernel: (stamps && stamps::kernel_stamps_receives()).then(KernelClock::new),
            stamp: None,
            under_way: 0,
            bytes_sent: 0,
        })
    }

    /// Begins to connect a slot without a connection to one of the endpoints. Later comes [`Event::Connected`] or [`Event::Failed`].
    pub(crate) fn connect(&mut self, slot: Slot, endpoint: usize, source: Option<IpAddr>) -> io::Result<()> {
        let endpoint = &self.endpoints[endpoint];
        let fd = socket::open(endpoint, source)?;
        if self.kernel.is_some() {
            stamps::enable(&fd)?;
        }
        let socket = &mut self.sockets[slot as usize];
        socket.generation = socket.generation.wrapping_add(1);
        let data = epoll::EventData::new_u64(u64::from(socket.generation) << 32 | u64::from(slot));
        let both = epoll::EventFlags::IN | epoll::EventFlags::OUT;
        epoll::add(&self.epoll, &fd, data, both | epoll::EventFlags::RDHUP | epoll::EventFlags::ET)?;
        socket.is_connecting = match socket::connect(&fd, endpoint) {
            Ok(()) => false,
            Err(Errno::INPROGRESS) => true,
            // The error of a Unix socket whose backlog is full.
            Err(errno) => return Err(errno.into()),
        };
        if socket.is_connecting {
            self.under_way += 1;
        } else {
            self.at_once.push((slot, Event::Connected));
        }
        socket.fd = Some(fd);
        socket.skipping = 0;
        socket.has_ended = false;
        socket.send_error = None;
        Ok(())
    }

    /// Stores a request for [`send`](Self::send), which may be called again for another connection of the slot. `fixed` is the same bytes
    /// in the plan, if they lie there.
    pub(crate) fn keep(&mut self, slot: Slot, request: &[u8], fixed: Option<&'a [u8]>) {
        self.sockets[slot as usize].outgoing.keep(request, fixed);
    }

    /// Sends the stored request over the slot's connection.
    pub(crate) fn send(&mut self, slot: Slot) {
        self.sockets[slot as usize].outgoing.rewind();
        self.send_rest(slot);
        self.note_sending(slot);
    }

    /// Sends bytes over the slot's connection, after the bytes of earlier writes.
    pub(crate) fn write(&mut self, slot: Slot, bytes: &[u8]) {
        self.sockets[slot as usize].outgoing.write(bytes);
        self.send_rest(slot);
        self.note_sending(slot);
    }

    /// Sends the last bytes over the slot's connection, at once and as far as the kernel takes them; sends nothing if earlier bytes have
    /// not left.
    pub(crate) fn write_last(&mut self, slot: Slot, bytes: &[u8]) {
        let socket = &self.sockets[slot as usize];
        if let Some(fd) = socket.fd.as_ref().filter(|_| socket.outgoing.is_all_sent()) {
            socket::send_at_once(fd, bytes);
        }
    }

    /// Asks the kernel to discard the next bytes of the slot's connection without copying them (`MSG_TRUNC`, tcp(7)) and to report only
    /// their number, because nobody needs their content. Must be called right after bytes of the slot were received, if at all.
    pub(crate) fn skip(&mut self, slot: Slot, bytes: u64) {
        // On a Unix socket MSG_TRUNC copies the bytes, and there is no buffer for them.
        if self.endpoints.iter().all(Endpoint::is_tcp) {
            self.sockets[slot as usize].skipping = bytes;
        }
    }

    /// Whether all bytes of the stored request, or of all writes, have left. If a response arrives before that, its connection cannot carry
    /// another request.
    pub(crate) fn has_sent(&self, slot: Slot) -> bool {
        self.sockets[slot as usize].outgoing.is_all_sent()
    }

    /// Closes the slot's connection, established or not.
    pub(crate) fn close(&mut self, slot: Slot) {
        let socket = &mut self.sockets[slot as usize];
        socket.fd = None;
        socket.outgoing.forget_stream();
        let (connecting, sending) = (&mut socket.is_connecting, &mut socket.is_sending);
        self.under_way -= u32::from(std::mem::take(connecting)) + u32::from(std::mem::take(sending));
        if self.reading == Some(slot) {
            self.reading = None;
        }
        self.unread.retain(|&other| other != slot);
        self.at_once.retain(|&(other, _)| other != slot);
    }

    /// Waits until an event that `wake` allows to end the wait, or until `until_ns`. It may return earlier.
    pub(crate) fn wait(&mut self, now_ns: Nanos, until_ns: Nanos, wake: Wake) -> io::Result<()> {
        self.reads_left = READS_AT_ONCE;
        self.at_once.extend(self.unread.drain(..).map(|slot| (slot, Event::Ended)));
        let mut is_late = until_ns <= now_ns || !self.at_once.is_empty();
        if wake == Wake::OnTime && self.under_way == 0 && !is_late {
            // A signal may end the sleep early, and then the whole wait.
            let _ = clock_nanosleep_absolute(ClockId::Monotonic, &timespec(until_ns));
            is_late = true;
        } else if until_ns < self.alarm_ns {
            self.set_alarm(until_ns)?;
        }
        self.events.clear();
        self.next_event = 0;
        let mut waited =
            epoll::wait(&self.epoll, spare_capacity(&mut self.events), is_late.then_some(&AT_ONCE));
        if waited == Err(Errno::INTR) {
            // If the process was stopped, this wait did not bring the events that arrived meanwhile.
            waited = epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&AT_ONCE));
        }
        if let Some(kernel) = &mut self.kernel {
            kernel.read();
        }
        match waited {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The next event, if there is one.
    pub(crate) fn next(&mut self) -> Option<Completion> {
        loop {
            let happened = if let Some(slot) = self.reading.take() {
                let Some(left) = self.reads_left.checked_sub(1) else {
                    self.unread.push(slot);
                    continue;
                };
                self.reads_left = left;
                self.receive(slot).map(|event| (slot, event))
            } else if let Some((slot, event)) = self.at_once.pop() {
                match event {
                    Event::Ended => self.receive(slot).map(|event| (slot, event)),
                    other => Some((slot, other)),
                }
            } else {
                let event = self.events.get(self.next_event)?;
                let (data, flags) = (event.data.u64(), event.flags);
                self.next_event += 1;
                self.look_at(data, flags)
            };
            if let Some((slot, event)) = happened {
                // The clock is read right after the system call that saw the event, so the time is late only by the return from that call.
                let at_ns = now_ns();
                let stamp =
                    self.stamp.take().filter(|_| matches!(event, Event::Received(_) | Event::Skipped(_)));
                let stamp_ns =
                    stamp.zip(self.kernel.as_ref()).and_then(|(stamp, clock)| clock.ours(stamp, at_ns));
                return Some(Completion { slot, event, at_ns, stamp_ns });
            }
        }
    }

    /// Whether the last wait brought something for the slot's connection that [`next`](Self::next) has not returned yet.
    pub(crate) fn has_pending(&mut self, slot: Slot) -> bool {
        self.reading == Some(slot) || self.unread.contains(&slot)
    }

    /// Whether everything that has arrived on the slot's connection was returned. Asks the kernel if `is_stale`, which means that the last
    /// wait is too long ago to tell, or if the last wait may not have brought all events.
    pub(crate) fn is_quiet(&mut self, slot: Slot, is_stale: bool) -> bool {
        let is_complete =
            !is_stale && self.next_event == self.events.len() && self.events.len() < self.events.capacity();
        let has_input = || self.sockets[slot as usize].fd.as_ref().is_some_and(socket::has_input);
        let is_read = self.reading != Some(slot) && !self.unread.contains(&slot);
        is_read && (is_complete || !has_input())
    }

    /// Out-of-order segments of the slot's connection so far (`tcpi_rcv_ooopack`, Linux 5.4); `None`: not known.
    pub(crate) fn out_of_order(&self, slot: Slot) -> Option<u32> {
        stamps::out_of_order(self.sockets[slot as usize].fd.as_ref()?)
    }

    /// The bytes of the last event, which received `len` bytes.
    pub(crate) fn bytes(&self, len: usize) -> &[u8] {
        &self.buffer[..len]
    }

    /// Bytes sent over all connections so far.
    pub(crate) fn bytes_sent(&self) -> u64 {
        self.bytes_sent
    }

    /// Handles one readiness event, unless it belongs to an earlier connection of its slot.
    fn look_at(&mut self, data: u64, flags: epoll::EventFlags) -> Option<(Slot, Event)> {
        if data == ALARM {
            self.alarm_ns = Nanos::MAX;
            return None;
        }
        let slot = data as Slot;
        let socket = &mut self.sockets[slot as usize];
        let fd = socket.fd.as_ref().filter(|_| socket.generation == (data >> 32) as u32)?;
        if socket.is_connecting {
            socket.is_connecting = false;
            self.under_way -= 1;
            let event = match sockopt::socket_error(fd) {
                Ok(Ok(())) => Event::Connected,
                Ok(Err(errno)) | Err(errno) => Event::Failed(errno.raw_os_error()),
            };
            // Bytes that arrived together with the connection are read next.
            let more = flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::RDHUP);
            socket.has_ended = flags.contains(epoll::EventFlags::RDHUP);
            self.reading = (more && matches!(event, Event::Connected)).then_some(slot);
            return Some((slot, event));
        }
        if flags.contains(epoll::EventFlags::OUT) && !socket.outgoing.is_all_sent() {
            self.send_rest(slot);
            self.note_sending(slot);
        }
        let closing = epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR;
        if !flags.intersects(epoll::EventFlags::IN | closing) {
            return None;
        }
        self.sockets[slot as usize].has_ended |= flags.intersects(closing);
        self.receive(slot).map(|event| (slot, event))
    }

    fn set_alarm(&mut self, at_ns: Nanos) -> io::Result<()> {
        // A time of zero would switch the timer off.
        let at = at_ns.max(1);
        let once = Itimerspec { it_interval: AT_ONCE, it_value: timespec(at) };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once)?;
        self.alarm_ns = at_ns;
        Ok(())
    }

    fn receive(&mut self, slot: Slot) -> Option<Event> {
        self.reading = None;
        let socket = &mut self.sockets[slot as usize];
        let fd = socket.fd.as_ref()?;
        let skipping = socket.skipping.min(MOST_PER_CALL) as usize;
        let received = if skipping > 0 || self.kernel.is_some() {
            let (start, len, flags) = match skipping {
                0 => (self.buffer.as_mut_ptr(), self.buffer.len(), 0),
                // The kernel writes nothing there.
                bytes => (std::ptr::null_mut(), bytes, libc::MSG_TRUNC),
            };
            let piece = libc::iovec { iov_base: start.cast(), iov_len: len };
            receive_message(fd, piece, flags).map(|(len, stamp)| {
                self.stamp = stamp;
                len
            })
        } else {
            recv(fd, &mut *self.buffer, RecvFlags::empty()).map(|(len, _)| len)
        };
        match received {
            Ok(len) if len > 0 && skipping > 0 => {
                socket.skipping -= len as u64;
                // After a full read, or if the server has closed, there may be more without another event.
                if len == skipping || socket.has_ended || socket.send_error.is_some() {
                    self.reading = Some(slot);
                }
                Some(Event::Skipped(len as u64))
            }
            Ok(0) => Some(match socket.send_error {
                Some(errno) => Event::Failed(errno.raw_os_error()),
                None => Event::Ended,
            }),
            Ok(len) => {
                // With a full buffer, or if the server has closed, there is more without another event.
                if len == self.buffer.len() || socket.has_ended || socket.send_error.is_some() {
                    self.reading = Some(slot);
                }
                Some(Event::Received(len))
            }
            Err(Errno::AGAIN) => socket.send_error.map(|errno| Event::Failed(errno.raw_os_error())),
            Err(Errno::INTR) => {
                self.reading = Some(slot);
                None
            }
            Err(errno) => Some(Event::Failed(errno.raw_os_error())),
        }
    }

    /// Counts the slot as under way while the kernel has no room for the rest of its request.
    fn note_sending(&mut self, slot: Slot) {
        let socket = &mut self.sockets[slot as usize];
        let is_sending = !socket.outgoing.is_all_sent();
        let was_sending = std::mem::replace(&mut socket.is_sending, is_sending);
        self.under_way = self.under_way + u32::from(is_sending) - u32::from(was_sending);
    }

    fn send_rest(&mut self, slot: Slot) {
        let socket = &mut self.sockets[slot as usize];
        while let (Some(fd), false) = (&socket.fd, socket.outgoing.is_all_sent()) {
            match send(fd, socket.outgoing.rest(), SendFlags::NOSIGNAL) {
                Ok(count) => {
                    socket.outgoing.advance(count);
                    self.bytes_sent += count as u64;
                }
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => {}
                Err(errno @ (Errno::PIPE | Errno::CONNRESET)) => {
                    // The bytes that the server sent before it closed are read first; then this error is reported.
                    socket.send_error = Some(errno);
                    return self.at_once.push((slot, Event::Ended));
                }
                Err(errno) => return self.at_once.push((slot, Event::Failed(errno.raw_os_error()))),
            }
        }
    }
}

fn timespec(ns: Nanos) -> Timespec {
    Timespec { tv_sec: (ns / NANOS_PER_S) as i64, tv_nsec: (ns % NANOS_PER_S) as i64 }
}

/// Receives into memory that only the caller uses, or discards the bytes (`MSG_TRUNC`, tcp(7)). Returns their number, and the time at which
/// the kernel received them if it stamps.
fn receive_message(
    fd: &OwnedFd,
    mut piece: libc::iovec,
    flags: libc::c_int,
) -> rustix::io::Result<(usize, Option<RealNanos>)> {
    let mut control = [0; CONTROL_BYTES];
    // SAFETY: zeros are a valid message; it points to memory of this call and of its caller, which outlives the system call.
    let (received, control_bytes) = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut piece;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = CONTROL_BYTES as _;
        (libc::recvmsg(fd.as_raw_fd(), &raw mut message, flags), message.msg_controllen as usize)
    };
    let received = usize::try_from(received)
        .map_err(|_| Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO))?;
    Ok((received, stamps::stamp_in(&control[..control_bytes.min(CONTROL_BYTES)])))
}
