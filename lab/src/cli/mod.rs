//! The command line. Each command has a file with its arguments and a `run` that returns the exit code.

/// Prints a message on stderr, in lines that fit the terminal. A closed stderr stops nothing.
macro_rules! note {
    ($($text:tt)*) => { $crate::cli::explain(&format!($($text)*)) };
}

mod about_itself;
mod attached_load;
mod check;
mod compare;
mod compare_results;
mod completions;
mod crossover;
mod diagnose;
mod experiment_args;
mod experiment_outcome;
mod fixed_port;
mod heading;
mod help;
mod history;
pub mod interrupt;
#[cfg(feature = "kubernetes")]
mod kubernetes;
#[cfg(feature = "kubernetes")]
mod kubernetes_events;
#[cfg(feature = "kubernetes")]
mod kubernetes_options;
#[cfg(feature = "kubernetes")]
mod kubernetes_sender;
mod list;
mod live;
mod load;
mod load_options;
mod man_pages;
mod merge;
mod output;
mod plan_flags;
mod plan_keys;
mod preparation;
mod process_id;
mod progress;
mod remote_target;
mod report;
mod request_options;
mod resume;
mod run;
mod service_options;
mod share_options;
mod share_worker;
mod stdout;
mod summary;
mod told_arguments;
mod transport_options;
mod unwritten;
mod watch;
mod worker;

use clap::{Parser, Subcommand};
pub use help::parse;
use miette::MietteHandlerOpts;
use std::process::ExitCode;
pub use stdout::{explain, explain_error};
use threadcount_judge::result_folder::is_without_room;

/// Exit code: a claim or `--fail-if` failed, the load had unexpected failures, or the user cut it short.
pub const FAILED: u8 = 1;
/// Exit code: bad usage (clap's own code too) or input.
pub const BAD_INPUT: u8 = 2;
/// Exit code: a `--fail-if` or a claim of the user's experiment could not be judged.
pub const NOT_JUDGED: u8 = 3;

/// The exit code of a command that ended with this error.
#[must_use]
pub fn code_of(error: &miette::Report) -> u8 {
    let has_failed = crossover::is_of_service(error);
    let has_no_room = error.chain().filter_map(|cause| cause.downcast_ref()).any(is_without_room);
    match (has_failed, has_no_room) {
        (true, _) => FAILED,
        (_, true) => DISK_FULL,
        _ => BAD_INPUT,
    }
}

const FIRST: &str = "Begin with:
  Your own service on platform and on virtual threads, an answer in five minutes:
    threadcount compare --spring-boot app.jar --url /orders/1 -c 400
  A study, in three minutes:
    threadcount run tomcat-blocking --quick
  The load generator alone:
    threadcount load http://localhost:8080/
  The state of this machine:
    threadcount check";

/// Exit code: the disk became full. Everything measured until then is kept.
pub const DISK_FULL: u8 = 4;

/// Compare thread models of JVM web servers: throughput, response times, cost, and why
#[derive(Debug, Parser)]
#[command(name = "threadcount", version = crate::VERSION, arg_required_else_help = true, max_term_width = 100, after_help = FIRST)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Compare(Box<compare::CompareCommand>),
    Run(Box<run::RunCommand>),
    Load(Box<load::LoadCommand>),
    Merge(merge::MergeCommand),
    Worker(worker::WorkerCommand),
    Watch(watch::WatchCommand),
    Diagnose(diagnose::DiagnoseCommand),
    Report(report::ReportCommand),
    CompareResults(compare_results::CompareResultsCommand),
    History(history::HistoryCommand),
    List(list::ListCommand),
    Check(check::CheckCommand),
    #[command(name = "self")]
    AboutItself(about_itself::SelfCommand),
    Completions(completions::CompletionsCommand),
    ManPages(man_pages::ManPagesCommand),
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    /// Bad input, as a sentence that says what to write or do instead. The exit code is [`BAD_INPUT`].
    pub fn run(self) -> miette::Result<ExitCode> {
        // miette would break URLs and paths (see `explain`). A hook that is set already stays.
        let _ = miette::set_hook(Box::new(|_| Box::new(MietteHandlerOpts::new().wrap_lines(false).build())));
        self.command.run()
    }
}

impl Command {
    fn run(self) -> miette::Result<ExitCode> {
        match self {
            Self::Run(command) => command.run(),
            Self::Compare(command) => command.run(),
            Self::Load(command) => command.run(),
            Self::Merge(command) => command.run(),
            Self::Worker(command) => command.run(),
            Self::Watch(command) => command.run(),
            Self::Diagnose(command) => command.run(),
            Self::Report(command) => command.run(),
            Self::CompareResults(command) => command.run(),
            Self::History(command) => command.run(),
            Self::List(command) => command.run(),
            Self::Check(command) => command.run(),
            Self::AboutItself(command) => command.run(),
            Self::Completions(command) => command.run(),
            Self::ManPages(command) => command.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crossover::CrossoverFailure;
    use clap::CommandFactory;

    #[test]
    fn a_crossover_that_is_interrupted_has_failed_and_is_no_bad_input() {
        assert_eq!(code_of(&CrossoverFailure::Interrupted.into()), FAILED);
        assert_eq!(code_of(&CrossoverFailure::ChangingLoad.into()), BAD_INPUT);
    }

    #[test]
    fn the_help_of_each_command_has_examples() {
        for command in Cli::command().get_subcommands().filter(|command| command.get_name() != "help") {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let call = format!("  threadcount {}", command.get_name());
            assert!(help.starts_with("Example") && help.contains(&call), "{}: {help}", command.get_name());
        }
    }
}
