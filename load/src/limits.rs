//! Limits checked before the start: file descriptors and source ports.
//!
//! A load that runs out of either in the middle measures this machine instead of the server, so it is refused before
//! the first request, with the number needed and where it is set.

use crate::endpoint::Endpoint;
use crate::plan::{LoadPlan, Pacing, Stop};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::time::Duration;

/// How long the kernel keeps the port of a closed connection (`TCP_TIMEWAIT_LEN`, include/net/tcp.h).
const TIME_WAIT: Duration = Duration::from_secs(60);
/// Spare descriptors beside those that are open already and those of the connections and threads: for output files, and for what the rest
/// of the process opens meanwhile.
const SPARE_DESCRIPTORS: u64 = 64;
/// Descriptors of each thread beside its connections: an event queue, a timer, and for a moment a socket that tests whether the kernel
/// stamps.
const DESCRIPTORS_PER_THREAD: u64 = 3;
/// The default of `fs.nr_open`, the most that RLIMIT_NOFILE can be set to.
const KERNEL_MOST_DESCRIPTORS: u64 = 1_048_576;
/// The largest number of ports that `ip_local_port_range` can contain without ports that only root may bind.
const MOST_PORTS: u64 = 64_512;
/// The rate that is assumed for a closed loop with a new connection per request, where source addresses cost nothing.
const FAST_CLOSED_LOOP_PER_S: f64 = 50_000.0;
/// The kernel's default range, for systems that hide the setting.
const DEFAULT_PORT_RANGE: RangeInclusive<u16> = 32_768..=60_999;

/// The resources of this machine that a load may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Resources {
    /// The addresses to which connections are bound, in turn; empty: the kernel chooses, because one address suffices.
    pub source_addresses: Vec<IpAddr>,
}

/// A limit of this machine that is too low for a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// File descriptors.
    #[error(
        "{connections} connections need {needed} file descriptors (one each and {others} for the rest). The limit \
         RLIMIT_NOFILE is {limit}: {}raise the limit, {}",
        self.fewer(), self.remedy()
    )]
    Descriptors {
        /// The number of connections of the plan.
        connections: u64,
        /// The number of descriptors for everything else.
        others: u64,
        /// The sum of both.
        needed: u64,
        /// The current limit, which [`raise_descriptor_limit`] may raise.
        limit: u64,
    },
    /// Source ports.
    #[error(
        "{connections} connections to one address need {connections} source ports, but net.ipv4.ip_local_port_range is \
         {first} to {last}, which is {}: {}{}",
        self.possible_connections(), self.fewer(), self.remedy()
    )]
    Ports {
        /// The number of connections of the plan.
        connections: u64,
        /// The first port of the range.
        first: u16,
        /// The last port of the range.
        last: u16,
    },
}

impl LimitError {
    /// How many connections the limit allows.
    #[must_use]
    pub fn possible_connections(&self) -> u64 {
        match *self {
            Self::Descriptors { others, limit, .. } => limit.saturating_sub(others),
            Self::Ports { first, last, .. } => u64::from(last - first) + 1,
        }
    }

    /// Advice to use fewer connections; empty if not even one is possible.
    fn fewer(&self) -> String {
        match self.possible_connections() {
            0 => String::new(),
            possible => format!("set `connections` to {possible} or fewer, or "),
        }
    }

    /// The remedy for the limit itself: commands, or more machines.
    #[must_use]
    pub fn remedy(&self) -> String {
        match *self {
            Self::Descriptors { needed, .. } => {
                let kernel = if needed > KERNEL_MOST_DESCRIPTORS {
                    format!(", after `sysctl -w fs.nr_open={needed}`")
                } else {
                    String::new()
                };
                format!("as root `ulimit -n {needed}`, in a systemd unit `LimitNOFILE={needed}`{kernel}")
            }
            Self::Ports { connections, .. } if connections <= MOST_PORTS => {
                "widen it with `sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"`".to_owned()
            }
            Self::Ports { .. } => {
                format!("use more than one machine (one source address has {MOST_PORTS} ports at most)")
            }
        }
    }
}

/// Checks the limits and finds the source addresses that a load needs. Changes nothing: a program that needs as many descriptors as
/// possible calls [`raise_descriptor_limit`] first.
///
/// # Errors
/// The load cannot succeed on this machine as it is set up.
pub(crate) fn prepare(
    plan: &LoadPlan,
    endpoints: &[Endpoint],
    threads: u32,
) -> Result<Resources, LimitError> {
    let limit = getrlimit(Resource::Nofile).current;
    check_descriptors(u64::from(plan.connections.get()), other_descriptors(threads), limit)?;
    Ok(Resources { source_addresses: source_addresses(plan, endpoints, &source_ports())? })
}

/// The range from which the kernel chooses the ports of connections (`net.ipv4.ip_local_port_range`).
#[must_use]
pub fn source_ports() -> RangeInclusive<u16> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok();
    range.and_then(|text| parse_port_range(&text)).unwrap_or(DEFAULT_PORT_RANGE)
}

/// The number of descriptors that are not connections: those open already, those of the threads, and spare ones.
fn other_descriptors(threads: u32) -> u64 {
    let open = fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64);
    open + u64::from(threads) * DESCRIPTORS_PER_THREAD + SPARE_DESCRIPTORS
}

/// Raises the limit on open files (RLIMIT_NOFILE) of this process, and of those it starts later, as far as possible without privileges.
/// Returns the new limit; `None`: unlimited.
pub fn raise_descriptor_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return limit.current;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    }
}

const fn check_descriptors(connections: u64, others: u64, limit: Option<u64>) -> Result<(), LimitError> {
    let needed = connections + others;
    match limit {
        Some(limit) if needed > limit => Err(LimitError::Descriptors { connections, others, needed, limit }),
        _ => Ok(()),
    }
}

/// Parses `32768\t60999
/// `, as the kernel prints the range.
fn parse_port_range(text: &str) -> Option<RangeInclusive<u16>> {
    let mut numbers = text.split_whitespace().map(str::parse::<u16>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(low)), Some(Ok(high))) if low <= high => Some(low..=high),
        _ => None,
    }
}

/// The source addresses that the load needs. On loopback every address of 127.0.0.0/8 is ours and has a port range of its own; elsewhere
/// each address of the server has one.
fn source_addresses(
    plan: &LoadPlan,
    endpoints: &[Endpoint],
    range: &RangeInclusive<u16>,
) -> Result<Vec<IpAddr>, LimitError> {
    let ports = range.len() as u64;
    let held = u64::from(plan.connections.get()).div_ceil(endpoints.len().max(1) as u64);
    let is_own =
        |endpoint: &Endpoint| matches!(endpoint, Endpoint::Tcp(SocketAddr::V4(v4)) if v4.ip().is_loopback());
    match endpoints.first() {
        _ if endpoints.iter().all(is_own) => Ok(loopback_sources(ports_needed(plan), ports)),
        Some(Endpoint::Tcp(_)) if held > ports => {
            Err(LimitError::Ports { connections: held, first: *range.start(), last: *range.end() })
        }
        _ => Ok(Vec::new()),
    }
}

/// The number of ports in use at the worst moment: one per connection, and one per connection closed within TIME_WAIT.
fn ports_needed(plan: &LoadPlan) -> u64 {
    let held = u64::from(plan.connections.get());
    if plan.keep_alive {
        return held;
    }
    let (limit, lasts) = match plan.stop {
        Stop::Requests(requests) => (requests.get(), TIME_WAIT),
        Stop::Duration(duration) => (u64::MAX, (plan.lead_in + duration).min(TIME_WAIT)),
        Stop::Either(requests, duration) => (requests.get(), duration.min(TIME_WAIT)),
    };
    let closed = (highest_rate_per_s(plan) * lasts.as_secs_f64()).ceil() as u64;
    held.saturating_add(closed.min(limit))
}

fn highest_rate_per_s(plan: &LoadPlan) -> f64 {
    match &plan.pacing {
        Pacing::Closed => FAST_CLOSED_LOOP_PER_S,
        Pacing::Open { shape, .. } => shape.highest_per_s(),
    }
}

/// The loopback addresses for this many ports. Half of each range is left to the previous run, whose ports may still be in TIME_WAIT.
fn loopback_sources(needed: u64, ports: u64) -> Vec<IpAddr> {
    let usable = (ports / 2).max(1);
    if needed <= usable {
        return Vec::new();
    }
    let first = u32::from(Ipv4Addr::new(127, 0, 0, 2));
    let count = needed.div_ceil(usable).min(u64::from(u16::MAX)) as u32;
    (0..count).map(|index| IpAddr::V4(Ipv4Addr::from(first + index))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Arrivals, RateShape, Step};
    use crate::request::{Origin, RequestSource};
    use std::num::{NonZeroU32, NonZeroU64};
    use std::sync::Arc;

    const RANGE: RangeInclusive<u16> = 32_768..=60_999;

    fn plan(connections: u32) -> LoadPlan {
        let origin = Origin { tls: false, host: "127.0.0.1".to_owned(), port: 80 };
        let stop = Stop::Duration(Duration::from_secs(10));
        let requests = Arc::new(RequestSource::get(origin, "/"));
        LoadPlan::closed(requests, NonZeroU32::new(connections).unwrap(), stop)
    }

    fn one_request_per_connection(shape: RateShape, seconds: u64) -> LoadPlan {
        LoadPlan {
            pacing: Pacing::Open { shape, arrivals: Arrivals::Constant },
            stop: Stop::Duration(Duration::from_secs(seconds)),
            keep_alive: false,
            ..plan(10)
        }
    }

    fn sources(plan: &LoadPlan, address: &str) -> Result<Vec<String>, String> {
        source_addresses(plan, &[Endpoint::Tcp(address.parse().unwrap())], &RANGE)
            .map(|addresses| addresses.iter().map(ToString::to_string).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_kernels_port_range_is_read_and_anything_else_is_not() {
        assert_eq!(parse_port_range("32768\t60999\n"), Some(32_768..=60_999));
        assert_eq!(parse_port_range("60999 32768"), None);
        assert_eq!(parse_port_range("32768"), None);
        assert_eq!(parse_port_range("0 70000"), None);
    }

    #[test]
    fn a_load_that_fits_half_a_range_leaves_the_source_address_to_the_kernel() {
        assert_eq!(sources(&plan(14_116), "127.0.0.1:80"), Ok(vec![]));
    }

    #[test]
    fn more_loopback_connections_than_half_a_range_get_more_addresses() {
        assert_eq!(sources(&plan(14_117), "127.0.0.1:80"), Ok(vec!["127.0.0.2".into(), "127.0.0.3".into()]));
        let many = sources(&plan(100_000), "127.9.9.9:80").unwrap();
        assert_eq!((many.len(), many[7].as_str()), (8, "127.0.0.9"), "100,000 / 14,116 = 7.1");
    }

    #[test]
    fn another_host_has_one_range_and_the_error_names_the_sysctl_and_the_number() {
        assert_eq!(sources(&plan(28_232), "10.0.0.1:80"), Ok(vec![]));
        let error = sources(&plan(28_233), "10.0.0.1:80").unwrap_err();
        assert_eq!(
            error,
            "28233 connections to one address need 28233 source ports, but net.ipv4.ip_local_port_range is 32768 \
             to 60999, which is 28232: set `connections` to 28232 or fewer, or widen it with `sysctl -w \
             net.ipv4.ip_local_port_range=\"1024 65535\"`"
        );
        assert!(sources(&plan(70_000), "[::1]:80").unwrap_err().contains("more than one machine"));
    }

    #[test]
    fn without_keep_alive_the_ports_of_a_minute_are_counted() {
        let constant = |rate_per_s| RateShape::Constant { rate_per_s };
        assert_eq!(ports_needed(&one_request_per_connection(constant(5_000.0), 600)), 10 + 300_000);
        assert_eq!(ports_needed(&one_request_per_connection(constant(5_000.0), 10)), 10 + 50_000);
        let ramp = RateShape::Ramp { from_per_s: 10.0, to_per_s: 100.0, over: Duration::from_secs(5) };
        assert_eq!(ports_needed(&one_request_per_connection(ramp, 60)), 10 + 6_000);
        let step = |rate_per_s| Step { rate_per_s, lasts: Duration::from_secs(1) };
        let steps = RateShape::Steps(vec![step(5.0), step(50.0), step(1.0)]);
        assert_eq!(ports_needed(&one_request_per_connection(steps, 60)), 10 + 3_000);
        let few = LoadPlan {
            stop: Stop::Requests(NonZeroU64::new(7).unwrap()),
            ..one_request_per_connection(constant(5_000.0), 1)
        };
        assert_eq!(ports_needed(&few), 17);
    }

    #[test]
    fn too_few_descriptors_are_an_error_that_names_the_limit_the_number_and_the_remedy() {
        assert!(check_descriptors(936, 64, Some(1_000)).is_ok());
        assert!(check_descriptors(u64::from(u32::MAX), 64, None).is_ok(), "unlimited");
        assert_eq!(
            check_descriptors(20_000, 80, Some(20_000)).unwrap_err().to_string(),
            "20000 connections need 20080 file descriptors (one each and 80 for the rest). The limit \
             RLIMIT_NOFILE is 20000: set `connections` to 19920 or fewer, or raise the limit, as root `ulimit -n 20080`, in a \
             systemd unit `LimitNOFILE=20080`"
        );
        let huge = check_descriptors(2_000_000, 80, Some(1_000_000)).unwrap_err().to_string();
        assert!(huge.ends_with("after `sysctl -w fs.nr_open=2000080`"), "{huge}");
    }

    #[test]
    fn each_thread_has_descriptors_of_its_own() {
        // Other tests of this process open and close files meanwhile.
        let grown = other_descriptors(1_000) - other_descriptors(0);
        assert!((2_500..3_500).contains(&grown), "{grown}");
    }

    #[test]
    fn a_load_raises_no_limit_and_a_program_that_asks_gets_the_hard_one() {
        let before = getrlimit(Resource::Nofile);
        let lower = before.current.map(|current| current.min(512));
        setrlimit(Resource::Nofile, Rlimit { current: lower, maximum: before.maximum }).unwrap();
        prepare(&plan(1), &[Endpoint::Tcp("127.0.0.1:80".parse().unwrap())], 1).unwrap();
        assert_eq!(getrlimit(Resource::Nofile).current, lower);
        assert_eq!(raise_descriptor_limit(), before.maximum);
        assert_eq!(getrlimit(Resource::Nofile).current, before.maximum);
    }
}
