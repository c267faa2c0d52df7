//! Other destinations for connections than the address in the URL.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// Another destination for the host and port of the URL, as curl's `--resolve` and `--connect-to`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AddressOverride {
    /// Connects to these addresses instead of those that name resolution finds (curl's `--resolve`).
    Resolve {
        /// The host to which this applies; `None`: any.
        host: Option<String>,
        /// The port to which this applies.
        port: u16,
        addresses: Vec<IpAddr>,
    },
    /// Connects to another host and port, whose name is then resolved (curl's `--connect-to`).
    ConnectTo {
        /// The host to which this applies; `None`: any.
        host: Option<String>,
        /// The port to which this applies; `None`: any.
        port: Option<u16>,
        /// The host to connect to; `None`: the same.
        to_host: Option<String>,
        /// The port to connect to; `None`: the same.
        to_port: Option<u16>,
    },
}

/// The reason why a text is not an [`AddressOverride`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
#[non_exhaustive]
pub struct AddressOverrideError {
    /// The mistake, and what to write instead.
    pub why: String,
}

impl AddressOverride {
    /// Parses `HOST:PORT:ADDRESS[,ADDRESS]...`; the host `*` means any.
    ///
    /// # Errors
    /// The mistake, and what to write.
    pub fn resolve(written: &str) -> Result<Self, AddressOverrideError> {
        let example = "write HOST:PORT:ADDRESS, e.g. example.com:443:127.0.0.1";
        let (host, rest) = split_host(written).ok_or_else(|| refused(example))?;
        let (port, addresses) = rest.split_once(':').ok_or_else(|| refused(example))?;
        if host.is_empty() {
            return Err(refused(format!("the host is missing: {example}")));
        }
        let port = parse_port(port)?.ok_or_else(|| refused(format!("the port is missing: {example}")))?;
        let addresses = addresses.split(',').map(address).collect::<Result<_, _>>()?;
        Ok(Self::Resolve { host: (host != "*").then(|| host.to_ascii_lowercase()), port, addresses })
    }

    /// Parses `HOST1:PORT1:HOST2:PORT2`. An empty HOST1 or PORT1 means any, an empty HOST2 or PORT2 stays the same.
    ///
    /// # Errors
    /// The mistake, and what to write.
    pub fn connect_to(written: &str) -> Result<Self, AddressOverrideError> {
        let example =
            "write HOST1:PORT1:HOST2:PORT2, e.g. example.com:443:localhost:8443 or ::localhost:8443";
        let parts = || {
            let (host, rest) = split_host(written)?;
            let (port, rest) = rest.split_once(':')?;
            let (to_host, to_port) = split_host(rest)?;
            Some((host, port, to_host, to_port))
        };
        let (host, port, to_host, to_port) = parts().ok_or_else(|| refused(example))?;
        let name = |host: &str| (!host.is_empty()).then(|| host.to_ascii_lowercase());
        Ok(Self::ConnectTo {
            host: name(host),
            port: parse_port(port)?,
            to_host: name(to_host),
            to_port: parse_port(to_port)?,
        })
    }

    /// The host and port to resolve instead of these; `None` if this does not apply to them.
    #[must_use]
    pub fn connected_to(&self, host: &str, port: u16) -> Option<(String, u16)> {
        match self {
            Self::ConnectTo { host: of_host, port: of_port, to_host, to_port } => {
                let applies =
                    is_host(of_host.as_deref(), host) && of_port.is_none_or(|of_port| of_port == port);
                applies.then(|| (to_host.clone().unwrap_or_else(|| host.to_owned()), to_port.unwrap_or(port)))
            }
            Self::Resolve { .. } => None,
        }
    }

    /// The addresses of a host and port; `None` if this does not apply to them.
    #[must_use]
    pub fn resolved(&self, host: &str, port: u16) -> Option<&[IpAddr]> {
        match self {
            Self::Resolve { host: of_host, port: of_port, addresses } => {
                (is_host(of_host.as_deref(), host) && *of_port == port).then_some(addresses.as_slice())
            }
            Self::ConnectTo { .. } => None,
        }
    }
}

fn is_host(rule: Option<&str>, host: &str) -> bool {
    rule.is_none_or(|rule| rule.eq_ignore_ascii_case(host))
}

fn refused(why: impl Into<String>) -> AddressOverrideError {
    AddressOverrideError { why: why.into() }
}

/// The host, without the brackets of an IPv6 address, and the text after its colon.
fn split_host(text: &str) -> Option<(&str, &str)> {
    match text.strip_prefix('[') {
        Some(bracketed) => {
            let (host, rest) = bracketed.split_once(']')?;
            host.parse::<Ipv6Addr>().ok()?;
            Some((host, rest.strip_prefix(':')?))
        }
        None => text.split_once(':'),
    }
}

fn parse_port(text: &str) -> Result<Option<u16>, AddressOverrideError> {
    if text.is_empty() {
        return Ok(None);
    }
    let port = text.parse().ok().filter(|&port| port > 0 && !text.starts_with('+'));
    port.map(Some).ok_or_else(|| refused(format!("`{text}` is not a port: they go from 1 to 65535")))
}

fn address(text: &str) -> Result<IpAddr, AddressOverrideError> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse()
        .map_err(|_| refused(format!("`{text}` is not an IP address: write one like 127.0.0.1 or [::1]")))
}

/// Prints the text that [`AddressOverride::resolve`] or [`AddressOverride::connect_to`] parses.
impl fmt::Display for AddressOverride {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resolve { host, port, addresses } => {
                let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
                write!(out, "{}:{port}:{}", bracketed(host.as_deref().unwrap_or("*")), addresses.join(","))
            }
            Self::ConnectTo { host, port, to_host, to_port } => {
                let name = |host: &Option<String>| bracketed(host.as_deref().unwrap_or_default());
                let number = |port: &Option<u16>| port.map(|port| port.to_string()).unwrap_or_default();
                write!(out, "{}:{}:{}:{}", name(host), number(port), name(to_host), number(to_port))
            }
        }
    }
}

fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(written: &str) -> AddressOverride {
        AddressOverride::resolve(written).unwrap_or_else(|error| panic!("{written}: {error}"))
    }

    fn connect_to(written: &str) -> AddressOverride {
        AddressOverride::connect_to(written).unwrap_or_else(|error| panic!("{written}: {error}"))
    }

    #[test]
    fn resolve_gives_the_addresses_of_one_host_and_port() {
        let rule = resolve("Example.com:443:127.0.0.1,[::1],::2");
        let addresses: Vec<IpAddr> = ["127.0.0.1", "::1", "::2"].map(|text| text.parse().unwrap()).into();
        assert_eq!(rule.resolved("example.COM", 443), Some(&addresses[..]));
        assert_eq!(rule.resolved("example.com", 80), None);
        assert_eq!(rule.resolved("www.example.com", 443), None);
        assert_eq!(rule.connected_to("example.com", 443), None);
        assert!(resolve("*:80:10.0.0.1").resolved("anything", 80).is_some());
        assert!(resolve("[::1]:80:10.0.0.1").resolved("::1", 80).is_some());
    }

    #[test]
    fn connect_to_leaves_what_is_empty_as_it_is() {
        let to = |rule: &str, host: &str, port| connect_to(rule).connected_to(host, port);
        let place = |host: &str, port| Some((host.to_owned(), port));
        assert_eq!(to("a:80:b:81", "A", 80), place("b", 81));
        assert_eq!(to("a:80:b:81", "a", 443), None);
        assert_eq!(to("a:80:b:81", "c", 80), None);
        assert_eq!(to("::b:81", "anything", 7), place("b", 81));
        assert_eq!(to("a::b:", "a", 7), place("b", 7));
        assert_eq!(to("a:80::81", "a", 80), place("a", 81));
        assert_eq!(to("a:80:[::1]:81", "a", 80), place("::1", 81));
    }

    #[test]
    fn what_cannot_be_meant_says_what_to_write() {
        let refused = |result: Result<AddressOverride, AddressOverrideError>, why: &str| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        };
        for written in ["", "a", "a:80"] {
            refused(AddressOverride::resolve(written), "write HOST:PORT:ADDRESS");
            refused(AddressOverride::connect_to(written), "write HOST1:PORT1:HOST2:PORT2");
        }
        refused(AddressOverride::resolve(":80:1.2.3.4"), "the host is missing");
        refused(AddressOverride::resolve("a::1.2.3.4"), "the port is missing");
        refused(AddressOverride::resolve("a:x:1.2.3.4"), "`x` is not a port");
        refused(AddressOverride::resolve("a:0:1.2.3.4"), "`0` is not a port");
        refused(AddressOverride::resolve("a:80:b"), "`b` is not an IP address");
        refused(AddressOverride::resolve("a:80:1.2.3.4,"), "`` is not an IP address");
        refused(AddressOverride::connect_to("a:80:b:99999"), "`99999` is not a port");
        refused(AddressOverride::connect_to("a:80:b"), "write HOST1");
    }

    #[test]
    fn it_is_shown_as_it_was_written() {
        for written in ["a:80:10.0.0.1,::1", "*:80:10.0.0.1", "[::1]:80:10.0.0.1"] {
            assert_eq!(resolve(written).to_string(), written);
        }
        for written in ["a:80:b:81", "::b:", "a:80:[::1]:81", ":::"] {
            assert_eq!(connect_to(written).to_string(), written);
        }
    }
}
