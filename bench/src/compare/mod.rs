//! Threadcount against other load generators: tables by part, alternated rounds, medians.

pub mod goals;
pub mod machine;
pub mod markdown;
mod measuring;
pub mod part;
pub mod result;
pub mod runner;
pub mod sizes;
pub mod stats;

pub use part::Part;

use crate::compare::measuring::Measuring;
use crate::compare::result::{Circumstances, Comparison, SCHEMA};
use crate::compare::sizes::{Cores, EVERY, STALL, Sizes};
use crate::server::Stall;
use crate::tool::threadcount::Threadcount;
use crate::tool::{self, Quantiles, Tool, Toolbox};
use std::io;
use std::time::{Duration, Instant};

/// How long the machine is watched before the first run: a load average still holds what ended a minute ago.
const WATCHED: Duration = Duration::from_secs(3);

/// What to compare.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Small sizes.
    pub quick: bool,
    /// Which parts.
    pub parts: Vec<Part>,
    /// Only tools whose name contains one of these; empty: all.
    pub only: Vec<String>,
    /// Where server and client run.
    pub cores: Cores,
    /// The command line, for the record.
    pub command: String,
}

/// Measures everything that is wanted. Parts that are not wanted stay as they were measured `earlier`.
///
/// # Errors
/// When a server of ours cannot be started. What goes wrong with a tool is part of the result.
pub fn measure(toolbox: &Toolbox, wanted: &Wanted, earlier: Option<Comparison>) -> io::Result<Comparison> {
    let (started, machine) = (Instant::now(), machine::Machine::watched(WATCHED));
    let sizes = if wanted.quick { Sizes::quick() } else { Sizes::full() };
    let (tools, missing) = who_takes_part(toolbox, &wanted.only);
    let mut comparison = earlier.unwrap_or_default();
    comparison.schema = SCHEMA.to_owned();
    comparison.date = machine::today();
    comparison.command.clone_from(&wanted.command);
    comparison.quick = wanted.quick;
    (comparison.server_core, comparison.client_core) = (wanted.cores.server, wanted.cores.client);
    comparison.analytic = analytic();
    let versions = tools.iter().map(|tool| (tool.name().to_owned(), version(toolbox, tool.as_ref())));
    comparison.took_part(versions.collect(), missing);
    let mut measuring = Measuring::new(toolbox, wanted.cores, &tools, &sizes)?;
    for &part in &wanted.parts {
        let began = Instant::now();
        measuring.part(part, &mut comparison)?;
        let measured = Circumstances {
            date: comparison.date.clone(),
            command: wanted.command.clone(),
            quick: wanted.quick,
            took_s: Some(began.elapsed().as_secs_f64()),
            busy_before: machine.busy_before,
        };
        comparison.measured.insert(part.name(), measured);
    }
    comparison.machine = machine;
    comparison.took_s = started.elapsed().as_secs_f64();
    Ok(comparison)
}

type Tools = Vec<Box<dyn Tool>>;

fn who_takes_part(toolbox: &Toolbox, only: &[String]) -> (Tools, Vec<(String, String)>) {
    let wanted =
        |tool: &dyn Tool| only.is_empty() || only.iter().any(|part| tool.name().contains(part.as_str()));
    let (here, away): (Tools, Tools) = tool::all()
        .into_iter()
        .filter(|tool| wanted(tool.as_ref()))
        .partition(|tool| toolbox.find(tool.program()).is_some());
    let missing = away
        .iter()
        .map(|tool| (tool.name().to_owned(), tool::toolbox::why_missing(tool.program()).to_owned()));
    (here, missing.collect())
}

fn version(toolbox: &Toolbox, tool: &dyn Tool) -> String {
    toolbox.find(tool.program()).map_or_else(String::new, |program| toolbox.version(tool, &program))
}

/// What a correct generator reports about the truth server.
fn analytic() -> Quantiles {
    let stall = Stall { lasts: STALL, every: EVERY };
    let at = |quantile| Some(stall.quantile_ms(quantile));
    Quantiles { p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99), p99_9: at(0.999), max: at(1.0) }
}

/// Is there anything of ours to compare?
///
/// # Errors
/// How to build it, as a sentence.
pub fn check_ours(toolbox: &Toolbox) -> io::Result<()> {
    match toolbox.find(Threadcount::PROGRAM) {
        Some(_) => Ok(()),
        None => Err(io::Error::other(format!(
            "{} is missing: call `cargo build --release`, or name it with --threadcount",
            toolbox.threadcount.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_analytic_answer_is_that_of_the_issue() {
        let truth = analytic();
        assert!(truth.p90.unwrap() < 1e-6 && (truth.p95.unwrap() - 100.0).abs() < 1e-6);
        assert!((truth.p99.unwrap() - 180.0).abs() < 1e-6 && (truth.max.unwrap() - 200.0).abs() < 1e-6);
    }

    #[test]
    fn a_tool_can_be_picked_by_a_part_of_its_name() {
        let toolbox =
            Toolbox { folder: "/nowhere".into(), threadcount: "/nowhere/t".into(), bench: "/b".into() };
        let (here, missing) = who_takes_part(&toolbox, &["bare".to_owned(), "threadcount".to_owned()]);
        assert_eq!(
            here.iter().map(|tool| tool.name()).collect::<Vec<_>>(),
            [
                tool::bare::NAME,
                tool::bare::STREAMS,
                tool::bare::SLEEPING,
                tool::bare::WITHIN_1_MS,
                tool::bare::WITHIN_10_MS
            ]
        );
        assert_eq!(missing.len(), 5);
        assert!(check_ours(&toolbox).unwrap_err().to_string().contains("cargo build --release"));
    }
}
