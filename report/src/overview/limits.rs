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
    use threadcount_judge::finding::{Explanation, FindingText};

    fn finding(variant: &str, rule: Rule) -> Finding {
        let sentence = format!("{rule:?}");
        let text = FindingText { rule, sentence, evidence: Vec::new(), advice: None };
        Finding {
            variant: Some(variant.to_owned()),
            load: None,
            runs: None,
            explanation: Explanation::Text(text),
        }
    }

    fn shown(findings: Vec<Finding>) -> Vec<String> {
        let made = document("{pool: {}, virtual: {}, bounded: {}}", "[{clients: 4, duration: 1s}]", &[]);
        let limits = limits(&ResultDocument { findings, ..made });
        limits.into_iter().map(|limit| format!("{} {}", limit.variant, limit.sentence)).collect()
    }

    #[test]
    fn of_many_findings_the_first_of_each_variant_is_shown_and_what_a_limit_of_the_requests_changes() {
        let findings = vec![
            finding("pool", Rule::CompilerWaits),
            finding("virtual", Rule::AcceptQueue),
            finding("virtual", Rule::UnboundedRequests),
            finding("virtual", Rule::Gc),
            finding("bounded", Rule::CompilerWaits),
            finding("bounded", Rule::CpuCeiling),
            finding("bounded", Rule::RequestBound),
        ];
        let expected = [
            "pool CompilerWaits",
            "virtual AcceptQueue",
            "virtual UnboundedRequests",
            "bounded RequestBound",
            "bounded CompilerWaits",
        ];
        assert_eq!(shown(findings), expected);
    }

    #[test]
    fn few_findings_are_all_shown() {
        let findings = vec![finding("pool", Rule::CompilerWaits), finding("pool", Rule::Gc)];
        assert_eq!(shown(findings), ["pool CompilerWaits", "pool Gc"]);
    }
}
