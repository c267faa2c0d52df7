//! Compares the treatments of a crossover by their periods.

use super::treated::TreatedJvms;
pub use super::treated::{TreatmentComparison, TreatmentFigures};
use super::{CrossoverRatio, LEAST_BLOCKS};
use crate::holm::{WeightedTest, with_word};
use crate::ratio::{CONFIDENCE, WIDEST};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::crossover::{Crossover, Treatment};

/// A session may end when the interval of the throughput is at most this wide on either side.
const PRECISE: f64 = 0.03;
/// A session may end when the intervals of the median and p99 are at most this wide on either side. Their values do not matter, because
/// otherwise chance would choose the end.
const PRECISE_TIMES: f64 = 0.1;
/// A session never ends before this many blocks.
pub(super) const LEAST_TO_END: usize = LEAST_BLOCKS + 2;
/// A median or a p99 known less precisely than this is worth another minute.
const VAGUE_TIMES: f64 = 0.5;
/// The result of a crossover: `threadcount/crossover/1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrossoverDocument {
    /// The name and version of the document: [`SCHEMA`].
    pub schema: String,
    pub crossover: Crossover,
    /// Figures of each treatment.
    pub figures: Vec<TreatmentFigures>,
    /// Each treatment but the first, compared with the first.
    pub comparisons: Vec<TreatmentComparison>,
    /// Virtual threads compared with each other pool than the first treatment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against_pools: Vec<AgainstPool>,
}

/// Virtual threads compared with a pool of platform threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgainstPool {
    /// The number of threads of the pool.
    pub pool_threads: u32,
    pub comparison: TreatmentComparison,
}

/// The name and version of the document.
pub const SCHEMA: &str = "threadcount/crossover/1";

impl From<Crossover> for CrossoverDocument {
    fn from(crossover: Crossover) -> Self {
        let treated = TreatedJvms::new(&crossover);
        let (figures, comparisons) = (treated.figures(), comparisons(&crossover, &treated));
        let against_pools = against_pools(&crossover, &treated);
        Self { schema: SCHEMA.to_owned(), crossover, figures, comparisons, against_pools }
    }
}

/// Compares each treatment but the first with the first.
#[must_use]
pub fn compare(crossover: &Crossover) -> Vec<TreatmentComparison> {
    comparisons(crossover, &TreatedJvms::new(crossover))
}

fn comparisons(crossover: &Crossover, treated: &TreatedJvms<'_>) -> Vec<TreatmentComparison> {
    let Some((&baseline, others)) = crossover.treatments.split_first() else { return Vec::new() };
    let compared = others.iter().filter_map(|&it| treated.between(it, baseline));
    let mut compared: Vec<TreatmentComparison> = compared.collect();
    withhold(&mut compared, crossover.rate_per_s.is_some());
    compared
}

/// Compares each kind of virtual threads with each pool but the first treatment.
fn against_pools(crossover: &Crossover, treated: &TreatedJvms<'_>) -> Vec<AgainstPool> {
    let others = || crossover.treatments.iter().skip(1);
    let kinds = others().filter(|it| matches!(it, Treatment::Virtual { .. }));
    let pairs = kinds.flat_map(|&kind| others().map(move |&pool| (kind, pool)));
    let compared = pairs.filter_map(|(kind, pool)| {
        let Treatment::Platform { threads: pool_threads } = pool else { return None };
        Some(AgainstPool { pool_threads, comparison: treated.between(kind, pool)? })
    });
    compared.collect()
}

/// Parts of the 5 % chance of a false verdict: for the throughput, for the median and p99, and for the CPU per request. Under an open
/// load, response times are the answer.
const CLOSED_SHARES: [f64; 3] = [0.5, 0.3, 0.2];
const OPEN_SHARES: [f64; 3] = [0.3, 0.5, 0.2];

/// Withholds each verdict that all figures together do not allow.
fn withhold(compared: &mut [TreatmentComparison], is_open: bool) {
    let [rate, times, cpu] = if is_open { OPEN_SHARES } else { CLOSED_SHARES };
    let treatments = compared.len().max(1) as f64;
    let weighted = compared.iter_mut().flat_map(|compared| {
        let all = [
            (Some(&mut compared.rate), rate),
            (compared.p50.as_mut(), times / 2.0),
            (compared.p99.as_mut(), times / 2.0),
            (compared.cpu_per_request.as_mut(), cpu),
        ];
        all.into_iter().filter_map(|(ratio, weight)| Some((ratio?, weight / treatments)))
    });
    let mut weighted: Vec<(&mut CrossoverRatio, f64)> = weighted.collect();
    let test = |(ratio, weight): &(&mut CrossoverRatio, f64)| WeightedTest {
        p_value: ratio.p_value.unwrap_or(1.0),
        weight: *weight,
    };
    let words = with_word(&weighted.iter().map(test).collect::<Vec<_>>(), 1.0, 1.0 - CONFIDENCE);
    let without = weighted.iter_mut().zip(words).filter(|(_, has_word)| !has_word);
    without.for_each(|((ratio, _), _)| ratio.withhold());
}

/// Is enough known of every treatment to end the session?
#[must_use]
pub fn is_decided(comparisons: &[TreatmentComparison], treatments: usize) -> bool {
    comparisons.len() + 1 == treatments
        && !comparisons.is_empty()
        && comparisons.iter().all(|comparison| {
            let is_known =
                |ratio: &Option<CrossoverRatio>| ratio.is_some_and(|ratio| is_within(&ratio, PRECISE_TIMES));
            is_precise(&comparison.rate)
                && comparison.rate.blocks >= LEAST_TO_END
                && is_known(&comparison.p50)
                && is_known(&comparison.p99)
        })
}

/// Is an interval so wide that another minute is worth it? The ratio's value is no reason to go on, just as it is none to end.
#[must_use]
pub fn is_vague(comparisons: &[TreatmentComparison]) -> bool {
    comparisons.iter().any(|it| {
        let times = it.p50.iter().chain(&it.p99);
        !is_within(&it.rate, WIDEST) || times.into_iter().any(|time| !is_within(time, VAGUE_TIMES))
    })
}

pub(super) fn is_precise(rate: &CrossoverRatio) -> bool {
    is_within(rate, PRECISE)
}

fn is_within(ratio: &CrossoverRatio, half_width: f64) -> bool {
    ratio.interval.is_some_and(|interval| interval.half_width() <= half_width)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use threadcount_model::comparison::Verdict;
    use threadcount_model::crossover::{
        CrossoverPeriod, CrossoverRequests, CrossoverWarmUp, LeftOut, ResponseTimes,
    };

    const VIRTUAL: Treatment = Treatment::Virtual { limit: None };

    fn period(block: u32, treatment: Treatment, rate_per_s: f64, p50_ms: f64) -> CrossoverPeriod {
        CrossoverPeriod {
            jvm: 0,
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
            lost_cpu: None,
            thread_names: Vec::new(),
            left_out: None,
        }
    }

    /// A crossover of two treatments, in which virtual threads have `ratio` times the rate.
    pub(in crate::crossover) fn crossover(blocks: u32, ratio: f64) -> Crossover {
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
            busiest_other_process: None,
            requests: CrossoverRequests::default(),
            generator_limit: None,
            shared_group: None,
            ended_early: None,
            explaining: Vec::new(),
            unexplained: None,
            alone: Vec::new(),
        }
    }

    #[test]
    fn two_jvms_that_agree_are_as_precise_as_one_and_two_that_differ_have_both_within_the_interval() {
        let ratio_of = |one: f64, other: f64| compare(&crossover(10, one).followed_by(crossover(10, other)));
        let alone = compare(&crossover(10, 1.2))[0].rate;
        let alike = ratio_of(1.2, 1.2)[0].rate;
        let width = |it: CrossoverRatio| it.interval.unwrap().half_width();
        assert!((width(alike) - width(alone)).abs() < 1e-9 && alike.verdict == Verdict::Higher, "{alike:?}");
        assert_eq!((alike.blocks, alike.differing_jvms), (20, None));
        let apart = ratio_of(0.9, 1.6)[0].rate;
        let interval = apart.interval.unwrap();
        assert!(interval.low <= 0.9 && interval.high >= 1.6, "{interval:?}");
        assert_eq!(apart.verdict, Verdict::NotEnoughRuns, "one JVM denies what the other says");
        assert!((apart.ratio - (0.9_f64 * 1.6).sqrt()).abs() < 0.01 && apart.differing_jvms.is_some());
    }

    #[test]
    fn two_jvms_with_too_few_blocks_each_are_judged_by_all_blocks_together() {
        let rate =
            |one: f64, other: f64| compare(&crossover(4, one).followed_by(crossover(4, other)))[0].rate;
        let alike = rate(1.5, 1.5);
        assert_eq!((alike.verdict, alike.blocks), (Verdict::Higher, 8));
        let apart = rate(0.9, 1.6);
        assert_eq!(
            (apart.verdict, apart.differing_jvms),
            (Verdict::NotEnoughRuns, None),
            "without intervals"
        );
    }

    #[test]
    fn a_treatment_is_compared_block_by_block_whatever_weighs_on_the_block() {
        let found = compare(&crossover(8, 1.1));
        assert_eq!(found.len(), 1);
        assert!((found[0].rate.ratio - 1.1).abs() < 1e-9 && found[0].rate.verdict == Verdict::Higher);
        assert!((found[0].p50.unwrap().ratio - 3.0).abs() < 1e-9);
        assert_eq!((found[0].carry_over, found[0].trend), (None, None));
        assert!(is_decided(&found, 2) && !is_decided(&found, 3), "a third one is not known");
        let figures = CrossoverDocument::from(crossover(8, 1.1)).figures;
        assert_eq!(figures[1].p50_ms.map(f64::round), Some(30.0));
    }

    #[test]
    fn a_median_of_two_modes_is_worth_another_minute_and_one_that_is_known_is_not() {
        let mut made = crossover(14, 1.1);
        assert!(!is_vague(&compare(&made)));
        let fast = crossover(1, 1.1).periods.remove(0);
        let virtual_of = |made: &mut Crossover, from| {
            let of = made.periods.iter_mut().filter(move |it| it.treatment == VIRTUAL && it.block >= from);
            of.for_each(|it| it.response_times = fast.response_times.clone());
        };
        virtual_of(&mut made, 12);
        assert!(!is_vague(&compare(&made)), "two blocks of fourteen are fast");
        virtual_of(&mut made, 7);
        assert!(is_vague(&compare(&made)));
    }

    #[test]
    fn one_of_several_figures_that_is_different_by_chance_has_no_word() {
        // The interval of the CPU per request excludes 1, as that of one figure in twenty does.
        let mut by_chance = crossover(9, 1.0);
        let noise = [0.026, -0.004, 0.036, 0.016, -0.014, 0.036, 0.026, 0.001, 0.021];
        for period in by_chance.periods.iter_mut().filter(|it| it.treatment == VIRTUAL) {
            period.cpu_us_per_request = Some(100.0 * (1.0 + noise[period.block as usize]));
        }
        let cpu = compare(&by_chance)[0].cpu_per_request.unwrap();
        assert!((0.02..0.05).contains(&cpu.p_value.unwrap()), "{cpu:?}");
        assert!(!matches!(cpu.verdict, Verdict::Higher | Verdict::Lower), "{cpu:?}");
        for period in by_chance.periods.iter_mut().filter(|it| it.treatment == VIRTUAL) {
            period.cpu_us_per_request = period.cpu_us_per_request.map(|it| it * 1.1);
        }
        assert_eq!(compare(&by_chance)[0].cpu_per_request.unwrap().verdict, Verdict::Higher);
    }

    #[test]
    fn a_block_with_a_period_that_does_not_count_is_left_out_as_a_whole() {
        let mut with_a_wrong_one = crossover(8, 1.1);
        with_a_wrong_one.periods[1].left_out = Some(LeftOut::OtherThreads);
        with_a_wrong_one.periods[1].ok = 1;
        let found = compare(&with_a_wrong_one);
        assert_eq!(found[0].rate.blocks, 7);
        assert!((found[0].rate.ratio - 1.1).abs() < 1e-9);
    }

    #[test]
    fn a_period_without_a_response_counts_as_one_and_leaves_no_response_times() {
        let mut with_a_stall = crossover(8, 1.0);
        let stalled = &mut with_a_stall.periods[1];
        (stalled.ok, stalled.response_times, stalled.half_rates_per_s) =
            (0, ResponseTimes::default(), [0.0; 2]);
        let found = &compare(&with_a_stall)[0];
        assert!((found.rate.ratio - 15.0 / 16.0).abs() < 2e-3, "{found:?}");
        assert_eq!((found.p50, found.p99), (None, None), "those of the survivors");
        let figures = CrossoverDocument::from(with_a_stall.clone()).figures;
        assert_eq!(figures.iter().map(|it| it.silent_periods).collect::<Vec<_>>(), [0, 1]);
        let mut of_few_requests = with_a_stall.clone();
        of_few_requests.periods.iter_mut().for_each(|it| it.ok = it.ok.min(2));

        assert_eq!(CrossoverDocument::from(of_few_requests).figures[1].silent_periods, 0, "by chance");
        with_a_stall.periods.iter_mut().filter(|it| it.treatment == VIRTUAL).for_each(|it| it.ok = 0);
        assert!(compare(&with_a_stall).is_empty() && !is_decided(&compare(&with_a_stall), 2));
    }

    #[test]
    fn a_p99_needs_a_thousand_responses_and_few_requests_that_ran_over_a_switch() {
        let with = |change: fn(&mut CrossoverPeriod)| {
            let mut changed = crossover(8, 1.0);
            changed.periods.iter_mut().for_each(change);
            let found = &compare(&changed)[0];
            (found.p50.is_some(), found.p99.is_some())
        };
        assert_eq!(with(|_| ()), (true, true));
        assert_eq!(with(|it| it.ok = 60), (true, false), "960 responses");
        assert_eq!(with(|it| it.ok = 1), (false, false), "16 responses");
        assert_eq!(with(|it| it.overlapping = 20), (true, false), "they may be the slow ones");
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
        assert!(!is_decided(&compare(&crossover(7, 1.1)), 2));
        assert!(!is_decided(&compare(&crossover(0, 1.1)), 2));
    }
}
