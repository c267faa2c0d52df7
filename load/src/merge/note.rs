//! The notes that a reader of a merged result needs, in words.

use super::MOST_SKEW_NS;
use super::pod::Pod;
use crate::health::Bottleneck;
use crate::setting::{Setting, SettingName};
use std::collections::BTreeMap;
use std::fmt;

/// The largest number of names in a sentence.
const MOST_NAMED: usize = 4;

/// A warning about a merged result.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are the figures of the text")]
#[non_exhaustive]
pub enum MergeNote {
    /// A process had no CPU left, or was late.
    Bottleneck { pod: String, why: Bottleneck, others: usize },
    /// A CPU limit held processes back.
    Throttled { pod: String, throttled_ms: f64, share_of_periods: f64, others: usize },
    /// Shares of which the end is missing.
    Missing { shares: Vec<u32>, count: u32, why: Option<String> },
    /// Shares that ended before the others, but reported what they had measured.
    EndedEarly { shares: Vec<u32>, count: u32, why: Option<String> },
    /// The processes began too far apart.
    Skew { ms: f64 },
    /// Lines of a log were lost on their way.
    LostLines { pod: String, lines: u32, others: usize },
}

/// The notes, the most important first.
pub(super) fn notes(pods: &BTreeMap<u32, Pod>, count: u32, first_unix_ns: u64) -> Vec<MergeNote> {
    let last_unix_ns = pods.values().filter_map(Pod::started_unix_ns).max().unwrap_or(first_unix_ns);
    let skew_ns = last_unix_ns - first_unix_ns;
    let skew = (skew_ns > MOST_SKEW_NS).then_some(MergeNote::Skew { ms: skew_ns as f64 / 1e6 });
    [
        missing(pods, count),
        ended_early(pods, count),
        bottleneck(pods),
        throttled(pods),
        skew,
        lost_lines(pods),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn missing(pods: &BTreeMap<u32, Pod>, count: u32) -> Option<MergeNote> {
    let has_ended = |index: &u32| pods.get(index).is_some_and(Pod::has_ended);
    let shares: Vec<u32> = (0..count).filter(|index| !has_ended(index)).collect();
    let why = shares.iter().find_map(|index| pods.get(index)?.error.clone());
    (!shares.is_empty()).then_some(MergeNote::Missing { shares, count, why })
}

/// The note about shares that ended early. None if all shares were interrupted without a known reason, because then the user did it.
fn ended_early(pods: &BTreeMap<u32, Pod>, count: u32) -> Option<MergeNote> {
    let shares: Vec<u32> =
        pods.iter().filter(|(_, pod)| pod.is_interrupted()).map(|(&index, _)| index).collect();
    let ended = pods.values().filter(|pod| pod.has_ended()).count();
    let why = shares.iter().find_map(|index| pods.get(index)?.error.clone());
    let is_news = shares.len() < ended || why.is_some();
    (!shares.is_empty() && is_news).then_some(MergeNote::EndedEarly { shares, count, why })
}

fn bottleneck(pods: &BTreeMap<u32, Pod>) -> Option<MergeNote> {
    let limited: Vec<_> = pods.values().filter_map(|pod| Some((pod, pod.bottleneck()?))).collect();
    let (worst, why) = limited.iter().max_by(|a, b| a.0.cpu_share().total_cmp(&b.0.cpu_share()))?;
    Some(MergeNote::Bottleneck { pod: worst.name(), why: (*why).clone(), others: limited.len() - 1 })
}

fn throttled(pods: &BTreeMap<u32, Pod>) -> Option<MergeNote> {
    let throttled: Vec<_> = pods.values().filter_map(|pod| Some((pod, pod.throttled()?))).collect();
    let &(pod, (ns, share_of_periods)) = throttled.iter().max_by_key(|(_, (ns, _))| *ns)?;
    let (throttled_ms, others) = (ns as f64 / 1e6, throttled.len() - 1);
    Some(MergeNote::Throttled { pod: pod.name(), throttled_ms, share_of_periods, others })
}

fn lost_lines(pods: &BTreeMap<u32, Pod>) -> Option<MergeNote> {
    let incomplete: Vec<&Pod> = pods.values().filter(|pod| pod.lost_lines > 0).collect();
    let worst = incomplete.iter().max_by_key(|pod| pod.lost_lines)?;
    let (pod, lines, others) = (worst.name(), worst.lost_lines, incomplete.len() - 1);
    Some(MergeNote::LostLines { pod, lines, others })
}

/// The errors of processes that did not reach their end, as one text.
pub(super) fn why_none_ended(pods: &BTreeMap<u32, Pod>) -> String {
    let errors = pods.values().filter_map(|pod| Some(format!("{}: {}", pod.name(), pod.error.as_ref()?)));
    let errors: Vec<String> = errors.take(MOST_NAMED).collect();
    if errors.is_empty() { "their output ends before".to_owned() } else { errors.join("; ") }
}

/// Prints `, and 2 others`.
struct Others(usize);

impl fmt::Display for Others {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            1 => out.write_str(", and 1 other"),
            count => write!(out, ", and {count} others"),
        }
    }
}

/// Prints `shares 1, 2`.
struct Shares<'s>(&'s [u32]);

impl fmt::Display for Shares<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named: Vec<String> = self.0.iter().take(MOST_NAMED).map(u32::to_string).collect();
        let noun = if self.0.len() == 1 { "share" } else { "shares" };
        write!(out, "{noun} {}{}", named.join(", "), Others(self.0.len().saturating_sub(MOST_NAMED)))
    }
}

/// Prints ` (deleted by another client)`.
struct Reason<'w>(Option<&'w str>);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |why| write!(out, " ({why})"))
    }
}

impl MergeNote {
    /// The kind of the warning, in JSON.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            Self::Bottleneck { .. } => "process-limited",
            Self::Throttled { .. } => "process-throttled",
            Self::Missing { .. } => "shares-missing",
            Self::EndedEarly { .. } => "shares-ended-early",
            Self::Skew { .. } => "starts-apart",
            Self::LostLines { .. } => "lines-lost",
        }
    }

    /// The sentence that tells what the note means, and what to do.
    #[must_use]
    pub fn sentence(&self, name: SettingName) -> String {
        match self {
            Self::Bottleneck { pod, why, others } => {
                format!("{pod}{} could not keep up: {}", Others(*others), why.sentence(name))
            }
            Self::Throttled { pod, throttled_ms, share_of_periods, others } => format!(
                "the CPU limit of {pod}{} held the generator back: {throttled_ms:.0} ms in all, in {:.0} % of its \
                 periods. Response times include the waiting. Raise the limit, or use more pods",
                Others(*others),
                share_of_periods * 100.0
            ),
            Self::Missing { shares, count, why } => {
                let verb = if shares.len() == 1 { "is" } else { "are" };
                let there = *count as usize - shares.len();
                format!(
                    "{} of {count} {verb} missing{}: totals and percentiles are those of the other {there}",
                    Shares(shares),
                    Reason(why.as_deref())
                )
            }
            Self::EndedEarly { shares, count, why } => format!(
                "{} of {count} ended early{}: from then on the load was smaller than asked for",
                Shares(shares),
                Reason(why.as_deref())
            ),
            Self::Skew { ms } => format!(
                "the processes began {ms:.0} ms apart (at most {} are allowed). For that time the load was smaller than asked \
                 for. Give them a common start ({}) and set their clocks by NTP",
                MOST_SKEW_NS / 1_000_000,
                name(Setting::StartAt)
            ),
            Self::LostLines { pod, lines, others } => format!(
                "{lines} lines of {pod}{} were lost: seconds are missing in the series; totals and percentiles are whole",
                Others(*others)
            ),
        }
    }
}
