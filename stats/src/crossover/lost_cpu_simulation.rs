//! Tests whether the interval keeps its promise without the blocks that lost CPU unevenly, and how much narrower it is. Uses the simulated
//! sessions of [`super::simulation`], in which the neighbour shows as lost CPU, or does not.

use super::comparison::{LEAST_TO_END, is_precise};
use super::lost_cpu::uneven;
use super::simulation::{SESSIONS, WEATHERS, Weather, ratio};
use super::{CrossoverRatio, LEAST_BLOCKS, block_order};
use crate::noise::Noise;
use crate::random::SplitMix64;

const EFFECT: f64 = 0.1;
const CORES: f64 = 2.0;
/// Cores that a neighbour takes in a burst, which costs a period 30 %.
const BURST: f64 = 0.5;
/// Error of the lost CPU in cores, for a period of a second: the kernel counts the machine's CPU in ticks.
const TICKS: f64 = 0.03;

/// The measurements of a block: the figure of each treatment, and the cores that its periods lost.
struct Block {
    figures: [f64; 2],
    lost: Vec<(usize, f64)>,
}

/// `seen` is the share of a burst that shows as lost CPU, under each treatment.
fn session(
    weather: Weather,
    blocks: usize,
    seen: [f64; 2],
    noise: &mut Noise,
    random: &mut SplitMix64,
) -> Vec<Block> {
    let periods = weather.periods(4 * blocks, noise);
    let mut block = |periods: &[(f64, bool)]| {
        let mut logs = [0.0, EFFECT];
        let mut lost = Vec::new();
        for (treatment, &(log, is_burst)) in block_order(2, random).into_iter().zip(periods) {
            logs[treatment] += log / 2.0;
            let burst = if is_burst { BURST * seen[treatment] } else { 0.0 };
            lost.push((treatment, (burst + TICKS * noise.normal()).max(0.0)));
        }
        Block { figures: logs.map(f64::exp), lost }
    };
    periods.chunks(4).map(&mut block).collect()
}

/// The ratio without uneven blocks; over all blocks if too few remain and the session is over.
fn without_uneven(blocks: &[Block], is_over: bool) -> CrossoverRatio {
    let lost: Vec<Vec<(usize, f64)>> = blocks.iter().map(|it| it.lost.clone()).collect();
    let are_uneven = uneven(&lost, CORES);
    let even: Vec<&Block> = blocks.iter().zip(are_uneven).filter(|(_, it)| !it).map(|(it, _)| it).collect();
    if even.len() < LEAST_BLOCKS && is_over { of_all(blocks.iter()) } else { of_all(even.into_iter()) }
}

fn of_all<'b>(blocks: impl Iterator<Item = &'b Block> + Clone) -> CrossoverRatio {
    let figures = |treatment: usize| blocks.clone().map(|it| it.figures[treatment]).collect::<Vec<f64>>();
    ratio(&figures(1), &figures(0)).unwrap()
}

/// How well intervals do over many sessions: how often they contain the truth, and their mean half-width.
#[derive(Clone, Copy, Debug, Default)]
struct Promise {
    coverage: f64,
    half_width: f64,
    blocks: f64,
}

impl Promise {
    fn add(&mut self, found: &CrossoverRatio, sessions: u32) {
        let interval = found.interval.unwrap();
        let each = 1.0 / f64::from(sessions);
        let holds = interval.low.ln() <= EFFECT && EFFECT <= interval.high.ln();
        self.coverage += if holds { each } else { 0.0 };
        self.half_width += (interval.high / interval.low).ln() / 2.0 * each;
        self.blocks += found.blocks as f64 * each;
    }
}

/// Intervals of sessions of a fixed length, without the rule and with it.
fn promises(weather: Weather, seen: [f64; 2]) -> [Promise; 2] {
    let (mut noise, mut random) = (Noise::new(), SplitMix64(7));
    let mut found = [Promise::default(); 2];
    for _ in 0..SESSIONS / 2 {
        for length in [14, 20] {
            let blocks = session(weather, length, seen, &mut noise, &mut random);
            found[0].add(&of_all(blocks.iter()), SESSIONS);
            found[1].add(&without_uneven(&blocks, true), SESSIONS);
        }
    }
    found
}

#[test]
fn without_uneven_blocks_the_interval_holds_the_truth_as_often_and_is_narrower_where_bursts_are_seen() {
    for weather in WEATHERS {
        let [before, after] = promises(weather, [1.0; 2]);
        println!("{weather:?}: {before:.3?} -> {after:.3?}");
        assert!((0.94..=0.97).contains(&after.coverage), "{weather:?}: {after:?}");
        let has_bursts = matches!(weather, Weather::Bursts | Weather::All);
        let at_most = if has_bursts { 0.8 } else { 1.03 };
        assert!(after.half_width <= at_most * before.half_width, "{weather:?}: {before:?} {after:?}");
    }
}

#[test]
fn bursts_that_are_not_seen_as_lost_cpu_leave_the_interval_as_it_is() {
    let [before, after] = promises(Weather::Bursts, [0.0; 2]);
    println!("{before:.3?} -> {after:.3?}");
    assert!((0.94..=0.97).contains(&after.coverage), "{after:?}");
    assert!((after.half_width / before.half_width - 1.0).abs() < 0.03, "{before:?} {after:?}");
}

#[test]
fn a_neighbour_that_gets_less_beside_one_treatment_does_not_move_the_ratio() {
    let [before, after] = promises(Weather::Bursts, [1.0, 0.5]);
    println!("{before:.3?} -> {after:.3?}");
    assert!((0.94..=0.97).contains(&after.coverage) && after.half_width < before.half_width, "{after:?}");
}

#[test]
fn a_session_that_ends_when_the_interval_of_even_blocks_is_narrow_holds_the_truth_as_often() {
    let (mut noise, mut random) = (Noise::new(), SplitMix64(11));
    for weather in WEATHERS {
        let (mut with, mut without) = (Promise::default(), Promise::default());
        for _ in 0..SESSIONS {
            let blocks = session(weather, 16, [1.0; 2], &mut noise, &mut random);
            let ended = |find: &dyn Fn(&[Block], bool) -> CrossoverRatio| {
                let until = (LEAST_TO_END..16).map(|count| find(&blocks[..count], false));
                let is_known = |it: &CrossoverRatio| it.blocks >= LEAST_TO_END && is_precise(it);
                until.into_iter().find(is_known).unwrap_or_else(|| find(&blocks, true))
            };
            without.add(&ended(&|blocks, _| of_all(blocks.iter())), SESSIONS);
            with.add(&ended(&without_uneven), SESSIONS);
        }
        println!("{weather:?}: {without:.3?} -> {with:.3?}");
        assert!((0.94..=0.975).contains(&with.coverage), "{weather:?}: {with:?}");
    }
}
