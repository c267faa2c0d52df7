//! `threadcount load`: sends a load without an experiment.

#[cfg(feature = "kubernetes")]
use super::kubernetes_options::KubernetesOptions;
use super::live::Live;
use super::load_options::{AskedLoad, LoadOptions};
use super::output::{Files, Output};
use super::share_options::ShareOptions;
use super::{DISK_FULL, FAILED, interrupt, plan_flags, share_worker, stdout, summary};
use clap::Args;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use threadcount_judge::result_folder::is_without_room;
use threadcount_load::limits;
use threadcount_load::outcome::{LoadOutcome, Second};
use threadcount_load::plan::LoadPlan;
use threadcount_load::report::LoadReport;
use threadcount_load::run::{self, Control};

/// Send requests to a URL and measure throughput and response times
///
/// Exit code 0: all responses as expected. 1: failures, no response at all or interrupted. 2: bad usage or input. 4: full disk.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct LoadCommand {
    /// The URL, e.g. http://localhost:8080/; several URLs of one origin are requested in turn
    #[arg(value_name = "URL", required_unless_present = "targets")]
    urls: Vec<String>,
    #[command(flatten)]
    options: LoadOptions,
    #[command(flatten)]
    share: ShareOptions,
    #[cfg(feature = "kubernetes")]
    #[command(flatten)]
    kubernetes: KubernetesOptions,
    #[command(flatten)]
    output: Output,
}

const EXAMPLES: &str = "Examples:
  As fast as 100 connections can:
    threadcount load http://localhost:8080/ -c 100 -d 30s
  5000 requests a second, regardless of response times:
    threadcount load http://localhost:8080/ -r 5000/s -d 1m
  A POST with a body from a file:
    threadcount load http://localhost:8080/orders --data @order.json \\
      -H 'Accept: text/html'
  How much can it take?
    threadcount load http://localhost:8080/ --ramp 100:5000:30s --csv ramp.csv";

impl LoadCommand {
    /// Runs the load and shows what happened.
    ///
    /// # Errors
    /// Input that cannot be used, a load that cannot be started, a file that cannot be written.
    pub fn run(&self) -> miette::Result<ExitCode> {
        if self.options.has_target_file() && !self.urls.is_empty() {
            return Err(miette!("--targets and a URL: give one of the two"));
        }
        let AskedLoad { origin, load } = self.options.load(&self.urls)?;
        let share = self.share.share()?;
        let plan = plan_flags::planned(&load, &origin)?;
        let plan = plan.with(|plan| plan.share = share.unwrap_or_default());
        plan.check().map_err(|error| miette!("{}", plan_flags::load_error(&error.into())))?;
        self.options.check_target(&plan)?;
        #[cfg(feature = "kubernetes")]
        if self.kubernetes.is_asked_for() {
            return super::kubernetes::run(&self.kubernetes, &plan, &self.output);
        }
        let mut files = self.output.open()?;
        let stop = interrupt::stop_flag().into_diagnostic().wrap_err("Ctrl-C cannot be caught")?;
        limits::raise_descriptor_limit();
        if share.is_some() {
            return self.send_share(&plan, &stop, files);
        }
        let mut live = Live::new(&plan, self.output.quiet);
        let mut on_second = |second: &Second| {
            live.second(second);
            files.second(second);
        };
        let control = Control::new(&stop, &mut on_second).starting_at(self.share.start_at);
        let outcome =
            run::run(&plan, control).map_err(|error| miette!("{}", plan_flags::load_error(&error)))?;
        live.finish(Some(outcome.elapsed_s()));
        let report = LoadReport::naming(plan_flags::flag, &outcome, &plan);
        let json = serde_json::to_string_pretty(&report).into_diagnostic()? + "\n";
        let shown = if self.output.json { json.clone() } else { summary::summary(&report, &outcome) };
        // The files come first, because stdout may be closed.
        let written = files.write(&outcome, &json);
        stdout::show(&shown, self.output.json)?;
        written?;
        let is_log_cut = outcome.log_failure.is_some_and(|kind| is_without_room(&kind.into()));
        Ok(if is_log_cut { ExitCode::from(DISK_FULL) } else { exit_code(&outcome, self.output.fail_above) })
    }

    /// Sends a share of the load and reports it on stdout. The files contain the figures of this share.
    fn send_share(&self, plan: &LoadPlan, stop: &AtomicBool, files: Files) -> miette::Result<ExitCode> {
        let outcome = share_worker::run(plan, 0, self.share.start_at, stop)?;
        let report = LoadReport::naming(plan_flags::flag, &outcome, &plan.own_part());
        let json = serde_json::to_string_pretty(&report).into_diagnostic()? + "\n";
        files.write(&outcome, &json)?;
        Ok(share_worker::exit_code(&outcome))
    }
}

pub(super) fn exit_code(outcome: &LoadOutcome, fail_above: f64) -> ExitCode {
    if has_failed(outcome, fail_above) { ExitCode::from(FAILED) } else { ExitCode::SUCCESS }
}

/// Whether a load has failed. One without any expected response has failed too: it sent nothing, or the server hangs. `fail_above` is the
/// share of ended requests that may fail, from 0 to 1.
pub(super) fn has_failed(outcome: &LoadOutcome, fail_above: f64) -> bool {
    let counts = outcome.counts;
    let has_too_many = counts.failed as f64 > fail_above * (counts.ok + counts.failed) as f64;
    has_too_many || counts.ok == 0 || outcome.interrupted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_failures_than_are_allowed_have_failed_and_exactly_as_many_have_not() {
        let outcome = |ok: u64, failed: u64| {
            let mut outcome = LoadOutcome::default();
            (outcome.counts.ok, outcome.counts.failed) = (ok, failed);
            outcome
        };
        assert!(has_failed(&outcome(99, 1), 0.0) && !has_failed(&outcome(100, 0), 0.0));
        assert!(has_failed(&outcome(98, 2), 0.01) && !has_failed(&outcome(99, 1), 0.01));
        assert!(has_failed(&outcome(0, 0), 1.0) && has_failed(&outcome(0, 5), 1.0), "no expected response");
        let mut interrupted = outcome(9, 0);
        interrupted.interrupted = true;
        assert!(has_failed(&interrupted, 1.0));
    }
}
