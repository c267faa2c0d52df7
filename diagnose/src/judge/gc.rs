//! Finds a JVM that spends most of its time in collections which hardly free memory.

use crate::evidence::Evidence;
use crate::verdict::Verdict;

/// The least share of the time in collections; a healthy JVM is below a tenth.
const MUCH: f64 = 0.5;
/// The heap must be this full after collections, or they have made room.
const FULL: f64 = 0.7;
const COLLECTIONS: u64 = 3;

pub(super) fn judge(evidence: &Evidence) -> Option<Verdict> {
    let (before, after) = (evidence.gc.first()?, evidence.gc.last()?);
    let share = (after.seconds - before.seconds) / evidence.seconds.max(0.001);
    let collections = after.collections.saturating_sub(before.collections);
    // A single burst of collections is no thrashing, so most of the intervals must have some.
    let intervals = evidence.gc.windows(2);
    let busy = intervals.filter(|it| it[1].collections > it[0].collections).count();
    let is_spread = busy >= 2 && 2 * busy >= evidence.gc.len() - 1;
    let is_full = evidence.gc.iter().rev().take(2).all(|it| it.fullness() >= FULL);
    let is_thrashing = share >= MUCH && collections >= COLLECTIONS && is_spread && is_full;
    is_thrashing.then_some(Verdict::GcThrashing {
        share: share.min(1.0),
        collections,
        used_bytes: after.used_bytes,
        most_bytes: after.most_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gc_use::GcCounters;

    fn evidence(seconds: f64, collections: [u64; 3], used_bytes: u64) -> Evidence {
        let moment = |collections, share: f64| GcCounters {
            seconds: seconds * share,
            collections,
            used_bytes,
            most_bytes: 10,
        };
        let after = collections.into_iter().zip([0.3, 0.6, 1.0]).map(|(it, share)| moment(it, share));
        let gc = [moment(0, 0.0)].into_iter().chain(after).collect();
        Evidence { seconds: 4.0, gc, ..Evidence::default() }
    }

    #[test]
    fn three_of_four_seconds_are_thrashing_and_one_is_not() {
        let thrashes = evidence(3.0, [10, 20, 40], 9);
        assert!(matches!(judge(&thrashes), Some(Verdict::GcThrashing { share, .. }) if share == 0.75));
        assert_eq!(judge(&evidence(1.0, [10, 20, 40], 9)), None);
        assert_eq!(judge(&Evidence::default()), None, "no performance data");
    }

    #[test]
    fn one_long_collection_a_burst_and_collections_that_make_room_are_none() {
        assert_eq!(judge(&evidence(3.0, [0, 1, 2], 9)), None, "two long ones");
        assert_eq!(judge(&evidence(3.0, [0, 0, 40], 9)), None, "all at once");
        assert_eq!(judge(&evidence(3.0, [10, 20, 40], 5)), None, "half of the heap is free");
    }
}
