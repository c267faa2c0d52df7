//! The machine's CPU is full.

use super::VariantRuns;
use super::variant_runs::{FULL_MACHINE, RunFigures};
use crate::finding::{ClientLimit, CpuCeiling, CpuPart, Fact, Finding};
use threadcount_model::record::Record;

/// Below this share of what the clients could request, the comparison with it shows nothing.
const WORTH_SAYING: f64 = 0.3;
/// A part of the server's CPU from here on is much.
const MUCH: f64 = 0.25;

pub(super) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let (means, runs) =
        runs_of_variant.mostly(|run| run.cores > 0.0 && run.machine_share() >= FULL_MACHINE)?;
    let ceiling = CpuCeiling {
        cpu: means.cpu_use(),
        rate_per_s: Some(means.rate_per_s),
        fastest_ms: Some(means.fastest_ms),
        near_clients: near_clients(runs_of_variant, &means),
        large_part: large_part(&means),
        allocates_more_than: None,
    };
    Some(runs_of_variant.finding(Fact::CpuCeiling(ceiling), runs))
}

/// Of a window without a load.
pub(super) fn in_window(record: &Record) -> Option<Fact> {
    let figures = RunFigures::without_load(record)?;
    let ceiling = CpuCeiling {
        cpu: figures.cpu_use(),
        rate_per_s: None,
        fastest_ms: None,
        near_clients: None,
        large_part: large_part(&figures),
        allocates_more_than: None,
    };
    (figures.cores > 0.0 && figures.machine_share() >= FULL_MACHINE).then_some(Fact::CpuCeiling(ceiling))
}

/// The largest part that something can be done about.
fn large_part(means: &RunFigures) -> Option<CpuPart> {
    let is_large = |part: Option<f64>| part.is_some_and(|cores| cores >= MUCH * means.server_cpu_cores);
    if is_large(means.gc_cpu_cores) {
        Some(CpuPart::GarbageCollection)
    } else {
        is_large(means.jit_cpu_cores).then_some(CpuPart::Compilation)
    }
}

fn near_clients(runs_of_variant: &VariantRuns<'_>, means: &RunFigures) -> Option<ClientLimit> {
    let clients = runs_of_variant.clients();
    let rate_per_s = means.ceiling_per_s(f64::from(clients));
    (runs_of_variant.is_closed() && means.rate_per_s / rate_per_s >= WORTH_SAYING)
        .then_some(ClientLimit { clients, rate_per_s })
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{advice, found, run, sentence};
    use super::*;
    use threadcount_model::record::Record;
    use threadcount_model::sample::{with_cost, with_load};

    fn full() -> Record {
        let record = with_cost(run(18_100.0, 50.1, 53.0, 1.94), |cost| cost.cpu_cores = 1.4);
        with_load(record, |load| load.generator.cpu_cores = 0.35)
    }

    #[test]
    fn a_full_machine_is_named_with_its_shares() {
        let finding = found(find, "clients: 1000", full()).expect("a finding");
        let expected = "the CPU is full, 1.94 of 2 cores: server 1.40, load generator 0.35, other processes \
            0.19; 18,100/s is 91 % of the 19,960/s that 1,000 clients can request at 50.1 ms each";
        assert_eq!(sentence(&finding), expected);
    }

    #[test]
    fn collector_compiler_and_kernel_have_their_part_and_the_advice_fits_it() {
        let with = |gc: f64, jit: f64| {
            let record = with_cost(full(), |cost| {
                cost.kernel_cpu_cores = 0.5;
                cost.gc_cpu_cores = Some(gc);
                cost.jit_cpu_cores = Some(jit);
            });
            found(find, "clients: 1000", record).expect("a finding")
        };
        let finding = with(0.4, 0.05);
        let expected = "server 1.40 (GC 0.40, compilation 0.05, kernel 0.50), load generator 0.35";
        assert!(sentence(&finding).contains(expected), "{}", sentence(&finding));
        assert!(advice(&finding).contains("garbage collection"));
        assert!(advice(&with(0.05, 0.4)).contains("warmup"));
        assert!(advice(&with(0.05, 0.05)).contains("CPU per request"));
    }

    #[test]
    fn a_page_that_costs_only_cpu_is_not_compared_with_an_ideal() {
        let finding = found(find, "clients: 400", run(60_000.0, 0.05, 6.0, 1.98)).expect("a finding");
        assert!(sentence(&finding).ends_with("other processes 1.38"), "{}", sentence(&finding));
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let unknown = with_cost(full(), |cost| cost.machine_cores = 0);
        assert_eq!(found(find, "clients: 400", run(7846.0, 50.1, 50.9, 1.6)), None, "nearly full");
        assert_eq!(found(find, "clients: 400", unknown), None, "an unknown machine");
    }
}
