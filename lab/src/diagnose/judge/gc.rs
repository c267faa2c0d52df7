//! Most of the time goes into collections.

use crate::diagnose::evidence::Evidence;
use crate::diagnose::verdict::Verdict;

/// A healthy JVM is below a tenth.
const MUCH: f64 = 0.5;

pub(super) fn judge(evidence: &Evidence) -> Option<Verdict> {
    let (before, after) = evidence.gc?;
    let share = (after.seconds - before.seconds) / evidence.seconds.max(0.001);
    let collections = after.collections.saturating_sub(before.collections);
    let (used_bytes, most_bytes) = (after.used_bytes, after.most_bytes);
    (share >= MUCH && collections > 1).then_some(Verdict::GcThrashing {
        share: share.min(1.0),
        collections,
        used_bytes,
        most_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::gc_use::GcCounters;

    fn evidence(seconds: f64) -> Evidence {
        let after = GcCounters { seconds, collections: 40, used_bytes: 9, most_bytes: 10 };
        Evidence { seconds: 4.0, gc: Some((GcCounters::default(), after)), ..Evidence::default() }
    }

    #[test]
    fn three_of_four_seconds_are_thrashing_and_one_is_not() {
        assert!(matches!(judge(&evidence(3.0)), Some(Verdict::GcThrashing { share, .. }) if share == 0.75));
        assert_eq!(judge(&evidence(1.0)), None);
        assert_eq!(judge(&Evidence::default()), None, "no performance data");
    }
}
