//! What the periods of a crossover say of each treatment.

use super::quantile::{BlockTimes, quantile_ratio};
use super::{CrossoverRatio, LEAST_BLOCKS, carry_over, ratio, trend};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use threadcount_model::comparison::Verdict;
use threadcount_model::crossover::{Crossover, CrossoverPeriod, ResponseTimes, Treatment, quantile_ms};

/// A session ends when the throughput is known as well as this ...
const PRECISE: f64 = 0.03;
/// ... and not before so many blocks.
pub(super) const LEAST_TO_END: usize = LEAST_BLOCKS + 2;

/// One treatment against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TreatmentComparison {
    pub treatment: Treatment,
    pub rate: CrossoverRatio,
    pub p50: Option<CrossoverRatio>,
    pub p99: Option<CrossoverRatio>,
    pub cpu_per_request: Option<CrossoverRatio>,
    /// The ratio of the rates later in a period by that earlier in it; `None`: no difference found.
    pub carry_over: Option<f64>,
    /// The ratio of the rates later in the session by that earlier in it; `None`: no difference found.
    pub trend: Option<f64>,
}

/// A treatment over the blocks that count: means, and quantiles of all its responses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TreatmentFigures {
    pub treatment: Treatment,
    pub rate_per_s: f64,
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    pub cpu_us_per_request: Option<f64>,
}

type Figure = fn(&CrossoverPeriod) -> Option<f64>;

/// What a crossover found: `threadcount/crossover/1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrossoverDocument {
    /// [`SCHEMA`].
    pub schema: String,
    pub crossover: Crossover,
    /// One per treatment.
    pub figures: Vec<TreatmentFigures>,
    /// Each treatment but the first against the first.
    pub comparisons: Vec<TreatmentComparison>,
}

/// The name and version of the document.
pub const SCHEMA: &str = "threadcount/crossover/1";

impl From<Crossover> for CrossoverDocument {
    fn from(crossover: Crossover) -> Self {
        let (figures, comparisons) = (figures(&crossover), compare(&crossover));
        Self { schema: SCHEMA.to_owned(), crossover, figures, comparisons }
    }
}

/// Each treatment but the first against the first.
#[must_use]
pub fn compare(crossover: &Crossover) -> Vec<TreatmentComparison> {
    let blocks = complete_blocks(crossover);
    let Some((&baseline, others)) = crossover.treatments.split_first() else { return Vec::new() };
    let compared = |&treatment: &Treatment| {
        let of = |figure: Figure| {
            let values = |treatment| {
                blocks.iter().map(|block| mean(block, treatment, figure)).collect::<Option<Vec<f64>>>()
            };
            Some((values(treatment)?, values(baseline)?))
        };
        let ratio_of = |figure: Figure| of(figure).and_then(|(a, b)| ratio(&a, &b));
        let times_of = |treatment| blocks.iter().map(|block| times(block, treatment)).collect::<Vec<_>>();
        let (treated, untreated) = (times_of(treatment), times_of(baseline));
        let quantile = |quantile| quantile_ratio(&treated, &untreated, quantile);
        let ratios_of = |figure: Figure| {
            let (a, b) = of(figure)?;
            Some(a.iter().zip(&b).map(|(a, b)| a / b).collect::<Vec<f64>>())
        };
        let halves =
            ratios_of(|it| Some(it.half_rates_per_s[0])).zip(ratios_of(|it| Some(it.half_rates_per_s[1])));
        Some(TreatmentComparison {
            treatment,
            rate: ratio_of(|it| Some(it.rate_per_s))?,
            p50: quantile(0.5),
            p99: quantile(0.99),
            cpu_per_request: ratio_of(|it| it.cpu_us_per_request),
            carry_over: halves.and_then(|(earlier, later)| carry_over(&earlier, &later)),
            trend: ratios_of(|it| Some(it.rate_per_s)).and_then(|ratios| trend(&ratios)),
        })
    };
    others.iter().filter_map(compared).collect()
}

/// The figures of each treatment.
#[must_use]
pub fn figures(crossover: &Crossover) -> Vec<TreatmentFigures> {
    let blocks = complete_blocks(crossover);
    let of = |&treatment: &Treatment| {
        let geometric = |figure: Figure| {
            let logs: Option<Vec<f64>> =
                blocks.iter().map(|block| mean(block, treatment, figure).map(f64::ln)).collect();
            crate::runs::mean(&logs?).map(f64::exp)
        };
        let all: Vec<&ResponseTimes> = blocks.iter().flat_map(|block| times(block, treatment)).collect();
        let quantile = |quantile| quantile_ms(all.iter().copied(), quantile);
        Some(TreatmentFigures {
            treatment,
            rate_per_s: geometric(|it| Some(it.rate_per_s))?,
            p50_ms: quantile(0.5),
            p99_ms: quantile(0.99),
            cpu_us_per_request: geometric(|it| it.cpu_us_per_request),
        })
    };
    crossover.treatments.iter().filter_map(of).collect()
}

/// Is enough known of every treatment to end the session?
#[must_use]
pub fn is_decided(comparisons: &[TreatmentComparison]) -> bool {
    !comparisons.is_empty()
        && comparisons.iter().all(|it| {
            let times = [it.p50, it.p99].into_iter().flatten();
            is_precise(&it.rate)
                && it.rate.blocks >= LEAST_TO_END
                && times.chain([it.rate]).all(|ratio| ratio.verdict != Verdict::NotEnoughRuns)
        })
}

pub(super) fn is_precise(rate: &CrossoverRatio) -> bool {
    rate.interval.is_some_and(|interval| interval.half_width() <= PRECISE)
}

/// Blocks in which each treatment has two periods that count.
fn complete_blocks(crossover: &Crossover) -> Vec<Vec<&CrossoverPeriod>> {
    let mut blocks: BTreeMap<u32, Vec<&CrossoverPeriod>> = BTreeMap::new();
    for period in crossover.periods.iter().filter(|it| it.left_out.is_none()) {
        blocks.entry(period.block).or_default().push(period);
    }
    let is_complete = |block: &Vec<&CrossoverPeriod>| {
        crossover
            .treatments
            .iter()
            .all(|wanted| block.iter().filter(|it| it.treatment == *wanted).count() == 2)
    };
    blocks.into_values().filter(is_complete).collect()
}

/// The response times of a treatment's periods in a block.
fn times<'p>(block: &[&'p CrossoverPeriod], treatment: Treatment) -> BlockTimes<'p> {
    block.iter().filter(|it| it.treatment == treatment).map(|it| &it.response_times).collect()
}

/// Geometric mean of a treatment's periods in a block.
fn mean(block: &[&CrossoverPeriod], treatment: Treatment, figure: Figure) -> Option<f64> {
    let own = block.iter().filter(|it| it.treatment == treatment);
    let logs: Option<Vec<f64>> = own.map(|it| figure(it).filter(|value| *value > 0.0).map(f64::ln)).collect();
    crate::runs::mean(&logs?).map(f64::exp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::crossover::{CrossoverRequests, CrossoverWarmUp, LeftOut};

    const VIRTUAL: Treatment = Treatment::Virtual { limit: None };

    fn period(block: u32, treatment: Treatment, rate_per_s: f64, p50_ms: f64) -> CrossoverPeriod {
        CrossoverPeriod {
            block,
            treatment,
            switched_s: 0.0,
            washout_ms: 100.0,
            counted_s: 1.0,
            ok: rate_per_s as u64,
            failed: 0,
            overlapping: 0,
            rate_per_s,
            response_times: ResponseTimes { weighted_ms: vec![(p50_ms, 980.0), (3.0 * p50_ms, 20.0)] },
            p50_ms: Some(p50_ms),
            p99_ms: Some(3.0 * p50_ms),
            half_rates_per_s: [rate_per_s; 2],
            cpu_us_per_request: Some(100.0),
            thread_names: Vec::new(),
            left_out: None,
        }
    }

    /// Blocks of two treatments, of which virtual threads have `ratio` times the rate.
    fn crossover(blocks: u32, ratio: f64) -> Crossover {
        let of = |block: u32| {
            let base = 1_000.0 * (1.0 + 0.01 * f64::from(block % 3));
            let own = period(block, Treatment::Own, base, 10.0);
            let other = period(block, VIRTUAL, base * ratio, 30.0);
            [own.clone(), other.clone(), other, own]
        };
        Crossover {
            server: "Tomcat".to_owned(),
            port: 1,
            own_threads: Some(200),
            treatments: vec![Treatment::Own, VIRTUAL],
            clients: 100,
            rate_per_s: None,
            warm_up: CrossoverWarmUp::default(),
            periods: (0..blocks).flat_map(of).collect(),
            requests: CrossoverRequests::default(),
            ended_early: None,
            explaining: Vec::new(),
            unexplained: None,
        }
    }

    #[test]
    fn a_treatment_is_compared_block_by_block_whatever_weighs_on_the_block() {
        let found = compare(&crossover(8, 1.1));
        assert_eq!(found.len(), 1);
        assert!((found[0].rate.ratio - 1.1).abs() < 1e-9 && found[0].rate.verdict == Verdict::Higher);
        assert!((found[0].p50.unwrap().ratio - 3.0).abs() < 1e-9);
        assert_eq!((found[0].carry_over, found[0].trend), (None, None));
        assert!(is_decided(&found));
        let figures = figures(&crossover(8, 1.1));
        assert_eq!(figures[1].p50_ms.map(f64::round), Some(30.0));
    }

    #[test]
    fn a_block_with_a_period_that_does_not_count_is_left_out_as_a_whole() {
        let mut with_a_wrong_one = crossover(8, 1.1);
        with_a_wrong_one.periods[1].left_out = Some(LeftOut::OtherThreads);
        with_a_wrong_one.periods[1].rate_per_s = 1.0;
        let found = compare(&with_a_wrong_one);
        assert_eq!(found[0].rate.blocks, 7);
        assert!((found[0].rate.ratio - 1.1).abs() < 1e-9);
    }

    #[test]
    fn the_schema_in_the_repository_is_that_of_the_types() {
        let mut schema = schemars::SchemaGenerator::default().into_root_schema_for::<CrossoverDocument>();
        schema.insert("$id".to_owned(), "urn:threadcount:schema:crossover:1".into());
        schema.insert("title".to_owned(), SCHEMA.into());
        threadcount_model::kept_schema::assert_is_kept(&schema, "crossover-1.schema.json");
    }

    #[test]
    fn few_blocks_decide_nothing() {
        assert!(!is_decided(&compare(&crossover(7, 1.1))));
        assert!(!is_decided(&compare(&crossover(0, 1.1))));
    }
}
