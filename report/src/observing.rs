//! The cost of observing the JVM from inside: explaining windows compared with measured ones.

use threadcount_judge::result::ResultDocument;
use threadcount_model::figures;
use threadcount_model::record::Record;
use threadcount_model::record::explaining::ObservationCost;
use threadcount_stats::runs::mean;

/// `virtual, c400: 0.99x the throughput and 1.02x the CPU per request with the probe in the JVM (3 runs)`: a line per variant and
/// load that was observed, or was meant to be observed.
#[must_use]
pub fn observations(document: &ResultDocument) -> Vec<String> {
    let loads = document.experiment.loads.iter();
    let pairs =
        loads.flat_map(|load| document.experiment.variants.iter().map(move |variant| (load, variant)));
    pairs
        .flat_map(|(load, variant)| {
            let runs: Vec<&Record> = document.runs_of(&variant.name, &load.name).collect();
            let printed = [cost_words(&runs), unexplained_words(&runs)].into_iter().flatten();
            printed.map(move |words| format!("{}, {}: {words}", variant.name, load.name)).collect::<Vec<_>>()
        })
        .collect()
}

/// The first reason why runs were not observed to the end; `result.json` holds the others.
fn unexplained_words(runs: &[&Record]) -> Option<String> {
    let why = |run: &&Record| {
        let sampling_ended = || run.jvm.as_ref()?.wait_profile.as_ref()?.ended.as_ref();
        let ended = || sampling_ended().map(|why| format!("no more threads were sampled after {why}"));
        run.unexplained.clone().or_else(|| run.probe_refused.clone()).or_else(ended)
    };
    let why: Vec<String> = runs.iter().filter_map(why).collect();
    let first = why.first()?;
    Some(format!("not observed as it was to be in {}: {first}", figures::plural(why.len(), "run")))
}

fn cost_words(runs: &[&Record]) -> Option<String> {
    let costs: Vec<ObservationCost> = runs.iter().filter_map(|run| cost(run)).collect();
    let still_compiles = |run: &&&Record| {
        let window = run.explaining.as_ref().filter(|_| run.jvm.is_some());
        window.and_then(|window| window.recompiling).is_some_and(|recompiling| !recompiling.is_over)
    };
    words(&costs, runs.iter().filter(still_compiles).count())
}

/// The cost of observing a run; `None` if no probe observed it, though its threads may have been dumped in the window.
fn cost(run: &Record) -> Option<ObservationCost> {
    run.jvm.as_ref()?;
    run.explaining.as_ref()?.observation_cost(run.measured.as_ref()?, run.cost.as_ref())
}

/// The mean cost in words, `None` without costs. `compiling` is the number of runs in which the JVM was still recompiling code
/// that it had discarded when the probe attached.
fn words(costs: &[ObservationCost], compiling: usize) -> Option<String> {
    let rate_ratio = mean(&costs.iter().map(|cost| cost.rate_ratio).collect::<Vec<_>>())?;
    let cpu = mean(&costs.iter().filter_map(|cost| cost.cpu_per_request_ratio).collect::<Vec<_>>());
    let cpu = cpu.map_or_else(String::new, |ratio| format!(" and {ratio:.2}x the CPU per request"));
    let runs = figures::plural(costs.len(), "run");
    let compiling = match compiling {
        0 => String::new(),
        _ => format!("; in {compiling} of them it was still recompiling what attaching had deoptimized"),
    };
    Some(format!("{rate_ratio:.2}x the throughput{cpu} with the probe in the JVM ({runs}{compiling})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::record::jvm::JvmReadings;
    use threadcount_model::record::wait_profile::WaitProfile;

    fn cost(rate_ratio: f64, cpu_per_request_ratio: Option<f64>) -> ObservationCost {
        ObservationCost { rate_ratio, cpu_per_request_ratio }
    }

    #[test]
    fn the_means_of_the_runs_are_said_with_their_number() {
        let both = [cost(0.97, Some(1.04)), cost(0.99, Some(1.02))];
        let expected =
            "0.98x the throughput and 1.03x the CPU per request with the probe in the JVM (2 runs)";
        assert_eq!(words(&both, 0).as_deref(), Some(expected));
        let compiling = words(&both, 1).unwrap_or_default();
        let expected = "(2 runs; in 1 of them it was still recompiling what attaching had deoptimized)";
        assert!(compiling.ends_with(expected), "{compiling}");
    }

    #[test]
    fn why_a_run_was_not_observed_is_said() {
        let unobserved = |why: &str| Record { unexplained: Some(why.to_owned()), ..Record::default() };
        let (first, second) = (unobserved("the server ended"), unobserved("another"));
        let printed = unexplained_words(&[&first, &second, &Record::default()]);
        assert_eq!(printed.as_deref(), Some("not observed as it was to be in 2 runs: the server ended"));
        assert_eq!(unexplained_words(&[&Record::default()]), None);
        let profile = WaitProfile { ended: Some("a JDK of another kind".into()), ..WaitProfile::default() };
        let jvm = Some(JvmReadings { wait_profile: Some(profile), ..JvmReadings::default() });
        let printed = unexplained_words(&[&Record { jvm, ..Record::default() }]).unwrap_or_default();
        assert!(
            printed.ends_with(" 1 run: no more threads were sampled after a JDK of another kind"),
            "{printed}"
        );
    }

    #[test]
    fn without_a_known_cpu_only_the_throughput_is_said_and_without_a_window_nothing() {
        let one = [cost(1.0, None)];
        assert_eq!(words(&one, 0).as_deref(), Some("1.00x the throughput with the probe in the JVM (1 run)"));
        assert_eq!(words(&[], 0), None);
    }
}
