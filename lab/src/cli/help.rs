//! Shows the help: examples first, then the flags that most users need. `--help-all` shows all flags.

use super::{BAD_INPUT, Cli, DISK_FULL, FAILED, explain, explain_error, told_arguments};
use clap::{Command, CommandFactory, FromArgMatches};
use std::ffi::OsString;
use std::io::{self, Write};
use std::process;
use threadcount_judge::result_folder::is_without_room;

/// The flag that prints all flags of a command.
const ALL: &str = "--help-all";

/// The most used flags of the commands that have more than twelve.
const MOST_USED: [(&str, [&str; 12]); 3] = [
    (
        "run",
        [
            "quick",
            "published",
            "variant",
            "jdk",
            "runs",
            "budget",
            "warmup",
            "out",
            "fail-if",
            "open",
            "target-url",
            "resume",
        ],
    ),
    (
        "compare",
        [
            "url",
            "spring-boot",
            "war",
            "variant",
            "attach",
            "connections",
            "duration",
            "rate",
            "jdk",
            "budget",
            "save",
            "out",
        ],
    ),
    (
        "load",
        [
            "connections",
            "requests",
            "duration",
            "rate",
            "ramp",
            "request",
            "header",
            "data",
            "targets",
            "timeout",
            "expect",
            "json",
        ],
    ),
];

const TEMPLATE: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// Reads the command line of this process. Prints help or an error and ends the process where needed.
#[must_use]
pub fn parse() -> Cli {
    let written: Vec<OsString> = std::env::args_os().collect();
    let is_told = told_arguments::is_told(&written);
    let mut arguments = told_arguments::with_told(written, io::stdin().lock()).unwrap_or_else(|error| {
        explain(&error.to_string());
        process::exit(i32::from(BAD_INPUT))
    });
    let all = arguments.iter().position(|argument| argument == ALL);
    if let Some(place) = all {
        arguments[place] = "--help".into();
    }
    let matches = command(all.is_some()).try_get_matches_from(arguments);
    matches.and_then(|matches| Cli::from_arg_matches(&matches)).unwrap_or_else(|error| match error.kind() {
        // The message of clap would quote arguments that may be secret.
        kind if is_told && error.use_stderr() => {
            explain(&format!(
                "load @-: the arguments on standard input are not those of this version: {kind}"
            ));
            process::exit(error.exit_code())
        }
        _ => end(&error),
    })
}

/// Prints help, or why the command line cannot be read, and ends the process.
fn end(error: &clap::Error) -> ! {
    if error.use_stderr() {
        explain_error(error.render().ansi().to_string().trim_end());
        process::exit(error.exit_code());
    }
    match error.print() {
        Err(failed) if failed.kind() != io::ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "cannot write to stdout: {failed}");
            process::exit(i32::from(if is_without_room(&failed) { DISK_FULL } else { FAILED }))
        }
        _ => process::exit(error.exit_code()),
    }
}

fn command(with_all: bool) -> Command {
    examples_first(Cli::command()).mut_subcommands(|command| {
        let command = examples_first(command);
        if with_all { command } else { short(command) }
    })
}

/// Orders the help: one line about the command, its examples, then everything else.
fn examples_first(command: Command) -> Command {
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let about = command.get_long_about().map(ToString::to_string);
    let command = command.before_help(examples.clone()).after_help("").help_template(TEMPLATE);
    match about.as_ref().and_then(|it| it.split_once("\n\n")) {
        Some((first, rest)) => command
            .long_about(first.to_owned())
            .before_long_help(format!("{examples}\n\n{}", rest.trim_end())),
        None => command,
    }
}

/// Hides the flags that few users need.
fn short(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let Some((_, kept)) = MOST_USED.iter().find(|(of, _)| *of == name) else { return command };
    let command = command.mut_args(|argument| {
        let is_kept = argument.get_long().is_none_or(|long| kept.contains(&long));
        argument.hide(!is_kept)
    });
    let all = command.get_arguments().filter(|argument| !argument.is_positional()).count();
    command.after_help(format!("All {all} flags: threadcount {name} {ALL}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The usual width of a terminal.
    const COLUMNS: usize = 80;

    fn help(name: &str, with_all: bool) -> String {
        let mut command = command(with_all);
        command.build();
        command.find_subcommand_mut(name).expect(name).render_help().to_string()
    }

    /// Counts the flags in the help, without -h.
    fn flags(name: &str, with_all: bool) -> usize {
        let command = command(with_all);
        let command = command.find_subcommand(name).expect(name);
        command.get_arguments().filter(|it| !it.is_positional() && !it.is_hide_set()).count()
    }

    #[test]
    fn the_help_of_each_command_shows_examples_first_and_at_most_twelve_flags() {
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            let text = help(name, false);
            let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{name}: {part}\n{text}"));
            assert!(place("Example") < place("Usage:"), "{name}\n{text}");
            assert!(flags(name, false) <= 12, "{name}: {} flags\n{text}", flags(name, false));
        }
    }

    #[test]
    fn a_heading_of_addresses_has_no_flag_of_runs_below_it() {
        let text = help("run", true);
        let below = text.split("Address and TLS:").nth(1).unwrap().split("\nResult:").next().unwrap();
        assert!(below.contains("--allow-remote"), "{below}");
        assert!(!["--jdk", "--runs", "--budget", "--warmup"].iter().any(|it| below.contains(it)), "{below}");
    }

    #[test]
    fn an_exit_code_stands_below_the_examples() {
        for name in ["compare", "run", "load", "check", "diagnose"] {
            let mut command = command(false);
            command.build();
            let text = command.find_subcommand_mut(name).expect(name).render_long_help().to_string();
            let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{name}: {part}\n{text}"));
            assert!(place("\n\nExample") < place("Exit code"), "{text}");
            assert!(place("Exit code") < place("\n\nUsage:"), "{text}");
        }
    }

    #[test]
    fn a_line_of_an_example_fits_and_can_be_copied() {
        for command in Cli::command().get_subcommands().filter(|it| it.get_name() != "help") {
            let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let too_long: Vec<_> = examples.lines().filter(|it| it.chars().count() > COLUMNS).collect();
            assert_eq!(too_long, [] as [&str; 0], "{}", command.get_name());
        }
    }

    #[test]
    fn each_flag_that_is_kept_exists_and_help_all_has_the_others_too() {
        for (name, kept) in MOST_USED {
            let text = help(name, false);
            for flag in kept {
                assert!(text.contains(&format!("--{flag}")), "{name} {flag}\n{text}");
            }
            assert!(flags(name, true) > flags(name, false));
            assert!(text.contains(&format!("threadcount {name} {ALL}")), "{text}");
        }
    }

    #[test]
    fn the_program_begins_with_a_comparison_of_ones_own_service() {
        let text = command(false).render_help().to_string();
        let [first, usage] =
            ["threadcount compare --spring-boot", "Usage:"].map(|part| text.find(part).expect(part));
        assert!(first < usage, "{text}");
        let commands = text.split("Commands:").nth(1).expect("commands");
        assert!(commands.trim_start().starts_with("compare"), "{text}");
    }
}
