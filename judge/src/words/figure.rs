//! Figures behind a finding.

use crate::evidence::cpu_use::CpuUse;
use crate::finding::RunsShowing;
use threadcount_model::figures;

/// `threads of the pool 200 threads`.
pub(crate) fn figure(what: &str, value: f64, unit: &str) -> String {
    // In Rust the sum of nothing is -0.0, which nobody wants to read.
    format!("{what} {} {unit}", figures::plain(value + 0.0)).trim().to_owned()
}

/// The figures that were measured.
pub(crate) fn known(all: &[(&str, Option<f64>, &str)]) -> Vec<String> {
    all.iter().filter_map(|&(what, value, unit)| Some(figure(what, value?, unit))).collect()
}

/// `in 2 of 3 runs`.
pub(crate) fn showing(runs: RunsShowing) -> String {
    format!("in {} of {}", runs.showing, figures::plural(runs.complete, "run"))
}

/// Figures of who used the CPU.
pub(crate) fn cpu(cpu: &CpuUse) -> Vec<String> {
    known(&[
        ("CPU in use on the machine", Some(cpu.in_use_cores), "cores"),
        ("of it server", Some(cpu.server_cores), "cores"),
        ("of the server kernel", Some(cpu.server_kernel_cores), "cores"),
        ("of the server garbage collection", cpu.server_gc_cores, "cores"),
        ("of the server compilation", cpu.server_compilation_cores, "cores"),
        ("of it servers behind the server", Some(cpu.backend_cores).filter(|&cores| cores > 0.0), "cores"),
        ("of it load generator", Some(cpu.generator_cores), "cores"),
        ("of it other processes", Some(cpu.other_cores()), "cores"),
        ("cores of the machine", Some(cpu.machine_cores), "cores"),
    ])
}

/// ` in 2 of 3 runs`.
pub(crate) fn in_runs(runs: Option<RunsShowing>) -> String {
    runs.map_or_else(String::new, |runs| format!(" {}", showing(runs)))
}
