//! Sends and their completions.

use super::{Action, Uring};
use crate::driver::{Event, MOST_PER_CALL, Slot};
use io_uring::types::Fd;
use io_uring::{opcode, squeue};
use std::os::fd::AsRawFd;

/// A static request up to this size is sent without a completion: it fits into the buffer of a socket that has nothing else
/// to send, so that it has always left before its response can come.
const SILENT_BYTES: usize = 16 * 1024;

impl Uring {
    pub(super) fn push_send(&mut self, slot: Slot) {
        let socket = &mut self.sockets[slot as usize];
        let Some(fd) = &socket.fd else { return };
        let rest = socket.outgoing.rest();
        // The kernel takes at most this much in one call; the completion sends the rest.
        let len = rest.len().min(MOST_PER_CALL) as u32;
        let send = match self.files.for_send(&self.ring, slot, fd) {
            Some(registered) => opcode::Send::new(registered, rest.as_ptr(), len),
            None => opcode::Send::new(Fd(fd.as_raw_fd()), rest.as_ptr(), len),
        };
        let send = send.flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL).build();
        let entry = if socket.outgoing.is_static() && rest.len() <= SILENT_BYTES {
            self.bytes_sent += u64::from(len);
            let user_data = socket.user_data(slot, Action::SilentSend);
            send.flags(squeue::Flags::SKIP_SUCCESS).user_data(user_data)
        } else {
            self.under_way += u32::from(!std::mem::replace(&mut socket.is_sending, true));
            send.user_data(socket.user_data(slot, Action::Send))
        };
        self.push(&entry);
    }

    pub(super) fn sent(&mut self, slot: Slot, result: i32, action: Action) -> Option<Event> {
        let socket = &mut self.sockets[slot as usize];
        self.under_way -= u32::from(std::mem::take(&mut socket.is_sending));
        if action == Action::SilentSend {
            self.bytes_sent -= socket.outgoing.rest().len() as u64;
        }
        match result {
            0.. => {
                self.bytes_sent += result as u64;
                socket.outgoing.advance(result as usize);
                if !socket.outgoing.is_all_sent() || socket.outgoing.take_queued() {
                    self.push_send(slot);
                }
                None
            }
            _ if [libc::EINTR, libc::EAGAIN].contains(&-result) => {
                self.push_send(slot);
                None
            }
            // The receive ends too, after everything that the server sent before it closed.
            _ if [libc::EPIPE, libc::ECONNRESET].contains(&-result) => {
                socket.send_error = -result;
                None
            }
            _ => Some(Event::Failed(-result)),
        }
    }
}
