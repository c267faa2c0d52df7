//! `threadcount run`: runs experiments from files.

use super::experiment_args::{ExperimentArgs, SessionKind};
use super::experiment_outcome::{ExperimentOutcome, exit_code};
use super::remote_target::{RemoteOptions, named_url};
use super::resume::{Earlier, check_ours};
use super::{Command, plan_keys, stdout};
use clap::Args;
use miette::{IntoDiagnostic, miette};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use threadcount_config::find::Places;
use threadcount_config::select::{Selection, select};
use threadcount_config::{project, read};
use threadcount_machine::{home, trusted};
use threadcount_model::experiment::warm_up::WarmUpTime;
use threadcount_model::experiment::{Experiment, SessionSize};
use threadcount_model::parse;
use threadcount_report::claims_table;

/// Run experiments: start the server in each variant, load it, compare, explain, report
///
/// Exit code 0: done. 1: a claim of your own does not hold, a --fail-if holds, runs or requests failed, or nothing was measured. 2: bad
/// usage or input. 3: a claim of your own or a --fail-if could not be judged, because its figures are missing or not trusted, or a variant
/// gave no expected response. A variant that does not work gets no more runs; if fewer than two others are left, the session ends.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct RunCommand {
    /// Names (see `threadcount list`), paths of YAML files, or `all` [default: the experiments of threadcount.yaml in this folder]
    #[arg(value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    /// Use the small sizes of the experiment (`quick:`) for a rough answer in minutes (`threadcount list` shows how many)
    #[arg(long)]
    quick: bool,
    /// The sizes of a study; without this, short rounds until its claims and comparisons are decided, about 12 minutes
    #[arg(long, conflicts_with = "quick")]
    published: bool,
    /// Run only this variant; the first one in the file stays the baseline. Repeatable
    #[arg(long = "variant", value_name = "NAME")]
    variants: Vec<String>,
    /// The base URL of a server that runs already, instead of the variant's own: it is loaded but not observed. Only variants named here run
    #[arg(long = "target-url", value_name = "NAME=URL", value_parser = named_url)]
    target_urls: Vec<(String, String)>,
    /// Run each variant on each of these Java versions, e.g. 21,25
    #[arg(long = "jdk", value_name = "VERSION,..", value_delimiter = ',', value_parser = feature_version)]
    jdks: Vec<u16>,
    /// Exact number of rounds under each load
    #[arg(long, value_name = "N", value_parser = parse::positive_u32, allow_negative_numbers = true)]
    runs: Option<NonZeroU32>,
    /// Time budget, e.g. 10m: no round starts that would end later, except the first one of each load
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    budget: Option<Duration>,
    /// Longest warm-up, instead of the experiment's. `auto` warms up until the server is warm, within the budget; `0s` not at all
    #[arg(long, value_name = "TIME", value_parser = parse::warm_up)]
    warmup: Option<WarmUpTime>,
    #[command(flatten)]
    remote: RemoteOptions,
    #[command(flatten)]
    pub(super) args: ExperimentArgs,
}

const EXAMPLES: &str = "Examples:
  One experiment in small, and its report in the browser:
    threadcount run tomcat-blocking --quick --open
  Those of your service, in its threadcount.yaml:
    threadcount run
  A file of your own (docs/reference/experiment-file.md) on two Java versions:
    threadcount run ./mine.yaml --jdk 21,25
  A build that fails when virtual threads became slow:
    threadcount run ./mine.yaml --fail-if 'virtual.p99 > 1.1 * platform.p99'";

impl RunCommand {
    /// Runs the experiments one after the other.
    ///
    /// # Errors
    /// An experiment that cannot be found, read or started, or a result that cannot be saved.
    pub fn run(&self) -> miette::Result<ExitCode> {
        let earlier = self.args.resume.as_deref().map(Earlier::read).transpose()?;
        if let Some(earlier) = earlier.as_ref().filter(|_| self.experiments.is_empty()) {
            return self.again(earlier);
        }
        let selection = Selection {
            variants: self.variants.clone(),
            targets: self.target_urls.clone(),
            runs: self.runs.map(NonZeroU32::get),
            budget_s: self.budget.map(|budget| budget.as_secs_f64()),
            warmup: self.warmup,
            jdks: self.jdks.clone(),
        };
        let mut experiments = Vec::new();
        for experiment in self.read()? {
            let experiment = select(experiment, &selection)?;
            plan_keys::check(&experiment)?;
            self.remote.check_targets(&experiment)?;
            experiments.push(experiment);
        }
        if let Some(earlier) = &earlier {
            let name = &earlier.document.experiment.name;
            experiments.retain(|experiment| experiment.name == *name);
            if experiments.is_empty() {
                let folder = earlier.folder.display();
                return Err(miette!(
                    "--resume {folder}: it is a result of `{name}`, which is not among the experiments"
                ));
            }
        }
        if self.args.is_dry_run(&experiments.iter().collect::<Vec<_>>())? {
            return Ok(ExitCode::SUCCESS);
        }
        let many = experiments.len() > 1;
        for experiment in &experiments {
            self.args.check_folder(&experiment.name, many)?;
        }
        let mut outcomes = Vec::new();
        for experiment in experiments {
            outcomes.push(self.args.run(experiment, many, SessionKind::Experiment)?);
        }
        if many {
            let documents: Vec<_> = outcomes.iter().map(ExperimentOutcome::document).collect();
            stdout::show(&(claims_table::text(&documents) + "\n"), false)?;
        }
        Ok(exit_code(&outcomes))
    }

    /// Runs the command that began a session again, to do the missing runs.
    fn again(&self, earlier: &Earlier) -> miette::Result<ExitCode> {
        let name = &earlier.document.experiment.name;
        let mut own = self.args.clone();
        own.resume = Some(std::path::absolute(&earlier.folder).into_diagnostic()?);
        match earlier.command()? {
            Command::Run(mut stored) => {
                stored.args = own.resuming(stored.args);
                if stored.experiments.is_empty() {
                    stored.experiments.push(name.clone());
                }
                stored.run()
            }
            Command::Compare(stored) => stored.resuming(&own).run(),
            _ => Err(miette!("--resume {}: its command has no runs", earlier.folder.display())),
        }
    }

    const fn size(&self) -> SessionSize {
        match (self.quick, self.published) {
            (true, _) => SessionSize::Quick,
            (_, true) => SessionSize::AsWritten,
            _ => SessionSize::Decided,
        }
    }

    /// The experiments that were asked for. A name is looked up in the project's file first.
    fn read(&self) -> miette::Result<Vec<Experiment>> {
        let file = project::file();
        // A resumed session uses only files that nobody else can have changed since.
        let is_ours = |path: &Path| self.args.resume.as_ref().map_or(Ok(()), |_| check_ours(path));
        file.as_deref().map_or(Ok(()), is_ours)?;
        let project = file.as_deref().map(|path| project::read(path, self.size())).transpose();
        if self.experiments.is_empty() {
            return project?.ok_or_else(|| {
                miette!(
                    help = "name an experiment (`threadcount list`), or write a file threadcount.yaml here (docs/reference/experiment-file.md)",
                    "there is nothing to run: no EXPERIMENT is named, and this folder has no threadcount.yaml"
                )
            });
        }
        // A mistake in the project's file does not stop other experiments. It is reported if a name is found nowhere else.
        let (own, mut mistake) = match project {
            Ok(own) => (own.unwrap_or_default(), None),
            Err(mistake) => (Vec::new(), Some(mistake)),
        };
        let places = Places::usual(None);
        let mut experiments = Vec::new();
        for name in &self.experiments {
            if let Some(experiment) = own.iter().find(|it| it.name == *name) {
                if let (Some(file), Ok(hidden)) = (&file, places.find(name)) {
                    note!("{}", shadowing(name, file, &hidden, trusted::is_trusted(file))?);
                }
                experiments.push(experiment.clone());
                continue;
            }
            let found = places.find(name);
            if found.is_err()
                && let Some(mistake) = mistake.take()
            {
                return Err(mistake.into());
            }
            for path in found? {
                is_ours(&path)?;
                experiments.push(read(&path, self.size())?);
            }
        }
        Ok(experiments)
    }
}

/// The message if the project's file has an experiment with the name of another one.
///
/// # Errors
/// Somebody else could have written the file, and must not decide what root starts under a known name.
fn shadowing(name: &str, file: &Path, hidden: &[PathBuf], is_trusted: bool) -> miette::Result<String> {
    let (file, hidden) = (file.display(), home::join_paths(hidden));
    if is_trusted {
        return Ok(format!("`{name}` is the experiment in {file}, which hides {hidden}"));
    }
    Err(miette!(
        help = format!("write the path of the other one, {hidden}, or run this where only root can write"),
        "`{name}` is also in {file}, which users other than root could have changed"
    ))
}

pub(super) fn feature_version(text: &str) -> Result<u16, String> {
    let version = text.trim().parse().ok().filter(|&version: &u16| version > 0);
    version.ok_or_else(|| "write Java feature versions, e.g. 21,25".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_others_could_have_changed_does_not_hide_a_known_experiment() {
        let file = Path::new("threadcount.yaml");
        let hidden = [PathBuf::from("/x/experiments/pinning.yaml")];
        let says = shadowing("pinning", file, &hidden, true).unwrap();
        assert_eq!(
            says,
            "`pinning` is the experiment in threadcount.yaml, which hides /x/experiments/pinning.yaml"
        );
        let refused = shadowing("pinning", file, &hidden, false).unwrap_err().to_string();
        assert!(
            refused.contains("threadcount.yaml, which users other than root could have changed"),
            "{refused}"
        );
    }
}
