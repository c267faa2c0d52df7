//! Response time against throughput: over the loads of an experiment, and over the steps of a search for the capacity.

use super::SweepPoint;
use super::lines::rounded;
use crate::compare::metric::Metric;
use crate::experiment::LoadKind;
use crate::record::Record;
use crate::record::capacity::{CapacityStep, StepVerdict};
use crate::report::figures;
use crate::report::published::mean;
use crate::report::summary::load_words;
use crate::result::ResultDocument;

/// One point for each variant and load, the search for a capacity aside: its rate is not one that was chosen.
pub fn loads(document: &ResultDocument, variants: &[String]) -> Vec<SweepPoint> {
    let mut points = Vec::new();
    let chosen = document.experiment.loads.iter().filter(|load| !matches!(load.kind, LoadKind::Capacity(_)));
    for load in chosen {
        for (index, variant) in variants.iter().enumerate() {
            let figure = |metric| mean(document, variant, &load.name, metric).map(rounded);
            let figures = (figure(Metric::Rate), figure(Metric::P50), figure(Metric::P99));
            if let (Some(rate_per_s), Some(p50_ms), Some(p99_ms)) = figures {
                points.push(SweepPoint {
                    variant: index,
                    load: load_words(load),
                    rate_per_s,
                    p50_ms,
                    p99_ms,
                });
            }
        }
    }
    points
}

/// Every step of every round, by rate. A step without an answer has no times and is left out.
pub fn steps(document: &ResultDocument, variants: &[String]) -> Vec<SweepPoint> {
    let mut points = Vec::new();
    for (index, variant) in variants.iter().enumerate() {
        let mine = |record: &&Record| record.variant == *variant;
        let searches = document.records.iter().filter(mine).filter_map(|record| record.capacity.as_ref());
        let mut steps: Vec<SweepPoint> =
            searches.flat_map(|search| &search.steps).filter_map(|step| point(index, step)).collect();
        steps.sort_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
        points.extend(steps);
    }
    points
}

fn point(variant: usize, step: &CapacityStep) -> Option<SweepPoint> {
    let verdict = match step.verdict {
        StepVerdict::Sustained => "sustained",
        StepVerdict::Broken => "not sustained",
        StepVerdict::Generator => "the generator was the bottleneck",
    };
    Some(SweepPoint {
        variant,
        load: format!("{}/s asked: {verdict}", figures::number(step.asked_per_s)),
        rate_per_s: rounded(step.reached_per_s),
        p50_ms: rounded(step.p50_ms?),
        p99_ms: rounded(step.p99_ms?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_a_point_with_its_verdict_and_one_without_answers_is_none() {
        let step = CapacityStep {
            asked_per_s: 4_000.0,
            reached_per_s: 3_912.4,
            length_s: 3.0,
            p50_ms: Some(52.0),
            p99_ms: Some(340.0),
            max_ms: None,
            failed: 0,
            cpu_cores: None,
            generator_share: 0.1,
            verdict: StepVerdict::Broken,
            why: None,
        };
        let found = point(1, &step).unwrap();
        assert_eq!((found.load.as_str(), found.rate_per_s), ("4,000/s asked: not sustained", 3_912.0));
        assert_eq!((found.p50_ms, found.p99_ms), (52.0, 340.0));
        assert_eq!(point(1, &CapacityStep { p99_ms: None, ..step }), None);
    }
}
