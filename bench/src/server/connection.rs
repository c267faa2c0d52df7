//! A connection of the epoll server: bytes to requests, and responses to bytes.

use crate::server::Counts;
use crate::server::answer::{Answers, Reply, RequestReader};
use crate::server::h2::{Frame, H2Connection, Malformed};
use crate::server::transport::Transport;
use std::collections::VecDeque;
use std::io;

/// A connection of any protocol.
pub struct Connection {
    /// Its bytes.
    pub transport: Transport,
    /// Received bytes of an incomplete request.
    pub unread: Vec<u8>,
    /// Answers that go out with the next write.
    unsent: Vec<u8>,
    http: Http,
    /// Which of the connections that used its place.
    pub generation: u64,
}

/// The protocol of a connection.
enum Http {
    One {
        /// The responses to come, in the order of the requests, not in the order in which they become due.
        replies: VecDeque<Reply>,
        last_due_ns: u64,
    },
    Two(H2Connection),
}

/// A request that was read.
pub struct Request {
    /// The response that it gets.
    pub reply: Reply,
    /// The HTTP/2 stream; 0 over HTTP/1.1.
    pub stream: u32,
}

impl Connection {
    /// A connection over `transport`, the `generation`-th of the server.
    #[must_use]
    pub fn new(transport: Transport, is_h2: bool, generation: u64) -> Self {
        let http = if is_h2 {
            Http::Two(H2Connection::default())
        } else {
            Http::One { replies: VecDeque::new(), last_due_ns: 0 }
        };
        Self { transport, unread: Vec::new(), unsent: Vec::new(), http, generation }
    }

    /// The requests that are complete. Answers that had to wait and go out now are counted at `now_ns`.
    ///
    /// # Errors
    /// When the received bytes are not HTTP/2.
    pub(super) fn parse(
        &mut self,
        reader: &mut RequestReader,
        counts: &mut Counts,
        now_ns: u64,
    ) -> Result<Vec<Request>, Malformed> {
        let (mut asked, mut used) = (Vec::new(), 0);
        match &mut self.http {
            Http::One { .. } => {
                while let Some((reply, length)) = reader.read(&self.unread[used..]) {
                    used += length;
                    asked.push(Request { reply, stream: 0 });
                    if reply.closes() {
                        break;
                    }
                }
            }
            Http::Two(h2) => {
                while let Some((frame, length)) = h2.read(&self.unread[used..], &mut self.unsent)? {
                    used += length;
                    match frame {
                        Frame::Request(stream) => asked.push(Request { reply: Reply::Keep, stream }),
                        Frame::Released(answers) => {
                            (0..answers).for_each(|_| counts.answered(Reply::Keep, now_ns));
                        }
                        Frame::Control => {}
                    }
                }
            }
        }
        self.unread.drain(..used);
        Ok(asked)
    }

    /// When a response that is ready at `own_ns` is due: over HTTP/1.1 not before those to earlier requests.
    pub fn in_turn(&mut self, reply: Reply, own_ns: u64) -> u64 {
        match &mut self.http {
            Http::One { replies, last_due_ns } => {
                *last_due_ns = own_ns.max(*last_due_ns);
                replies.push_back(reply);
                *last_due_ns
            }
            Http::Two(_) => own_ns,
        }
    }

    /// Appends the next response to what goes out with the next write; `None`: it has to wait, or there is none.
    pub fn stage(&mut self, answers: Answers, stream: u32) -> Option<Reply> {
        match &mut self.http {
            Http::One { replies, .. } => {
                let reply = replies.pop_front()?;
                self.unsent.extend_from_slice(answers.bytes(reply));
                Some(reply)
            }
            Http::Two(h2) => h2.answer(stream, &mut self.unsent).then_some(Reply::Keep),
        }
    }

    /// Writes what is staged.
    ///
    /// # Errors
    /// When the peer does not read, or is gone.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        self.transport.write(&self.unsent)?;
        self.unsent.clear();
        Ok(())
    }
}
