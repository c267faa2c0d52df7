//! A TCP socket as both drivers need it.

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, ipproto, socket_with, sockopt};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};

/// A socket that is ready to connect to `server`, from `source` where given. Small requests leave at once (TCP_NODELAY).
pub(super) fn open(server: SocketAddr, source: Option<IpAddr>, flags: SocketFlags) -> io::Result<OwnedFd> {
    let family = if server.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, flags | SocketFlags::CLOEXEC, Some(ipproto::TCP))?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    if let Some(source) = source {
        bind_late(&socket)?;
        bind(&socket, &SocketAddr::new(source, 0))?;
    }
    Ok(socket)
}

/// Leaves the choice of the port to `connect`, which may give one port to several connections with different servers or
/// sources (`IP_BIND_ADDRESS_NO_PORT`, ip(7)).
fn bind_late(socket: &OwnedFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option takes an int, which is given by address and size.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
