//! How far the clocks of pods are apart, from the times that their lines tell.
//!
//! A line that was written at `t` by a pod's clock is read at `t + offset + way`, and its way is never negative. The shortest of many
//! is close to the shortest way there is, which is about the same for all pods. So the smallest difference between reading
//! and writing, compared between pods, tells how far their clocks are apart, to some milliseconds.

use std::collections::BTreeMap;

/// The smallest differences so far.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    shortest_ns: BTreeMap<u32, i64>,
}

impl Clocks {
    /// A pod wrote a line at `told_unix_ns` by its clock, and it was read at `read_unix_ns` by ours.
    pub fn line(&mut self, index: u32, told_unix_ns: u64, read_unix_ns: u64) {
        let difference_ns =
            i64::try_from(i128::from(read_unix_ns) - i128::from(told_unix_ns)).unwrap_or(i64::MAX);
        let shortest_ns = self.shortest_ns.entry(index).or_insert(difference_ns);
        *shortest_ns = difference_ns.min(*shortest_ns);
    }

    /// How far each pod's clock is ahead of the one that is furthest behind.
    pub fn ahead_ns(&self) -> impl Iterator<Item = (u32, i64)> {
        let behind_ns = self.shortest_ns.values().copied().max().unwrap_or_default();
        self.shortest_ns.iter().map(move |(&index, &shortest_ns)| (index, behind_ns - shortest_ns))
    }

    /// How far our clock is ahead of the pod's that is furthest behind, and the time that a line takes.
    #[must_use]
    pub fn ours_ahead_ns(&self) -> i64 {
        self.shortest_ns.values().copied().max().unwrap_or_default()
    }

    /// The two that are furthest apart: the one behind, the one ahead, and how far.
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

    /// Lines of a pod whose clock is so far ahead, which need these times to be read.
    fn lines(clocks: &mut Clocks, index: u32, ahead_ms: i64, ways_ms: &[u64]) {
        for (number, way_ms) in (0..).zip(ways_ms) {
            let written = NOW + number * 200 * MS;
            let told = written.saturating_add_signed(ahead_ms * 1_000_000);
            clocks.line(index, told, written + way_ms * MS);
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
