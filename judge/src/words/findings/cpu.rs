//! The CPU, and what takes it from the application.

use super::Words;
use super::evidence::{cpu, known};
use crate::finding::{
    AllocationStalls, CompilerWaits, CpuCeiling, CpuPart, CpuThrottling, CpuUse, GcPauses, RunsShowing,
};
use threadcount_model::figures::{count, milliseconds as ms, number, percent, whole};

impl Words for CpuCeiling {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
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
            "the CPU is full, {:.2} of {} cores: {} {:.2}{}{}{}, other processes {:.2}{}",
            cpu.in_use_cores,
            whole(cpu.machine_cores),
            if self.rate_per_s.is_some() { "server" } else { "this JVM" },
            cpu.server_cores,
            parts(cpu),
            backends,
            generator,
            cpu.other_cores(),
            nearness(self)
        )
    }

    fn advice(&self) -> Option<String> {
        let advice = match self.large_part {
            Some(CpuPart::GarbageCollection) if self.allocates_more_than.is_some() => {
                return self.allocates_more_than.as_deref().map(fewer_allocations);
            }
            Some(CpuPart::GarbageCollection) => {
                "a larger heap (-Xmx) or fewer allocations, as much of the CPU time is garbage collection"
            }
            Some(CpuPart::Compilation) if self.rate_per_s.is_none() => {
                "a look after the warm-up, as much of the CPU time is compilation"
            }
            None if self.rate_per_s.is_none() => "more cores, or a CPU profile of what uses them",
            Some(CpuPart::Compilation) => "a longer `warmup`, as much of the CPU time is compilation",
            None => "the load generator on another machine; on this one, compare CPU per request",
        };
        Some(advice.to_owned())
    }

    fn evidence(&self) -> Vec<String> {
        let mut figures = cpu(&self.cpu);
        figures.extend(known(&[
            ("measured throughput", self.rate_per_s, "requests/s"),
            ("fastest response", self.fastest_ms, "ms"),
        ]));
        figures
    }
}

impl Words for CompilerWaits {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        format!(
            "the JIT compiler waits for a core: {} of its threads could run and {} did, so that code stays slow {}x as long",
            number(self.waiting_threads + self.running_threads),
            number(self.running_threads),
            number(self.times_as_long())
        )
    }

    fn advice(&self) -> Option<String> {
        Some(
            match self.warmed_up {
                Some(true) => {
                    "a longer `warmup`, or a warm-up under a smaller load, which leaves the compiler a core"
                }
                Some(false) => "a `warmup` under a smaller load, which leaves the compiler a core",
                None => "less load until the JVM is warm, or more cores",
            }
            .to_owned(),
        )
    }

    fn evidence(&self) -> Vec<String> {
        known(&[
            ("compiler threads that waited for a core (kernel)", Some(self.waiting_threads), "threads"),
            ("compiler threads that ran", Some(self.running_threads), "threads"),
            ("CPU in use on the machine", Some(self.machine_cpu_cores), "cores"),
            ("cores of the machine", Some(self.machine_cores), "cores"),
        ])
    }
}

/// What of the server's CPU is not its own code: the collector and the compiler (some of which is the kernel's too).
fn parts(cpu: &CpuUse) -> String {
    let jvm = [("GC", cpu.server_gc_cores), ("compilation", cpu.server_compilation_cores)];
    let mut parts: Vec<String> =
        jvm.iter().filter_map(|(name, cores)| Some(format!("{name} {:.2}", (*cores)?))).collect();
    if cpu.server_kernel_cores > 0.0 {
        parts.push(format!("kernel {:.2}", cpu.server_kernel_cores));
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// How near the throughput came to what the clients could request.
fn nearness(ceiling: &CpuCeiling) -> String {
    let Some((limit, (rate_per_s, fastest_ms))) =
        ceiling.near_clients.zip(ceiling.rate_per_s.zip(ceiling.fastest_ms))
    else {
        return String::new();
    };
    format!(
        "; {}/s is {} of the {}/s that {} clients can request at {} each",
        whole(rate_per_s),
        percent(rate_per_s / limit.rate_per_s),
        whole(limit.rate_per_s),
        count(limit.clients.into()),
        ms(fastest_ms)
    )
}

/// What to try where the heap is not too small.
fn fewer_allocations(least_variant: &str) -> String {
    format!(
        "fewer allocations per request: they allocate more than with {least_variant}, which is the reason; the size of the \
         heap is not"
    )
}

impl Words for GcPauses {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        match (self.slow_seconds, self.tail) {
            (Some(slow), _) => format!(
                "garbage collection pauses explain the slowest responses in {:.0} of the {:.0} slowest seconds (up to {}) \
                 and in {} of the others; the longest pause is {}",
                slow.explained_seconds,
                slow.seconds,
                ms(slow.slowest_ms),
                percent(slow.others_share),
                ms(self.longest_pause_ms)
            ),
            (None, Some(tail)) => format!(
                "garbage collection pauses set the 99th percentile ({}, median {}): they delay at least {} of the requests by {} or \
                 more; the longest pause is {}",
                ms(tail.p99_ms),
                ms(tail.p50_ms),
                percent(tail.delayed_share),
                ms(tail.delay_ms),
                ms(self.longest_pause_ms)
            ),
            (None, None) => {
                format!(
                    "garbage collection pauses stop the server for {} of the time",
                    percent(self.paused_share)
                )
            }
        }
    }

    fn advice(&self) -> Option<String> {
        let larger_heap = "a larger heap (-Xmx), a collector with shorter pauses (-XX:+UseZGC), or fewer allocations per request";
        Some(self.allocates_more_than.as_deref().map_or_else(|| larger_heap.to_owned(), fewer_allocations))
    }

    fn evidence(&self) -> Vec<String> {
        let (slow, tail) = (self.slow_seconds, self.tail);
        known(&[
            ("time in pauses", Some(self.paused_share * 100.0), "%"),
            ("pauses", Some(self.pauses_per_run), "in each run"),
            ("longest pause", Some(self.longest_pause_ms), "ms"),
            ("slowest response", slow.map(|it| it.slowest_ms), "ms"),
            ("slowest seconds", slow.map(|it| it.seconds), "seconds"),
            ("of them with a pause that explains them", slow.map(|it| it.explained_seconds), "seconds"),
            ("other seconds with such a pause", slow.map(|it| it.others_share * 100.0), "%"),
            ("requests that pauses delay, at least", tail.map(|it| it.delayed_share * 100.0), "%"),
            ("delay of each, at least", tail.map(|it| it.delay_ms), "ms"),
            ("99th percentile", tail.map(|it| it.p99_ms), "ms"),
            ("median response", tail.map(|it| it.p50_ms), "ms"),
        ])
    }
}

impl Words for AllocationStalls {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        format!(
            "threads wait for memory that the garbage collector has not freed yet, {} each time and up to {}: at least one \
             thread waits in {} of the time",
            ms(self.mean_ms),
            ms(self.longest_ms),
            percent(self.waiting_share)
        )
    }

    fn advice(&self) -> Option<String> {
        let larger_heap = "a larger heap (-Xmx), more threads for the collector (-XX:ConcGCThreads), or fewer allocations per request";
        Some(self.allocates_more_than.as_deref().map_or_else(|| larger_heap.to_owned(), fewer_allocations))
    }

    fn evidence(&self) -> Vec<String> {
        known(&[
            ("allocation stalls", Some(self.stalls_per_run), "in each run"),
            ("mean stall", Some(self.mean_ms), "ms"),
            ("longest stall", Some(self.longest_ms), "ms"),
            ("time in which at least one thread waits", Some(self.waiting_share * 100.0), "%"),
        ])
    }
}

impl Words for CpuThrottling {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        format!(
            "limited by a CPU quota of {} cores: the server was throttled in {} of the periods of {}{}",
            number(self.quota_cores),
            percent(self.throttled_share),
            ms(self.period_ms),
            if self.generator_shares_quota { "; the load generator is under the same quota" } else { "" }
        )
    }

    fn advice(&self) -> Option<String> {
        Some("a larger quota (cpu.max, `docker --cpus`, `resources.limits.cpu`), or none".to_owned())
    }

    fn evidence(&self) -> Vec<String> {
        known(&[
            ("CPU quota", Some(self.quota_cores), "cores"),
            ("CPU of the server", self.server_cpu_cores, "cores"),
            ("throttled periods", Some(self.throttled_periods_per_run), "in each run"),
            ("of the periods of the window", Some(self.throttled_share * 100.0), "%"),
            ("length of a period", Some(self.period_ms), "ms"),
            ("time for which CPUs were throttled, all added up", Some(self.throttled_ms), "ms"),
        ])
    }
}
