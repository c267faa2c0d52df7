//! Sorts doubts by importance and groups doubts of one kind.

use std::cmp::Ordering;
use threadcount_model::doubt::Doubt;

/// Sorts by importance; doubts of one kind by severity, the worst first.
pub(super) fn worst_first(a: &Doubt, b: &Doubt) -> Ordering {
    let (a, b) = (&a.reason, &b.reason);
    a.rank().cmp(&b.rank()).then(b.severity().total_cmp(&a.severity()))
}

/// The doubts by importance; several of one kind about the same variant and load become the worst one, with the number of runs.
pub(super) fn grouped(mut doubts: Vec<Doubt>) -> Vec<Doubt> {
    doubts.sort_by(worst_first);
    let mut groups: Vec<Doubt> = Vec::new();
    for doubt in doubts {
        let same = |group: &&mut Doubt| {
            (group.reason.rank(), &group.variant, &group.load)
                == (doubt.reason.rank(), &doubt.variant, &doubt.load)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.runs += doubt.runs,
            None => groups.push(doubt),
        }
    }
    groups
}
