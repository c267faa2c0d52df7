//! What observing the JVM from inside cost: the explaining windows beside the measured ones.

use crate::model::record::Record;
use crate::model::record::explaining::ObservationCost;
use crate::model::result::ResultDocument;
use crate::report::figures;
use crate::stats::runs::mean;

/// `virtual, c400: 0.99x the throughput and 1.02x the CPU per request with the probe in the JVM (3 runs)`: one line for each variant
/// under each load that was observed.
#[must_use]
pub fn observation_costs(document: &ResultDocument) -> Vec<String> {
    let loads = document.experiment.loads.iter();
    loads
        .flat_map(|load| {
            let variants = document.experiment.variants.iter();
            variants.filter_map(|variant| {
                let costs: Vec<ObservationCost> =
                    document.runs_of(&variant.name, &load.name).filter_map(cost).collect();
                Some(format!("{}, {}: {}", variant.name, load.name, words(&costs)?))
            })
        })
        .collect()
}

/// `None`: nothing observed it, though its threads may have been dumped in such a window.
fn cost(run: &Record) -> Option<ObservationCost> {
    run.jvm.as_ref()?;
    run.explaining.as_ref()?.observation_cost(run.measured.as_ref()?, run.cost.as_ref())
}

/// `None`: of nothing.
fn words(costs: &[ObservationCost]) -> Option<String> {
    let rate_ratio = mean(&costs.iter().map(|cost| cost.rate_ratio).collect::<Vec<_>>())?;
    let cpu = mean(&costs.iter().filter_map(|cost| cost.cpu_per_request_ratio).collect::<Vec<_>>());
    let cpu = cpu.map_or_else(String::new, |ratio| format!(" and {ratio:.2}x the CPU per request"));
    let runs = figures::plural(costs.len(), "run");
    Some(format!("{rate_ratio:.2}x the throughput{cpu} with the probe in the JVM ({runs})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(rate_ratio: f64, cpu_per_request_ratio: Option<f64>) -> ObservationCost {
        ObservationCost { rate_ratio, cpu_per_request_ratio }
    }

    #[test]
    fn the_means_of_the_runs_are_said_with_their_number() {
        let both = [cost(0.97, Some(1.04)), cost(0.99, Some(1.02))];
        let expected =
            "0.98x the throughput and 1.03x the CPU per request with the probe in the JVM (2 runs)";
        assert_eq!(words(&both).as_deref(), Some(expected));
    }

    #[test]
    fn without_a_known_cpu_only_the_throughput_is_said_and_without_a_window_nothing() {
        let one = [cost(1.0, None)];
        assert_eq!(words(&one).as_deref(), Some("1.00x the throughput with the probe in the JVM (1 run)"));
        assert_eq!(words(&[]), None);
    }
}
