//! `threadcount list`: lists the experiments.

use super::progress::in_minutes;
use super::stdout;
use clap::Args;
use miette::miette;
use std::process::ExitCode;
use threadcount_config::find::{About, Listed, Places, Size};
use threadcount_machine::bundle;
use threadcount_report::layout;

/// The indentation of the lines below a name.
const INDENT: &str = "    ";

/// List the experiments and how long they take; with a name, show the study it repeats and what it needs
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ListCommand {
    /// Show everything about this experiment
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

const EXAMPLES: &str = "Examples:
  All experiments, a line each:
    threadcount list
  Which study one of them repeats, what it needs, how long it takes:
    threadcount list tomcat-blocking
  Then run it in its small size:
    threadcount run tomcat-blocking --quick";

impl ListCommand {
    /// Prints them.
    ///
    /// # Errors
    /// There are none, or none of that name. A file that cannot be read is listed with the reason.
    pub fn run(&self) -> miette::Result<ExitCode> {
        let all = Places::usual(None).list();
        if all.is_empty() {
            return Err(miette!(
                help = format!(
                    "call it where a folder `experiments` is, or set THREADCOUNT_HOME to the folder that holds it{}",
                    bundle::why_not("experiments")
                ),
                "there are no experiments here"
            ));
        }
        let text = match &self.name {
            None => table(&all, stdout::style().width),
            Some(name) => {
                let listed = all.iter().find(|listed| listed.name == *name).ok_or_else(|| {
                    miette!(help = "`threadcount list` shows their names", "there is no experiment `{name}`")
                })?;
                let words = listed
                    .about
                    .as_ref()
                    .map_or_else(|error| format!("{INDENT}cannot be read: {error}"), words);
                format!("{name}\n{words}\n")
            }
        };
        stdout::show(&text, false)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// One line for each experiment: its name, how long it takes with `--quick`, usually and with `--published`, and its question, cut at the
/// end of the line.
fn table(all: &[Listed], width: usize) -> String {
    let row = |listed: &Listed| match &listed.about {
        Ok(about) => {
            let time = |size: Size| size.estimate_s.map_or_else(|| "unknown".to_owned(), in_minutes);
            let question = about.question.lines().next().unwrap_or_default();
            vec![
                listed.name.clone(),
                time(about.quick),
                time(about.decided),
                time(about.full),
                question.to_owned(),
            ]
        }
        Err(error) => {
            vec![
                listed.name.clone(),
                String::new(),
                String::new(),
                String::new(),
                format!("cannot be read: {error}"),
            ]
        }
    };
    let head = ["experiment", "quick", "run", "full", "question"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(all.iter().map(row)).collect();
    layout::table(&rows, "<>>><").iter().map(|line| layout::cut(line, width) + "\n").collect()
}

fn words(about: &About) -> String {
    let mut lines = vec![about.question.clone()];
    lines.extend(about.study.as_ref().map(|study| format!("study: {study}")));
    if !about.needs.is_empty() {
        lines.push(format!("needs: {}", about.needs.join("; ")));
    }
    let published = (about.full != about.decided).then(|| format!("; with --published {}", size(about.full)));
    let published = published.unwrap_or_default();
    lines.push(format!("takes: {}; with --quick {}{published}", size(about.decided), size(about.quick)));
    lines.iter().map(|line| format!("{INDENT}{line}")).collect::<Vec<_>>().join("\n")
}

/// The duration as `at most about 11 min (30 runs)`, and how much longer a JVM takes that warms up slowly.
fn size(Size { runs, estimate_s, longest_s }: Size) -> String {
    let (Some(estimate_s), Some(longest_s)) = (estimate_s, longest_s) else {
        return format!("unknown duration ({runs} runs)");
    };
    let (usual, longest) = (in_minutes(estimate_s), in_minutes(longest_s));
    if usual == longest {
        return format!("at most about {usual} ({runs} runs)");
    }
    format!("about {usual}, at most about {longest} if the JVM warms up or compiles slowly ({runs} runs)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_for_each_and_cuts_questions_where_the_line_ends() {
        let size = Size { runs: 3, estimate_s: Some(77.4), longest_s: Some(77.4) };
        let about = |question: &str| About {
            question: question.into(),
            study: None,
            needs: Vec::new(),
            full: size,
            decided: size,
            quick: size,
        };
        let listed =
            |name: &str, about| Listed { name: name.to_owned(), path: std::path::PathBuf::new(), about };
        let all = [listed("short", Ok(about("Why?"))), listed("a-longer-name", Ok(about(&"x".repeat(90))))];
        let text = table(&all, 60);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "experiment     quick   run  full  question");
        assert_eq!(lines[1], "short           77 s  77 s  77 s  Why?");
        assert!(lines[2].ends_with('…') && lines[2].chars().count() == 60, "{text}");
    }

    #[test]
    fn an_experiment_is_shown_with_its_study_its_needs_and_both_times() {
        let about = About {
            question: "Why?".into(),
            study: Some("T (A, 2024)".into()),
            needs: vec!["Java 21, 25".into(), "Tomcat 11.0".into()],
            full: Size { runs: 90, estimate_s: Some(7_200.0), longest_s: Some(7_200.0) },
            decided: Size { runs: 30, estimate_s: Some(601.0), longest_s: Some(2_100.0) },
            quick: Size { runs: 3, estimate_s: Some(77.4), longest_s: Some(77.4) },
        };
        let expected = "    Why?\n    study: T (A, 2024)\n    needs: Java 21, 25; Tomcat 11.0\n    \
            takes: about 11 min, at most about 35 min if the JVM warms up or compiles slowly (30 runs); with --quick at most about 77 s (3 runs); \
            with --published at most about 120 min (90 runs)";
        assert_eq!(words(&about), expected);
    }
}
