//! How connections begin.

use super::receiving::Receiving;
use super::ring::tolerate;
use super::{Action, Uring};
use crate::driver::{Slot, socket, stamps};
use crate::limits::CONNECTS_AT_ONCE;
use io_uring::opcode;
use io_uring::types::Fd;
use rustix::net::SocketFlags;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

impl Uring {
    pub(super) fn begin_connect(
        &mut self,
        slot: Slot,
        endpoint: usize,
        source: Option<IpAddr>,
    ) -> io::Result<()> {
        let fd = self.open_socket(endpoint, source)?;
        if self.stamped.is_some() {
            stamps::enable(&fd)?;
        }
        let (address, len) = self.addresses[endpoint].as_raw();
        let connect = opcode::Connect::new(Fd(fd.as_raw_fd()), address, len).build();
        let socket = &mut self.sockets[slot as usize];
        socket.generation = socket.generation.wrapping_add(1);
        socket.send_error = 0;
        socket.fd = Some(fd);
        socket.is_connecting = true;
        socket.receiving = Receiving::Multishot;
        self.under_way += 1;
        let user_data = socket.user_data(slot, Action::Connect);
        self.push(&connect.user_data(user_data));
        // Each is stamped when it is begun, and the kernel takes its time for those before it.
        self.connects += 1;
        if self.connects >= CONNECTS_AT_ONCE {
            let submitted = self.submit_all();
            self.broken = self.broken.take().or(tolerate(submitted).err());
        }
        Ok(())
    }

    /// Opens a socket. The sockets of earlier connections that are still to be closed must not keep a connection from its
    /// descriptor.
    fn open_socket(&mut self, endpoint: usize, source: Option<IpAddr>) -> io::Result<OwnedFd> {
        // Blocking: with O_NONBLOCK io_uring would return EAGAIN instead of waiting.
        let opened = socket::open(&self.endpoints[endpoint], source, SocketFlags::empty());
        let lacks_descriptor = |error: &io::Error| error.raw_os_error() == Some(libc::EMFILE);
        if self.closing.is_empty() || !opened.as_ref().is_err_and(lacks_descriptor) {
            return opened;
        }
        tolerate(self.submit_all())?;
        socket::open(&self.endpoints[endpoint], source, SocketFlags::empty())
    }
}
