//! The periods of each treatment of a crossover: over all JVMs, and in each JVM.

use super::quantile::{BlockTimes, SortedTimes, quantile_ratio};
use super::quotient::{Quotient, ratio};
use super::{CrossoverRatio, carry_over, trend};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use threadcount_model::crossover::{Crossover, CrossoverPeriod, LeftOut, Treatment};

/// A quantile needs at least this many slower responses.
const LEAST_SLOWER: f64 = 10.0;
/// Silent periods are not chance if they exceed the expected number by this many standard deviations.
const SILENT_DEVIATIONS: f64 = 3.0;
/// Requests in flight across a switch have no time. If they are more than this share of the requests slower than a quantile, they may
/// be the slow ones.
const MOST_UNTIMED: f64 = 0.5;

/// One treatment against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TreatmentComparison {
    pub treatment: Treatment,
    pub rate: CrossoverRatio,
    pub p50: Option<CrossoverRatio>,
    pub p99: Option<CrossoverRatio>,
    pub cpu_per_request: Option<CrossoverRatio>,
    /// Ratio of the rates later in a period by that earlier in it; `None` if no difference is found.
    pub carry_over: Option<f64>,
    /// Ratio of the rates later in the session by that earlier in it; `None` if no difference is found.
    pub trend: Option<f64>,
}

/// Figures of a treatment over the blocks that count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TreatmentFigures {
    pub treatment: Treatment,
    /// Expected responses.
    pub ok: u64,
    pub failed: u64,
    /// Responses to requests that were due before the switch; they are in no response time.
    pub overlapping: u64,
    pub periods: usize,
    /// Periods without an expected response, if other periods have several.
    pub silent_periods: usize,
    pub rate_per_s: f64,
    /// Median of all responses; `None` if there are too few of them, or slow ones may be missing.
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    pub cpu_us_per_request: Option<f64>,
}

/// The treatments over the blocks of all JVMs.
pub(super) struct TreatedJvms<'p> {
    together: Vec<Treated<'p>>,
    /// The treatments in each of several JVMs; empty for one JVM.
    by_jvm: Vec<Vec<Treated<'p>>>,
}

impl<'p> TreatedJvms<'p> {
    pub fn new(crossover: &'p Crossover) -> Self {
        let jvms = crossover.jvms();
        // One JVM alone has all blocks.
        let by_jvm = (0..jvms).filter(|_| jvms > 1).map(|jvm| treated(crossover, |it| it.jvm == jvm));
        Self { by_jvm: by_jvm.collect(), together: treated(crossover, |_| true) }
    }

    /// The figures of each treatment over all JVMs.
    pub fn figures(&self) -> Vec<TreatmentFigures> {
        self.together.iter().filter_map(Treated::figures).collect()
    }

    /// One treatment against another; `None` if one of them was not measured.
    pub fn between(&self, one: Treatment, other: Treatment) -> Option<TreatmentComparison> {
        let within = |all: &[Treated<'_>]| {
            let [one, other] = [one, other].map(|treatment| all.iter().find(|it| it.treatment == treatment));
            one?.against(other?)
        };
        let together = within(&self.together)?;
        Some(match &self.by_jvm[..] {
            [first, second] => match within(first).zip(within(second)) {
                Some((first, second)) => together.in_two_jvms(&first, &second),
                None => together,
            },
            _ => together,
        })
    }
}

impl TreatmentComparison {
    /// The comparison over the blocks of two JVMs together, with what is known of each JVM alone.
    fn in_two_jvms(self, first: &Self, second: &Self) -> Self {
        Self {
            treatment: self.treatment,
            rate: self.rate.in_two_jvms(Some(first.rate), Some(second.rate)),
            p50: self.p50.map(|it| it.in_two_jvms(first.p50, second.p50)),
            p99: self.p99.map(|it| it.in_two_jvms(first.p99, second.p99)),
            cpu_per_request: self
                .cpu_per_request
                .map(|it| it.in_two_jvms(first.cpu_per_request, second.cpu_per_request)),
            carry_over: first.carry_over.or(second.carry_over),
            // Between two JVMs the rate may jump. That is no trend, so only the trend within each JVM counts.
            trend: first.trend.or(second.trend),
        }
    }
}

/// The periods of a treatment, by block.
struct Treated<'p> {
    treatment: Treatment,
    blocks: Vec<Vec<&'p CrossoverPeriod>>,
    times: SortedTimes,
    /// The mean number of responses in a period, for the treatment with the most responses.
    most_per_period: f64,
}

/// The treatments, over the blocks in which each treatment has two periods that count, among those that `is_wanted`.
fn treated(crossover: &Crossover, is_wanted: impl Fn(&CrossoverPeriod) -> bool) -> Vec<Treated<'_>> {
    let complete = blocks_of(crossover, |it| it.left_out.is_none() && is_wanted(it));
    let periods_of = |&treatment: &Treatment| {
        let own = complete.iter().map(|block| block.iter().copied().filter(|it| it.treatment == treatment));
        let blocks: Vec<Vec<&CrossoverPeriod>> = own.map(Iterator::collect).collect();
        let times: Vec<BlockTimes<'_>> =
            blocks.iter().map(|block| block.iter().map(|it| &it.response_times).collect()).collect();
        Treated { treatment, times: SortedTimes::of(&times), blocks, most_per_period: 0.0 }
    };
    let mut all: Vec<Treated<'_>> = crossover.treatments.iter().map(periods_of).collect();
    let per_period = |it: &Treated<'_>| it.count(|it| it.ok) as f64 / it.periods().count().max(1) as f64;
    let most_per_period = all.iter().map(per_period).fold(0.0, f64::max);
    all.iter_mut().for_each(|it| it.most_per_period = most_per_period);
    all
}

impl Treated<'_> {
    fn against(&self, baseline: &Self) -> Option<TreatmentComparison> {
        let quantile = |quantile| {
            let is_known = self.knows(quantile) && baseline.knows(quantile);
            is_known.then(|| quantile_ratio(&self.times, &baseline.times, quantile)).flatten()
        };
        let halves = |half: usize| {
            let of = |it: &Self| it.by_block(|period| period.half_rates_per_s[half]);
            of(self).iter().zip(of(baseline)).map(|(a, b)| a / b).collect::<Vec<f64>>()
        };
        let ratios: Vec<f64> =
            self.rates().iter().zip(baseline.rates()).map(|(a, b)| (a.of / a.by) / (b.of / b.by)).collect();
        Some(TreatmentComparison {
            treatment: self.treatment,
            rate: ratio(&self.rates(), &baseline.rates())?,
            p50: quantile(0.5),
            p99: quantile(0.99),
            cpu_per_request: self.cpu().zip(baseline.cpu()).and_then(|(a, b)| ratio(&a, &b)),
            carry_over: carry_over(&halves(0), &halves(1)),
            trend: trend(&ratios).filter(|it| it.is_finite()),
        })
    }

    /// The figures of the treatment; `None` if no block is complete.
    fn figures(&self) -> Option<TreatmentFigures> {
        let quantile = |quantile| self.times.quantile_ms(quantile, None).filter(|_| self.knows(quantile));
        (!self.blocks.is_empty()).then(|| TreatmentFigures {
            treatment: self.treatment,
            ok: self.count(|it| it.ok),
            failed: self.count(|it| it.failed),
            overlapping: self.count(|it| it.overlapping),
            periods: self.periods().count(),
            silent_periods: self.silent_periods(),
            rate_per_s: Quotient::pooled(&self.rates(), None),
            p50_ms: quantile(0.5),
            p99_ms: quantile(0.99),
            cpu_us_per_request: self.cpu().map(|it| Quotient::pooled(&it, None)),
        })
    }

    /// Are enough responses slower than this quantile, and were the slow ones seen?
    fn knows(&self, quantile: f64) -> bool {
        let (ok, untimed) = (self.count(|it| it.ok) as f64, self.count(|it| it.overlapping) as f64);
        let slower = (1.0 - quantile) * (ok - untimed);
        self.silent_periods() == 0
            && slower >= LEAST_SLOWER
            && untimed <= MOST_UNTIMED * (1.0 - quantile) * ok
    }

    /// Number of periods without a response; 0 if chance makes as many, as it does at a low rate.
    fn silent_periods(&self) -> usize {
        let silent = self.periods().filter(|it| it.ok == 0).count();
        let by_chance = self.periods().count() as f64 * (-self.most_per_period).exp();
        let is_by_chance = silent as f64 <= by_chance + SILENT_DEVIATIONS * by_chance.sqrt();
        if is_by_chance { 0 } else { silent }
    }

    fn periods(&self) -> impl Iterator<Item = &CrossoverPeriod> {
        self.blocks.iter().flatten().copied()
    }

    fn count(&self, of: fn(&CrossoverPeriod) -> u64) -> u64 {
        self.periods().map(of).sum()
    }

    fn by_block(&self, figure: impl Fn(&CrossoverPeriod) -> f64) -> Vec<f64> {
        self.blocks.iter().map(|block| block.iter().map(|it| figure(it)).sum()).collect()
    }

    /// Responses by seconds, for each block.
    fn rates(&self) -> Vec<Quotient> {
        let (of, by) = (self.by_block(|it| it.ok as f64), self.by_block(|it| it.counted_s));
        of.into_iter().zip(by).map(|(of, by)| Quotient { of, by }).collect()
    }

    /// CPU by responses, for each block; `None` if it is unknown for a period with responses.
    fn cpu(&self) -> Option<Vec<Quotient>> {
        let is_known = self.periods().all(|it| it.ok == 0 || it.cpu_us_per_request.is_some());
        let of = self.by_block(|it| it.cpu_us_per_request.unwrap_or_default() * it.ok as f64);
        let by = self.by_block(|it| it.ok as f64);
        is_known.then(|| of.into_iter().zip(by).map(|(of, by)| Quotient { of, by }).collect())
    }
}

/// Blocks in which each treatment has two periods that count, or would count without the CPU that they lost unevenly.
pub(super) fn blocks_with_lost_cpu(crossover: &Crossover) -> Vec<Vec<&CrossoverPeriod>> {
    blocks_of(crossover, |it| matches!(it.left_out, None | Some(LeftOut::LostCpu)))
}

/// Blocks in which each treatment has two periods that count.
fn blocks_of(crossover: &Crossover, counts: impl Fn(&CrossoverPeriod) -> bool) -> Vec<Vec<&CrossoverPeriod>> {
    let mut blocks: BTreeMap<u32, Vec<&CrossoverPeriod>> = BTreeMap::new();
    for period in crossover.periods.iter().filter(|it| counts(it)) {
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
