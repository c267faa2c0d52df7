//! Answers at known times, over epoll: a heap of what is due, and a wait until the next of it.
//!
//! Of what is due the newest goes out first. After a stall hundreds of responses are due at one moment, and writing them
//! takes some milliseconds. In this order those are added to the longest waits, of which they are a small share; in
//! the order of arrival would add their delay to requests that are due at once, and to every request that arrives meanwhile.

use crate::server::answer::{Answers, LONGEST_REQUEST, Reply, RequestReader};
use crate::server::stop::StopSignal;
use crate::server::{Counts, Pace, Served, Service};
use rustix::event::epoll;
use rustix::time::Timespec;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use threadcount_load::clock::{NANOS_PER_S, now_ns};

const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;

/// How many responses are written before new requests are read.
const AT_ONCE: usize = 16;

/// So long before the end of a stall the server stays awake: a core that sleeps begins late.
const AWAKE_NS: u64 = 3_000_000;

/// The moment at which a connection's next response is due; the order is by time, then by arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at_ns: u64,
    arrival: u64,
    came_ns: u64,
    place: usize,
    /// Which of the connections that used this place.
    generation: u64,
}

/// One connection.
struct Connection {
    stream: TcpStream,
    /// Received bytes of an incomplete request.
    unread: Vec<u8>,
    /// The responses to come, in the order of the requests, not in the order in which they become due.
    replies: VecDeque<Reply>,
    last_due_ns: u64,
    /// Which of the connections that used its place.
    generation: u64,
}

/// The epoll server.
pub struct Paced<'a> {
    listener: &'a TcpListener,
    epoll: OwnedFd,
    answers: Answers,
    pace: Pace,
    reader: RequestReader,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    accepted: u64,
    due: BinaryHeap<Reverse<Due>>,
    /// What is due and not yet written, the newest last.
    ready: Vec<Due>,
    counts: Counts,
}

impl<'a> Paced<'a> {
    /// A server of `listener` that does `service` until `stop`.
    ///
    /// # Errors
    /// When the kernel has no descriptor left, or no certificate can be made.
    pub fn new(listener: &'a TcpListener, service: &Service, stop: &StopSignal) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (fd, id) in [(listener.as_raw_fd(), LISTENER), (stop.as_raw_fd(), STOP)] {
            // SAFETY: both descriptors are open for as long as the borrows of this call last.
            let fd = unsafe { BorrowedFd::borrow_raw(fd) };
            epoll::add(&epoll, fd, epoll::EventData::new_u64(id), epoll::EventFlags::IN)?;
        }
        // Without this the kernel may wake us up to 50 us late on purpose (prctl(2), PR_SET_TIMERSLACK).
        // SAFETY: PR_SET_TIMERSLACK takes one integer and touches no memory.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
        Ok(Self {
            listener,
            epoll,
            answers: service.answers,
            pace: service.pace.clone(),
            reader: RequestReader::default(),
            connections: Vec::new(),
            free: Vec::new(),
            accepted: 0,
            due: BinaryHeap::new(),
            ready: Vec::new(),
            counts: Counts::of(service),
        })
    }

    /// Serves until it is stopped.
    ///
    /// # Errors
    /// When waiting itself fails.
    pub fn serve(mut self) -> io::Result<Served> {
        let mut events = Vec::with_capacity(1_024);
        let mut chunk = vec![0; LONGEST_REQUEST];
        loop {
            events.clear();
            let wait = self.until_next_ns().map(timespec);
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), wait.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                match event.data.u64() {
                    STOP => return Ok(self.counts.served()),
                    LISTENER => self.accept_all(),
                    place => self.read(place as usize, &mut chunk),
                }
            }
            self.answer_what_is_due();
        }
    }

    /// Time until the next write; `None`: until a request arrives.
    fn until_next_ns(&self) -> Option<u64> {
        if !self.ready.is_empty() {
            return Some(0);
        }
        let wait_ns = self.due.peek().map(|Reverse(due)| due.at_ns.saturating_sub(now_ns()));
        if self.pace.stalls() && wait_ns.is_some_and(|ns| ns < AWAKE_NS) { Some(0) } else { wait_ns }
    }

    fn accept_all(&mut self) {
        // Any error ends this round: the listener is level-triggered, so a waiting connection is reported again.
        while let Ok((stream, _)) = self.listener.accept() {
            let place = self.free.pop().unwrap_or_else(|| {
                self.connections.push(None);
                self.connections.len() - 1
            });
            match self.connection(stream, place) {
                Ok(connection) => {
                    self.counts.opened();
                    self.connections[place] = Some(connection);
                }
                Err(_) => self.free.push(place),
            }
        }
    }

    fn connection(&mut self, stream: TcpStream, place: usize) -> io::Result<Connection> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let data = epoll::EventData::new_u64(place as u64);
        epoll::add(&self.epoll, &stream, data, epoll::EventFlags::IN)?;
        self.accepted += 1;
        let (unread, replies) = (Vec::new(), VecDeque::new());
        Ok(Connection { stream, unread, replies, last_due_ns: 0, generation: self.accepted })
    }

    fn read(&mut self, place: usize, chunk: &mut [u8]) {
        let Some(connection) = &mut self.connections[place] else { return };
        match connection.stream.read(chunk) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return,
            Ok(0) | Err(_) => return self.close(place),
            Ok(length) => connection.unread.extend_from_slice(&chunk[..length]),
        }
        let came_ns = now_ns();
        let generation = connection.generation;
        let mut used = 0;
        while let Some((reply, length)) = self.reader.read(&connection.unread[used..]) {
            used += length;
            let arrival = self.counts.received(reply, came_ns);
            let own_ns = if reply == Reply::Refuse { came_ns } else { self.pace.due_ns(came_ns) };
            // Not before the responses to earlier requests.
            let at_ns = own_ns.max(connection.last_due_ns);
            connection.last_due_ns = at_ns;
            connection.replies.push_back(reply);
            self.due.push(Reverse(Due { at_ns, arrival, came_ns, place, generation }));
            if reply.closes() {
                break;
            }
        }
        connection.unread.drain(..used);
    }

    /// Writes a few of the responses that are due, so that new requests do not wait for the rest.
    fn answer_what_is_due(&mut self) {
        let now = now_ns();
        while let Some(&Reverse(due)) = self.due.peek()
            && due.at_ns <= now
        {
            self.due.pop();
            self.ready.push(due);
        }
        for _ in 0..AT_ONCE {
            let Some(due) = self.ready.pop() else { return };
            self.answer(due);
        }
    }

    fn answer(&mut self, due: Due) {
        let connection = self.connections[due.place].as_mut().filter(|c| c.generation == due.generation);
        let Some(connection) = connection else { return };
        let Some(reply) = connection.replies.pop_front() else { return };
        let bytes = self.answers.bytes(reply);
        // A response is far smaller than the socket's buffer: a peer that does not take all of it does not read.
        let written = connection.stream.write(bytes).is_ok_and(|length| length == bytes.len());
        if written {
            let now = now_ns();
            self.counts.answered(reply, now);
            self.counts.held(due.came_ns, now);
        }
        if !written || reply.closes() {
            self.close(due.place);
        }
    }

    fn close(&mut self, place: usize) {
        self.counts.closed();
        self.connections[place] = None;
        self.free.push(place);
    }
}

fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / NANOS_PER_S) as i64, tv_nsec: (ns % NANOS_PER_S) as i64 }
}
