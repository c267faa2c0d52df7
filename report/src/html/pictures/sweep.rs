//! Response time against throughput over the loads of an experiment, and against the rate over the steps of a capacity search.

use super::lines::{median, rounded};
use crate::load_words::load_words;
use serde::Serialize;
use threadcount_judge::result::ResultDocument;
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;
use threadcount_model::record::capacity::{CapacityStep, StepVerdict};

/// One variant under one load (means over the runs), or one step of a capacity search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepPoint {
    pub variant: usize,
    /// The load or the step in words.
    pub load: String,
    /// Requests per second: completed ones under a load, requested ones at a step.
    pub rate_per_s: f64,
    /// Median response time, ms.
    pub p50_ms: f64,
    /// 99th percentile, ms.
    pub p99_ms: f64,
}

/// One point per variant and load, except for capacity searches, whose rate nobody chose.
pub fn loads(document: &ResultDocument, variants: &[String]) -> Vec<SweepPoint> {
    let mut points = Vec::new();
    let chosen = document.experiment.loads.iter().filter(|load| load.workload.capacity().is_none());
    for load in chosen {
        for (index, variant) in variants.iter().enumerate() {
            let figure = |metric| document.mean(variant, &load.name, metric).map(rounded);
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

/// The limit of the capacity search, ms, if it applies to a metric that is drawn.
pub fn limit_ms(document: &ResultDocument) -> Option<f64> {
    document.experiment.loads.iter().find_map(|load| {
        let capacity = load.workload.capacity()?;
        matches!(capacity.metric, Metric::P50 | Metric::P99).then_some(capacity.limit_ms)
    })
}

/// One point per variant and requested rate: the median over the steps of all rounds. Steps without a response have no
/// times and are left out.
pub fn steps(document: &ResultDocument, variants: &[String]) -> Vec<SweepPoint> {
    let mut points = Vec::new();
    for (index, variant) in variants.iter().enumerate() {
        let mine = |record: &&Record| record.variant == *variant;
        let searches = document.records.iter().filter(mine).filter_map(|record| record.capacity.as_ref());
        let mut steps: Vec<&CapacityStep> = searches.flat_map(|search| &search.steps).collect();
        steps.sort_by(|a, b| a.asked_per_s.total_cmp(&b.asked_per_s));
        let by_rate = steps.chunk_by(|a, b| a.asked_per_s.total_cmp(&b.asked_per_s).is_eq());
        points.extend(by_rate.filter_map(|steps| point(index, steps)));
    }
    points
}

fn point(variant: usize, steps: &[&CapacityStep]) -> Option<SweepPoint> {
    let sustained = steps.iter().filter(|step| step.verdict == StepVerdict::Sustained).count();
    let median_of = |figure: fn(&CapacityStep) -> Option<f64>| {
        median(steps.iter().filter_map(|step| figure(step)).collect())
    };
    Some(SweepPoint {
        variant,
        load: format!("sustained in {sustained} of {}", figures::plural(steps.len(), "step")),
        rate_per_s: rounded(steps.first()?.asked_per_s),
        p50_ms: median_of(|step| step.p50_ms)?,
        p99_ms: median_of(|step| step.p99_ms)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::sample;

    fn step(p99_ms: Option<f64>, verdict: StepVerdict) -> CapacityStep {
        CapacityStep {
            reached_per_s: 3_912.4,
            p50_ms: Some(52.0),
            p99_ms,
            ..sample::step(4_000.0, verdict, None)
        }
    }

    #[test]
    fn the_steps_at_one_rate_are_one_point_with_their_median_and_their_verdicts() {
        let steps = [
            step(Some(340.0), StepVerdict::Broken),
            step(Some(60.0), StepVerdict::Sustained),
            step(Some(900.0), StepVerdict::Generator),
            step(None, StepVerdict::Broken),
        ];
        let found = point(1, &steps.each_ref()).unwrap();
        assert_eq!((found.load.as_str(), found.rate_per_s), ("sustained in 1 of 4 steps", 4_000.0));
        assert_eq!((found.p50_ms, found.p99_ms), (52.0, 340.0));
        assert_eq!(point(1, &[&steps[3]]), None);
    }
}
