//! `threadcount compare`: an experiment without a file, for a service of the user's own.

use super::experiment_args::{ExperimentArgs, exit_code};
use super::load_options::{AskedLoad, LoadOptions};
use super::plan_flags;
use crate::config::for_compare::{CompareAsked, CompareError};
use crate::model::experiment::Experiment;
use crate::model::experiment::warm_up::WarmUpTime;
use crate::parse;
use crate::workload::load_plan::load_plan;
use clap::Args;
use miette::miette;
use std::num::NonZeroU32;
use std::process::ExitCode;
use std::time::Duration;

/// Compare servers of your own, JVM or not, each started by a command
///
/// Exit code: 0 done, 1 --fail-if failed or a run did, 2 bad usage or input, 3 a --fail-if could not be judged: its
/// figures cannot be trusted, or were not measured.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompareCommand {
    /// The URL; {port} is replaced by a free port. Several URLs of one origin are requested in turn; with --targets FILE
    /// only the origin is taken from here
    #[arg(long = "url", value_name = "URL", required = true)]
    urls: Vec<String>,
    /// A name and the command that starts the server; {port} is replaced by the free port. The first is the baseline
    #[arg(long = "variant", value_name = "NAME=COMMAND", value_parser = variant, required = true)]
    variants: Vec<(String, String)>,
    /// The path that responds when the server is ready [default: that of the URL]
    #[arg(long, value_name = "PATH")]
    ready: Option<String>,
    /// Exact number of rounds [default: until the result is conclusive, at most 15]
    #[arg(long, value_name = "N", value_parser = parse::positive_u32, allow_negative_numbers = true)]
    runs: Option<NonZeroU32>,
    /// Time budget, e.g. 10m: start no round that would end later; the first one always runs
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    budget: Option<Duration>,
    /// Longest warm-up with the same load; auto: until the server is warm, within the budget; 0s: none
    #[arg(long, value_name = "TIME", default_value = "auto", value_parser = parse::warm_up)]
    warmup: WarmUpTime,
    #[command(flatten)]
    load: LoadOptions,
    #[command(flatten)]
    args: ExperimentArgs,
}

const EXAMPLES: &str = "Example:
  threadcount compare --url 'http://127.0.0.1:{port}/' -c 200 -d 10s \\
    --variant platform='java -jar app.jar --server.port={port}' \\
    --variant virtual='java -jar app.jar --server.port={port} --spring.threads.virtual.enabled=true'";

impl CompareCommand {
    /// Runs it.
    ///
    /// # Errors
    /// Options that exclude each other, a server that cannot be started, a result that cannot be saved.
    pub fn run(self) -> miette::Result<ExitCode> {
        let url = self.urls.first().cloned().unwrap_or_default();
        if self.load.has_target_file() && self.urls.len() > 1 {
            return Err(miette!(
                "--targets and several --url: the file has the requests, one --url has the address"
            ));
        }
        // The port is not known yet, and URLs need a number.
        let urls: Vec<String> = self.urls.iter().map(|url| url.replace("{port}", "1")).collect();
        if let Some(url) = self.urls.iter().find(|url| !url.contains("://")) {
            return Err(CompareError::Url(url.clone()).into());
        }
        let AskedLoad { origin, load } = self.load.load(&urls)?;
        let plan = load_plan(&load, &origin);
        let plan = plan.map_err(|error| miette!("{}", plan_flags::load_plan_error(&error)))?;
        self.load.check_target(&plan)?;
        let experiment = Experiment::for_compare(CompareAsked {
            url,
            variants: self.variants,
            load,
            runs: self.runs.map(NonZeroU32::get),
            budget_s: self.budget.map(|budget| budget.as_secs_f64()),
            warmup: self.warmup,
            ready: self.ready,
        })?;
        let out = self.args.out_folder(&experiment.name, false);
        Ok(exit_code(&[self.args.run(experiment, &out)?]))
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
