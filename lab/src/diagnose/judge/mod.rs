//! Evidence to verdicts.

mod abandoned;
mod deadlock;
mod gc;
mod held_carriers;
mod permits;
mod quiet;
mod stuck;
mod waits;

use super::evidence::Evidence;
use super::verdict::Verdict;

/// What is wrong, the cause of the rest first; never empty.
#[must_use]
pub fn judge(evidence: &Evidence) -> Vec<Verdict> {
    let mut found: Vec<Verdict> = gc::judge(evidence).into_iter().collect();
    found.extend(deadlock::judge(evidence));
    if found.is_empty() {
        found.extend(abandoned::judge(evidence));
    }
    if found.is_empty() {
        found.extend(held_carriers::judge(evidence));
    }
    if found.is_empty() {
        found.extend(permits::judge(evidence));
    }
    if found.is_empty() {
        found.extend(stuck::judge(evidence));
    }
    if found.is_empty() && evidence.unresponsive {
        found.push(Verdict::Unresponsive { seconds: evidence.seconds });
    }
    if found.is_empty() {
        found.push(quiet::judge(evidence));
    }
    found
}
