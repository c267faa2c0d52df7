//! The runs of an experiment in the order in which they happen.

use super::{Experiment, LoadSpec, Published, Server, Variant, Workload};

/// What starting, warming the connections, reading native memory and stopping a server takes, in seconds; for estimates.
const START_STOP_S: f64 = 3.0;
/// The same of a peer: no JVM, no probe.
const PEER_START_STOP_S: f64 = 0.5;
/// What lies between two steps of a capacity load, in seconds; for estimates.
const BETWEEN_STEPS_S: f64 = 0.5;
/// How often a capacity load doubles its rate where nobody published a rate; for estimates.
const DOUBLINGS: u32 = 4;

/// One run to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// Index in [`Experiment::variants`].
    pub variant: usize,
    /// Index in [`Experiment::loads`].
    pub load: usize,
    /// Which round of this load, from 1.
    pub round: u32,
    /// Its place in the whole plan, from 1.
    pub position: u32,
}

/// All runs there may be, interleaved. The session ends the rounds of a load earlier where its answer is decided.
#[must_use]
pub fn plan(experiment: &Experiment) -> Vec<PlannedRun> {
    let mut runs = Vec::new();
    for (index, load) in experiment.loads.iter().enumerate() {
        for round in 1..=load.runs {
            let position = runs.len() as u32 + 1;
            runs.extend(round_of(experiment, index, round, position));
        }
    }
    runs
}

/// One round of a load, whose first run gets this position: every variant once, and every second round in the
/// opposite order (A B C, C B A, ...), so that whatever drifts over time (heat, other users of the machine) weighs on
/// all variants alike. A variant or a load that cannot run on this machine is left out.
#[must_use]
pub fn round_of(experiment: &Experiment, load: usize, round: u32, position: u32) -> Vec<PlannedRun> {
    let spec = &experiment.loads[load];
    let runs = |variant: &usize| spec.skipped.is_none() && experiment.variants[*variant].runs_under(spec);
    let mut order: Vec<usize> = (0..experiment.variants.len()).filter(runs).collect();
    if round.is_multiple_of(2) {
        order.reverse();
    }
    let placed = (position..).zip(order);
    placed.map(|(position, variant)| PlannedRun { variant, load, round, position }).collect()
}

/// How long all runs that there may be will take, in seconds; `None` where a load ends after a number of requests and
/// nobody published how fast they go. Never longer than the budget, beyond the first round of each load.
#[must_use]
pub fn estimate_s(experiment: &Experiment) -> Option<f64> {
    let longest: Option<f64> = plan(experiment).iter().map(|run| run_s(experiment, run)).sum();
    let runs = (0..experiment.loads.len()).flat_map(|load| round_of(experiment, load, 1, 1));
    let shortest: Option<f64> = runs.map(|run| run_s(experiment, &run)).sum();
    let (longest, shortest) = (longest?, shortest?);
    Some(experiment.budget_s.map_or(longest, |budget_s| longest.min(budget_s.max(shortest))))
}

/// How long one run takes, in seconds, with the longest warm-up.
#[must_use]
pub fn run_s(experiment: &Experiment, run: &PlannedRun) -> Option<f64> {
    let load = &experiment.loads[run.load];
    let variant = &experiment.variants[run.variant];
    let measured_s = load_length_s(experiment, load, &variant.name)?;
    let (start_stop_s, warm_up_s) = match variant.server() {
        Some(Server::Peer(_)) => (PEER_START_STOP_S, experiment.warmup_s(load)),
        Some(_) => (START_STOP_S, experiment.warmup_s(load)),
        None => (START_STOP_S, 0.0),
    };
    Some(start_stop_s + warm_up_s + measured_s)
}

fn load_length_s(experiment: &Experiment, load: &LoadSpec, variant: &str) -> Option<f64> {
    match load.workload {
        Workload::Capacity(capacity) => {
            let doublings = |rate: f64| (rate / capacity.from_per_s).log2().clamp(0.0, 20.0).ceil() as u32;
            let steps =
                capacity.likely_steps(published_rate(experiment, load, variant).map_or(DOUBLINGS, doublings));
            Some(f64::from(steps) * (load.duration_s? + BETWEEN_STEPS_S))
        }
        Workload::Jmh(size) => Some(f64::from(size.all_iterations()) * load.duration_s?),
        Workload::Http(_) | Workload::External(_) => requests_length_s(experiment, load, variant),
    }
}

fn requests_length_s(experiment: &Experiment, load: &LoadSpec, variant: &str) -> Option<f64> {
    let by_requests_s = load.requests.and_then(|requests| {
        if let Some(elapsed_ms) = published_elapsed_ms(experiment, load, variant) {
            return Some(elapsed_ms / 1e3);
        }
        let rate = load.workload.rate_per_s().or_else(|| published_rate(experiment, load, variant))?;
        Some(requests as f64 / rate)
    });
    match (load.duration_s, by_requests_s) {
        (Some(duration_s), Some(by_requests_s)) => Some(duration_s.min(by_requests_s)),
        (one, other) => one.or(other),
    }
}

/// The variant's published rate under this load, else the slowest that was published for any variant under it, else
/// the slowest of all.
fn published_rate(experiment: &Experiment, load: &LoadSpec, variant: &str) -> Option<f64> {
    let first = experiment.loads.first().map(|load| load.name.as_str());
    let here = |entry: &&Published| entry.load.as_deref().or(first) == Some(&*load.name);
    let slowest = |entries: &mut dyn Iterator<Item = &Published>| {
        let rate = |entry: &Published| {
            ["rate_per_s", "capacity_per_s"].iter().find_map(|name| entry.figures.get(*name).copied())
        };
        entries.filter_map(rate).min_by(f64::total_cmp)
    };
    let all = &experiment.published;
    slowest(&mut all.iter().filter(here).filter(|entry| entry.variant == variant))
        .or_else(|| slowest(&mut all.iter().filter(here)))
        .or_else(|| slowest(&mut all.iter()))
}

/// How long the whole load took, where somebody published it for this variant, else the longest for any under it.
fn published_elapsed_ms(experiment: &Experiment, load: &LoadSpec, variant: &str) -> Option<f64> {
    let first = experiment.loads.first().map(|load| load.name.as_str());
    let here = experiment.published.iter().filter(|it| it.load.as_deref().or(first) == Some(&*load.name));
    let elapsed = |it: &Published| it.figures.get("elapsed_ms").copied();
    let own = here.clone().filter(|it| it.variant == variant).find_map(elapsed);
    own.or_else(|| here.filter_map(elapsed).max_by(f64::total_cmp))
}

impl Variant {
    /// Does it run under the load, on this machine?
    #[must_use]
    pub fn runs_under(&self, load: &LoadSpec) -> bool {
        self.skipped.is_none() && load.includes(&self.name)
    }
}

impl LoadSpec {
    /// How many connections it has at most.
    #[must_use]
    pub fn clients(&self) -> u32 {
        self.workload.clients()
    }

    /// Does this variant run under the load?
    #[must_use]
    pub fn includes(&self, variant: &str) -> bool {
        self.only_variants.is_empty() || self.only_variants.iter().any(|name| name == variant)
    }

    /// Leaves only those of the variants that run under the load anyway; false: none is left, and the load is not
    /// to be used.
    #[must_use]
    pub fn keep_only(&mut self, variants: &[String]) -> bool {
        let kept: Vec<String> = variants.iter().filter(|name| self.includes(name)).cloned().collect();
        let any = !kept.is_empty();
        if any {
            self.only_variants = kept;
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;

    fn experiment(text: &str) -> Experiment {
        let head = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}, c: {}}\n";
        parse("x", "x.yaml", &format!("{head}{text}"), false).expect("an experiment")
    }

    fn order(experiment: &Experiment) -> String {
        let names = plan(experiment).into_iter().map(|run| {
            assert_eq!(run.load, 0);
            experiment.variants[run.variant].name.clone()
        });
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn rounds_alternate_the_order_of_the_variants() {
        let experiment = experiment("loads: [{clients: 1, duration: 1s, runs: 3}]");
        assert_eq!(order(&experiment), "a b c c b a a b c");
        let rounds: Vec<u32> = plan(&experiment).iter().map(|run| run.round).collect();
        assert_eq!(rounds, [1, 1, 1, 2, 2, 2, 3, 3, 3]);
        let positions: Vec<u32> = plan(&experiment).iter().map(|run| run.position).collect();
        assert_eq!(positions, (1..=9).collect::<Vec<_>>());
    }

    #[test]
    fn a_load_runs_only_its_variants() {
        let experiment = experiment("loads: [{clients: 1, duration: 1s, runs: 2, variants: [c, a]}]");
        assert_eq!(order(&experiment), "a c c a");
    }

    #[test]
    fn a_variant_that_cannot_run_here_is_left_out() {
        let mut experiment = experiment("loads: [{clients: 1, duration: 1s, runs: 2}]");
        experiment.variants[0].skipped = Some("there is no Ada here".into());
        assert_eq!(order(&experiment), "b c c b");
    }

    #[test]
    fn loads_come_one_after_the_other() {
        let experiment =
            experiment("runs: 1\nloads: [{clients: 1, duration: 1s}, {clients: 2, duration: 1s}]");
        let loads: Vec<usize> = plan(&experiment).iter().map(|run| run.load).collect();
        assert_eq!(loads, [0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn the_estimate_of_a_benchmark_counts_all_iterations_of_all_forks() {
        let text = "question: q\nserver: {benchmark: b, method: m}\nvariants: {a: {}, b: {}}\n\
            loads: [{forks: 2, warmups: 1, iterations: 3, duration: 10s, runs: 5}]\n";
        let benchmark = parse("x", "x.yaml", text, false).expect("an experiment");
        assert_eq!(estimate_s(&benchmark), Some(2.0 * 5.0 * (3.0 + 2.0 * 4.0 * 10.0)));
    }

    #[test]
    fn the_estimate_counts_warm_up_measuring_and_starting() {
        let timed = experiment("warmup: 8s\nloads: [{clients: 1, duration: 6s, runs: 2}]");
        assert_eq!(estimate_s(&timed), Some(6.0 * 17.0));
        let cold = experiment("warmup: 8s\nloads: [{clients: 1, duration: 6s, runs: 2, warmup: 0s}]");
        assert_eq!(estimate_s(&cold), Some(6.0 * 9.0));
        let text = "question: q\nserver: {peer: cpp}\nrequest: /\nvariants: {a: {}}\nwarmup: 1s\n\
            loads: [{clients: 1, duration: 2s, runs: 2}]\n";
        let peer = parse("x", "x.yaml", text, false).expect("an experiment");
        assert_eq!(estimate_s(&peer), Some(7.0));
        let counted = experiment("warmup: 7s\nloads: [{clients: 1, requests: 1000, runs: 1}]");
        assert_eq!(estimate_s(&counted), None);
    }

    #[test]
    fn the_estimate_of_a_capacity_counts_its_likely_steps() {
        let experiment = experiment("warmup: 7s\nloads: [{capacity: {p99: 200ms}, duration: 3s, runs: 1}]");
        assert_eq!(estimate_s(&experiment), Some(3.0 * (10.0 + 13.0 * 3.5)));
    }

    #[test]
    fn a_budget_bounds_the_estimate_but_never_below_one_round() {
        let within = |budget: &str| {
            estimate_s(&experiment(&format!(
                "warmup: 8s\nbudget: {budget}\nloads: [{{clients: 1, duration: 6s, runs: 2}}]"
            )))
        };
        assert_eq!(within("1h"), Some(6.0 * 17.0));
        assert_eq!(within("1m"), Some(60.0));
        assert_eq!(within("10s"), Some(3.0 * 17.0));
    }

    #[test]
    fn the_estimate_of_counted_requests_rests_on_published_times_too() {
        let experiment = experiment(
            "warmup: 0s\nloads: [{clients: 1, requests: 9, runs: 1}]\npublished: [{variant: a, elapsed: 4s}, \
                {variant: b, elapsed: 27s}]",
        );
        assert_eq!(estimate_s(&experiment), Some(9.0 + 4.0 + 27.0 + 27.0));
    }

    #[test]
    fn the_estimate_of_counted_requests_rests_on_published_rates() {
        let experiment = experiment(
            "warmup: 7s\nloads: [{clients: 1, requests: 1000, runs: 1}]\npublished: [{variant: a, \
                rate: 100}, {variant: b, rate: 200}]",
        );
        assert_eq!(estimate_s(&experiment), Some(20.0 + 15.0 + 20.0));
    }
}
