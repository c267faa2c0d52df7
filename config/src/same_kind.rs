//! Checks that the load fits the kind of variant: servers or benchmarks.

use std::ops::Range;
use threadcount_model::experiment::{Experiment, Subject, Variant};
use threadcount_model::parse::diagnostic::Diagnostic;

/// Refuses a benchmark under a load for servers, or a server under a load for benchmarks. `span` is the place of the loads.
pub(super) fn check(experiment: &Experiment, span: &Range<usize>) -> Result<(), Diagnostic> {
    for load in &experiment.loads {
        let of_benchmark = !load.workload.needs_server();
        let mut under = experiment.variants.iter().filter(|variant| load.includes(&variant.name));
        let is_benchmark = |variant: &Variant| matches!(variant.subject, Subject::Benchmark { .. });
        let Some(other) = under.find(|variant| is_benchmark(variant) != of_benchmark) else { continue };
        let (is, takes, write) = if of_benchmark {
            ("a server", "for benchmarks", "write `loads: [{clients: 400, duration: 30s}]`")
        } else {
            ("a benchmark", "for servers", "write `loads: [{iterations: 3, duration: 10s}]`")
        };
        let message = format!("`{}` is {is}, and the load `{}` is {takes}", other.name, load.name);
        return Err(Diagnostic::new(span.clone(), message, "these loads").help(write));
    }
    Ok(())
}
