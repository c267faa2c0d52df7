//! How a socket receives: as long as it lasts, or once after the other where its responses are large.

use super::{Action, Socket, Uring};
use crate::driver::buffers::GROUP;
use crate::driver::{Chunk, Event, MOST_PER_CALL, Slot};
use io_uring::types::Fd;
use io_uring::{cqueue, opcode, squeue};
use std::os::fd::AsRawFd;

/// Poll first, then receive (`IORING_RECVSEND_POLL_FIRST`): no response arrives before its request is sent.
const POLL_FIRST: u16 = 1;

/// How a socket receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Receiving {
    /// One receive for as long as the connection lasts.
    #[default]
    Multishot,
    /// That is being cancelled.
    Cancelling,
    /// One receive after the other: its responses are large, and most of them is left to the kernel.
    Once,
    /// So many bytes are thrown away.
    Skipping(u64),
}

impl Uring {
    pub(super) fn push_receive(&mut self, slot: Slot) {
        let socket = &self.sockets[slot as usize];
        let Some(fd) = &socket.fd else { return };
        let fd = Fd(fd.as_raw_fd());
        let receive = match &self.stamped {
            None if socket.receiving != Receiving::Multishot => {
                let receive = opcode::Recv::new(fd, std::ptr::null_mut(), 0).buf_group(GROUP);
                receive.ioprio(POLL_FIRST).build().flags(squeue::Flags::BUFFER_SELECT)
            }
            None => opcode::RecvMulti::new(fd, GROUP).build(),
            Some(stamped) => opcode::RecvMsgMulti::new(fd, &raw const *stamped.message, GROUP).build(),
        };
        let receive = receive.user_data(socket.user_data(slot, Action::Receive));
        self.push(&receive);
    }

    /// Has the kernel discard the next bytes. `has_more`: some of them may have arrived already.
    pub(super) fn push_skip(&mut self, slot: Slot, bytes: u64, has_more: bool) {
        let socket = &mut self.sockets[slot as usize];
        let Some(fd) = &socket.fd else { return };
        socket.receiving = Receiving::Skipping(bytes);
        let len = bytes.min(MOST_PER_CALL as u64) as u32;
        let receive = opcode::Recv::new(Fd(fd.as_raw_fd()), std::ptr::null_mut(), len);
        // Waiting for all of them (MSG_WAITALL) never ends on Linux 6.18 where they arrive in several parts.
        let receive = receive.flags(libc::MSG_TRUNC).ioprio(if has_more { 0 } else { POLL_FIRST }).build();
        let receive = receive.user_data(socket.user_data(slot, Action::Receive));
        self.push(&receive);
    }

    pub(super) fn received(&mut self, slot: Slot, result: i32, flags: u32) -> Option<Event> {
        let Socket { send_error, receiving, .. } = self.sockets[slot as usize];
        if let (Receiving::Skipping(bytes), 1..) = (receiving, result) {
            return Some(self.skipped(slot, bytes, result as u64, cqueue::sock_nonempty(flags)));
        }
        let result = if result > 0 { result - self.bytes_from() as i32 } else { result };
        match result {
            1.. => {
                if !cqueue::more(flags) {
                    self.receive_again(slot);
                }
                Some(Event::Received(Chunk { buffer: self.in_use?, len: result as u32 }))
            }
            0 if send_error != 0 => Some(Event::Failed(send_error)),
            0 => Some(Event::Ended),
            _ if [libc::ENOBUFS, libc::EINTR, libc::EAGAIN].contains(&-result)
                || (-result == libc::ECANCELED && receiving == Receiving::Cancelling) =>
            {
                match receiving {
                    Receiving::Skipping(bytes) => self.push_skip(slot, bytes, true),
                    _ => self.receive_again(slot),
                }
                None
            }
            _ => Some(Event::Failed(-result)),
        }
    }

    /// The receive has ended; the next one is for once where the last one was not to last.
    pub(super) fn receive_again(&mut self, slot: Slot) {
        let receiving = &mut self.sockets[slot as usize].receiving;
        if *receiving == Receiving::Multishot {
            return self.push_receive(slot);
        }
        *receiving = Receiving::Once;
        // Only one slot's bytes are looked at at a time.
        self.to_receive = Some(slot);
    }

    pub(super) fn skipped(&mut self, slot: Slot, asked: u64, bytes: u64, has_more: bool) -> Event {
        if bytes < asked {
            self.push_skip(slot, asked - bytes, has_more);
        } else {
            self.sockets[slot as usize].receiving = Receiving::Once;
            self.to_receive = Some(slot);
        }
        Event::Skipped(bytes)
    }
}
