//! Answers at known times, over epoll: a heap of what is due, and a wait until the next of it.

use crate::server::answer::{LONGEST_REQUEST, Reply, RequestReader};
use crate::server::stop::StopSignal;
use crate::server::{Counts, Pace, Served};
use rustix::event::epoll;
use rustix::time::Timespec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use threadcount_load::clock::{NANOS_PER_S, now_ns};

const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;

/// An answer in the queue; the order is by time, then by arrival, which keeps a connection's answers in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at_ns: u64,
    arrival: u64,
    place: usize,
    /// Which of the connections that used this place.
    generation: u64,
    reply: Reply,
}

struct Connection {
    stream: TcpStream,
    unread: Vec<u8>,
    last_due_ns: u64,
    generation: u64,
}

/// The epoll server.
pub struct Paced<'a> {
    listener: &'a TcpListener,
    epoll: OwnedFd,
    pace: Pace,
    reader: RequestReader,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    accepted: u64,
    due: BinaryHeap<Reverse<Due>>,
    counts: Counts,
}

impl<'a> Paced<'a> {
    /// A server of `listener` that keeps `pace` until `stop`.
    ///
    /// # Errors
    /// When the kernel has no descriptor left.
    pub fn new(listener: &'a TcpListener, pace: Pace, stop: &StopSignal) -> io::Result<Self> {
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
            pace,
            reader: RequestReader::default(),
            connections: Vec::new(),
            free: Vec::new(),
            accepted: 0,
            due: BinaryHeap::new(),
            counts: Counts::default(),
        })
    }

    /// Serves until it is told to stop.
    ///
    /// # Errors
    /// When waiting itself fails.
    pub fn serve(mut self) -> io::Result<Served> {
        let mut events = Vec::with_capacity(1_024);
        let mut chunk = vec![0; LONGEST_REQUEST];
        loop {
            events.clear();
            let wait = self.due.peek().map(|Reverse(due)| timespec(due.at_ns.saturating_sub(now_ns())));
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

    fn accept_all(&mut self) {
        // Any error ends this round: the listener is level-triggered, so a connection still waiting comes again.
        while let Ok((stream, _)) = self.listener.accept() {
            let place = self.free.pop().unwrap_or_else(|| {
                self.connections.push(None);
                self.connections.len() - 1
            });
            let ready = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true)).and_then(|()| {
                let data = epoll::EventData::new_u64(place as u64);
                Ok(epoll::add(&self.epoll, &stream, data, epoll::EventFlags::IN)?)
            });
            if ready.is_err() {
                self.free.push(place);
                continue;
            }
            self.counts.opened();
            self.accepted += 1;
            let generation = self.accepted;
            self.connections[place] =
                Some(Connection { stream, unread: Vec::new(), last_due_ns: 0, generation });
        }
    }

    fn read(&mut self, place: usize, chunk: &mut [u8]) {
        let Some(connection) = &mut self.connections[place] else { return };
        let read = match connection.stream.read(chunk) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return,
            Ok(0) | Err(_) => return self.close(place),
            Ok(read) => read,
        };
        let came_ns = now_ns();
        connection.unread.extend_from_slice(&chunk[..read]);
        let mut used = 0;
        while let Some((reply, length)) = self.reader.read(&connection.unread[used..]) {
            used += length;
            let arrival = self.counts.received(reply, came_ns);
            let own_ns = if reply == Reply::Refuse { came_ns } else { self.pace.due_ns(came_ns) };
            let at_ns = own_ns.max(connection.last_due_ns);
            connection.last_due_ns = at_ns;
            self.due.push(Reverse(Due { at_ns, arrival, place, generation: connection.generation, reply }));
            if reply.closes() {
                break;
            }
        }
        connection.unread.drain(..used);
    }

    fn answer_what_is_due(&mut self) {
        let now = now_ns();
        while let Some(&Reverse(due)) = self.due.peek()
            && due.at_ns <= now
        {
            self.due.pop();
            let Some(connection) =
                self.connections[due.place].as_mut().filter(|c| c.generation == due.generation)
            else {
                continue;
            };
            // The answer is far smaller than the socket's buffer: a short write means that nobody reads.
            let written =
                connection.stream.write(due.reply.bytes()).is_ok_and(|n| n == due.reply.bytes().len());
            if written {
                self.counts.answered(due.reply, now);
            }
            if !written || due.reply.closes() {
                self.close(due.place);
            }
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
