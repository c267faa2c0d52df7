//! The kernel's TCP counters of full accept queues and lost packets. They belong to the machine, not the server, so they include other
//! traffic during the window.

use std::fs;
use threadcount_load::limits::source_ports;
use threadcount_model::record::NetworkCounters;

/// Reads the counters since boot; `None` if /proc/net cannot be read.
///
/// `TcpExt` of /proc/net/netstat: `ListenOverflows` (a connection attempt when `acceptCount` connections were waiting),
/// `ListenDrops`, `TCPSynRetrans`; `Tcp` of /proc/net/snmp: `RetransSegs`. See the kernel's
/// Documentation/networking/snmp_counter.rst.
#[must_use]
pub fn read() -> Option<NetworkCounters> {
    let read = |file: &str| fs::read_to_string(file).ok();
    let counters = parse(&read("/proc/net/netstat")?, &read("/proc/net/snmp")?)?;
    Some(NetworkCounters {
        time_wait: read("/proc/net/sockstat").and_then(|it| time_wait(&it)).unwrap_or_default(),
        ephemeral_ports: source_ports().len() as u64,
        ..counters
    })
}

/// Parses `TCP: inuse 5 orphan 0 tw 3 alloc 6 mem 1`.
fn time_wait(sockstat: &str) -> Option<u64> {
    let tcp = sockstat.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    tcp.split_whitespace().skip_while(|&word| word != "tw").nth(1)?.parse().ok()
}

/// The growth of the counters between two readings, and the later values of the others.
#[must_use]
pub const fn difference(before: NetworkCounters, after: NetworkCounters) -> NetworkCounters {
    NetworkCounters {
        listen_overflows: after.listen_overflows.saturating_sub(before.listen_overflows),
        listen_drops: after.listen_drops.saturating_sub(before.listen_drops),
        syn_retransmits: after.syn_retransmits.saturating_sub(before.syn_retransmits),
        retransmitted_segments: after.retransmitted_segments.saturating_sub(before.retransmitted_segments),
        time_wait: after.time_wait,
        ephemeral_ports: after.ephemeral_ports,
    }
}

/// The sum of two windows; for figures that are not counters, the later value.
#[must_use]
pub const fn sum(one: NetworkCounters, later: NetworkCounters) -> NetworkCounters {
    NetworkCounters {
        listen_overflows: one.listen_overflows + later.listen_overflows,
        listen_drops: one.listen_drops + later.listen_drops,
        syn_retransmits: one.syn_retransmits + later.syn_retransmits,
        retransmitted_segments: one.retransmitted_segments + later.retransmitted_segments,
        ..later
    }
}

fn parse(netstat: &str, snmp: &str) -> Option<NetworkCounters> {
    Some(NetworkCounters {
        listen_overflows: counter(netstat, "TcpExt:", "ListenOverflows")?,
        listen_drops: counter(netstat, "TcpExt:", "ListenDrops")?,
        syn_retransmits: counter(netstat, "TcpExt:", "TCPSynRetrans")?,
        retransmitted_segments: counter(snmp, "Tcp:", "RetransSegs")?,
        time_wait: 0,
        ephemeral_ports: 0,
    })
}

/// Finds a counter. Both files contain pairs of lines: names, then values in the same order, both behind the protocol's prefix.
fn counter(text: &str, prefix: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(prefix));
    let place = lines.next()?.split_whitespace().position(|it| it == name)?;
    lines.next()?.split_whitespace().nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETSTAT: &str = include_str!("captured/netstat.txt");
    const SNMP: &str = include_str!("captured/snmp.txt");

    #[test]
    fn a_captured_reading_is_understood() {
        let expected = NetworkCounters {
            listen_overflows: 21,
            listen_drops: 22,
            syn_retransmits: 23,
            retransmitted_segments: 24,
            ..NetworkCounters::default()
        };
        assert_eq!(parse(NETSTAT, SNMP), Some(expected));
    }

    #[test]
    fn a_kernel_without_these_counters_reads_as_none() {
        assert_eq!(parse("TcpExt: TW\nTcpExt: 5\n", SNMP), None);
        assert_eq!(parse("", ""), None);
    }

    #[test]
    fn the_difference_is_what_happened_between() {
        let before = NetworkCounters { listen_overflows: 3, ..NetworkCounters::default() };
        let after = NetworkCounters { listen_overflows: 10, retransmitted_segments: 2, ..before };
        let between = difference(before, after);
        assert_eq!((between.listen_overflows, between.retransmitted_segments), (7, 2));
        let both = sum(between, NetworkCounters { listen_overflows: 1, time_wait: 40, ..between });
        assert_eq!((both.listen_overflows, both.retransmitted_segments, both.time_wait), (8, 4, 40));
    }

    #[test]
    fn sockets_that_wait_are_read_as_the_kernel_writes_them() {
        let sockstat =
            "sockets: used 290\nTCP: inuse 9 orphan 0 tw 1234 alloc 20 mem 4\nUDP: inuse 2 mem 0\n";
        assert_eq!(time_wait(sockstat), Some(1_234));
        assert_eq!(time_wait(""), None);
    }

    #[test]
    fn this_machine_has_them() {
        assert!(read().is_some_and(|counters| counters.ephemeral_ports > 0));
    }
}
