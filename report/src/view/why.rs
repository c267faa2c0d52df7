//! The reasons for the figures, merging findings of one kind about one variant over all loads, and what to try next.

use super::answer::asked;
use super::headline::of_load;
use super::load::LoadView;
use crate::crossover::forecast_words;
use crate::load_words::load_words;
use crate::request_time::RequestTimeWords;
use serde::Serialize;
use threadcount_judge::finding::{Finding, Rule};
use threadcount_judge::forecast;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::finding::words;
use threadcount_model::comparison::Verdict;
use threadcount_model::experiment::{LoadSpec, PoolSize, Server, ThreadKind, Threads, Variant};
use threadcount_stats::decision::Decision;

/// A reason for a variant's figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The variant; empty for all variants.
    pub variant: String,
    /// The loads that show it, if the experiment has several and not all do.
    pub loads: Vec<String>,
    /// The fact alone, for places with little room.
    pub brief: String,
    /// The fact with the figures of the first load.
    pub sentence: String,
    /// The advice; `None` if the line before advises the same or it was already measured.
    pub advice: Option<String>,
}

impl Reason {
    /// `platform (400 clients)`, `all variants`.
    #[must_use]
    pub fn about(&self) -> String {
        let name = if self.variant.is_empty() { "all variants" } else { &self.variant };
        let loads =
            if self.loads.is_empty() { String::new() } else { format!(" ({})", self.loads.join(", ")) };
        format!("{name}{loads}")
    }
}

/// With more findings than this, only each variant's first one and those of [`ALWAYS`] are shown.
const MANY: usize = 4;
/// Rules that are always shown: allocation limits nothing by itself but may cause the limit, and requests that fill the heap need a limit
/// on them.
const ALWAYS: [Rule; 2] = [Rule::Allocation, Rule::UnboundedRequests];

/// The reasons, variant by variant, ranked by rule within each; limits of the load come last.
#[must_use]
pub fn reasons(document: &ResultDocument) -> Vec<Reason> {
    let mut kinds: Vec<Vec<&Finding>> = Vec::new();
    for finding in &document.findings {
        let same = |known: &&mut Vec<&Finding>| {
            known.iter().any(|other| (other.rule(), &other.variant) == (finding.rule(), &finding.variant))
        };
        match kinds.iter_mut().find(same) {
            Some(known) => known.push(finding),
            None => kinds.push(vec![finding]),
        }
    }
    let place = |name: &Option<String>| {
        document.experiment.variants.iter().position(|variant| Some(&variant.name) == name.as_ref())
    };
    // A limit of the load tells least about a server, so it comes last and is dropped first when room is short.
    kinds.sort_by_key(|kind| {
        kind.first().map(|finding| {
            let is_load = finding.rule() == Rule::ClientCeiling;
            (is_load, place(&finding.variant).unwrap_or(usize::MAX))
        })
    });
    if kinds.len() > MANY {
        // The rules rank the findings: the first finding of a variant is its limit, and the details list the others.
        let mut variants = Vec::new();
        kinds.retain(|kind| {
            if kind.first().is_some_and(|finding| ALWAYS.contains(&finding.rule())) {
                return true;
            }
            let variant = kind.first().and_then(|finding| finding.variant.clone());
            let is_first = !variants.contains(&variant);
            variants.push(variant);
            is_first
        });
    }
    let mut advised: Vec<String> = Vec::new();
    kinds.iter().filter_map(|kind| reason(document, kind, &mut advised)).collect()
}

fn reason(document: &ResultDocument, kind: &[&Finding], advised: &mut Vec<String>) -> Option<Reason> {
    let first = kind.first()?;
    let loads = &document.experiment.loads;
    let ran = loads.iter().filter(|load| {
        document.records.iter().any(|record| {
            record.load == load.name && first.variant.as_ref().is_none_or(|name| *name == record.variant)
        })
    });
    let shown = loads.iter().filter(|load| kind.iter().any(|it| it.load.as_ref() == Some(&load.name)));
    let shown: Vec<String> = shown.map(load_words).collect();
    let everywhere = shown.len() >= ran.count();
    let words = words(first);
    // More clients would find the limit, but the question is already answered.
    let is_about_load = first.rule() == Rule::ClientCeiling;
    let is_decided = || asked(document).is_some_and(|(_, it)| it != Decision::NotKnownYet);
    let is_idle = || is_measured(document, kind) || (is_about_load && is_decided());
    let is_new = |advice: &String| !advised.contains(advice) && !is_idle();
    let advice = words.advice.filter(is_new);
    advised.extend(advice.clone());
    Some(Reason {
        variant: first.variant.clone().unwrap_or_default(),
        loads: if everywhere { Vec::new() } else { shown },
        brief: words.brief,
        sentence: words.sentence,
        advice,
    })
}

/// Whether this experiment already tried what the findings advise.
fn is_measured(document: &ResultDocument, kind: &[&Finding]) -> bool {
    let load_of = |finding: &Finding| document.experiment.load(finding.load.as_ref()?);
    kind.iter().all(|finding| match (finding.rule(), load_of(finding)) {
        (Rule::PoolCeiling, Some(load)) => has_other_threads(document, load, finding.variant.as_deref()),
        (Rule::ClientCeiling, Some(load)) => has_more_clients(document, load, finding.variant.as_deref()),
        _ => false,
    })
}

/// Whether a larger pool or another kind of thread was compared with this variant's pool under this load.
fn has_other_threads(document: &ResultDocument, load: &LoadSpec, variant: Option<&str>) -> bool {
    let Some(variant) = variant.and_then(|name| document.experiment.variant(name)) else { return false };
    let of_pair = |other: &str| document.experiment.variant(other);
    of_load(document, load).iter().any(|headline| {
        let pair = [&headline.comparison.variant, &headline.comparison.baseline].map(|name| of_pair(name));
        let [Some(a), Some(b)] = pair else { return false };
        let other = if a.name == variant.name { b } else { a };
        [&a.name, &b.name].contains(&&variant.name)
            && headline.ratio.verdict != Verdict::NotEnoughRuns
            && is_alternative(other, document, load)
    })
}

fn is_alternative(other: &Variant, document: &ResultDocument, load: &LoadSpec) -> bool {
    match other.server().and_then(Server::threads) {
        Some(Threads::Platform(size)) => *size != PoolSize::Default,
        Some(_) => true,
        None => {
            let run = document.runs_of(&other.name, &load.name).next();
            let thread = run.and_then(|run| run.server.request_thread.as_ref());
            thread.is_some_and(|thread| thread.kind() == ThreadKind::Virtual)
        }
    }
}

/// Whether the variant was also measured with more clients.
fn has_more_clients(document: &ResultDocument, load: &LoadSpec, variant: Option<&str>) -> bool {
    let ran = |other: &&LoadSpec| {
        document.records.iter().any(|it| it.load == other.name && Some(it.variant.as_str()) == variant)
    };
    let mut others = document.experiment.loads.iter().filter(ran);
    others.any(|other| other.workload.is_closed() && other.workload.clients() > load.workload.clients())
}

/// A reason on the first screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WhyLine {
    /// `platform (400 clients)`; empty if the sentence names it.
    pub about: String,
    /// The reason without a full stop.
    pub sentence: String,
}

/// Sentences that name what they are about, as reasons.
pub(super) fn as_lines(sentences: &[String]) -> Vec<WhyLine> {
    let line = |it: &String| WhyLine { about: String::new(), sentence: it.trim_end_matches('.').to_owned() };
    sentences.iter().map(line).collect()
}

/// The capacities found, the first reason, where its variant's requests spend their time, and the other reasons.
pub(super) fn in_brief(loads: &[LoadView], reasons: &[Reason]) -> Vec<WhyLine> {
    let capacity = loads.iter().flat_map(|load| &load.capacity);
    let mut lines = as_lines(&capacity.cloned().collect::<Vec<_>>());
    lines.extend(reasons.iter().map(|it| WhyLine { about: it.about(), sentence: it.brief.clone() }));
    let times: Vec<(&LoadView, &RequestTimeWords)> =
        loads.iter().flat_map(|load| load.request_times.iter().map(move |time| (load, time))).collect();
    let first = reasons.first().map(|it| it.variant.as_str());
    let of_first = times.iter().find(|(_, time)| Some(time.variant.as_str()) == first);
    if let Some((load, time)) = of_first.or_else(|| times.first()) {
        let about = format!("{} ({})", time.variant, load.words);
        lines.insert(lines.len().min(1), WhyLine { about, sentence: time.brief.clone() });
    }
    lines
}

/// The forecast what virtual threads would change, made from the first load of the baseline alone; `None` if the experiment has no virtual
/// threads.
pub(super) fn expected(document: &ResultDocument) -> Option<WhyLine> {
    document.experiment.loads.iter().find_map(|load| {
        document.experiment.virtual_variant(load)?;
        let baseline = &document.experiment.baseline(load)?.name;
        let expected = forecast::of_runs(document, baseline, load)?;
        let about = format!("{baseline} ({})", load_words(load));
        Some(WhyLine { about: String::new(), sentence: forecast_words(&about, &expected) })
    })
}

/// The advice, then what remains to be measured, in sentences without a full stop.
pub(super) fn next(reasons: &[Reason], open: &[String]) -> Vec<String> {
    let advised = reasons.iter().filter_map(|it| Some(format!("{}: {}", it.about(), it.advice.as_ref()?)));
    advised.chain(open.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::document;
    use threadcount_judge::evidence::cpu_use::CpuUse;
    use threadcount_judge::finding::Fact;
    use threadcount_judge::findings::accept_queue::AcceptQueueOverflow;
    use threadcount_judge::findings::compiler_waits::CompilerWaits;
    use threadcount_judge::findings::cpu_ceiling::CpuCeiling;
    use threadcount_judge::findings::gc::GcPauses;
    use threadcount_judge::findings::unbounded_requests::UnboundedRequests;

    fn finding(variant: &str, fact: Fact) -> Finding {
        Finding { variant: Some(variant.to_owned()), load: None, runs: None, fact }
    }

    fn compiler_waits() -> Fact {
        Fact::CompilerWaits(CompilerWaits {
            waiting_threads: 1.0,
            running_threads: 0.2,
            machine_cpu_cores: 2.0,
            machine_cores: 2.0,
            warmed_up: Some(true),
        })
    }

    fn gc() -> Fact {
        Fact::Gc(GcPauses {
            paused_share: 0.2,
            pauses_per_run: 9.0,
            longest_pause_ms: 90.0,
            slow_seconds: None,
            tail: None,
            allocates_more_than: None,
        })
    }

    fn shown(findings: &[Finding]) -> Vec<(String, String)> {
        let made = document("{pool: {}, virtual: {}, bounded: {}}", "[{clients: 4, duration: 1s}]", &[]);
        let reasons = reasons(&ResultDocument { findings: findings.to_vec(), ..made });
        reasons.into_iter().map(|it| (it.variant, it.sentence)).collect()
    }

    #[test]
    fn of_many_findings_the_first_of_each_variant_is_shown_and_those_that_may_cause_it() {
        let overflow = AcceptQueueOverflow { overflows: 7, syn_retransmits: 9, clients: 4 };
        let unbounded = UnboundedRequests {
            virtual_thread_stacks: 900.0,
            live_bytes: 5e8,
            heap_bytes: 5.12e8,
            least_variant: "pool".to_owned(),
            least_live_bytes: 1e8,
        };
        let full = CpuCeiling {
            cpu: CpuUse::default(),
            rate_per_s: None,
            large_part: None,
            allocates_more_than: None,
            busiest_other: None,
        };
        let findings = [
            finding("pool", compiler_waits()),
            finding("virtual", Fact::AcceptQueue(overflow)),
            finding("virtual", Fact::UnboundedRequests(unbounded)),
            finding("virtual", gc()),
            finding("bounded", compiler_waits()),
            finding("bounded", Fact::CpuCeiling(full)),
        ];
        let sentence = |place: usize| words(&findings[place]).sentence;
        let expected = [
            ("pool", sentence(0)),
            ("virtual", sentence(1)),
            ("virtual", sentence(2)),
            ("bounded", sentence(4)),
        ];
        assert_eq!(shown(&findings), expected.map(|(variant, it)| (variant.to_owned(), it)));
    }

    #[test]
    fn few_findings_are_all_shown() {
        assert_eq!(shown(&[finding("pool", compiler_waits()), finding("pool", gc())]).len(), 2);
    }
}
