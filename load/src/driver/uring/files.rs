//! The ring's own table of sockets (io_uring_register_files(3)): a send over a registered socket takes no reference to its file.

use crate::driver::Slot;
use io_uring::IoUring;
use io_uring::types::Fixed;
use std::os::fd::{AsRawFd, OwnedFd};

/// A socket is registered with this request: registering costs two system calls, which a connection for few requests would
/// not earn back.
const REGISTERED_AT_SEND: u8 = 16;

/// What stands in the table for no file.
const NONE: i32 = -1;

/// Which sockets are in the table, by slot.
pub(super) struct Files {
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// So many sends over this connection so far.
    Sent(u8),
    Registered,
    /// The connection is over, and something that is queued may still name its place.
    Retiring,
    /// There is no table, or the kernel did not take a socket.
    Refused,
}

impl Files {
    /// A table of `slots` places. Without one (the kernel allows a process as many places as open files) sends name the socket.
    pub(super) fn register(ring: &IoUring, slots: u32) -> Self {
        let is_there = ring.submitter().register_files_sparse(slots).is_ok();
        Self { places: vec![if is_there { Place::Sent(0) } else { Place::Refused }; slots as usize] }
    }

    /// The place of a slot's socket in the table; its next send may name it. `None`: it has none.
    pub(super) fn for_send(&mut self, ring: &IoUring, slot: Slot, socket: &OwnedFd) -> Option<Fixed> {
        let place = &mut self.places[slot as usize];
        match *place {
            Place::Sent(REGISTERED_AT_SEND) => *place = update(ring, slot, socket.as_raw_fd()),
            Place::Sent(sends) => *place = Place::Sent(sends + 1),
            Place::Registered | Place::Retiring | Place::Refused => {}
        }
        (*place == Place::Registered).then_some(Fixed(slot))
    }

    /// The slot's connection is over.
    pub(super) fn retire(&mut self, slot: Slot) {
        let place = &mut self.places[slot as usize];
        *place = match *place {
            Place::Sent(_) => Place::Sent(0),
            Place::Registered | Place::Retiring => Place::Retiring,
            Place::Refused => Place::Refused,
        };
    }

    /// Nothing that is queued names the slot's earlier connection any more.
    pub(super) fn remove(&mut self, ring: &IoUring, slot: Slot) {
        let place = &mut self.places[slot as usize];
        if *place == Place::Retiring {
            update(ring, slot, NONE);
            *place = Place::Sent(0);
        }
    }
}

fn update(ring: &IoUring, slot: Slot, file: i32) -> Place {
    match ring.submitter().register_files_update(slot, &[file]) {
        Ok(1) => Place::Registered,
        _ => Place::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    fn table() -> (IoUring, Files, OwnedFd) {
        let ring = IoUring::new(8).unwrap();
        let files = Files::register(&ring, 2);
        (ring, files, UnixStream::pair().unwrap().0.into())
    }

    /// The sends of a connection up to the one that registers it.
    fn register(ring: &IoUring, files: &mut Files, slot: Slot, socket: &OwnedFd) {
        for send in 1..=REGISTERED_AT_SEND {
            assert_eq!(files.for_send(ring, slot, socket).map(|place| place.0), None, "send {send}");
        }
        assert_eq!(files.for_send(ring, slot, socket).map(|place| place.0), Some(slot));
    }

    #[test]
    fn a_connection_for_many_requests_gets_its_place() {
        let (ring, mut files, socket) = table();
        register(&ring, &mut files, 1, &socket);
        assert!(files.for_send(&ring, 1, &socket).is_some());
        assert!(files.for_send(&ring, 0, &socket).is_none(), "the other has sent nothing yet");
    }

    #[test]
    fn the_place_of_a_connection_that_is_over_is_named_by_no_later_one_until_it_is_free() {
        let (ring, mut files, socket) = table();
        register(&ring, &mut files, 1, &socket);
        files.retire(1);
        for _ in 0..2 * REGISTERED_AT_SEND {
            assert!(files.for_send(&ring, 1, &socket).is_none(), "what is queued may still name it");
        }
        files.remove(&ring, 1);
        register(&ring, &mut files, 1, &socket);
    }

    #[test]
    fn where_there_is_no_table_sends_name_the_socket() {
        let (ring, _, socket) = table();
        let mut files = Files::register(&ring, 2);
        for _ in 0..2 * REGISTERED_AT_SEND {
            assert!(files.for_send(&ring, 1, &socket).is_none(), "this ring has its one table already");
        }
    }
}
