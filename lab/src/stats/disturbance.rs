//! Interference: did the hypervisor (steal) or other processes take CPU from a run?

use crate::model::record::Record;

/// More than this share of the machine in use by neither the server nor the generator: they were disturbed.
const DISTURBED: f64 = 0.15;
/// More than this share of the machine taken by the hypervisor: a virtual machine that was not there all the time.
const STOLEN: f64 = 0.10;

/// What disturbed it, as a sentence for a person; `None`: nothing did.
#[must_use]
pub fn disturbance(record: &Record) -> Option<String> {
    robbed(record).or_else(|| shared(record))
}

/// Robbed by the hypervisor.
fn robbed(record: &Record) -> Option<String> {
    let cost = record.cost?;
    (cost.stolen_cores > STOLEN * f64::from(cost.machine_cores)).then(|| {
        format!(
            "CPU steal: {:.2} of {} cores; measure again when the host is quieter",
            cost.stolen_cores, cost.machine_cores
        )
    })
}

/// Something else ran on the machine: neither the server, nor its backend, nor the load generator.
fn shared(record: &Record) -> Option<String> {
    let cost = record.cost?;
    let generator = record.measured.as_ref().map_or(0.0, |load| load.generator.cpu_cores);
    let others = cost.machine_cpu_cores - cost.cpu_cores - cost.backend_cpu_cores - generator;
    (others > DISTURBED * f64::from(cost.machine_cores)).then(|| {
        format!(
            "other processes used {others:.2} of {} cores; stop them and measure again",
            cost.machine_cores
        )
    })
}
