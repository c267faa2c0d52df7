//! When the threads of a JVM were stopped, by reason.

use super::intervals::Interval;

/// The stops by reason, each list in the order of time and without touching intervals. The first three do not overlap each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stops {
    /// The time until the last thread had stopped.
    pub to_safepoint: Vec<Interval>,
    /// Stopped for the collector.
    pub gc: Vec<Interval>,
    /// Stopped for another reason.
    pub other: Vec<Interval>,
    /// Time in which at least one thread waited for memory.
    pub stalls: Vec<Interval>,
}

impl Stops {
    /// Combines the collector's pauses, which may include the time to stop (ZGC), and whole safepoints. The time of a safepoint before and
    /// after the collector's pause counts as collection.
    #[must_use]
    pub fn new(
        gc: &[Interval],
        safepoints: &[Interval],
        to_safepoint: Vec<Interval>,
        stalls: Vec<Interval>,
    ) -> Self {
        let (for_gc, for_others): (Vec<Interval>, Vec<Interval>) =
            safepoints.iter().partition(|safepoint| touches(safepoint, gc));
        let beside = without(gc, &for_gc);
        let mut all_for_gc = for_gc;
        all_for_gc.extend(beside);
        all_for_gc.sort_by_key(|interval| interval.from_ns);
        Self {
            gc: without(&all_for_gc, &to_safepoint),
            other: without(&for_others, &to_safepoint),
            to_safepoint,
            stalls,
        }
    }
}

/// Whether `one` overlaps any of `intervals`, which are in the order of time and do not overlap each other.
fn touches(one: &Interval, intervals: &[Interval]) -> bool {
    let first = intervals.partition_point(|it| it.to_ns <= one.from_ns);
    intervals.get(first).is_some_and(|it| it.from_ns < one.to_ns)
}

/// The parts of `whole` that lie in none of `parts`. Each list is in the order of time, without overlaps.
fn without(whole: &[Interval], parts: &[Interval]) -> Vec<Interval> {
    let mut rest = Vec::new();
    let mut first = 0;
    for &interval in whole {
        let mut from_ns = interval.from_ns;
        while parts.get(first).is_some_and(|part| part.to_ns <= interval.from_ns) {
            first += 1;
        }
        for part in parts[first..].iter().take_while(|part| part.from_ns < interval.to_ns) {
            if part.from_ns > from_ns {
                rest.push(Interval { from_ns, to_ns: part.from_ns });
            }
            from_ns = from_ns.max(part.to_ns);
        }
        if from_ns < interval.to_ns {
            rest.push(Interval { from_ns, to_ns: interval.to_ns });
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intervals(all: &[(u64, u64)]) -> Vec<Interval> {
        all.iter().map(|&(from_ns, to_ns)| Interval { from_ns, to_ns }).collect()
    }

    #[test]
    fn a_safepoint_is_for_the_collector_or_for_another_reason_and_the_way_there_is_neither() {
        let safepoints = intervals(&[(10, 50), (100, 130), (200, 220)]);
        let to_safepoint = intervals(&[(10, 20), (100, 125), (200, 201)]);
        // The second stops for no collection; the third is one whose pause the collector times with the way there.
        let gc = intervals(&[(22, 48), (200, 220)]);
        let stops = Stops::new(&gc, &safepoints, to_safepoint.clone(), Vec::new());
        assert_eq!(stops.gc, intervals(&[(20, 50), (201, 220)]));
        assert_eq!(stops.other, intervals(&[(125, 130)]));
        assert_eq!(stops.to_safepoint, to_safepoint);
    }
}
