//! A socket as both drivers need it.

use crate::endpoint::Endpoint;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind, ipproto, recv, send,
    socket_with, sockopt,
};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A socket that is ready to connect, from `source` where given. Small requests leave at once (TCP_NODELAY).
pub(crate) fn open(endpoint: &Endpoint, source: Option<IpAddr>, flags: SocketFlags) -> io::Result<OwnedFd> {
    let flags = flags | SocketFlags::CLOEXEC;
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

/// Sends what the kernel takes now. The connection ends, whatever becomes of it.
pub(super) fn send_at_once(socket: &OwnedFd, bytes: &[u8]) {
    let _ = send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
}

/// Does the kernel hold bytes, the end or an error of a connection? A system call.
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

/// A server's address as the kernel reads it (ip(7), ipv6(7), unix(7)).
pub(super) enum RawAddress {
    V4(libc::sockaddr_in),
    V6(libc::sockaddr_in6),
    Unix(Box<libc::sockaddr_un>),
}

impl RawAddress {
    pub(super) fn new(endpoint: &Endpoint) -> io::Result<Self> {
        match endpoint {
            Endpoint::Tcp(address) => Ok(Self::tcp(*address)),
            Endpoint::Unix(path) => Self::unix(path),
        }
    }

    fn unix(path: &Path) -> io::Result<Self> {
        // SAFETY: plain numbers; zeros are an empty path.
        let mut address: Box<libc::sockaddr_un> = Box::new(unsafe { std::mem::zeroed() });
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        let bytes = path.as_os_str().as_bytes();
        // The last byte stays zero.
        if bytes.len() >= address.sun_path.len() {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        for (place, &byte) in address.sun_path.iter_mut().zip(bytes) {
            *place = byte as libc::c_char;
        }
        Ok(Self::Unix(address))
    }

    fn tcp(address: SocketAddr) -> Self {
        match address {
            SocketAddr::V4(v4) => Self::V4(libc::sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(v4.ip().octets()) },
                sin_zero: [0; 8],
            }),
            SocketAddr::V6(v6) => Self::V6(libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: v6.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                sin6_scope_id: v6.scope_id(),
            }),
        }
    }

    pub(super) fn as_raw(&self) -> (*const libc::sockaddr, libc::socklen_t) {
        match self {
            Self::V4(address) => ((&raw const *address).cast(), size_of_val(address) as libc::socklen_t),
            Self::V6(address) => ((&raw const *address).cast(), size_of_val(address) as libc::socklen_t),
            Self::Unix(address) => {
                ((&raw const **address).cast(), size_of::<libc::sockaddr_un>() as libc::socklen_t)
            }
        }
    }
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
        let socket = open(&Endpoint::Tcp(server), Some(source), SocketFlags::empty()).unwrap();
        rustix::net::connect(&socket, &server).unwrap();
        let (_, client) = listener.accept().unwrap();
        assert_eq!(client.ip(), source);
        assert!(sockopt::tcp_nodelay(&socket).unwrap());
    }
}
