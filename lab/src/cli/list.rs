//! `threadcount list`: the experiments.

use clap::Args;
use miette::miette;
use std::process::ExitCode;
use threadcount_config::find::{About, Places, Size};
use threadcount_machine::bundle;

/// Where the lines below a name begin.
const INDENT: &str = "    ";

/// Show the experiments: what each asks, which study it repeats, what it needs, how long it takes
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ListCommand {}

const EXAMPLES: &str = "Examples:
  All experiments, page by page:
    threadcount list | less
  Then run one of them in its small size:
    threadcount run tomcat-blocking --quick";

impl ListCommand {
    /// Prints them.
    ///
    /// # Errors
    /// None. A file that cannot be read is listed with the reason.
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
        for listed in all {
            match listed.about {
                Ok(about) => anstream::println!("{}\n{}\n", listed.name, words(&about)),
                Err(error) => anstream::println!("{}\n{INDENT}cannot be read: {error}\n", listed.name),
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn words(about: &About) -> String {
    let mut lines = vec![about.question.clone()];
    lines.extend(about.study.as_ref().map(|study| format!("study: {study}")));
    if !about.needs.is_empty() {
        lines.push(format!("needs: {}", about.needs.join("; ")));
    }
    lines.push(format!("takes: {}; with --quick {}", size(about.full), size(about.quick)));
    lines.iter().map(|line| format!("{INDENT}{line}")).collect::<Vec<_>>().join("\n")
}

/// `at most about 11 min (30 runs)`; where a JVM that becomes warm slowly takes longer, how much.
fn size(Size { runs, estimate_s, longest_s }: Size) -> String {
    let (Some(estimate_s), Some(longest_s)) = (estimate_s, longest_s) else {
        return format!("unknown duration ({runs} runs)");
    };
    let (usual, longest) = (duration(estimate_s), duration(longest_s));
    if usual == longest {
        return format!("at most about {usual} ({runs} runs)");
    }
    format!(
        "about {usual}, at most about {longest} if the JVM warms up or compiles anew slowly ({runs} runs)"
    )
}

fn duration(seconds: f64) -> String {
    if seconds < 100.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", (seconds / 60.0).ceil()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_experiment_is_shown_with_its_study_its_needs_and_both_times() {
        let about = About {
            question: "Why?".into(),
            study: Some("T (A, 2024)".into()),
            needs: vec!["Java 21, 25".into(), "Tomcat 11.0".into()],
            full: Size { runs: 30, estimate_s: Some(601.0), longest_s: Some(2_100.0) },
            quick: Size { runs: 3, estimate_s: Some(77.4), longest_s: Some(77.4) },
        };
        let expected = "    Why?\n    study: T (A, 2024)\n    needs: Java 21, 25; Tomcat 11.0\n    \
            takes: about 11 min, at most about 35 min if the JVM warms up or compiles anew slowly (30 runs); with --quick at most about 77 s (3 runs)";
        assert_eq!(words(&about), expected);
    }
}
