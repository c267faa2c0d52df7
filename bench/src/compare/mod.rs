//! Threadcount against other load generators: four tables, alternated rounds, medians.

pub mod goals;
pub mod machine;
pub mod markdown;
pub mod result;
pub mod runner;
pub mod sizes;
pub mod stats;

use crate::compare::result::{Comparison, Row, SCHEMA};
use crate::compare::runner::Runner;
use crate::compare::sizes::{Cores, EVERY, MEMORY_DELAY, OPEN_RATE, STALL, Sizes, TRUTH_RATE};
use crate::install::why_missing;
use crate::span;
use crate::tool::threadcount::Threadcount;
use crate::tool::{self, Load, Quantiles, Tool, Toolbox};
use crate::truth::{Delay, ResponseTime, Stall};
use clap::ValueEnum;
use std::io;
use std::time::{Duration, Instant};

/// How long the machine is watched before the first run: a load average still holds what ended a minute ago.
const WATCHED: Duration = Duration::from_secs(3);

/// One of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// CPU per request of a closed loop
    Cost,
    /// CPU per request and send lag of an open loop
    Open,
    /// What each says about a server that stalls
    Truth,
    /// Memory at thousands of connections
    Memory,
}

/// What to compare.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Small sizes.
    pub quick: bool,
    /// Which tables.
    pub parts: Vec<Part>,
    /// Only tools whose name contains one of these; empty: all.
    pub only: Vec<String>,
    /// Where server and client run.
    pub cores: Cores,
    /// The command line, for the record.
    pub command: String,
}

/// Measures everything that is wanted.
///
/// # Errors
/// When a server of ours cannot be started. What goes wrong with a tool is part of the result.
pub fn measure(toolbox: &Toolbox, wanted: &Wanted) -> io::Result<Comparison> {
    let (started, machine) = (Instant::now(), machine::Machine::watched(WATCHED));
    let sizes = if wanted.quick { Sizes::quick() } else { Sizes::full() };
    let (tools, missing) = who_takes_part(toolbox, &wanted.only);
    let mut measuring =
        Measuring { runner: Runner::new(toolbox, wanted.cores)?, tools: &tools, sizes: &sizes };
    let mut table = |part| if wanted.parts.contains(&part) { measuring.table(part) } else { Ok(Vec::new()) };
    let cost = table(Part::Cost)?;
    let open = table(Part::Open)?;
    let truth = table(Part::Truth)?;
    let memory = table(Part::Memory)?;
    Ok(Comparison {
        schema: SCHEMA.to_owned(),
        date: machine::today(),
        command: wanted.command.clone(),
        quick: wanted.quick,
        machine,
        server_core: wanted.cores.server,
        client_core: wanted.cores.client,
        tools: tools.iter().map(|tool| (tool.name().to_owned(), version(toolbox, tool.as_ref()))).collect(),
        missing,
        cost,
        open,
        analytic: analytic(),
        truth,
        memory,
        took_s: started.elapsed().as_secs_f64(),
    })
}

type Tools = Vec<Box<dyn Tool>>;

fn who_takes_part(toolbox: &Toolbox, only: &[String]) -> (Tools, Vec<(String, String)>) {
    let wanted =
        |tool: &dyn Tool| only.is_empty() || only.iter().any(|part| tool.name().contains(part.as_str()));
    let (here, away): (Tools, Tools) = tool::all()
        .into_iter()
        .filter(|tool| wanted(tool.as_ref()))
        .partition(|tool| toolbox.find(tool.program()).is_some());
    let missing = away.iter().map(|tool| (tool.name().to_owned(), why_missing(tool.program()).to_owned()));
    (here, missing.collect())
}

fn version(toolbox: &Toolbox, tool: &dyn Tool) -> String {
    toolbox.find(tool.program()).map_or_else(String::new, |program| toolbox.version(tool, &program))
}

/// What a true generator must say about the truth server.
fn analytic() -> Quantiles {
    let truth = ResponseTime::new(Delay::None, Stall::new(STALL, EVERY).ok());
    let at = |quantile| Some(truth.quantile_ms(quantile));
    Quantiles {
        p50: at(0.5),
        p90: at(0.9),
        p95: at(0.95),
        p99: at(0.99),
        p99_9: at(0.999),
        max: Some(truth.longest_ms()),
    }
}

struct Measuring<'a> {
    runner: Runner<'a>,
    tools: &'a Tools,
    sizes: &'a Sizes,
}

impl Measuring<'_> {
    fn table(&mut self, part: Part) -> io::Result<Vec<Row>> {
        let (rounds, at_once) = (self.sizes.rounds, ["fixed".to_owned()]);
        match part {
            Part::Cost => {
                let load = Load::Closed { connections: 64, lasts: self.sizes.closed };
                self.rounds(part, rounds, &at_once, |_| Some(load))
            }
            Part::Open => {
                let load = Load::Open { rate: OPEN_RATE, connections: 50, lasts: self.sizes.open };
                self.rounds(part, rounds, &at_once, |_| Some(load))
            }
            Part::Truth => self.truth(),
            Part::Memory => self.memory(),
        }
    }

    /// Asked for the rate where a tool can; else as a closed loop, to show what that says.
    fn truth(&mut self) -> io::Result<Vec<Row>> {
        let server =
            ["truth", "--stall", &span::text(STALL), "--every", &span::text(EVERY)].map(str::to_owned);
        let lasts = EVERY * self.sizes.periods;
        let open = Load::Open { rate: TRUTH_RATE, connections: 500, lasts };
        self.rounds(Part::Truth, 1, &server, |tool| {
            let job = tool::Job { load: open, url: String::new(), number: 1, folder: "".into() };
            Some(if tool.call(&job).is_some() { open } else { Load::Closed { connections: 64, lasts } })
        })
    }

    /// A tool that occupies ports comes last, after all sizes of the others: for a minute nobody else could use them.
    fn memory(&mut self) -> io::Result<Vec<Row>> {
        let server = ["fixed", "--delay", &span::text(MEMORY_DELAY)].map(str::to_owned);
        let mut rows = Vec::new();
        for occupies in [false, true] {
            for &connections in &self.sizes.connections {
                let load = Load::Closed { connections, lasts: self.sizes.memory };
                let load = |tool: &dyn Tool| (tool.occupies_ports() == occupies).then_some(load);
                rows.extend(self.rounds(Part::Memory, 1, &server, load)?);
            }
        }
        rows.sort_by_key(|row| row.connections);
        Ok(rows)
    }

    /// Each tool once in each round, every other round backwards. Tools that cannot do the load have no row.
    fn rounds(
        &mut self,
        part: Part,
        rounds: u32,
        server: &[String],
        load: impl Fn(&dyn Tool) -> Option<Load>,
    ) -> io::Result<Vec<Row>> {
        let mut rows: Vec<Option<Row>> = self.tools.iter().map(|_| None).collect();
        for round in 0..rounds {
            for at in stats::alternated(round, self.tools.len()) {
                let tool = self.tools[at].as_ref();
                let Some(load) = load(tool).filter(|_| belongs(tool, part)) else { continue };
                // What is asked there is what a tool says, not what it costs: nothing else should have a part in it.
                let is_urgent = part == Part::Truth && matches!(load, Load::Open { .. });
                let Some((command, run)) = self.runner.run(tool, load, server, is_urgent)? else { continue };
                eprintln!("{}", progress(part, round + 1, rounds, tool.name(), load.connections(), &run));
                rows[at].get_or_insert_with(|| Row::new(tool.name(), load, command)).runs.push(run);
            }
        }
        Ok(rows.into_iter().flatten().collect())
    }
}

/// The floors are no generators and have a place among the costs; the one that sleeps also says how late the machine lets
/// anybody be for the truth server. A variant that only speaks differently has none.
fn belongs(tool: &dyn Tool, part: Part) -> bool {
    let is_floor = tool.program() == tool::bare::PROGRAM;
    match part {
        Part::Cost | Part::Open => !tool.only_for_truth(),
        Part::Truth => !is_floor || tool.name() == tool::bare::SLEEPING,
        Part::Memory => !is_floor && !tool.only_for_truth(),
    }
}

fn progress(part: Part, round: u32, rounds: u32, tool: &str, connections: u32, run: &result::Run) -> String {
    let part = format!("{part:?}").to_lowercase();
    let cpu = run
        .cpu_us_per_request
        .map_or_else(|| "no answers".to_owned(), |us| format!("{us:.2} us per request"));
    let trouble = run.trouble.as_ref().map_or_else(String::new, |trouble| format!(", {trouble}"));
    let (rate, memory) = (run.rate_per_s, run.peak_rss_mib);
    format!("{part} {round}/{rounds} {connections} {tool}: {cpu}, {rate:.0}/s, {memory:.1} MiB{trouble}")
}

/// Is there anything of ours to compare?
///
/// # Errors
/// A sentence that says how to build it.
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
        assert!((truth.p99.unwrap() - 180.0).abs() < 1e-6 && truth.max == Some(200.0));
    }

    #[test]
    fn a_tool_can_be_picked_by_a_part_of_its_name() {
        let toolbox =
            Toolbox { folder: "/nowhere".into(), threadcount: "/nowhere/t".into(), bench: "/b".into() };
        let (here, missing) = who_takes_part(&toolbox, &["bare".to_owned(), "threadcount".to_owned()]);
        assert_eq!(
            here.iter().map(|tool| tool.name()).collect::<Vec<_>>(),
            [tool::bare::NAME, tool::bare::SLEEPING]
        );
        assert_eq!(missing.len(), 2);
        assert!(check_ours(&toolbox).unwrap_err().to_string().contains("cargo build --release"));
    }
}
