//! Checks the reference pages that the program itself writes: commands and metrics. `UPDATE_DOCS=1 ./dev test generated` writes them.

use crate::markdown::ROOT;
use clap::{Arg, Command, CommandFactory};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use threadcount::cli::Cli;
use threadcount_model::metric::Metric;

/// The pages that are completely generated.
pub const PAGES: [&str; 2] = ["docs/reference/commands.md", "docs/reference/metrics.md"];

const COMMANDS: &str = "# Commands\n\nWritten by the program from its own help; do not edit it by hand.\n";

const METRICS: &str = "# Metrics\n\nWritten by the program; do not edit it by hand.\n\n\
    Claims, `published` figures and results use these names. The unit at the end may be left out: `rate`, `p99`, `rss_peak`.\n\
    [The method](../explanation/method.md) explains memory, time behind and system calls.\n\n\
    | metric | meaning | unit |\n|---|---|---|\n";

fn commands() -> String {
    let mut program = Cli::command();
    program.build();
    let mut page = COMMANDS.to_owned();
    for command in program.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help") {
        add_command(&mut page, command);
    }
    page
}

fn add_command(page: &mut String, command: &Command) {
    let about = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string);
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").split_whitespace().collect::<Vec<_>>().join(" ");
    let name = command.get_name();
    let _ = write!(
        page,
        "\n## threadcount {name}\n\n{}\n\n```text\n{usage}\n```\n\n",
        about.unwrap_or_default().trim()
    );
    let is_shown = |it: &&Arg| !it.is_hide_set() && !["help", "version"].contains(&it.get_id().as_str());
    for argument in command.get_arguments().filter(is_shown) {
        let help = argument.get_long_help().or_else(|| argument.get_help()).map(ToString::to_string);
        let help = help.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(page, "- `{}`: {}", call(argument), help.replace('|', "\\|"));
    }
}

/// The way to write an argument.
fn call(argument: &Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default();
    let values = values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let takes_values = argument.get_action().takes_values();
    let flags =
        [argument.get_short().map(|it| format!("-{it}")), argument.get_long().map(|it| format!("--{it}"))];
    let flags = flags.into_iter().flatten().collect::<Vec<_>>().join(", ");
    match (flags.is_empty(), takes_values) {
        (true, _) => values,
        (false, false) => flags,
        (false, true) => format!("{flags} {values}"),
    }
}

fn metrics() -> String {
    let rows = Metric::ALL.map(|it| format!("| `{}` | {} | {} |\n", it.name(), it.label(), unit(it.name())));
    METRICS.to_owned() + &rows.concat()
}

/// The unit of a metric, by the end of its name. A test of the model checks these ends.
fn unit(name: &str) -> &'static str {
    let units = [
        ("_per_s", "per second"),
        ("_percent", "%"),
        ("_bytes", "bytes"),
        ("_us", "µs"),
        ("_us_per_request", "µs"),
        ("_bytes_per_request", "bytes"),
        ("_ms_per_s", "ms per second"),
        ("_ms", "ms"),
        ("_per_request", "per request"),
        ("cores", "cores"),
    ];
    let mut fitting: Vec<_> = units.into_iter().filter(|(end, _)| name.ends_with(end)).collect();
    fitting.sort_by_key(|(end, _)| end.len());
    fitting.last().map_or("number", |(_, unit)| unit)
}

#[test]
fn generated_pages_are_what_the_program_says_today() {
    for (name, text) in PAGES.into_iter().zip([commands(), metrics()]) {
        let path = Path::new(ROOT).join(name);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == text, "{name} is not current: UPDATE_DOCS=1 ./dev test generated");
    }
}

#[test]
fn every_finding_has_a_section() {
    let folder = Path::new(ROOT).join("judge/src/findings");
    let page = fs::read_to_string(Path::new(ROOT).join("docs/reference/findings.md")).unwrap();
    let names = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let names =
        names.filter_map(|it| Some(it.file_stem()?.to_str()?.replace('_', "-"))).filter(|it| it != "mod");
    let missing: Vec<String> = names.filter(|it| !page.contains(&format!("\n### {it}\n"))).collect();
    assert_eq!(missing, [] as [String; 0], "docs/reference/findings.md");
}
