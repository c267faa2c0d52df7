//! `threadcount compare`: an experiment made from flags, for the user's own service.

use super::attached_load;
use super::crossover::{self, CrossoverOptions};
use super::experiment_args::{ExperimentArgs, SessionKind};
use super::experiment_outcome::exit_code;
use super::load_options::{AskedLoad, LoadOptions};
use super::service_options::ServiceOptions;
use super::unwritten::Unwritten;
use super::{fixed_port, plan_flags};
use clap::Args;
use miette::miette;
use std::num::NonZeroU32;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use threadcount_config::for_compare::asked::{CompareAsked, Compared};
use threadcount_config::for_compare::document;
use threadcount_config::for_compare::document::CompareDocument;
use threadcount_config::for_compare::error::CompareError;
use threadcount_model::experiment::Experiment;
use threadcount_model::experiment::warm_up::WarmUpTime;
use threadcount_model::masked::Secrets;
use threadcount_model::parse;

/// The budget within which a first answer comes on two cores, if the service starts in ten seconds.
const BUDGET_S: f64 = 300.0;

/// The length of each run of a service. It is short because two rounds of three variants, which give an interval, say more than one round
/// with longer runs.
const DURATION_OF_A_SERVICE_S: f64 = 5.0;

/// Completes a path while flags are read: the port is not known yet, and a URL needs one.
const SOMEWHERE: &str = "http://127.0.0.1:1";

/// Compare servers of your own: a Spring Boot jar, a WAR, or any commands, on a JVM or not
///
/// Exit code 0: done. 1: a --fail-if holds, runs or requests failed, or nothing was measured. 2: bad usage or input. 3: a --fail-if
/// could not be judged, because its figures are missing or not trusted, or a variant gave no expected response.
/// If a variant never becomes ready, the command ends with the root cause from its log.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompareCommand {
    /// The path to request, e.g. /orders/1; with --variant the whole URL, where {port} stands for a free port. Several URLs of one
    /// origin are requested in turn. With --targets FILE only the origin counts
    #[arg(long = "url", value_name = "URL", required = true)]
    urls: Vec<String>,
    #[command(flatten)]
    service: ServiceOptions,
    /// A path that responds with success when the server is ready [default: the path of --url, with any response]
    #[arg(long = "health", visible_alias = "ready", value_name = "PATH")]
    ready: Option<String>,
    /// Write the experiment to a commented file for `threadcount run` instead of running it
    #[arg(long, value_name = "FILE.yaml")]
    save: Option<PathBuf>,
    /// Exact number of rounds [default: until the result is conclusive, at most 15]
    #[arg(long, value_name = "N", value_parser = parse::positive_u32, allow_negative_numbers = true)]
    runs: Option<NonZeroU32>,
    /// Time budget, e.g. 10m: no round starts that would end later, except the first one [default: 5m, and none with --runs]
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    budget: Option<Duration>,
    /// Longest warm-up with the same load. `auto` warms up until the server is warm, within the budget; `0s` not at all
    #[arg(long, value_name = "TIME", default_value = "auto", value_parser = parse::warm_up)]
    warmup: WarmUpTime,
    #[command(flatten)]
    crossover: CrossoverOptions,
    #[command(flatten)]
    load: LoadOptions,
    #[command(flatten)]
    pub(super) args: ExperimentArgs,
}

const EXAMPLES: &str = "Examples:
  Your application on platform and on virtual threads, in five minutes:
    threadcount compare --spring-boot app.jar --url /orders/1 -c 400
  On two Java versions, with a database filled before each run, saved as a file:
    threadcount compare --spring-boot app.jar --url /orders/1 --jdk 21,25 \\
      --before ./fill-database --save orders.yaml
  A service that runs already, without a restart:
    threadcount compare --attach http://127.0.0.1:8080 --url /orders/1 -c 50
  Any servers:
    threadcount compare --url 'http://127.0.0.1:{port}/' -c 200 -d 10s \\
      --variant one='java -jar one.jar --server.port={port}' \\
      --variant other='./other-server --port {port}'";

impl CompareCommand {
    /// Runs it.
    ///
    /// # Errors
    /// Options that exclude each other, a server that cannot be started, a result that cannot be saved.
    pub fn run(self) -> miette::Result<ExitCode> {
        if let Some(service) = self.service.attached() {
            if self.crossover.crossover {
                let fail_above = self.args.fail_above;
                return crossover::attached(
                    service,
                    &self.urls,
                    &self.load,
                    &self.crossover,
                    self.budget,
                    fail_above,
                );
            }
            if self.budget.is_some() {
                return Err(miette!(
                    "--budget: with --attach it needs --crossover; limit a load with -d or -n"
                ));
            }
            return attached_load::run(service, &self.urls, &self.load, self.args.fail_above);
        }
        let document = self.document()?;
        let experiment = document.experiment()?;
        if self.crossover.crossover {
            if !self.can_switch() {
                return Err(miette!("--crossover: write it with --attach, --spring-boot or --war"));
            }
            let asking = self.crossover.asking(experiment);
            return crossover::started(&asking, &self.crossover, &self.args);
        }
        if let Some(file) = &self.save {
            save(&document, &experiment, file)?;
            return Ok(ExitCode::SUCCESS);
        }
        if self.args.is_dry_run(&[&experiment])? {
            return Ok(ExitCode::SUCCESS);
        }
        self.args.check_folder(&experiment.name, false)?;
        Ok(exit_code(&[self.args.run(experiment, false, SessionKind::Comparison)?]))
    }

    /// Whether the kind of thread of these servers can be switched while they run.
    fn can_switch(&self) -> bool {
        matches!(self.service.compared(), Compared::SpringBoot(_) | Compared::War(_))
    }

    /// Whether kinds of thread are compared inside the same JVMs. Flags that are about runs ask for fresh JVMs.
    fn is_crossover(&self) -> bool {
        let is_one_java = self.service.surroundings().jdks.len() < 2;
        let is_about_runs = self.runs.is_some() || self.load.is_sized() || self.warmup != WarmUpTime::Auto;
        let wants_fresh = self.crossover.fresh || self.service.has_limit() || is_about_runs;
        self.can_switch() && is_one_java && !wants_fresh && !self.args.needs_runs()
    }

    /// Takes the flags of an earlier session, to continue it.
    pub(super) fn resuming(mut self, args: &ExperimentArgs) -> Self {
        self.args = args.resuming(self.args);
        self
    }

    fn document(&self) -> miette::Result<CompareDocument> {
        if self.load.has_target_file() && self.urls.len() > 1 {
            return Err(miette!(
                "--targets and several --url: the requests come from the file, so write one --url, for the address"
            ));
        }
        let compared = self.service.compared();
        let are_paths = compared.has_addresses();
        let wrong = |url: &&String| if are_paths { !url.starts_with('/') } else { !url.contains("://") };
        if let Some(url) = self.urls.iter().find(wrong).cloned() {
            let flag = compared.flag();
            let error = if are_paths { CompareError::NoPath { url, flag } } else { CompareError::Url(url) };
            return Err(error.into());
        }
        let whole = |url: &String| {
            if are_paths { format!("{SOMEWHERE}{url}") } else { url.replace("{port}", "1") }
        };
        let urls: Vec<String> = self.urls.iter().map(whole).collect();
        let AskedLoad { origin, mut load } = self.load.load(&urls)?;
        if let Compared::Commands(commands) = &compared
            && let Some(warning) = fixed_port::warning(commands, &self.urls)
        {
            note!("{warning}");
        }
        let is_service = compared.is_service();
        if is_service && !self.load.is_sized() {
            load.duration_s = Some(DURATION_OF_A_SERVICE_S);
        }
        let origins = match &compared {
            Compared::Targets(targets) => targets.iter().map(|(_, url)| url.clone()).collect(),
            _ => vec![origin],
        };
        for origin in origins {
            self.load.check_target(&plan_flags::planned(&load, &origin)?)?;
        }
        let budget_s = self.budget.map(|budget| budget.as_secs_f64());
        Ok(document(&CompareAsked {
            url: self.urls.first().cloned().unwrap_or_default(),
            compared,
            surroundings: self.service.surroundings(),
            load,
            runs: self.runs.map(NonZeroU32::get),
            crossover: self.is_crossover(),
            // An exact number of rounds needs no budget.
            budget_s: budget_s.or(self.runs.is_none().then_some(BUDGET_S)),
            warmup: self.warmup,
            ready: self.ready.clone(),
        })?)
    }
}

/// Writes the experiment to a file instead of running it. An existing file stays.
fn save(document: &CompareDocument, experiment: &Experiment, file: &Path) -> miette::Result<()> {
    let text = document.file()?;
    for variant in &experiment.variants {
        if let Some(why) = &variant.skipped {
            note!("{} is left out: {why}", variant.name);
        }
    }
    let name = file.display();
    let mut options = std::fs::OpenOptions::new();
    // The file contains the secrets.
    let created = options.write(true).create_new(true).mode(0o600).open(file);
    let written = created.and_then(|mut open| {
        let written = std::io::Write::write_all(&mut open, text.as_bytes());
        // A file that is half written would be in the way of the next try.
        written.inspect_err(|_| drop(std::fs::remove_file(file)))
    });
    written.map_err(|error| Unwritten::new(format!("--save {name}: it cannot be written"), error))?;
    anstream::println!("{name}: `threadcount run {}` runs it", runnable(file));
    let mut secrets = Secrets::default();
    let _ = experiment.without_secrets(&mut secrets);
    if let Some(names) = secrets.in_words() {
        note!("{name} holds secrets: {names}; write ${{NAME}} for a variable of the environment");
    }
    Ok(())
}

/// Writes the path so that `run` takes it for a path and not for a name.
fn runnable(file: &Path) -> String {
    let has_folder = file.parent().is_some_and(|folder| !folder.as_os_str().is_empty());
    if has_folder { file.display().to_string() } else { format!("./{}", file.display()) }
}
