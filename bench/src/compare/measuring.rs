//! The runs of each table.

use crate::compare::part::{Part, Table};
use crate::compare::result::{Comparison, ProtocolRows, Row, Run};
use crate::compare::runner::{Runner, Trial};
use crate::compare::sizes::{
    CLOSED, CONNECTIONS, Cores, EVERY, MEMORY_DELAY, OPEN_RATE, PROTOCOL_CONNECTIONS, PROTOCOL_TRUTH_RATE,
    STALL, STREAMS, Sizes, THREADS, TRUTH_RATE,
};
use crate::compare::{Tools, stats};
use crate::protocol::Protocol;
use crate::span;
use crate::tool::{Condition, Job, Load, Tool, Toolbox};
use std::io;
use std::time::Duration;

/// So few that each request that waits when the truth server stalls has a connection, with something to spare.
const TRUTH_RATE_PER_CONNECTION: u32 = 4;
/// The same over HTTP/2: connections and streams on each.
const TRUTH_STREAMS: (u32, u32) = (50, 16);

/// Makes the runs.
pub struct Measuring<'a> {
    runner: Runner<'a>,
    tools: &'a Tools,
    sizes: &'a Sizes,
}

impl<'a> Measuring<'a> {
    /// Of these tools, at these sizes.
    ///
    /// # Errors
    /// When there is no folder for temporary files.
    pub fn new(toolbox: &'a Toolbox, cores: Cores, tools: &'a Tools, sizes: &'a Sizes) -> io::Result<Self> {
        Ok(Self { runner: Runner::new(toolbox, cores)?, tools, sizes })
    }

    /// Measures a part, and puts it in the place of what was there.
    ///
    /// # Errors
    /// When a server of ours cannot be started.
    pub fn part(&mut self, part: Part, comparison: &mut Comparison) -> io::Result<()> {
        match part {
            Part::Closed => comparison.cost = self.cost()?,
            Part::Open => comparison.open = self.open()?,
            Part::Truth => comparison.truth = self.truth(Table::Truth, Protocol::Http1)?,
            Part::Memory => comparison.memory = self.memory()?,
            Part::Tls => comparison.tls = self.protocols(&[Protocol::Http1Tls])?,
            Part::H2 => comparison.h2 = self.protocols(&[Protocol::H2c, Protocol::H2Tls])?,
            Part::Threads => comparison.threads = self.threads()?,
        }
        Ok(())
    }

    fn cost(&mut self) -> io::Result<Vec<Row>> {
        let mut rows = Vec::new();
        for (connections, body) in CLOSED {
            let load = Load::Closed { connections, lasts: self.sizes.closed };
            let trial = trial(load, Condition::with_body(body), fixed(body));
            let table = if (connections, body) == CLOSED[0] { Table::Cost } else { Table::Closed };
            rows.extend(self.rounds(table, self.sizes.rounds, |_| Some(trial.clone()))?);
        }
        Ok(rows)
    }

    fn open(&mut self) -> io::Result<Vec<Row>> {
        let load = Load::Open { rate: OPEN_RATE, connections: 50, lasts: self.sizes.open };
        let condition = Condition::default();
        let server = Some(words(&format!("fixed --asked-rate {OPEN_RATE}")));
        let trial = trial(load, condition, server);
        self.rounds(Table::Open, self.sizes.rounds, |_| Some(trial.clone()))
    }

    /// With a rate where a tool has one; else as a closed loop, to show what that reports.
    fn truth(&mut self, table: Table, protocol: Protocol) -> io::Result<Vec<Row>> {
        let (periods, rate) = match table {
            Table::Truth => (self.sizes.periods, TRUTH_RATE),
            _ => (self.sizes.protocol_periods, PROTOCOL_TRUTH_RATE),
        };
        let lasts = EVERY * periods;
        let server =
            Some(words(&format!("truth --stall {} --every {}", span::text(STALL), span::text(EVERY))));
        let open = |connections, streams| Trial {
            is_urgent: true,
            ..trial(
                Load::Open { rate, connections, lasts },
                Condition::over(protocol, streams),
                server.clone(),
            )
        };
        let closed = trial(
            Load::Closed { connections: CONNECTIONS, lasts },
            Condition::over(protocol, 1),
            server.clone(),
        );
        let wide = open(rate / TRUTH_RATE_PER_CONNECTION, 1);
        let (connections, streams) = TRUTH_STREAMS;
        let narrow = open(connections, streams);
        let choices = if protocol.is_h2() { vec![narrow, wide, closed] } else { vec![wide, closed] };
        self.rounds(table, 1, |tool| choices.iter().find(|trial| can(tool, trial)).cloned())
    }

    /// A tool that occupies ports comes last, after all sizes of the others: they cannot be used for a minute.
    fn memory(&mut self) -> io::Result<Vec<Row>> {
        let condition = Condition::default();
        let server = delayed(MEMORY_DELAY);
        let mut rows = Vec::new();
        for occupies in [false, true] {
            for &(connections, lasts) in &self.sizes.memory {
                let load = Load::Closed { connections, lasts };
                let trial = trial(load, condition, server.clone());
                let chosen = |tool: &dyn Tool| (tool.occupies_ports() == occupies).then(|| trial.clone());
                rows.extend(self.rounds(Table::Memory, 1, chosen)?);
            }
        }
        rows.sort_by_key(|row| row.connections);
        Ok(rows)
    }

    fn protocols(&mut self, protocols: &[Protocol]) -> io::Result<ProtocolRows> {
        let mut rows = ProtocolRows { server: self.runner.nginx_version(), ..ProtocolRows::default() };
        for &protocol in protocols {
            rows.cost.extend(self.protocol_cost(protocol)?);
        }
        for &protocol in protocols {
            rows.truth.extend(self.truth(Table::Protocol, protocol)?);
            rows.memory.extend(self.protocol_memory(protocol)?);
        }
        Ok(rows)
    }

    fn protocol_cost(&mut self, protocol: Protocol) -> io::Result<Vec<Row>> {
        let shapes = if protocol.is_h2() { &STREAMS[..] } else { &[(CONNECTIONS, 1)] };
        let mut rows = Vec::new();
        for &(connections, streams) in shapes {
            let condition = Condition::over(protocol, streams);
            let load = Load::Closed { connections, lasts: self.sizes.protocol_closed };
            let trial = trial(load, condition, None);
            rows.extend(self.rounds(Table::ProtocolCost, self.sizes.rounds, |_| Some(trial.clone()))?);
        }
        Ok(rows)
    }

    fn protocol_memory(&mut self, protocol: Protocol) -> io::Result<Vec<Row>> {
        let condition = Condition::over(protocol, 1);
        let load = Load::Closed { connections: PROTOCOL_CONNECTIONS, lasts: self.sizes.protocol_memory };
        let trial = trial(load, condition, delayed(MEMORY_DELAY));
        self.rounds(Table::Protocol, 1, |_| Some(trial.clone()))
    }

    /// Ours on one thread and on two: closed, then at a rate.
    fn threads(&mut self) -> io::Result<Vec<Row>> {
        let (connections, requests, rate, delay) = THREADS;
        // Only a bound for how long it may take: the requests are counted.
        let lasts = Duration::from_secs(requests / u64::from(rate));
        let loads = [Load::Closed { connections, lasts }, Load::Open { rate, connections, lasts }];
        let mut trials = Vec::new();
        for load in loads {
            for threads in [1, 2] {
                let condition = Condition { threads, requests: Some(requests), ..Condition::default() };
                trials.push(trial(load, condition, delayed(delay)));
            }
        }
        let mut rows: Vec<Vec<Row>> = vec![Vec::new(); trials.len()];
        for round in 0..self.sizes.thread_rounds {
            for at in stats::alternated(round, trials.len()) {
                for row in self.rounds(Table::Threads, 1, |_| Some(trials[at].clone()))? {
                    match rows[at].first_mut() {
                        Some(first) => first.runs.extend(row.runs),
                        None => rows[at].push(row),
                    }
                }
            }
        }
        Ok(rows.into_iter().flatten().collect())
    }

    /// Each tool once in each round, every other round backwards. Tools that cannot do the load have no row.
    fn rounds(
        &mut self,
        table: Table,
        rounds: u32,
        choose: impl Fn(&dyn Tool) -> Option<Trial>,
    ) -> io::Result<Vec<Row>> {
        let mut rows: Vec<Option<Row>> = self.tools.iter().map(|_| None).collect();
        for round in 0..rounds {
            for at in stats::alternated(round, self.tools.len()) {
                let tool = self.tools[at].as_ref();
                let Some(trial) = choose(tool).filter(|_| table.has(tool)) else { continue };
                let Some((command, run)) = self.runner.run(tool, &trial)? else { continue };
                let row = || Row::new(tool.name(), trial.load, trial.condition, command);
                let row = rows[at].get_or_insert_with(row);
                eprintln!("{}", progress(table, round + 1, rounds, row, &run));
                row.runs.push(run);
            }
        }
        Ok(rows.into_iter().flatten().collect())
    }
}

/// A run that measures what a tool costs: without real-time priority.
fn trial(load: Load, condition: Condition, server: Option<Vec<String>>) -> Trial {
    Trial { load, condition, server, is_urgent: false }
}

fn can(tool: &dyn Tool, trial: &Trial) -> bool {
    let job = Job {
        load: trial.load,
        condition: trial.condition,
        url: String::new(),
        number: 1,
        folder: "".into(),
    };
    tool.call(&job).is_some()
}

/// The command of a server that responds at once.
fn fixed(body: usize) -> Option<Vec<String>> {
    Some(words(&format!("fixed --body {body}")))
}

/// The command of one that takes this long.
fn delayed(delay: Duration) -> Option<Vec<String>> {
    Some(words(&format!("fixed --delay {}", span::text(delay))))
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn progress(table: Table, round: u32, rounds: u32, row: &Row, run: &Run) -> String {
    let table = format!("{table:?}").to_lowercase();
    let cpu = run
        .cpu_us_per_request
        .map_or_else(|| "no answers".to_owned(), |us| format!("{us:.2} us per request"));
    let trouble = run.trouble.as_ref().map_or_else(String::new, |trouble| format!(", {trouble}"));
    let (rate, memory) = (run.rate_per_s, run.peak_rss_mib);
    let Condition { protocol, streams, body, .. } = row.condition;
    format!(
        "{table} {round}/{rounds} {} {}x{streams}, {body} bytes, {}: {cpu}, {rate:.0}/s, {memory:.1} MiB{trouble}",
        protocol.title(),
        row.connections,
        row.tool
    )
}
