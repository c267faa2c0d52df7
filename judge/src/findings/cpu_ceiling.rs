//! The machine's CPU is full.

use crate::evidence::cpu_use::CpuUse;
use crate::evidence::variant_runs::{RunFigures, VariantRuns};
use crate::finding::{Fact, Finding};
use crate::findings::allocation::fewer_allocations;
use crate::words::finding::Words;
use crate::words::reasons::busiest_process;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::figures::whole;
use threadcount_model::record::Record;
use threadcount_model::record::interference::BusiestProcess;
use threadcount_stats::runs::FULL_MACHINE;

/// Figures of the typical run of those that show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct CpuCeiling {
    pub cpu: CpuUse,
    /// `None`: no load was sent (`watch`).
    pub rate_per_s: Option<f64>,
    /// A large part of the server's CPU use outside its own code.
    pub large_part: Option<CpuPart>,
    /// A variant whose requests allocate much less, so that the heap is not too small; `None` if there is no such variant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocates_more_than: Option<String>,
    /// The busiest of the other processes, if they use most of the CPU in use; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_other: Option<BusiestProcess>,
}

/// A part of a JVM's CPU use that is not the application's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum CpuPart {
    GarbageCollection,
    Compilation,
}

/// A part of the server's CPU use is large if it is at least this share of it ...
const MUCH: f64 = 0.25;
/// ... and if it is at least this share of the CPU in use. The load generator's share is large from here on, too.
const WORTH_ADVICE: f64 = 0.1;

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    runs_of_variant.typical_finding(|run| full_cpu(&RunFigures::of(run)?, run))
}

/// Finds a full CPU in a window without a load.
pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    full_cpu(&RunFigures::without_load(record)?, record)
}

fn full_cpu(figures: &RunFigures, record: &Record) -> Option<Fact> {
    let has_load = record.measured.is_some();
    let is_full = figures.cpu.machine_cores > 0.0 && figures.machine_share() >= FULL_MACHINE;
    let ceiling = CpuCeiling {
        cpu: figures.cpu,
        rate_per_s: has_load.then_some(figures.rate_per_s),
        large_part: large_part(&figures.cpu),
        allocates_more_than: None,
        busiest_other: record.busiest_other_process.clone().filter(|_| figures.cpu.is_of_others()),
    };
    is_full.then_some(Fact::CpuCeiling(ceiling))
}

/// A large part of the server's CPU use that something can be done about.
fn large_part(cpu: &CpuUse) -> Option<CpuPart> {
    let least = (MUCH * cpu.server_cores).max(WORTH_ADVICE * cpu.in_use_cores);
    let is_large = |part: Option<f64>| part.is_some_and(|cores| cores >= least);
    if is_large(cpu.server_gc_cores) {
        Some(CpuPart::GarbageCollection)
    } else {
        is_large(cpu.server_compilation_cores).then_some(CpuPart::Compilation)
    }
}

impl Words for CpuCeiling {
    fn sentence(&self) -> String {
        let cpu = &self.cpu;
        let generator = self.rate_per_s.map(|_| format!(", load generator {:.2}", cpu.generator_cores));
        let generator = generator.unwrap_or_default();
        let has_backends = cpu.backend_cores > 0.0;
        let backends = if has_backends {
            format!(", servers behind it {:.2}", cpu.backend_cores)
        } else {
            String::new()
        };
        format!(
            "the CPU is full, {:.2} of {} cores. In cores: {} {:.2}{}{}{}, other processes {:.2}",
            cpu.in_use_cores,
            whole(cpu.machine_cores),
            if self.rate_per_s.is_some() { "server" } else { "this JVM" },
            cpu.server_cores,
            parts(cpu),
            backends,
            generator,
            cpu.other_cores()
        )
    }

    fn brief(&self) -> Option<String> {
        let cpu = &self.cpu;
        let (used, cores) = (cpu.in_use_cores, whole(cpu.machine_cores));
        Some(match self.rate_per_s {
            Some(_) => format!(
                "the CPU is full, {used:.2} of {cores} cores. The server uses {:.2}, the load generator {:.2}",
                cpu.server_cores, cpu.generator_cores
            ),
            None => {
                format!("the CPU is full, {used:.2} of {cores} cores. This JVM uses {:.2}", cpu.server_cores)
            }
        })
    }

    fn advice(&self) -> Option<String> {
        if self.cpu.is_of_others() {
            return Some(match &self.busiest_other {
                Some(it) => format!(
                    "stop the other processes, first {} with {:.2} cores, and measure again",
                    busiest_process(it),
                    it.cores
                ),
                None => "stop the other processes, and measure again".to_owned(),
            });
        }
        let advice = match self.large_part {
            Some(CpuPart::GarbageCollection) if self.allocates_more_than.is_some() => {
                return self.allocates_more_than.as_deref().map(fewer_allocations);
            }
            Some(CpuPart::GarbageCollection) => {
                "a larger heap (-Xmx) or fewer allocations, as much of the CPU time is garbage collection"
            }
            Some(CpuPart::Compilation) if self.rate_per_s.is_none() => {
                "the same after the warm-up, as much of the CPU time is compilation"
            }
            None if self.rate_per_s.is_none() => "more cores, or a CPU profile of what uses them",
            Some(CpuPart::Compilation) => "a longer `warmup`, as much of the CPU time is compilation",
            None if self.cpu.generator_cores < WORTH_ADVICE * self.cpu.in_use_cores => {
                "more cores, or a CPU profile of what uses them"
            }
            None => "the load generator on another machine; on this one, compare CPU per request",
        };
        Some(advice.to_owned())
    }
}

/// The server's CPU use outside its own code: the collector, the compiler, and the kernel; some of the first two is kernel time as well.
fn parts(cpu: &CpuUse) -> String {
    let jvm = [("GC", cpu.server_gc_cores), ("compilation", cpu.server_compilation_cores)];
    let mut parts: Vec<String> =
        jvm.iter().filter_map(|(name, cores)| Some(format!("{name} {:.2}", (*cores)?))).collect();
    if cpu.server_kernel_cores > 0.0 {
        parts.push(format!("kernel {:.2}", cpu.server_kernel_cores));
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, found, run, sentence};
    use threadcount_model::record::Record;
    use threadcount_model::sample::{with_cost, with_load};

    fn full() -> Record {
        let record = with_cost(run(18_100.0, 50.1, 53.0, 1.94), |cost| cost.cpu_cores = 1.4);
        with_load(record, |load| load.generator.cpu_cores = 0.35)
    }

    #[test]
    fn a_full_machine_is_named_with_its_shares() {
        let finding = found(find, "clients: 1000", full()).expect("a finding");
        let expected = "the CPU is full, 1.94 of 2 cores. In cores: server 1.40, load generator 0.35, other processes 0.19";
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
    fn a_machine_that_others_fill_is_named_as_that_without_advice_on_warm_up_or_generator() {
        let record = with_cost(run(97.2, 1_030.0, 1_030.0, 2.0), |cost| {
            (cost.cpu_cores, cost.jit_cpu_cores, cost.gc_cpu_cores) = (0.07, Some(0.03), Some(0.0));
        });
        let record = with_load(record, |load| load.generator.cpu_cores = 0.01);
        let finding = found(find, "clients: 100", record.clone()).expect("a finding");
        assert_eq!(advice(&finding), "stop the other processes, and measure again");
        let busiest = BusiestProcess { name: "cc1plus".to_owned(), pid: 4711, cores: 1.9 };
        let named = Record { busiest_other_process: Some(busiest.clone()), ..record };
        let expected =
            "stop the other processes, first `cc1plus` (process 4711) with 1.90 cores, and measure again";
        assert_eq!(advice(&found(find, "clients: 100", named).expect("a finding")), expected);
        let of_the_server = Record { busiest_other_process: Some(busiest), ..full() };
        let own = found(find, "clients: 1000", of_the_server).expect("a finding");
        assert!(!advice(&own).contains("cc1plus"), "others are not the limit");
        assert!(sentence(&finding).ends_with("other processes 1.92"), "{}", sentence(&finding));
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
