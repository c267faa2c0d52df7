//! The machine's CPU is full.

use super::variant_runs::{FULL_MACHINE, RunFigures};
use super::{Rule, VariantRuns, evidence};
use crate::model::figures::{milliseconds as ms, percent, whole};
use crate::model::result::Finding;

/// Below this share of what the clients could request, the comparison with it says nothing.
const WORTH_SAYING: f64 = 0.3;
/// A part of the server's CPU from here on is much.
const MUCH: f64 = 0.25;

pub(super) struct CpuCeiling;

impl Rule for CpuCeiling {
    fn name(&self) -> &'static str {
        "cpu-ceiling"
    }

    fn look(&self, runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
        let (facts, confidence) =
            runs_of_variant.mostly(|facts| facts.cores > 0.0 && facts.machine_share() >= FULL_MACHINE)?;
        let rest = (facts.machine_cpu_cores - facts.server_cpu_cores - facts.generator_cpu_cores).max(0.0);
        let sentence = format!(
            "the CPU is full, {} of {} cores: server {:.2}{}, load generator {:.2}, other processes {rest:.2}{}",
            format_args!("{:.2}", facts.machine_cpu_cores),
            whole(facts.cores),
            facts.server_cpu_cores,
            parts(&facts),
            facts.generator_cpu_cores,
            nearness(runs_of_variant, &facts)
        );
        let mut seen = facts.cpu_evidence();
        seen.push(evidence("measured throughput", facts.rate_per_s, "requests/s"));
        seen.push(evidence("fastest response", facts.fastest_ms, "ms"));
        let finding = runs_of_variant.finding(self.name(), sentence, seen, confidence);
        Some(finding.advising(advice(&facts)))
    }
}

/// What of the server's CPU is not its own code: the collector and the compiler (some of which is the kernel's too).
fn parts(facts: &RunFigures) -> String {
    let mut parts = Vec::new();
    let jvm = [("GC", facts.gc_cpu_cores), ("compilation", facts.jit_cpu_cores)];
    parts.extend(jvm.iter().filter_map(|(name, cores)| Some(format!("{name} {:.2}", (*cores)?))));
    if facts.kernel_cpu_cores > 0.0 {
        parts.push(format!("kernel {:.2}", facts.kernel_cpu_cores));
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// The largest part that something can be done about.
fn advice(facts: &RunFigures) -> &'static str {
    let most = |part: Option<f64>| part.is_some_and(|cores| cores >= MUCH * facts.server_cpu_cores);
    if most(facts.gc_cpu_cores) {
        "a larger heap (-Xmx) or fewer allocations, as much of the CPU time is garbage collection"
    } else if most(facts.jit_cpu_cores) {
        "a longer `warmup`, as much of the CPU time is compilation"
    } else {
        "the load generator on another machine; on this one, compare CPU per request"
    }
}

/// How near the throughput came to what the clients could request.
fn nearness(runs_of_variant: &VariantRuns<'_>, facts: &RunFigures) -> String {
    let clients = runs_of_variant.clients();
    let most = facts.ceiling_per_s(clients);
    let share = facts.rate_per_s / most;
    if !runs_of_variant.is_closed() || share < WORTH_SAYING {
        return String::new();
    }
    format!(
        "; {}/s is {} of the {}/s that {} clients can request at {} each",
        whole(facts.rate_per_s),
        percent(share),
        whole(most),
        whole(clients),
        ms(facts.fastest_ms)
    )
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{look, run};
    use super::*;
    use crate::model::record::Record;
    use crate::stats::sample::{with_cost, with_load};

    fn full() -> Record {
        let record = with_cost(run(18_100.0, 50.1, 53.0, 1.94), |cost| cost.cpu_cores = 1.4);
        with_load(record, |load| load.generator.cpu_cores = 0.35)
    }

    #[test]
    fn a_full_machine_is_named_with_its_shares() {
        let finding = look(&CpuCeiling, "clients: 1000", full()).expect("a finding");
        let expected = "the CPU is full, 1.94 of 2 cores: server 1.40, load generator 0.35, other processes \
            0.19; 18,100/s is 91 % of the 19,960/s that 1,000 clients can request at 50.1 ms each";
        assert_eq!(finding.sentence, expected);
    }

    #[test]
    fn collector_compiler_and_kernel_have_their_part_and_the_advice_fits_it() {
        let with = |gc: f64, jit: f64| {
            let record = with_cost(full(), |cost| {
                cost.kernel_cpu_cores = 0.5;
                cost.gc_cpu_cores = Some(gc);
                cost.jit_cpu_cores = Some(jit);
            });
            look(&CpuCeiling, "clients: 1000", record).expect("a finding")
        };
        let finding = with(0.4, 0.05);
        let expected = "server 1.40 (GC 0.40, compilation 0.05, kernel 0.50), load generator 0.35";
        assert!(finding.sentence.contains(expected), "{}", finding.sentence);
        assert!(finding.advice.is_some_and(|advice| advice.contains("garbage collection")));
        assert!(with(0.05, 0.4).advice.is_some_and(|advice| advice.contains("warmup")));
        assert!(with(0.05, 0.05).advice.is_some_and(|advice| advice.contains("CPU per request")));
    }

    #[test]
    fn a_page_that_costs_only_cpu_is_not_compared_with_an_ideal() {
        let finding = look(&CpuCeiling, "clients: 400", run(60_000.0, 0.05, 6.0, 1.98)).expect("a finding");
        assert!(finding.sentence.ends_with("other processes 1.38"), "{}", finding.sentence);
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let unknown = with_cost(full(), |cost| cost.machine_cores = 0);
        assert_eq!(look(&CpuCeiling, "clients: 400", run(7846.0, 50.1, 50.9, 1.6)), None, "nearly full");
        assert_eq!(look(&CpuCeiling, "clients: 400", unknown), None, "an unknown machine");
    }
}
