//! `threadcount compare`: an experiment without a file, for a service of the user's own.

use super::conduct::{Conduct, exit_code};
use super::values;
use crate::experiment::for_compare::CompareAsked;
use crate::experiment::{Experiment, LoadKind};
use clap::Args;
use std::num::{NonZeroU32, NonZeroU64};
use std::process::ExitCode;
use std::time::Duration;
use threadcount_load::request::Header;

/// Compare commands that start a server, JVM or not
///
/// Exit code: 0 done, 1 --fail-if failed or a run did, 2 bad usage or input.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompareCommand {
    /// What is asked; {port} stands for a free port
    #[arg(long, value_name = "URL")]
    url: String,
    /// A name and the command that starts the server; {port} stands for the free port. The first is the baseline
    #[arg(long = "variant", value_name = "NAME=COMMAND", value_parser = variant, required = true)]
    variants: Vec<(String, String)>,
    /// The path that answers when the server is ready [default: that of the URL]
    #[arg(long, value_name = "PATH")]
    ready: Option<String>,
    /// Exactly so many rounds, runs of each variant [default: until the answer is decided, at most 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// Begin no round that would end after this time, e.g. 10m; the first one always runs
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    budget: Option<Duration>,
    /// How long the same load runs before measuring, at most: it ends when the rate has levelled off
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = values::duration)]
    warmup: Duration,
    #[command(flatten)]
    load: CompareLoad,
    #[command(flatten)]
    conduct: Conduct,
}

/// What is sent; the flags of `threadcount load` of the same name.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
struct CompareLoad {
    /// Connections; without a rate each sends as soon as it has its answer
    #[arg(short, long, value_name = "N", default_value = "64", value_parser = values::positive_u32)]
    connections: NonZeroU32,
    /// Measure exactly N requests
    #[arg(short = 'n', long, value_name = "N", value_parser = values::positive)]
    requests: Option<NonZeroU64>,
    /// Measure for this time [default: 10s, unless -n is there]
    #[arg(short, long, short_alias = 'z', value_name = "TIME", value_parser = values::duration)]
    duration: Option<Duration>,
    /// Requests per second in total, whatever the answers do (open loop)
    #[arg(short, long, value_name = "RATE", value_parser = values::rate)]
    rate: Option<f64>,
    /// Method
    #[arg(short = 'X', long = "request", value_name = "METHOD", default_value = "GET")]
    method: String,
    /// A header, e.g. 'Accept: text/html'; as often as needed
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = header)]
    headers: Vec<(String, String)>,
    /// The body
    #[arg(short = 'b', long = "data", visible_alias = "body", value_name = "TEXT")]
    body: Option<String>,
}

const DEFAULT_DURATION_S: f64 = 10.0;

const EXAMPLES: &str = "Example:
  threadcount compare --url 'http://127.0.0.1:{port}/' -c 200 -d 10s \\
    --variant platform='java -jar app.jar --server.port={port}' \\
    --variant virtual='java -jar app.jar --server.port={port} --spring.threads.virtual.enabled=true'";

impl CompareCommand {
    /// Runs it.
    ///
    /// # Errors
    /// What was asked does not fit together, a server that cannot be started, a result that cannot be saved.
    pub fn run(self) -> miette::Result<ExitCode> {
        let load = self.load;
        let clients = load.connections.get();
        let by_default = load.requests.is_none().then_some(DEFAULT_DURATION_S);
        let experiment = Experiment::for_compare(CompareAsked {
            url: self.url,
            variants: self.variants,
            kind: match load.rate {
                Some(rate_per_s) => LoadKind::Open { rate_per_s, clients },
                None => LoadKind::Closed { clients },
            },
            requests: load.requests.map(NonZeroU64::get),
            duration_s: load.duration.map(|duration| duration.as_secs_f64()).or(by_default),
            runs: self.runs,
            budget_s: self.budget.map(|budget| budget.as_secs_f64()),
            warmup_s: self.warmup.as_secs_f64(),
            method: load.method,
            headers: load.headers,
            body: load.body,
            ready: self.ready,
        })?;
        let out = self.conduct.out_folder(&experiment.name, false);
        Ok(exit_code(&[self.conduct.run(experiment, &out)?]))
    }
}

fn variant(written: &str) -> Result<(String, String), String> {
    match written.split_once('=') {
        Some((name, command)) if !name.is_empty() && !command.trim().is_empty() => {
            Ok((name.to_owned(), command.to_owned()))
        }
        _ => {
            Err("write NAME='COMMAND', for example virtual='java -jar app.jar --server.port={port}'"
                .to_owned())
        }
    }
}

fn header(written: &str) -> Result<(String, String), String> {
    let header = Header::parse(written).map_err(|error| error.to_string())?;
    Ok((header.name().to_owned(), header.value().unwrap_or_default().to_owned()))
}
