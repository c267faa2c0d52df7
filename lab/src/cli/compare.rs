//! `threadcount compare`: an experiment without a file, for a service of the user's own.

use super::experiment_args::{ExperimentArgs, exit_code};
use super::load_options::LoadOptions;
use crate::config::for_compare::{CompareAsked, CompareError};
use crate::model::experiment::Experiment;
use crate::parse;
use clap::Args;
use miette::miette;
use std::num::NonZeroU32;
use std::process::ExitCode;
use std::time::Duration;

/// Compare commands that start a server, JVM or not
///
/// Exit code: 0 done, 1 --fail-if failed or a run did, 2 bad usage or input.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompareCommand {
    /// What is asked; {port} stands for a free port. Several URLs of one origin are asked in turn; of --targets FILE
    /// the requests are taken, and the address from here
    #[arg(long = "url", value_name = "URL", required = true)]
    urls: Vec<String>,
    /// A name and the command that starts the server; {port} stands for the free port. The first is the baseline
    #[arg(long = "variant", value_name = "NAME=COMMAND", value_parser = variant, required = true)]
    variants: Vec<(String, String)>,
    /// The path that answers when the server is ready [default: that of the URL]
    #[arg(long, value_name = "PATH")]
    ready: Option<String>,
    /// Exactly so many rounds, runs of each variant [default: until the answer is decided, at most 10]
    #[arg(long, value_name = "N", value_parser = parse::positive_u32, allow_negative_numbers = true)]
    runs: Option<NonZeroU32>,
    /// Begin no round that would end after this time, e.g. 10m; the first one always runs
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    budget: Option<Duration>,
    /// How long the same load runs before measuring, at most: it ends when the rate has levelled off; 0s: not at all
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse::seconds)]
    warmup: f64,
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
    /// What was asked does not fit together, a server that cannot be started, a result that cannot be saved.
    pub fn run(self) -> miette::Result<ExitCode> {
        let url = self.urls.first().cloned().unwrap_or_default();
        if self.load.has_target_file() && self.urls.len() > 1 {
            return Err(miette!(
                "--targets and several --url: the file has the requests, one --url has the address"
            ));
        }
        // A port that is still to be found is a number to whoever reads URLs.
        let urls: Vec<String> = self.urls.iter().map(|url| url.replace("{port}", "1")).collect();
        if let Some(url) = self.urls.iter().find(|url| !url.contains("://")) {
            return Err(CompareError::Url(url.clone()).into());
        }
        let experiment = Experiment::for_compare(CompareAsked {
            url,
            variants: self.variants,
            load: self.load.load(&urls)?.load,
            runs: self.runs.map(NonZeroU32::get),
            budget_s: self.budget.map(|budget| budget.as_secs_f64()),
            warmup_s: self.warmup,
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
