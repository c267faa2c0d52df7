//! CPU use of the server, the servers behind it and the load generator, which share the cores of a small machine.

use crate::sentences::distinct;
use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::RoleCores;
use threadcount_model::experiment::role_cores::{LOAD, SERVER};
use threadcount_model::figures;
use threadcount_model::record::{BackendFigures, Record};
use threadcount_stats::runs::{is_complete, mean};

/// One sentence without a full stop; `None` if there are no servers behind the server.
#[must_use]
pub fn shares(document: &ResultDocument) -> Option<String> {
    let runs: Vec<&Record> =
        document.records.iter().filter(|run| is_complete(run) && !run.backends.is_empty()).collect();
    let used = used(&runs)?;
    let of_runs = format!("cores used (mean of {})", figures::plural(runs.len(), "run"));
    let all_share = || {
        let roles: Vec<String> =
            used.iter().map(|(role, cores)| format!("{} {cores:.2}", words(role))).collect();
        let cores = figures::plural(document.machine.cores as usize, "core");
        format!("all roles share {cores}: {} {of_runs}", roles.join(", "))
    };
    let cores = match &document.experiment.cores {
        None => all_share(),
        Some(RoleCores { refused: Some(why), .. }) => format!("no role is pinned: {why}; {}", all_share()),
        Some(cores) => {
            let role = |(role, used): &(String, f64)| {
                let place = cores.by_role.get(role).map_or_else(|| "any".to_owned(), |cores| ranges(cores));
                format!("{} {used:.2} on {place}", words(role))
            };
            let roles: Vec<String> = used.iter().map(role).collect();
            format!("roles by core: {}; {of_runs}", roles.join(", "))
        }
    };
    Some(format!("{cores}; at most: {}", sizes(&runs).join("; ")))
}

/// The highest number of threads and connections of each server behind the server.
fn sizes(runs: &[&Record]) -> Vec<String> {
    let of_one = |name: String| {
        let seen: Vec<&BackendFigures> =
            runs.iter().flat_map(|run| &run.backends).filter(|it| it.name == name).collect();
        let threads = seen.iter().map(|it| it.os_threads_peak).max().unwrap_or_default();
        let connections = || seen.iter().filter_map(|it| it.connections);
        let most = connections().map(|it| it.peak).max().map(|peak| {
            let limit = connections().find_map(|it| it.limit);
            let limit = limit.map_or_else(String::new, |limit| format!(" of {limit}"));
            format!(", {}{limit}", figures::plural(peak, "connection"))
        });
        format!("{name} {}{}", figures::plural(threads, "thread"), most.unwrap_or_default())
    };
    names(runs).into_iter().map(of_one).collect()
}

fn names(runs: &[&Record]) -> Vec<String> {
    distinct(runs.iter().flat_map(|run| &run.backends).map(|it| it.name.clone()))
}

fn words(role: &str) -> &str {
    if role == LOAD { "load generator" } else { role }
}

/// Each role's mean CPU use in cores; `None` without runs.
fn used(runs: &[&Record]) -> Option<Vec<(String, f64)>> {
    let mean_cores = |read: &dyn Fn(&Record) -> Option<f64>| {
        mean(&runs.iter().filter_map(|run| read(run)).collect::<Vec<f64>>())
    };
    let mut used = vec![
        (LOAD.to_owned(), mean_cores(&|run| Some(run.measured.as_ref()?.generator.cpu_cores))?),
        (SERVER.to_owned(), mean_cores(&|run| Some(run.cost?.cpu_cores))?),
    ];
    for name in names(runs) {
        let cores = |run: &Record| Some(run.backends.iter().find(|it| it.name == name)?.cpu_cores);
        used.extend(mean_cores(&cores).map(|cores| (name.clone(), cores)));
    }
    Some(used)
}

/// `core 0`, `cores 1-2,5`.
fn ranges(cores: &[usize]) -> String {
    let mut sorted = cores.to_vec();
    sorted.sort_unstable();
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for core in sorted {
        match ranges.last_mut() {
            Some((_, last)) if core <= *last + 1 => *last = core,
            _ => ranges.push((core, core)),
        }
    }
    let words = ranges.iter().map(
        |&(first, last)| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        },
    );
    format!("{} {}", if cores.len() == 1 { "core" } else { "cores" }, words.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use threadcount_model::record::BackendConnections;
    use threadcount_model::sample::run;

    fn document() -> ResultDocument {
        let records = [run("a", "c4", 100.0, 5.0), run("a", "c4", 100.0, 5.0)];
        sample::document("{a: {}}", "[{clients: 4, duration: 1s}]", &records)
    }

    fn with_backends() -> ResultDocument {
        let mut document = document();
        document.machine.cores = 2;
        for record in &mut document.records {
            let backend = |name: &str, cpu_cores| BackendFigures {
                name: name.to_owned(),
                cpu_cores,
                os_threads_peak: 17,
                connections: (name == "database").then_some(BackendConnections {
                    mean: 9.0,
                    peak: 10,
                    limit: Some(300),
                }),
                ..BackendFigures::default()
            };
            record.backends = vec![backend("database", 0.4), backend("neighbour", 0.0)];
            if let (Some(cost), Some(load)) = (&mut record.cost, &mut record.measured) {
                (cost.cpu_cores, load.generator.cpu_cores) = (1.1, 0.15);
            }
        }
        document
    }

    #[test]
    fn without_backends_there_is_nothing_to_share() {
        assert_eq!(shares(&document()), None);
    }

    #[test]
    fn roles_on_the_same_cores_are_listed_with_what_each_used() {
        let text = shares(&with_backends()).expect("shares");
        let expected = "all roles share 2 cores: load generator 0.15, server 1.10, database 0.40, neighbour 0.00 cores used \
            (mean of 2 runs); at most: database 17 threads, 10 connections of 300; neighbour 17 threads";
        assert_eq!(text, expected);
    }

    #[test]
    fn pinned_roles_have_their_cores_and_what_was_refused_is_said() {
        let mut document = with_backends();
        let by_role = [(LOAD, vec![0]), (SERVER, vec![1, 2, 5])];
        let by_role = by_role.map(|(role, cores)| (role.to_owned(), cores)).into();
        document.experiment.cores = Some(RoleCores { by_role, refused: None });
        let text = shares(&document).expect("shares");
        let expected =
            "roles by core: load generator 0.15 on core 0, server 1.10 on cores 1-2,5, database 0.40 on any,";
        assert!(text.starts_with(expected), "{text}");
        let refused = Some("core 5 cannot be had; this process may use 0,1".to_owned());
        document.experiment.cores = document.experiment.cores.map(|cores| RoleCores { refused, ..cores });
        let text = shares(&document).expect("shares");
        assert!(
            text.starts_with("no role is pinned: core 5 cannot be had; this process may use 0,1; all"),
            "{text}"
        );
    }
}
