//! Finds the addresses for connections: overrides first, then name resolution, then a test which addresses accept connections.

use crate::endpoint::Endpoint;
use crate::error::LoadError;
use crate::plan::LoadPlan;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::Duration;

/// How long each of several addresses of a host may take to accept a connection.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// The addresses of the origin that accept connections, in the order of name resolution, because a name like `localhost` often has one that
/// does not. If none does, the first address.
///
/// # Errors
/// [`LoadError::Resolve`] if the host has no address.
pub(crate) fn endpoints(plan: &LoadPlan) -> Result<Vec<Endpoint>, LoadError> {
    if let Some(socket) = &plan.unix_socket {
        return Ok(vec![Endpoint::Unix(socket.clone())]);
    }
    let addresses = addresses(plan)?;
    let open = if addresses.len() > 1 { listening(&addresses) } else { addresses.clone() };
    let used = if open.is_empty() { &addresses[..1] } else { &open };
    Ok(used.iter().copied().map(Endpoint::Tcp).collect())
}

/// The addresses to which connections of a plan may go; empty for a Unix socket.
///
/// # Errors
/// [`LoadError::Resolve`] if the host has no address.
pub fn target_addresses(plan: &LoadPlan) -> Result<Vec<SocketAddr>, LoadError> {
    if plan.unix_socket.is_some() { Ok(Vec::new()) } else { addresses(plan) }
}

/// The addresses of the origin after all overrides, each once; at least one.
fn addresses(plan: &LoadPlan) -> Result<Vec<SocketAddr>, LoadError> {
    let origin = plan.requests.origin();
    let (host, port) = plan
        .resolve
        .iter()
        .find_map(|rule| rule.connected_to(&origin.host, origin.port))
        .unwrap_or_else(|| (origin.host.clone(), origin.port));
    let overridden = plan.resolve.iter().find_map(|rule| rule.resolved(&host, port));
    let failed = |source: io::Error| LoadError::Resolve { host: host.clone(), source };
    let found: Vec<SocketAddr> = match overridden {
        Some(addresses) => addresses.iter().map(|&address| (address, port).into()).collect(),
        None => (host.as_str(), port).to_socket_addrs().map_err(failed)?.collect(),
    };
    let mut addresses = Vec::with_capacity(found.len());
    for address in found {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() { Err(failed(io::ErrorKind::NotFound.into())) } else { Ok(addresses) }
}

/// The addresses that accept a connection, all tried at once.
fn listening(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let is_open = |address: &SocketAddr| TcpStream::connect_timeout(address, PROBE_TIMEOUT).is_ok();
    thread::scope(|scope| {
        let probes: Vec<_> =
            addresses.iter().map(|address| (address, scope.spawn(move || is_open(address)))).collect();
        let open = probes
            .into_iter()
            .filter_map(|(&address, probe)| probe.join().unwrap_or(false).then_some(address));
        open.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{AddressOverride, Stop};
    use crate::request::{Origin, RequestSource};
    use std::net::TcpListener;
    use std::num::NonZeroU32;
    use std::sync::Arc;

    fn plan(host: &str, port: u16, overrides: Vec<AddressOverride>) -> LoadPlan {
        let origin = Origin { tls: false, host: host.to_owned(), port };
        let stop = Stop::Duration(Duration::from_secs(1));
        LoadPlan::closed(Arc::new(RequestSource::get(origin, "/")), NonZeroU32::MIN, stop)
            .with(|plan| plan.resolve = overrides)
    }

    fn found(host: &str, port: u16, overrides: Vec<AddressOverride>) -> Vec<String> {
        let endpoints = endpoints(&plan(host, port, overrides)).unwrap();
        let text = |endpoint: Endpoint| match endpoint {
            Endpoint::Tcp(address) => address.to_string(),
            Endpoint::Unix(path) => path.display().to_string(),
        };
        endpoints.into_iter().map(text).collect()
    }

    fn resolve(written: &str) -> AddressOverride {
        AddressOverride::resolve(written).unwrap()
    }

    fn connect_to(written: &str) -> AddressOverride {
        AddressOverride::connect_to(written).unwrap()
    }

    /// Listeners on one port at these addresses.
    fn listeners(addresses: &[&str]) -> (u16, Vec<TcpListener>) {
        loop {
            let first = TcpListener::bind((addresses[0], 0)).unwrap();
            let port = first.local_addr().unwrap().port();
            let others: io::Result<Vec<_>> =
                addresses[1..].iter().map(|address| TcpListener::bind((*address, port))).collect();
            if let Ok(others) = others {
                return (port, std::iter::once(first).chain(others).collect());
            }
        }
    }

    #[test]
    fn every_address_at_which_somebody_listens_is_used_and_each_once() {
        let (port, _listeners) = listeners(&["127.0.0.2", "127.0.0.4"]);
        let rule = resolve(&format!("many:{port}:127.0.0.2,127.0.0.3,127.0.0.4,127.0.0.2"));
        assert_eq!(
            found("many", port, vec![rule]),
            [format!("127.0.0.2:{port}"), format!("127.0.0.4:{port}")]
        );
    }

    #[test]
    fn the_zone_of_an_address_is_the_interface_that_it_is_on() {
        // Interface 1 is the loopback device.
        assert_eq!(found("fe80::1%lo", 81, vec![]), ["[fe80::1%1]:81"]);
    }

    #[test]
    fn where_nobody_listens_the_first_address_shows_why() {
        let (port, listeners) = listeners(&["127.0.0.5", "127.0.0.6"]);
        drop(listeners);
        let rule = resolve(&format!("none:{port}:127.0.0.5,127.0.0.6"));
        assert_eq!(found("none", port, vec![rule]), [format!("127.0.0.5:{port}")]);
    }

    #[test]
    fn a_single_address_is_not_tried_out() {
        assert_eq!(found("127.0.0.1", 1, vec![]), ["127.0.0.1:1"]);
        assert_eq!(found("::1", 1, vec![]), ["[::1]:1"]);
    }

    #[test]
    fn connect_to_changes_the_host_before_it_is_resolved() {
        let rules = vec![resolve("b:81:127.0.0.9"), connect_to("a:80:b:81"), connect_to("::c:82")];
        assert_eq!(found("a", 80, rules), ["127.0.0.9:81"]);
        assert_eq!(found("unknown.invalid", 80, vec![connect_to("::127.0.0.8:")]), ["127.0.0.8:80"]);
    }

    #[test]
    fn a_unix_socket_needs_no_address() {
        let plan =
            plan("unknown.invalid", 80, vec![]).with(|plan| plan.unix_socket = Some("/run/x.sock".into()));
        assert_eq!(endpoints(&plan).unwrap(), [Endpoint::Unix("/run/x.sock".into())]);
    }

    #[test]
    fn a_host_without_an_address_is_named() {
        let error = endpoints(&plan("unknown.invalid", 80, vec![])).unwrap_err();
        assert!(matches!(&error, LoadError::Resolve { host, .. } if host == "unknown.invalid"), "{error}");
    }
}
