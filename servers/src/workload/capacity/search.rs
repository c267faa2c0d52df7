//! The choice of the next rate: geometric growth until a rate is not sustained, then bisection on the logarithmic scale.
//!
//! Single steps are noisy, so a rate is given up only when two more of its steps were broken than sustained, and the
//! reported rate has been sustained in two. On the way up a majority of one sustained step is enough, because the next
//! rate demands more anyway.
//!
//! When the machine is nearly full, the rate grows only by the remaining headroom and a little more. Doubling it would
//! teach nothing and can kill a server (measured: 6,600 waiting connections filled a heap of 512 MB for good).
//!
//! A rate at which the load generator was the bottleneck is another kind of bound: nothing above it is tried, and unless
//! the server's own bound turns up below it, the search ends with "at least".

use threadcount_model::experiment::capacity::{Capacity, GROWTH};
use threadcount_model::record::capacity::{SearchEnd, StepVerdict};

/// Maximum number of times that the first rate is halved if it is not sustained.
const HALVINGS: i32 = 6;
/// A rate is given up when this many more steps failed than were sustained, and reported after this many sustained steps.
const DECIDES: u32 = 2;
/// A search that takes more steps than this contradicts itself.
const MOST_STEPS: u32 = 40;
/// Factor by which growth exceeds the apparent headroom of the machine's cores, because a request costs less at a higher rate.
const BEYOND_HEADROOM: f64 = 1.25;
/// The golden ratio's fraction: its multiples fill 0 to 1 evenly, whatever the number of rounds.
const SPREAD: f64 = 0.618_033_988_75;

/// A search in progress.
#[derive(Clone, Debug)]
pub struct Search {
    spec: Capacity,
    first_per_s: f64,
    tried: Vec<Tried>,
    is_silent: bool,
}

/// The next action of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Send this rate.
    Step {
        /// Requests per second.
        rate_per_s: f64,
    },
    /// The search is over.
    Done {
        /// The highest rate that was sustained.
        sustained_per_s: Option<f64>,
        /// How the search ended.
        ended: SearchEnd,
    },
}

/// One rate and the outcomes of its steps.
#[derive(Clone, Copy, Debug)]
struct Tried {
    rate_per_s: f64,
    sustained: u32,
    broken: u32,
    generator: u32,
    /// The factor by which the machine's cores could have done more in the last step; infinite if unknown.
    headroom: f64,
}

impl Tried {
    fn steps(self) -> u32 {
        self.sustained + self.against()
    }

    fn against(self) -> u32 {
        self.broken + self.generator
    }

    /// Whether the rate is too high for the server or the load generator.
    fn is_bound(self) -> bool {
        self.against() >= self.sustained + DECIDES
    }

    /// Whether only the load generator is known to make the rate too high.
    fn is_generators(self) -> bool {
        self.is_bound() && self.broken < self.sustained + DECIDES
    }

    fn is_held(self) -> bool {
        self.sustained > self.against()
    }

    fn is_open(self) -> bool {
        !self.is_bound() && !self.is_held()
    }

    fn is_sure(self) -> bool {
        self.sustained >= DECIDES && self.is_held()
    }
}

impl Search {
    /// Begins a search. Each round has its own grid points, spread over one resolution. Runs then differ by the error of the
    /// grid, so the interval of their mean covers that error.
    #[must_use]
    pub fn new(spec: Capacity, round: u32) -> Self {
        let share = (f64::from(round) * SPREAD).fract();
        let first_per_s = rounded(spec.from_per_s * (1.0 + spec.resolution).powf(share));
        Self { spec, first_per_s: first_per_s.min(spec.to_per_s), tried: Vec::new(), is_silent: false }
    }

    /// Records the verdict on a step at `rate_per_s`. `headroom` is the factor by which the machine's cores could have done
    /// more; `None` if unknown.
    pub fn step_ended(&mut self, rate_per_s: f64, verdict: StepVerdict, headroom: Option<f64>) {
        let same = |tried: &&mut Tried| tried.rate_per_s.total_cmp(&rate_per_s).is_eq();
        let mut fresh = Tried { rate_per_s, sustained: 0, broken: 0, generator: 0, headroom: 0.0 };
        let known = self.tried.iter_mut().find(same);
        let is_new = known.is_none();
        let tried = known.unwrap_or(&mut fresh);
        tried.headroom = headroom.unwrap_or(f64::INFINITY);
        match verdict {
            StepVerdict::Sustained => tried.sustained += 1,
            StepVerdict::Broken => tried.broken += 1,
            StepVerdict::Generator => tried.generator += 1,
        }
        if is_new {
            self.tried.push(fresh);
        }
    }

    /// Ends the search because the server no longer responds, so that further steps would show nothing about a rate.
    pub const fn went_silent(&mut self) {
        self.is_silent = true;
    }

    /// The next action of a search.
    #[must_use]
    pub fn next(&self) -> Next {
        let bound = self.lowest(|tried| tried.is_bound());
        let held = self.highest_held(bound);
        if self.is_silent {
            return done(held, SearchEnd::Silent);
        }
        if self.tried.iter().map(|tried| tried.steps()).sum::<u32>() >= MOST_STEPS {
            return done(held, SearchEnd::Undecided);
        }
        if let Some(open) = self.tried.iter().find(|tried| tried.is_open()) {
            return step(open.rate_per_s);
        }
        match (held, bound) {
            (None, None) => step(self.first_per_s),
            (Some(held), None) => self.grow(held),
            (None, Some(bound)) => self.shrink(bound),
            (Some(held), Some(bound)) => self.narrow(held, bound),
        }
    }

    fn grow(&self, held: Tried) -> Next {
        match held.rate_per_s {
            rate if rate < self.spec.to_per_s => {
                let growth = (held.headroom * BEYOND_HEADROOM).clamp(BEYOND_HEADROOM, GROWTH);
                step(rounded(rate * growth).max(rate).min(self.spec.to_per_s))
            }
            _ if held.is_sure() => done(Some(held), SearchEnd::Ceiling),
            rate => step(rate),
        }
    }

    fn shrink(&self, bound: Tried) -> Next {
        let rate = rounded(bound.rate_per_s / GROWTH);
        if rate < 0.99 * self.first_per_s / GROWTH.powi(HALVINGS) {
            let ended = if bound.is_generators() { SearchEnd::Generator } else { SearchEnd::Nothing };
            return done(None, ended);
        }
        step(rate)
    }

    fn narrow(&self, held: Tried, bound: Tried) -> Next {
        let middle = rounded((held.rate_per_s * bound.rate_per_s).sqrt());
        let is_between = held.rate_per_s < middle && middle < bound.rate_per_s;
        if is_between && bound.rate_per_s > held.rate_per_s * (1.0 + self.spec.resolution) {
            return step(middle);
        }
        match held {
            held if !held.is_sure() => step(held.rate_per_s),
            held if bound.is_generators() => done(Some(held), SearchEnd::Generator),
            held => done(Some(held), SearchEnd::Found),
        }
    }

    fn lowest(&self, wanted: impl Fn(&Tried) -> bool) -> Option<Tried> {
        let all = self.tried.iter().copied().filter(wanted);
        all.min_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s))
    }

    fn highest_held(&self, bound: Option<Tried>) -> Option<Tried> {
        let below = |tried: &Tried| bound.is_none_or(|bound| tried.rate_per_s < bound.rate_per_s);
        let held = self.tried.iter().copied().filter(|tried| tried.is_held() && below(tried));
        held.max_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s))
    }
}

fn step(rate_per_s: f64) -> Next {
    Next::Step { rate_per_s }
}

fn done(held: Option<Tried>, ended: SearchEnd) -> Next {
    Next::Done { sustained_per_s: held.map(|held| held.rate_per_s), ended }
}

/// Rounds a rate to whole requests per second where that costs no precision.
fn rounded(rate_per_s: f64) -> f64 {
    if rate_per_s >= 200.0 { rate_per_s.round() } else { rate_per_s }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::metric::Metric;

    fn spec(from_per_s: f64, to_per_s: f64, resolution: f64) -> Capacity {
        Capacity { from_per_s, to_per_s, resolution, ..Capacity::under(Metric::P99, 200.0) }
    }

    /// A search whose grid is not shifted.
    fn begun(spec: Capacity) -> Search {
        Search { first_per_s: spec.from_per_s, ..Search::new(spec, 1) }
    }

    /// Searches with a verdict for each step; returns the rates that were tried and the end.
    fn searched(spec: Capacity, mut answer: impl FnMut(usize, f64) -> StepVerdict) -> (Vec<f64>, Next) {
        let mut search = begun(spec);
        let mut rates = Vec::new();
        loop {
            match search.next() {
                Next::Step { rate_per_s } => {
                    search.step_ended(rate_per_s, answer(rates.len(), rate_per_s), None);
                    rates.push(rate_per_s);
                }
                end => return (rates, end),
            }
        }
    }

    fn below(capacity: f64) -> impl Fn(usize, f64) -> StepVerdict {
        move |_, rate| if rate <= capacity { StepVerdict::Sustained } else { StepVerdict::Broken }
    }

    fn found(sustained_per_s: f64) -> Next {
        Next::Done { sustained_per_s: Some(sustained_per_s), ended: SearchEnd::Found }
    }

    #[test]
    fn it_doubles_then_bisects_repeats_what_fails_and_confirms_what_it_reports() {
        let (rates, end) = searched(spec(1_000.0, 1e6, 0.1), below(4_900.0));
        assert_eq!(
            rates,
            [1000.0, 2000.0, 4000.0, 8000.0, 8000.0, 5657.0, 5657.0, 4757.0, 5188.0, 5188.0, 4757.0]
        );
        assert_eq!(end, found(4_757.0));
    }

    #[test]
    fn the_capacity_is_found_to_the_resolution_whatever_it_is() {
        for capacity in [17.0, 130.0, 999.0, 1_000.0, 3_333.3, 77_777.0] {
            let (rates, end) = searched(spec(500.0, 1e6, 0.05), below(capacity));
            let Next::Done { sustained_per_s: Some(rate), ended: SearchEnd::Found } = end else {
                panic!("{capacity}: {end:?}")
            };
            assert!(rate <= capacity && capacity <= rate * 1.051, "{capacity}: {rate}");
            assert!(rates.len() <= 22, "{capacity}: {rates:?}");
        }
    }

    #[test]
    fn one_bad_step_does_not_decide_and_two_do() {
        let hiccup = |bad: &'static [usize]| {
            move |index: usize, rate: f64| {
                if bad.contains(&index) { StepVerdict::Broken } else { below(4_900.0)(index, rate) }
            }
        };
        let (rates, end) = searched(spec(1_000.0, 1e6, 0.1), hiccup(&[2]));
        assert_eq!((&rates[2..6], end), ([4000.0, 4000.0, 4000.0, 8000.0].as_slice(), found(4_757.0)));
        let (_, end) = searched(spec(1_000.0, 1e6, 0.1), hiccup(&[2, 3]));
        let Next::Done { sustained_per_s: Some(rate), .. } = end else { panic!("{end:?}") };
        assert!((3_600.0..4_000.0).contains(&rate), "two bad steps decide: {rate}");
    }

    #[test]
    fn a_lucky_step_is_found_out_when_it_is_confirmed() {
        let lucky = |index: usize, rate: f64| {
            if index == 2 { StepVerdict::Sustained } else { below(3_000.0)(index, rate) }
        };
        let (rates, end) = searched(spec(1_000.0, 1e6, 0.1), lucky);
        assert_eq!(rates[2], 4_000.0);
        assert_eq!(end, found(2_828.0), "{rates:?}");
    }

    #[test]
    fn a_generator_at_its_limit_ends_the_climb_and_is_not_taken_for_the_server() {
        let limited = |_: usize, rate: f64| {
            if rate <= 4_900.0 { StepVerdict::Sustained } else { StepVerdict::Generator }
        };
        let (rates, end) = searched(spec(1_000.0, 1e6, 0.1), limited);
        assert_eq!(
            end,
            Next::Done { sustained_per_s: Some(4_757.0), ended: SearchEnd::Generator },
            "{rates:?}"
        );
        assert!(rates.iter().all(|&rate| rate <= 8_000.0), "nothing above the first limit: {rates:?}");
    }

    #[test]
    fn two_broken_steps_are_the_servers_even_if_the_generator_was_late_in_a_third() {
        let mixed = |index: usize, rate: f64| match (index, rate) {
            (3, _) => StepVerdict::Generator,
            (_, rate) => below(4_900.0)(index, rate),
        };
        let (rates, end) = searched(spec(1_000.0, 8_000.0, 1.5), mixed);
        assert_eq!(&rates[3..], [8_000.0, 8_000.0, 4_000.0]);
        assert_eq!(end, Next::Done { sustained_per_s: Some(4_000.0), ended: SearchEnd::Generator });
        let mixed = |index: usize, rate: f64| match (index, rate) {
            (3, _) => StepVerdict::Sustained,
            (4, _) => StepVerdict::Generator,
            (_, rate) => below(4_900.0)(index, rate),
        };
        let (_, end) = searched(spec(1_000.0, 1e6, 0.1), mixed);
        assert_eq!(end, found(4_757.0));
    }

    #[test]
    fn the_servers_own_bound_below_the_generators_is_found() {
        let both = |index: usize, rate: f64| {
            if rate >= 8_000.0 { StepVerdict::Generator } else { below(5_000.0)(index, rate) }
        };
        let (_, end) = searched(spec(1_000.0, 1e6, 0.1), both);
        assert_eq!(end, found(4_757.0));
    }

    #[test]
    fn on_a_nearly_full_machine_it_grows_by_what_is_left_and_a_little_more() {
        let next_after = |headroom| {
            let mut search = begun(spec(1_000.0, 1e6, 0.05));
            search.step_ended(1_000.0, StepVerdict::Sustained, headroom);
            search.next()
        };
        assert_eq!(next_after(None), step(2_000.0));
        assert_eq!(next_after(Some(20.0)), step(2_000.0));
        assert_eq!(next_after(Some(1.2)), step(1_500.0));
        assert_eq!(next_after(Some(0.9)), step(1_250.0), "what cannot be is no reason to stand still");
    }

    #[test]
    fn a_server_that_answers_nothing_any_more_ends_the_search_with_what_it_had_sustained() {
        let mut search = begun(spec(1_000.0, 1e6, 0.05));
        search.step_ended(1_000.0, StepVerdict::Sustained, None);
        search.step_ended(2_000.0, StepVerdict::Broken, None);
        search.went_silent();
        let silent = |sustained_per_s| Next::Done { sustained_per_s, ended: SearchEnd::Silent };
        assert_eq!(search.next(), silent(Some(1_000.0)));
        let mut at_once = Search::new(spec(1_000.0, 1e6, 0.05), 1);
        at_once.went_silent();
        assert_eq!(at_once.next(), silent(None));
    }

    #[test]
    fn a_search_ends_at_the_highest_rate_it_may_try() {
        let (rates, end) = searched(spec(1_000.0, 3_000.0, 0.1), below(1e9));
        assert_eq!(rates, [1000.0, 2000.0, 3000.0, 3000.0]);
        assert_eq!(end, Next::Done { sustained_per_s: Some(3_000.0), ended: SearchEnd::Ceiling });
    }

    #[test]
    fn a_server_that_sustains_nothing_ends_the_search() {
        let (rates, end) = searched(spec(1_000.0, 1e6, 0.1), below(0.0));
        assert_eq!(end, Next::Done { sustained_per_s: None, ended: SearchEnd::Nothing });
        assert_eq!(rates.last(), Some(&(1_000.0 / 64.0)));
        let (_, end) = searched(spec(1_000.0, 1e6, 0.1), |_, _| StepVerdict::Generator);
        assert_eq!(end, Next::Done { sustained_per_s: None, ended: SearchEnd::Generator });
    }

    #[test]
    fn a_search_that_contradicts_itself_ends_all_the_same() {
        let mut state = 1_u32;
        let coin = move |_: usize, _: f64| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state >> 31 == 0 { StepVerdict::Sustained } else { StepVerdict::Broken }
        };
        let (rates, _) = searched(spec(1_000.0, 1e6, 0.01), coin);
        assert!(rates.len() <= 40);
    }

    #[test]
    fn each_round_has_a_grid_of_its_own_within_the_resolution() {
        let firsts: Vec<f64> =
            (1..=4).map(|round| Search::new(spec(10_000.0, 1e6, 0.05), round).first_per_s).collect();
        assert!(firsts.iter().all(|first| (10_000.0..10_500.0).contains(first)), "{firsts:?}");
        assert!(firsts.windows(2).all(|pair| (pair[0] - pair[1]).abs() > 90.0), "{firsts:?}");
    }

    #[test]
    fn an_estimate_is_near_the_steps_that_are_taken() {
        let spec = spec(1_000.0, 1e6, 0.05);
        let (rates, _) = searched(spec, below(4_900.0));
        let likely = spec.likely_steps(3) as usize;
        assert!(likely.abs_diff(rates.len()) <= 4, "{likely} against {}", rates.len());
    }
}
