//! Tests whether the interval keeps its promise, in 2,000 simulated sessions of each kind with a known truth, from a fixed seed.

use super::comparison::{LEAST_TO_END, is_precise};
use super::quantile::{SortedTimes, quantile_ratio};
use super::quotient::Quotient;
use super::{CrossoverRatio, block_order, carry_over, trend};
use crate::noise::Noise;
use crate::random::SplitMix64;
use threadcount_model::comparison::Verdict;
use threadcount_model::crossover::ResponseTimes;

/// The ratio of rates measured over one second each.
pub(super) fn ratio(treatment: &[f64], baseline: &[f64]) -> Option<CrossoverRatio> {
    let rates = |values: &[f64]| values.iter().map(|&of| Quotient { of, by: 1.0 }).collect::<Vec<_>>();
    super::quotient::ratio(&rates(treatment), &rates(baseline))
}

pub(super) const SESSIONS: u32 = 2_000;
const NOISE: f64 = 0.04;

/// Effects on the periods of a session besides noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Weather {
    Calm,
    /// A straight trend of 40 % over the session.
    Drift,
    /// A JVM that is still getting 60 % faster, ever more slowly.
    WarmUp,
    /// Consecutive periods are alike.
    Correlated(f64),
    /// A neighbour that takes a quarter of the machine, for three periods on average.
    Bursts,
    All,
}

impl Weather {
    /// The logarithm of each period's figure, and whether a neighbour took part of the machine.
    pub(super) fn periods(self, count: usize, noise: &mut Noise) -> Vec<(f64, bool)> {
        let correlation = match self {
            Self::Correlated(correlation) => correlation,
            Self::All => 0.6,
            _ => 0.0,
        };
        let is = |other| self == other || self == Self::All;
        let (mut before, mut is_burst) = (0.0, false);
        let mut period = |index: usize| {
            let at = index as f64 / count as f64;
            before = correlation * before + (1.0 - correlation * correlation).sqrt() * NOISE * noise.normal();
            let own = if correlation > 0.0 { NOISE / 2.0 * noise.normal() } else { 0.0 };
            is_burst = noise.uniform() < if is_burst { 0.67 } else { 0.05 };
            let drift = if is(Self::Drift) { 0.4 * at } else { 0.0 };
            let warm_up = if is(Self::WarmUp) { -0.5 * (-5.0 * at).exp() } else { 0.0 };
            let burst = if is(Self::Bursts) && is_burst { -0.3 } else { 0.0 };
            (before + own + drift + warm_up + burst, burst < 0.0)
        };
        (0..count).map(&mut period).collect()
    }
}

pub(super) const WEATHERS: [Weather; 8] = [
    Weather::Calm,
    Weather::Drift,
    Weather::WarmUp,
    Weather::Correlated(0.3),
    Weather::Correlated(0.6),
    Weather::Correlated(0.9),
    Weather::Bursts,
    Weather::All,
];

/// The figures of treatments 0 and 1 in each block; those of treatment 1 are larger by `effect`.
fn session(
    weather: Weather,
    (treatments, blocks): (usize, usize),
    effect: f64,
    noise: &mut Noise,
    random: &mut SplitMix64,
) -> [Vec<f64>; 2] {
    let periods = weather.periods(2 * treatments * blocks, noise);
    let mut figures = [Vec::new(), Vec::new()];
    for block in periods.chunks(2 * treatments) {
        let order = block_order(treatments, random);
        for (treatment, figures) in figures.iter_mut().enumerate() {
            let own = order.iter().zip(block).filter(|(it, _)| **it == treatment).map(|(_, it)| it.0);
            figures.push((own.sum::<f64>() / 2.0 + effect * treatment as f64).exp());
        }
    }
    figures
}

#[test]
fn the_interval_holds_the_truth_in_94_to_97_of_100_sessions_in_any_weather() {
    let (mut noise, mut random) = (Noise::new(), SplitMix64(7));
    for weather in WEATHERS {
        let mut held = 0;
        let mut all = 0;
        for size in [(2, 12), (2, 20), (3, 12)] {
            for _ in 0..SESSIONS / 2 {
                let [baseline, treatment] = session(weather, size, 0.1, &mut noise, &mut random);
                let interval = ratio(&treatment, &baseline).unwrap().interval.unwrap();
                held += u32::from(interval.low.ln() <= 0.1 && 0.1 <= interval.high.ln());
                all += 1;
            }
        }
        let coverage = f64::from(held) / f64::from(all);
        println!("{weather:?}: {:.1} %", 100.0 * coverage);
        assert!((0.94..=0.97).contains(&coverage), "{weather:?}: {coverage}");
    }
}

#[test]
fn a_session_that_ends_when_its_interval_is_narrow_holds_the_truth_as_often() {
    let (mut noise, mut random) = (Noise::new(), SplitMix64(11));
    for weather in WEATHERS {
        let (mut held, mut blocks) = (0, 0);
        for _ in 0..SESSIONS {
            let [baseline, treatment] = session(weather, (2, 16), 0.1, &mut noise, &mut random);
            let until = |blocks: usize| ratio(&treatment[..blocks], &baseline[..blocks]).unwrap();
            let ended = (LEAST_TO_END..16).map(until).find(is_precise).unwrap_or_else(|| until(16));
            let interval = ended.interval.unwrap();
            held += u32::from(interval.low.ln() <= 0.1 && 0.1 <= interval.high.ln());
            blocks += ended.blocks;
        }
        let coverage = f64::from(held) / f64::from(SESSIONS);
        println!("{weather:?}: {:.1} %, {:.1} blocks", 100.0 * coverage, blocks as f64 / f64::from(SESSIONS));
        assert!((0.94..=0.975).contains(&coverage), "{weather:?}: {coverage}");
    }
}

#[test]
fn an_equal_treatment_is_called_different_in_at_most_one_of_twenty_sessions() {
    let (mut noise, mut random) = (Noise::new(), SplitMix64(8));
    for weather in WEATHERS {
        let mut wrong = 0;
        for _ in 0..SESSIONS {
            let [baseline, treatment] = session(weather, (2, 12), 0.0, &mut noise, &mut random);
            let verdict = ratio(&treatment, &baseline).unwrap().verdict;
            wrong += u32::from(matches!(verdict, Verdict::Higher | Verdict::Lower));
        }
        assert!(wrong <= SESSIONS / 20 + 30, "{weather:?}: {wrong}");
    }
}

#[test]
fn carry_over_and_a_trend_are_reported_of_one_in_fifty_sessions_without_them_at_most() {
    let (mut noise, mut random) = (Noise::new(), SplitMix64(9));
    for weather in WEATHERS {
        let (mut carried, mut changed) = (0, 0);
        for _ in 0..SESSIONS {
            let mut ratios = || {
                let [baseline, treatment] = session(weather, (2, 12), 0.1, &mut noise, &mut random);
                treatment.iter().zip(&baseline).map(|(a, b)| a / b).collect::<Vec<f64>>()
            };
            let (earlier, later) = (ratios(), ratios());
            carried += u32::from(carry_over(&earlier, &later).is_some());
            changed += u32::from(trend(&earlier).is_some());
        }
        assert!(carried <= SESSIONS / 50 && changed <= SESSIONS / 50, "{weather:?}: {carried} {changed}");
    }
}

/// A block's response times under both treatments, with a part that the block has in common and a part of each treatment's own. About a
/// share `queued` of the requests, varying between blocks, waits in a queue and takes twenty times as long.
fn block_times(common: f64, effect: f64, queued: f64, noise: &mut Noise) -> [ResponseTimes; 2] {
    [0.0, effect].map(|effect| {
        let own = 0.1 * noise.normal();
        let is_slow = noise.uniform() < 0.15;
        let queued = if queued > 0.0 { queued + 0.08 * noise.normal() } else { 0.0 };
        let times = (0..400).map(|_| {
            let tail = if noise.uniform() < if is_slow { 0.05 } else { 0.01 } { 1.5 } else { 0.0 };
            let queue = if noise.uniform() < queued { 3.0 } else { 0.0 };
            ((common + own + effect + tail + queue + 0.5 * noise.normal()).exp(), 1)
        });
        ResponseTimes::in_period(times.collect::<Vec<_>>(), f64::INFINITY, 1e9)
    })
}

fn each(times: &[ResponseTimes]) -> SortedTimes {
    SortedTimes::of(&times.iter().map(|it| vec![it]).collect::<Vec<_>>())
}

#[test]
fn the_interval_of_a_quantile_holds_the_truth_in_93_to_98_of_100_sessions() {
    let mut noise = Noise::new();
    for (blocks, correlation, queued) in [(8, 0.0, 0.0), (14, 0.0, 0.0), (14, 0.6, 0.0), (14, 0.0, 0.35)] {
        let mut held = [0; 2];
        for _ in 0..400 {
            let mut common = 0.0;
            let (mut baseline, mut treatment) = (Vec::new(), Vec::new());
            for _ in 0..blocks {
                common = correlation * common + 0.2 * noise.normal();
                let [own, other] = block_times(common, 0.3, queued, &mut noise);
                baseline.push(own);
                treatment.push(other);
            }
            for (held, quantile) in held.iter_mut().zip([0.5, 0.99]) {
                let found = quantile_ratio(&each(&treatment), &each(&baseline), quantile);
                let interval = found.and_then(|it| it.interval).unwrap();
                *held += u32::from(interval.low.ln() <= 0.3 && 0.3 <= interval.high.ln());
            }
        }
        let coverage = held.map(|it| f64::from(it) / 400.0);
        println!("{blocks} blocks, correlation {correlation}, {queued} queued: {coverage:?}");
        assert!(coverage.iter().all(|it| (0.93..=0.985).contains(it)), "{coverage:?}");
    }
}
