//! Loads that should overload the servers but do not: a machine with more cores can do what another one cannot.

use super::runs::{complete, figures, mean};
use threadcount_model::doubt::{Doubt, DoubtReason};
use threadcount_model::experiment::{Experiment, LoadSpec};
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;

/// A variant that is behind for less than this on average keeps up, because one pause alone makes a second.
pub const BEHIND_MS: f64 = 1_000.0;

/// One doubt for each variant of a load that overloads none of them. A variant without complete runs may be the one that was behind.
pub(super) fn no_overload(experiment: &Experiment, records: &[Record]) -> Vec<Doubt> {
    let overloads = experiment.loads.iter().filter(|load| load.workload.is_overload());
    overloads.flat_map(|load| of_load(experiment, load, records)).collect()
}

fn of_load(experiment: &Experiment, load: &LoadSpec, records: &[Record]) -> Vec<Doubt> {
    let planned = experiment.variants.iter().filter(|variant| variant.runs_under(load));
    let ran = planned.map(|variant| (variant.name.as_str(), complete(records, &variant.name, &load.name)));
    let ran: Vec<_> = ran.collect();
    if !ran.iter().all(|(_, runs)| keeps_up(runs)) {
        return Vec::new();
    }
    let doubt = |(name, runs): &(&str, Vec<&Record>)| Doubt {
        variant: (*name).to_owned(),
        load: load.name.clone(),
        runs: runs.len() as u32,
        reason: DoubtReason::NoOverload,
    };
    ran.iter().map(doubt).collect()
}

/// Do the runs keep up without losses? `false` if the time behind is unknown.
fn keeps_up(runs: &[&Record]) -> bool {
    let loses_nothing = |run: &&Record| {
        run.measured.as_ref().is_some_and(|load| load.requests.failed == 0 && load.requests.not_sent == 0)
    };
    let behind_ms = figures(runs, Metric::TimeBehind);
    behind_ms.len() == runs.len()
        && mean(&behind_ms).is_some_and(|behind_ms| behind_ms < BEHIND_MS)
        && runs.iter().all(loses_nothing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config::parse;
    use threadcount_model::record::{LoadSample, RunFailure};
    use threadcount_model::sample::{run, with_load};

    fn experiment(kind: &str) -> Experiment {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{a: {{}}, b: {{}}}}\n\
             loads: [{{name: c4, rate: 100/s, duration: 10s, {kind}}}]\n"
        );
        parse("x", "x.yaml", &text, false).expect("an experiment")
    }

    /// A run with this many requests in flight at the end of each second.
    fn with_in_flight(variant: &str, in_flight: [u64; 10]) -> Record {
        let record = with_load(run(variant, "c4", 100.0, 5.0), |load| {
            "open".clone_into(&mut load.plan.mode);
            load.plan.connections = 4_000;
        });
        let second = |(index, in_flight): (usize, u64)| LoadSample {
            t_s: index as f64 + 0.5,
            rate_per_s: 100.0,
            in_flight: Some(in_flight),
            ..LoadSample::default()
        };
        Record { load_series: in_flight.into_iter().enumerate().map(second).collect(), ..record }
    }

    fn doubted(experiment: &Experiment, records: &[Record]) -> Vec<String> {
        no_overload(experiment, records).into_iter().map(|doubt| doubt.variant).collect()
    }

    #[test]
    fn a_load_under_which_every_variant_keeps_up_is_no_overload() {
        let both = [with_in_flight("a", [5; 10]), with_in_flight("b", [7; 10])];
        assert_eq!(doubted(&experiment("overload: true"), &both), ["a", "b"]);
        assert_eq!(doubted(&experiment("losses: expected"), &both), [] as [String; 0]);
        assert_eq!(doubted(&experiment("overload: true"), &[]), [] as [String; 0]);
    }

    #[test]
    fn while_a_planned_variant_has_no_complete_run_nothing_is_said_of_the_others() {
        let overload = experiment("overload: true");
        let good = with_in_flight("a", [5; 10]);
        let failure = Some(RunFailure { why: "it ran out of memory".to_owned(), ..RunFailure::default() });
        let failed = Record { failure, ..with_in_flight("b", [5; 10]) };
        assert_eq!(doubted(&overload, &[good.clone(), failed]), [] as [String; 0]);
        assert_eq!(doubted(&overload, std::slice::from_ref(&good)), [] as [String; 0]);
        let of_one = experiment("overload: true, variants: [a]");
        assert_eq!(doubted(&of_one, &[good]), ["a"], "the other does not run under it");
    }

    #[test]
    fn one_variant_that_is_behind_or_refuses_is_enough() {
        let overload = experiment("overload: true");
        let good = with_in_flight("a", [5; 10]);
        let behind = with_in_flight("b", [5, 5, 5, 5, 200, 300, 300, 200, 5, 5]);
        assert_eq!(doubted(&overload, &[good.clone(), behind]), [] as [String; 0]);
        let refuses = with_load(with_in_flight("b", [5; 10]), |load| load.requests.failed = 1);
        assert_eq!(doubted(&overload, &[good.clone(), refuses]), [] as [String; 0]);
        let unknown = Record { load_series: Vec::new(), ..with_in_flight("b", [5; 10]) };
        assert_eq!(doubted(&overload, &[good, unknown]), [] as [String; 0]);
    }
}
