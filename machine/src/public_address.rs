//! Decides which addresses belong to somebody else's machines, as far as an address can tell.

use std::net::{IpAddr, Ipv4Addr};

/// Whether this is an address of the internet: not of this machine, a private network, a link, or a carrier's own network (RFC 1918, 3927,
/// 4193, 4291 and 6598).
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => {
            !(v4.is_loopback()
                || v4.is_private()
                || v4.is_link_local()
                || v4.is_unspecified()
                || is_shared(v4))
        }
        IpAddr::V6(v6) => {
            !(v6.is_loopback() || v6.is_unspecified() || v6.is_unique_local() || v6.is_unicast_link_local())
        }
    }
}

/// Whether the address is in 100.64.0.0/10, which clusters and private overlay networks use too.
const fn is_shared(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    first == 100 && second & 0b1100_0000 == 64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_public_text(address: &str) -> bool {
        is_public(address.parse().unwrap())
    }

    #[test]
    fn this_machine_and_private_networks_are_not_public() {
        for own in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.1.1",
            "100.64.0.1",
            "100.127.255.255",
            "::1",
            "::",
            "fd00::1",
            "fe80::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
        ] {
            assert!(!is_public_text(own), "{own}");
        }
    }

    #[test]
    fn their_neighbours_are() {
        for other in [
            "126.255.255.255",
            "128.0.0.1",
            "9.255.255.255",
            "11.0.0.1",
            "172.15.255.255",
            "172.32.0.1",
            "192.167.255.255",
            "192.169.0.1",
            "100.63.255.255",
            "100.128.0.1",
            "203.0.113.7",
            "2001:db8::1",
            "::ffff:8.8.8.8",
        ] {
            assert!(is_public_text(other), "{other}");
        }
    }
}
