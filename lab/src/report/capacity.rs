//! Capacity in words: the highest sustainable rate of each variant, and why it is not higher.

use crate::model::experiment::{LoadKind, LoadSpec};
use crate::model::metric::Metric;
use crate::model::record::Record;
use crate::model::record::capacity::{CapacitySearch, SearchEnd};
use crate::model::result::ResultDocument;
use crate::report::figures as words;
use crate::stats::runs::{complete, figures, mean};

/// One sentence for each variant that was searched, in the experiment's order; none for other loads.
#[must_use]
pub fn sentences(document: &ResultDocument, load: &LoadSpec) -> Vec<String> {
    let LoadKind::Capacity(capacity) = load.kind else { return Vec::new() };
    let variants = document.experiment.variants.iter();
    let said = variants.filter_map(|variant| {
        let name = variant.name.as_str();
        let searched: Vec<&Record> =
            document.runs_of(name, &load.name).filter(|record| record.capacity.is_some()).collect();
        let last = searched.last()?.capacity.as_ref()?;
        let found = figures(&complete(&document.records, name, &load.name), Metric::Capacity);
        Some(match mean(&found) {
            Some(mean) => sustained(name, mean, &found, &capacity.limit_in_words(), last),
            None => not_found(name, &searched),
        })
    });
    said.collect()
}

fn sustained(name: &str, mean: f64, found: &[f64], limit: &str, last: &CapacitySearch) -> String {
    let rate = words::figure(Metric::Capacity, mean);
    let lowest = found.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = found.iter().copied().fold(0.0, f64::max);
    let rounds = match found.len() {
        1 => "in one round".to_owned(),
        rounds => format!("{} to {} in {rounds} rounds", words::number(lowest), words::number(highest)),
    };
    let why = match last.ended {
        SearchEnd::Found | SearchEnd::Silent => format!("; {}", last.why),
        _ => String::new(),
    };
    format!("{name}: capacity {rate}, the highest sustainable rate with {limit} ({rounds}){why}")
}

/// No round found the server's own bound: the best that is known.
fn not_found(name: &str, searched: &[&Record]) -> String {
    let searches = searched.iter().filter_map(|record| record.capacity.as_ref());
    let best =
        searches.max_by(|a, b| a.sustained_per_s.unwrap_or(0.0).total_cmp(&b.sustained_per_s.unwrap_or(0.0)));
    let Some(best) = best else { return format!("{name} was not searched") };
    let CapacitySearch { limit, why, .. } = best;
    match (best.sustained_per_s.map(|rate| words::figure(Metric::Capacity, rate)), best.ended) {
        (Some(rate), SearchEnd::Generator) => {
            format!(
                "{name}: capacity {rate} or more with {limit}; the load generator was the bottleneck above it ({why})"
            )
        }
        (Some(rate), SearchEnd::Ceiling | SearchEnd::Silent) => {
            format!("{name}: capacity {rate} or more with {limit}; {why}")
        }
        (Some(rate), _) => format!("{name}: capacity probably {rate} with {limit}; {why}"),
        (None, _) => format!("{name}: no sustainable rate with {limit}; {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::document;
    use crate::stats::sample::run;

    fn searched(variant: &str, sustained_per_s: Option<f64>, ended: SearchEnd, why: &str) -> Record {
        let limit = "p99 within 200 ms".to_owned();
        let search = CapacitySearch { limit, sustained_per_s, ended, why: why.to_owned(), steps: Vec::new() };
        Record { capacity: Some(search), ..run(variant, "capacity", 3_900.0, 60.0) }
    }

    fn said(records: Vec<Record>) -> Vec<String> {
        let document = document("{platform: {}, virtual: {}}", "[{capacity: {p99: 200ms}}]", &records);
        sentences(&document, &document.experiment.loads[0])
    }

    #[test]
    fn each_variant_says_what_it_sustains_and_what_stood_in_the_way() {
        let records = vec![
            searched("virtual", Some(9_300.0), SearchEnd::Found, "at 9900/s p99 was 312 ms"),
            searched("platform", Some(3_900.0), SearchEnd::Found, "at 4100/s p99 was 900 ms"),
            searched("virtual", Some(9_500.0), SearchEnd::Found, "at 9950/s p99 was 313 ms"),
        ];
        assert_eq!(
            said(records),
            [
                "platform: capacity 3,900/s, the highest sustainable rate with p99 within 200 ms (in one round); at 4100/s p99 was 900 ms",
                "virtual: capacity 9,400/s, the highest sustainable rate with p99 within 200 ms (9,300 to 9,500 in 2 rounds); at 9950/s p99 was 313 ms",
            ]
        );
    }

    #[test]
    fn a_bound_that_is_not_the_servers_is_said_to_be_none() {
        let generator =
            searched("virtual", Some(8_000.0), SearchEnd::Generator, "at 9000/s it used 97 % of a core");
        let ceiling = searched(
            "platform",
            Some(5_000.0),
            SearchEnd::Ceiling,
            "no higher rate may be tried; raise `to:`",
        );
        assert_eq!(
            said(vec![generator, ceiling]),
            [
                "platform: capacity 5,000/s or more with p99 within 200 ms; no higher rate may be tried; raise `to:`",
                "virtual: capacity 8,000/s or more with p99 within 200 ms; the load generator was the bottleneck above \
                 it (at 9000/s it used 97 % of a core)",
            ]
        );
    }
}
