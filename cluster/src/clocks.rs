//! Estimates how far the clocks of pods are apart, from the timestamps in their log lines.
//!
//! A line written at `t` by a pod's clock is read at `t + offset + delay`, and the delay is never negative. The smallest of many delays
//! is close to the shortest possible one, which is about the same for all pods. So the smallest difference between reading and
//! writing, compared between pods, shows how far their clocks are apart, to within a few milliseconds.

use std::collections::BTreeMap;

/// The smallest difference between reading and writing a line so far, for each pod.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    shortest_ns: BTreeMap<u32, i64>,
}

impl Clocks {
    /// Takes a line that a pod wrote at `told_unix_ns` by its clock and that was read at `read_unix_ns` by ours.
    pub fn line(&mut self, index: u32, told_unix_ns: u64, read_unix_ns: u64) {
        let difference_ns =
            i64::try_from(i128::from(read_unix_ns) - i128::from(told_unix_ns)).unwrap_or(i64::MAX);
        let shortest_ns = self.shortest_ns.entry(index).or_insert(difference_ns);
        *shortest_ns = difference_ns.min(*shortest_ns);
    }

    /// The lead of each pod's clock over the slowest pod clock, in ns.
    pub fn ahead_ns(&self) -> impl Iterator<Item = (u32, i64)> {
        let behind_ns = self.shortest_ns.values().copied().max().unwrap_or_default();
        self.shortest_ns.iter().map(move |(&index, &shortest_ns)| (index, behind_ns - shortest_ns))
    }

    /// The lead of our clock over the slowest pod clock, plus the shortest delay of a line, in ns.
    #[must_use]
    pub fn ours_ahead_ns(&self) -> i64 {
        self.shortest_ns.values().copied().max().unwrap_or_default()
    }

    /// The two pods whose clocks are furthest apart: the one behind, the one ahead, and the distance in ns.
    #[must_use]
    pub fn furthest_apart(&self) -> Option<(u32, u32, i64)> {
        let (behind, most_ns) = self.shortest_ns.iter().max_by_key(|(_, ns)| **ns)?;
        let (ahead, least_ns) = self.shortest_ns.iter().min_by_key(|(_, ns)| **ns)?;
        Some((*behind, *ahead, most_ns - least_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const NOW: u64 = 1_700_000_000_000 * MS;

    /// Adds lines of a pod whose clock is `ahead_ms` ahead; `ways_ms` are the delays until they are read.
    fn lines(clocks: &mut Clocks, index: u32, ahead_ms: i64, ways_ms: &[u64]) {
        for (number, way_ms) in (0..).zip(ways_ms) {
            let written = NOW + number * 200 * MS;
            let told_unix_ns = written.saturating_add_signed(ahead_ms * 1_000_000);
            clocks.line(index, told_unix_ns, written + way_ms * MS);
        }
    }

    #[test]
    fn slow_lines_do_not_hide_that_clocks_agree() {
        let mut clocks = Clocks::default();
        lines(&mut clocks, 0, 0, &[300, 4, 90]);
        lines(&mut clocks, 1, 0, &[5, 700, 200]);
        assert_eq!(clocks.furthest_apart(), Some((1, 0, 1_000_000)));
    }

    #[test]
    fn a_clock_that_is_ahead_is_found_with_how_far() {
        let mut clocks = Clocks::default();
        lines(&mut clocks, 0, 0, &[5, 8]);
        lines(&mut clocks, 1, 80, &[9, 5]);
        lines(&mut clocks, 2, -20, &[5]);
        assert_eq!(clocks.furthest_apart(), Some((2, 1, 100_000_000)));
        let ahead: Vec<(u32, i64)> = clocks.ahead_ns().collect();
        assert_eq!(ahead, [(0, 20_000_000), (1, 100_000_000), (2, 0)]);
        assert_eq!(clocks.ours_ahead_ns(), 25_000_000, "20 ms, and 5 ms on the way");
        assert_eq!((Clocks::default().furthest_apart(), Clocks::default().ours_ahead_ns()), (None, 0));
    }
}
