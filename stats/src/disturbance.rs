//! Interference: decides whether the hypervisor (steal) or other processes took CPU from a run.

use threadcount_model::crossover::{Crossover, LostCpu};
use threadcount_model::record::Record;
use threadcount_model::record::interference::{BusiestProcess, Interference};
use threadcount_model::record::resource_limits::ResourceLimits;

/// A run was disturbed if neither the server nor the generator used more than this share of the machine that is in use.
const DISTURBED: f64 = 0.15;
/// A run was disturbed if the hypervisor took more than this share of the machine, as if it was absent for that time.
const STOLEN: f64 = 0.10;

/// At least this share of the machine must stay idle for everybody to get a core, if a little late.
const ROOM: f64 = 0.25;

/// The interference that disturbed the run; `None` if nothing did.
#[must_use]
pub fn disturbance(record: &Record) -> Option<Interference> {
    robbed(record).or_else(|| shared(record))
}

/// The mean interference in the periods of a crossover that count. Their ratios stay unbiased, but are not those of a quiet machine.
#[must_use]
pub fn of_crossover(crossover: &Crossover) -> Option<Interference> {
    let counted = crossover.periods.iter().filter(|it| it.left_out.is_none());
    let lost: Vec<LostCpu> = counted.filter_map(|it| it.lost_cpu).collect();
    let of_cores = lost.first()?.of_cores;
    let mean = |cores: fn(&LostCpu) -> f64| lost.iter().map(cores).sum::<f64>() / lost.len() as f64;
    by_hypervisor(mean(|it| it.stolen_cores), of_cores).or_else(|| {
        by_others(mean(|it| it.other_processes_cores), of_cores, None, &crossover.busiest_other_process)
    })
}

fn by_hypervisor(cores: f64, of_cores: u32) -> Option<Interference> {
    (cores > STOLEN * f64::from(of_cores)).then_some(Interference::Steal { cores, of_cores })
}

fn by_others(
    cores: f64,
    of_cores: u32,
    session: Option<u32>,
    busiest: &Option<BusiestProcess>,
) -> Option<Interference> {
    (cores > DISTURBED * f64::from(of_cores)).then(|| Interference::OtherProcesses {
        cores,
        of_cores,
        session,
        busiest: busiest.clone(),
    })
}

/// Interference by the hypervisor.
fn robbed(record: &Record) -> Option<Interference> {
    let cost = record.cost?;
    by_hypervisor(cost.stolen_cores, cost.machine_cores)
}

/// Interference by processes that are neither the server, nor its backend, nor the load generator.
fn shared(record: &Record) -> Option<Interference> {
    let cost = record.cost?;
    let generator = record.measured.as_ref().map_or(0.0, |load| load.generator.cpu_cores);
    let others = cost.machine_cpu_cores - cost.cpu_cores - cost.backend_cpu_cores - generator;
    by_others(others, cost.machine_cores, record.other_session, &record.busiest_other_process)
}

/// Did other processes leave the server, its backends and the load generator the CPU they wanted? A hypervisor that takes cores away
/// does not, and an idle core is useless to a process that may not run on it.
#[must_use]
pub fn left_room(record: &Record) -> bool {
    let Some(cost) = record.cost else { return false };
    let cores = f64::from(cost.machine_cores);
    let may_use_all = |limits: &ResourceLimits| {
        let both = [limits.server.affinity_cpus, limits.generator.affinity_cpus];
        both.into_iter().all(|cpus| cpus >= cost.machine_cores)
    };
    robbed(record).is_none()
        && cost.machine_cpu_cores <= (1.0 - ROOM) * cores
        && record.resource_limits.as_ref().is_none_or(may_use_all)
        && record.backends.iter().all(|backend| backend.cores.len() >= cost.machine_cores as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::record::BackendFigures;
    use threadcount_model::record::resource_limits::CpuLimits;
    use threadcount_model::sample::{run, with_cost};

    fn beside(machine_cpu_cores: f64) -> Record {
        let others = |cost: &mut threadcount_model::record::Cost| {
            (cost.machine_cores, cost.cpu_cores, cost.machine_cpu_cores) = (2, 0.3, machine_cpu_cores);
        };
        with_cost(run("a", "c4", 100.0, 5.0), others)
    }

    #[test]
    fn another_session_is_named_where_others_used_the_cores_and_not_where_it_left_them_alone() {
        let with_session = |machine_cpu_cores| {
            disturbance(&Record { other_session: Some(4242), ..beside(machine_cpu_cores) })
        };
        let Some(Interference::OtherProcesses { session, .. }) = with_session(1.0) else {
            panic!("not shared")
        };
        assert_eq!(session, Some(4242));
        assert_eq!(with_session(0.3), None);
    }

    #[test]
    fn a_neighbour_leaves_room_while_a_quarter_of_the_machine_is_idle() {
        assert!(disturbance(&beside(1.0)).is_some() && left_room(&beside(1.0)));
        assert!(left_room(&beside(1.5)));
        assert!(!left_room(&beside(1.6)));
    }

    #[test]
    fn a_hypervisor_leaves_no_room_and_idle_cores_are_no_room_for_who_may_not_use_them() {
        assert!(!left_room(&with_cost(beside(1.0), |cost| cost.stolen_cores = 0.5)));
        let on = |server: u32, generator: u32| {
            let cpus = |affinity_cpus| CpuLimits { affinity_cpus, ..CpuLimits::default() };
            let limits = ResourceLimits {
                server: cpus(server),
                generator: cpus(generator),
                ..ResourceLimits::default()
            };
            left_room(&Record { resource_limits: Some(limits), ..beside(1.0) })
        };
        assert!(on(2, 2));
        assert!(!on(1, 2));
        assert!(!on(2, 1));
    }
    #[test]
    fn pinned_threads_of_the_generator_and_a_pinned_backend_have_no_room_on_other_cores() {
        let mut cpus = CpuLimits { affinity_cpus: 2, ..CpuLimits::default() };
        cpus.pinned_to(&[]);
        assert_eq!(cpus.affinity_cpus, 2);
        cpus.pinned_to(&[1]);
        assert_eq!(cpus.affinity_cpus, 1);

        let behind = |cores: &[usize]| {
            let backend = BackendFigures { cores: cores.to_vec(), ..BackendFigures::default() };
            left_room(&Record { backends: vec![backend], ..beside(1.0) })
        };
        assert!(behind(&[0, 1]));
        assert!(!behind(&[1]));
    }
}
