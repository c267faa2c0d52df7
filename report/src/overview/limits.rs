//! What limits each variant: the findings, those of one kind about one variant once for all loads.

use crate::load_words::load_words;
use serde::Serialize;
use threadcount_judge::finding::Finding;
use threadcount_judge::finding::Rule;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::finding::words;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Limit {
    /// The variant; empty: all.
    pub variant: String,
    /// The loads, where the experiment has several and not all show it.
    pub loads: Vec<String>,
    /// The fact with its figures, those of the first load.
    pub sentence: String,
    /// What to try; `None`: as in the line before.
    pub advice: Option<String>,
}

/// With more findings, only the first one of each variant is shown, and [`ALWAYS`].
const MANY: usize = 4;
/// What requests allocate limits nothing by itself, and may be the reason for what does. What a limit of the requests changes, and what
/// happens without one, is the answer where limits are compared.
const ALWAYS: [Rule; 3] = [Rule::Allocation, Rule::RequestBound, Rule::UnboundedRequests];

/// The findings, variant by variant, within a variant as the rules rank them; limits of the load last.
#[must_use]
pub fn limits(document: &ResultDocument) -> Vec<Limit> {
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
    // That the load is the limit says least of a server, and is the first to go where there is no room.
    kinds.sort_by_key(|kind| {
        kind.first().map(|finding| {
            let is_load = finding.rule() == Rule::ClientCeiling;
            let is_of_a_pair = finding.rule() == Rule::RequestBound;
            (is_load, place(&finding.variant).unwrap_or(usize::MAX), !is_of_a_pair)
        })
    });
    if kinds.len() > MANY {
        // The rules rank the findings: the first one of a variant limits it, the others are in the details.
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
    kinds.iter().filter_map(|kind| limit(document, kind, &mut advised)).collect()
}

fn limit(document: &ResultDocument, kind: &[&Finding], advised: &mut Vec<String>) -> Option<Limit> {
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
    let advice = words.advice.filter(|advice| !advised.contains(advice));
    advised.extend(advice.clone());
    Some(Limit {
        variant: first.variant.clone().unwrap_or_default(),
        loads: if everywhere { Vec::new() } else { shown },
        sentence: words.sentence,
        advice,
    })
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
    use threadcount_judge::findings::request_bound::{BoundEffect, RequestBound};
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
        let limits = limits(&ResultDocument { findings: findings.to_vec(), ..made });
        limits.into_iter().map(|limit| (limit.variant, limit.sentence)).collect()
    }

    #[test]
    fn of_many_findings_the_first_of_each_variant_is_shown_and_what_a_limit_of_the_requests_changes() {
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
            fastest_ms: None,
            near_clients: None,
            large_part: None,
            allocates_more_than: None,
        };
        let effect = BoundEffect::Saves {
            goodput_per_s: 300.0,
            unlimited_goodput_per_s: 100.0,
            behind_ms: None,
            unlimited_behind_ms: None,
        };
        let bound = RequestBound { unlimited: "virtual".to_owned(), at_once: 50.0, effect };
        let findings = [
            finding("pool", compiler_waits()),
            finding("virtual", Fact::AcceptQueue(overflow)),
            finding("virtual", Fact::UnboundedRequests(unbounded)),
            finding("virtual", gc()),
            finding("bounded", compiler_waits()),
            finding("bounded", Fact::CpuCeiling(full)),
            finding("bounded", Fact::RequestBound(bound)),
        ];
        let sentence = |place: usize| words(&findings[place]).sentence;
        let expected = [
            ("pool", sentence(0)),
            ("virtual", sentence(1)),
            ("virtual", sentence(2)),
            ("bounded", sentence(6)),
            ("bounded", sentence(4)),
        ];
        assert_eq!(shown(&findings), expected.map(|(variant, it)| (variant.to_owned(), it)));
    }

    #[test]
    fn few_findings_are_all_shown() {
        assert_eq!(shown(&[finding("pool", compiler_waits()), finding("pool", gc())]).len(), 2);
    }
}
