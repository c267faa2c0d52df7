//! Opens and connects sockets, and makes single calls on them.

use crate::endpoint::Endpoint;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind, ipproto, recv, send,
    socket_with, sockopt,
};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};

/// Creates a socket that is ready to connect, bound to `source` if there is one. Small requests leave at once (TCP_NODELAY).
pub(super) fn open(endpoint: &Endpoint, source: Option<IpAddr>) -> io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let address = match endpoint {
        Endpoint::Unix(_) => return Ok(socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?),
        Endpoint::Tcp(address) => address,
    };
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    if let Some(source) = source {
        bind_late(&socket)?;
        bind(&socket, &SocketAddr::new(source, 0))?;
    }
    Ok(socket)
}

/// Begins to connect.
pub(super) fn connect(socket: &OwnedFd, endpoint: &Endpoint) -> rustix::io::Result<()> {
    match endpoint {
        Endpoint::Tcp(address) => rustix::net::connect(socket, address),
        Endpoint::Unix(path) => rustix::net::connect(socket, &SocketAddrUnix::new(path)?),
    }
}

/// Sends as many bytes as the kernel takes now. Errors do not matter, because the connection ends anyway.
pub(super) fn send_at_once(socket: &OwnedFd, bytes: &[u8]) {
    let _ = send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
}

/// Whether the kernel holds bytes, the end or an error of a connection. Costs a system call.
pub(super) fn has_input(socket: &OwnedFd) -> bool {
    let received = recv(socket, &mut [0_u8; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
    !matches!(received, Err(Errno::AGAIN))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_connection_comes_from_the_source_address_it_was_given() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        let source: IpAddr = "127.0.0.9".parse().unwrap();
        let socket = open(&Endpoint::Tcp(server), Some(source)).unwrap();
        assert!(matches!(rustix::net::connect(&socket, &server), Ok(()) | Err(Errno::INPROGRESS)));
        let (_, client) = listener.accept().unwrap();
        assert_eq!(client.ip(), source);
        assert!(sockopt::tcp_nodelay(&socket).unwrap());
    }
}
