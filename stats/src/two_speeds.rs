//! Detects two speeds among the runs of a variant.
//!
//! Fresh JVMs of one program may settle at different speeds for as long as they live (Barrett et al., "Virtual machine warmup blows hot and
//! cold", OOPSLA 2017), which a mean hides. The sign is a gap: the largest space between neighbouring runs compared with all others
//! together. The slower runs must also be slower relative to the other variant's runs in the same rounds, because a slow round is slow for
//! both. If the other variant has two speeds too, only the rounds of its faster speed count.

use threadcount_model::comparison::TwoSpeeds;

/// Fewer runs cannot show two speeds.
const FEWEST_RUNS: usize = 5;
/// Two speeds must differ by at least this much.
const LEAST_GAP: f64 = 0.03;
/// How many times as wide as all other gaps together the gap must be, by the number of runs: in 20,000 simulated variants with normal
/// noise at most 1 % had such a gap.
const WIDTHS: [f64; 4] = [5.5, 3.3, 2.4, 1.9];
const WIDTH: f64 = 1.5;

/// The direction in which a figure is faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Faster {
    /// A higher figure is faster, as for a rate.
    Higher,
    /// A lower figure is faster, as for a time.
    Lower,
}

/// The two speeds of a variant, if it has them, from its figures and those of another variant in the same rounds.
pub(super) fn two_speeds(name: &str, own: &[f64], other: &[f64], faster: Faster) -> Option<TwoSpeeds> {
    let sign = if faster == Faster::Higher { 1.0 } else { -1.0 };
    let logs = |figures: &[f64]| figures.iter().map(|figure| sign * figure.ln()).collect::<Vec<f64>>();
    let (own, other) = (logs(own), logs(other));
    let slower = slower_runs(&own)?;
    if !are_slower_than_partners(&own, &other, &slower) {
        return None;
    }
    let mean_of = |is_slower: bool| {
        let speeds: Vec<f64> = own
            .iter()
            .zip(&slower)
            .filter(|(_, slow)| **slow == is_slower)
            .map(|(speed, _)| *speed)
            .collect();
        super::runs::mean(&speeds)
    };
    let gap = mean_of(false)? - mean_of(true)?;
    let slower_runs = slower.iter().filter(|&&slow| slow).count();
    Some(TwoSpeeds {
        variant: name.to_owned(),
        runs: own.len() as u32,
        slower_runs: slower_runs as u32,
        share_of_runs: slower_runs as f64 / own.len() as f64,
        slow_by: match faster {
            Faster::Higher => 1.0 - (-gap).exp(),
            Faster::Lower => gap.exp() - 1.0,
        },
    })
}

/// Are these runs slower than their partners too? In all rounds, or, if the partners have two speeds themselves, in the rounds whose
/// partner has the faster speed: if both are slow, the round may be the reason.
fn are_slower_than_partners(own: &[f64], other: &[f64], slower: &[bool]) -> bool {
    let shows = |rounds: &[usize]| {
        let against: Vec<f64> = rounds.iter().map(|&round| own[round] - other[round]).collect();
        let slower: Vec<bool> = rounds.iter().map(|&round| slower[round]).collect();
        let has_both = slower.contains(&true) && slower.contains(&false);
        has_both && gap_between(&against, &slower) >= (1.0 + LEAST_GAP).ln()
    };
    let all: Vec<usize> = (0..own.len().min(other.len())).collect();
    shows(&all)
        || slower_runs(other).is_some_and(|partner_is_slow| {
            shows(&all.iter().copied().filter(|&round| !partner_is_slow[round]).collect::<Vec<_>>())
        })
}

/// The gap between the fastest of these runs and the slowest of the others; negative if they overlap.
fn gap_between(speeds: &[f64], slower: &[bool]) -> f64 {
    let speeds_of =
        |which: bool| speeds.iter().zip(slower).filter(move |(_, slow)| **slow == which).map(|(it, _)| *it);
    speeds_of(false).fold(f64::INFINITY, f64::min) - speeds_of(true).fold(f64::NEG_INFINITY, f64::max)
}

/// Marks the runs that lie below a wide gap; `None` if there is no such gap.
fn slower_runs(speeds: &[f64]) -> Option<Vec<bool>> {
    if speeds.len() < FEWEST_RUNS || speeds.iter().any(|speed| !speed.is_finite()) {
        return None;
    }
    let mut sorted = speeds.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let gap_above = |pair: &[f64]| pair[1] - pair[0];
    let widest = sorted.windows(2).max_by(|a, b| gap_above(a).total_cmp(&gap_above(b)))?;
    let (below, gap) = (widest[0], gap_above(widest));
    let others = sorted[sorted.len() - 1] - sorted[0] - gap;
    let width = WIDTHS.get(speeds.len() - FEWEST_RUNS).copied().unwrap_or(WIDTH);
    let is_wide = gap >= (1.0 + LEAST_GAP).ln() && gap >= width * others;
    is_wide.then(|| speeds.iter().map(|&speed| speed <= below).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Noise, Shape};

    const STEADY: [f64; 6] = [100.0, 100.5, 99.6, 100.2, 99.8, 100.1];

    fn found(own: &[f64], other: &[f64]) -> Option<(u32, u32)> {
        let found = two_speeds("a", own, other, Faster::Higher)?;
        Some((found.slower_runs, found.runs))
    }

    #[test]
    fn one_slow_run_in_six_is_a_second_speed_and_so_are_three() {
        assert_eq!(found(&[100.0, 90.0, 100.2, 99.7, 100.1, 99.9], &STEADY), Some((1, 6)));
        let halves = two_speeds("a", &[100.0, 90.0, 100.0, 90.0, 90.0, 100.0], &STEADY, Faster::Higher);
        let halves = halves.expect("two speeds");
        assert_eq!((halves.slower_runs, halves.share_of_runs), (3, 0.5));
        assert!((halves.slow_by - 0.1).abs() < 1e-9, "{}", halves.slow_by);
    }

    #[test]
    fn of_times_the_longer_ones_are_slower() {
        let times = [10.0, 13.0, 10.0, 10.0, 10.0, 10.0];
        let found = two_speeds("a", &times, &STEADY, Faster::Lower).expect("two speeds");
        assert_eq!(found.slower_runs, 1);
        assert!((found.slow_by - 0.3).abs() < 1e-9, "{}", found.slow_by);
    }

    #[test]
    fn a_slow_round_is_no_second_speed_and_neither_is_a_slow_partner() {
        let own = [100.0, 80.0, 100.2, 99.7, 100.1, 99.9];
        let round = [100.0, 80.3, 100.0, 100.1, 99.9, 100.0];
        assert_eq!(found(&own, &round), None, "both were slow");
        assert_eq!(found(&STEADY, &own), None, "the other one was");
    }

    #[test]
    fn two_speeds_of_both_variants_are_seen_where_they_are_not_slow_in_the_same_rounds() {
        let own = [100.0, 90.0, 100.2, 90.2, 100.1, 99.9];
        let other = [90.0, 100.1, 99.9, 90.1, 100.0, 100.2];
        assert_eq!((found(&own, &other), found(&other, &own)), (Some((2, 6)), Some((2, 6))));
        let same_rounds = [100.1, 90.2, 99.9, 90.0, 100.0, 100.2];
        assert_eq!((found(&own, &same_rounds), found(&same_rounds, &own)), (None, None), "slow rounds");
    }

    #[test]
    fn slow_rounds_are_said_to_be_two_speeds_in_at_most_one_session_of_a_hundred() {
        for noise_of_runs in [0.003, 0.01] {
            let mut noise = Noise::new();
            let wrong = (0..2_000)
                .filter(|_| {
                    let rounds = noise.runs(100.0, Shape::TwoSpeeds { noise: 0.0, slower: 0.1 }, 10);
                    let shape = Shape::Normal(noise_of_runs);
                    let [own, other] =
                        [(); 2].map(|()| rounds.iter().map(|&it| noise.run(it, shape)).collect::<Vec<f64>>());
                    found(&own, &other).is_some()
                })
                .count();
            println!("slow rounds, noise {noise_of_runs}: {wrong} of 2,000");
            assert!(wrong <= 20, "noise {noise_of_runs}: {wrong}");
        }
    }

    #[test]
    fn two_speeds_of_both_are_seen_in_most_sessions_that_have_a_slow_run_beside_a_fast_one() {
        let mut noise = Noise::new();
        let (mut has, mut said) = (0, 0);
        for _ in 0..1_000 {
            let shape = Shape::TwoSpeeds { noise: 0.003, slower: 0.1 };
            let [own, other] = [(); 2].map(|()| noise.runs(100.0, shape, 10));
            // Runs of the faster speed are 2 % above 100, runs of the slower speed 8 % below.
            let is_slow = |run: &f64| *run < 97.0;
            let shows = own.iter().zip(&other).any(|(own, other)| is_slow(own) && !is_slow(other));
            if shows && !own.iter().all(is_slow) {
                has += 1;
                said += u32::from(found(&own, &other).is_some());
            }
        }
        println!("both have two speeds, noise 0.003: said in {said} of {has}");
        assert!(said * 100 >= has * 95, "{said} of {has}");
    }

    #[test]
    fn a_small_gap_and_few_runs_show_nothing() {
        assert_eq!(found(&[100.0, 98.0, 100.0, 100.0, 100.0, 100.0], &STEADY), None, "2 %");
        assert_eq!(found(&[100.0, 90.0, 100.0, 100.0], &STEADY[..4]), None, "four runs");
    }

    #[test]
    fn variants_of_one_speed_are_said_to_have_two_in_at_most_one_of_a_hundred() {
        let mut noise = Noise::new();
        for runs in [5, 7, 10, 15] {
            let wrong = (0..2_000)
                .filter(|_| {
                    let [own, other] = [(); 2].map(|()| noise.runs(100.0, Shape::Normal(0.03), runs));
                    found(&own, &other).is_some()
                })
                .count();
            assert!(wrong <= 20, "{runs} runs: {wrong}");
        }
    }

    #[test]
    fn one_run_in_five_that_is_ten_per_cent_slower_is_seen_in_most_sessions_that_have_one() {
        for (noise_of_runs, least) in [(0.003, 99), (0.01, 75)] {
            let mut noise = Noise::new();
            let (mut has, mut said) = (0, 0);
            for _ in 0..1_000 {
                let shape = Shape::TwoSpeeds { noise: noise_of_runs, slower: 0.1 };
                let own = noise.runs(100.0, shape, 10);
                let other = noise.runs(100.0, Shape::Normal(noise_of_runs), 10);
                let slow = own.iter().filter(|&&run| run < 96.0).count() as u32;
                has += u32::from((1..10).contains(&slow));
                let seen = two_speeds("a", &own, &other, Faster::Higher);
                said += u32::from(seen.is_some_and(|seen| seen.slower_runs == slow));
            }
            println!("noise {noise_of_runs}: said in {said} of {has}");
            assert!(said * 100 >= has * least, "noise {noise_of_runs}: {said} of {has}");
        }
    }
}
