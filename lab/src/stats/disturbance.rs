//! Interference: did the hypervisor (steal) or other processes take CPU from a run?

use crate::model::record::Record;
use crate::model::record::interference::Interference;

/// More than this share of the machine in use by neither the server nor the generator: they were disturbed.
const DISTURBED: f64 = 0.15;
/// More than this share of the machine taken by the hypervisor: a virtual machine that was not there all the time.
const STOLEN: f64 = 0.10;

/// What disturbed it; `None`: nothing did.
#[must_use]
pub fn disturbance(record: &Record) -> Option<Interference> {
    robbed(record).or_else(|| shared(record))
}

/// Robbed by the hypervisor.
fn robbed(record: &Record) -> Option<Interference> {
    let cost = record.cost?;
    (cost.stolen_cores > STOLEN * f64::from(cost.machine_cores))
        .then_some(Interference::Steal { cores: cost.stolen_cores, of_cores: cost.machine_cores })
}

/// Something else ran on the machine: neither the server, nor its backend, nor the load generator.
fn shared(record: &Record) -> Option<Interference> {
    let cost = record.cost?;
    let generator = record.measured.as_ref().map_or(0.0, |load| load.generator.cpu_cores);
    let others = cost.machine_cpu_cores - cost.cpu_cores - cost.backend_cpu_cores - generator;
    (others > DISTURBED * f64::from(cost.machine_cores))
        .then_some(Interference::OtherProcesses { cores: others, of_cores: cost.machine_cores })
}
