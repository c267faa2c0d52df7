//! Responds at once over io_uring: one receive in flight per connection, response and next receive submitted
//! together in batches, and a send that went well reports nothing.

use crate::server::answer::{Answers, LONGEST_REQUEST, Reply, RequestReader};
use crate::server::stop::StopSignal;
use crate::server::{Counts, Served, Service};
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use threadcount_load::clock::now_ns;

const ENTRIES: u32 = 1_024;

/// What a completion belongs to, in the upper half of its user data; the lower half is the descriptor.
const KIND: u64 = !0xFFFF_FFFF;
const ACCEPT: u64 = 1 << 32;
const RECEIVE: u64 = 2 << 32;
/// The send after which the connection is closed.
const LAST_SEND: u64 = 3 << 32;
/// Any other send. It is reported only when it failed, and then the receive that follows it fails too.
const SEND: u64 = 4 << 32;
const STOP: u64 = 5 << 32;

/// The io_uring server.
pub struct Ring {
    ring: IoUring,
    listener: RawFd,
    connections: Vec<Option<Connection>>,
    waiting: Vec<squeue::Entry>,
    reader: RequestReader,
    answers: Answers,
    counts: Counts,
}

/// A connection has exactly one receive, or its last send, on its way; it ends when that completes.
struct Connection {
    _stream: TcpStream,
    buffer: Box<[u8; LONGEST_REQUEST]>,
    filled: usize,
}

impl Ring {
    /// A ring that accepts from `listener` until `stop`. Of `service` it keeps what can be kept at once and in the clear.
    ///
    /// # Errors
    /// When the kernel does not allow io_uring, or is too old for it (before 6.1).
    pub fn new(listener: &TcpListener, service: &Service, stop: &StopSignal) -> io::Result<Self> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_cqsize(ENTRIES * 8)
            .build(ENTRIES)?;
        let mut server = Self {
            ring,
            listener: listener.as_raw_fd(),
            connections: Vec::new(),
            waiting: Vec::new(),
            reader: RequestReader::default(),
            answers: service.answers,
            counts: Counts::of(service),
        };
        let poll = opcode::PollAdd::new(types::Fd(stop.as_raw_fd()), libc::POLLIN as u32);
        server.waiting.push(poll.build().user_data(STOP));
        server.accept();
        server.submit(0)?;
        Ok(server)
    }

    /// Serves until it is stopped.
    ///
    /// # Errors
    /// When waiting itself fails.
    pub fn serve(mut self) -> io::Result<Served> {
        let mut came = Vec::with_capacity(ENTRIES as usize);
        loop {
            self.submit(1)?;
            came.extend(self.ring.completion().map(|c| (c.user_data(), c.result(), c.flags())));
            let now = now_ns();
            for (data, result, flags) in came.drain(..) {
                let fd = data as u32 as RawFd;
                match data & KIND {
                    STOP => return Ok(self.counts.served()),
                    ACCEPT => self.accepted(result, flags),
                    RECEIVE if result > 0 => self.received(fd, result as usize, now),
                    RECEIVE | LAST_SEND => self.close(fd),
                    _ => {}
                }
            }
        }
    }

    fn accept(&mut self) {
        self.waiting.push(opcode::AcceptMulti::new(types::Fd(self.listener)).build().user_data(ACCEPT));
    }

    fn accepted(&mut self, result: i32, flags: u32) {
        if !cqueue::more(flags) {
            self.accept();
        }
        if result < 0 {
            return;
        }
        // SAFETY: the kernel has just made this descriptor; it has no other owner.
        let stream = unsafe { TcpStream::from_raw_fd(result) };
        // A response must not wait for an acknowledgement; were this refused, only pipelining would be slower.
        let _ = stream.set_nodelay(true);
        self.counts.opened();
        let place = result as usize;
        if place >= self.connections.len() {
            self.connections.resize_with(place + 1, || None);
        }
        let buffer = Box::new([0; LONGEST_REQUEST]);
        let connection = self.connections[place].insert(Connection { _stream: stream, buffer, filled: 0 });
        let receive = receive(result, connection);
        self.waiting.push(receive);
    }

    fn close(&mut self, fd: RawFd) {
        self.counts.closed();
        self.connections[fd as usize] = None;
    }

    fn received(&mut self, fd: RawFd, length: usize, now: u64) {
        let Some(connection) = &mut self.connections[fd as usize] else { return };
        connection.filled += length;
        let mut used = 0;
        while let Some((reply, length)) = self.reader.read(&connection.buffer[used..connection.filled]) {
            used += length;
            self.counts.received(reply, now);
            self.counts.answered(reply, now);
            self.waiting.push(send(fd, reply, self.answers.bytes(reply)));
            if reply.closes() {
                return;
            }
        }
        connection.buffer.copy_within(used..connection.filled, 0);
        connection.filled -= used;
        let receive = receive(fd, connection);
        self.waiting.push(receive);
    }

    /// Submits everything that waits, and waits for `want` completions.
    fn submit(&mut self, want: usize) -> io::Result<()> {
        for batch in self.waiting.chunks(ENTRIES as usize) {
            if self.ring.submission().len() + batch.len() > ENTRIES as usize {
                retry(|| self.ring.submit())?;
            }
            // SAFETY: the pointers are to static responses and to boxed buffers of connections, which live until their
            // receive has completed.
            unsafe { self.ring.submission().push_multiple(batch) }.map_err(io::Error::other)?;
        }
        self.waiting.clear();
        retry(|| self.ring.submit_and_wait(want))
    }
}

fn receive(fd: RawFd, connection: &mut Connection) -> squeue::Entry {
    let free = &mut connection.buffer[connection.filled..];
    // The next request cannot be there before the response is: wait at once instead of trying first.
    opcode::Recv::new(types::Fd(fd), free.as_mut_ptr(), free.len() as u32)
        .ioprio(POLL_FIRST)
        .build()
        .user_data(RECEIVE | fd as u64)
}

/// `IORING_RECVSEND_POLL_FIRST` of `linux/io_uring.h`.
pub const POLL_FIRST: u16 = 1;

fn send(fd: RawFd, reply: Reply, bytes: &'static [u8]) -> squeue::Entry {
    let send = opcode::Send::new(types::Fd(fd), bytes.as_ptr(), bytes.len() as u32)
        .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
        .build();
    if reply.closes() {
        return send.user_data(LAST_SEND | fd as u64);
    }
    send.flags(squeue::Flags::SKIP_SUCCESS).user_data(SEND)
}

/// Submits again when interrupted; a kernel that is busy takes the rest once its completions have been read.
pub fn retry(mut submit: impl FnMut() -> io::Result<usize>) -> io::Result<()> {
    loop {
        match submit() {
            Ok(_) => return Ok(()),
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
