//! An [`Experiment`] as a commented file, which is read as the same experiment.

mod flow;
mod load;
mod variant;

use super::parse;
use flow::{map, scalar, seconds};
use miette::Diagnostic;
use std::path::{Path, PathBuf};
use thiserror::Error;
use threadcount_model::experiment::{Experiment, LoadSpec, Protocol, Variant};

/// An experiment that no file describes.
#[derive(Debug, Error, Diagnostic, PartialEq, Eq)]
#[error("--save: a file has no keys for these flags ({why})")]
#[diagnostic(help(
    "leave them out, or write the file without them and add what docs/reference/experiment-file.md has instead"
))]
pub struct NotSaved {
    pub why: String,
}

/// The text of a file that is read as this experiment, but for variants that cannot run here. Files in it have their whole paths.
///
/// # Errors
/// Something in it has no key, or means something else in a file.
pub fn text(experiment: &Experiment) -> Result<String, NotSaved> {
    let whole = savable(experiment)?;
    let text = written(&whole, &left_out(experiment));
    // Whatever a flag may hold: a file that is another experiment is worse than none.
    match parse(&whole.name, "experiment.yaml", &text, false) {
        Ok(read) if read == whole => Ok(text),
        Ok(read) => Err(NotSaved { why: difference(&whole, &read).to_owned() }),
        Err(mistake) => Err(NotSaved { why: mistake.to_string() }),
    }
}

/// With the paths that it has for us, and only the variants that run.
fn savable(experiment: &Experiment) -> Result<Experiment, NotSaved> {
    let mut whole = experiment.clone();
    whole.variants.retain(|variant| variant.skipped.is_none());
    for load in &mut whole.loads {
        let sending = &mut load.sending;
        let identity = sending.identity.iter_mut().flat_map(|it| [&mut it.certificate, &mut it.key]);
        let files = sending.ca_files.iter_mut().chain(&mut sending.unix_socket).chain(identity);
        files.for_each(make_absolute);
        sending.log = sending.log.as_ref().and_then(|log| log.file_name()).map(PathBuf::from);
        if !load.all_requests().all(load::is_text) {
            return Err(NotSaved {
                why: "a body is not text; write it to a file beside the experiment".to_owned(),
            });
        }
    }
    for variant in &mut whole.variants {
        variant.workdir.iter_mut().for_each(make_absolute);
        // The file has it; one that a load requests is none of health all the same.
        variant.ready_is_written = variant.server().is_some_and(|server| server.ready().is_some());
    }
    Ok(whole)
}

fn make_absolute(path: &mut PathBuf) {
    if let Ok(absolute) = std::path::absolute(path.as_path()) {
        *path = absolute;
    }
}

fn left_out(experiment: &Experiment) -> Vec<String> {
    let skipped = |variant: &Variant| Some(format!("{}: {}", variant.name, variant.skipped.as_ref()?));
    experiment.variants.iter().filter_map(skipped).collect()
}

/// Which part was read as something else.
fn difference(whole: &Experiment, read: &Experiment) -> &'static str {
    if whole.variants != read.variants {
        "the variants"
    } else if whole.loads != read.loads {
        "the load or its requests"
    } else {
        "the rounds, the warm-up or the budget"
    }
}

fn written(experiment: &Experiment, left_out: &[String]) -> String {
    let mut lines = vec![
        "# Written by `threadcount compare --save`. `threadcount run ./THIS-FILE` runs it; docs/reference/experiment-file.md describes each key."
            .to_owned(),
        format!("question: {}", scalar(&experiment.question)),
        String::new(),
        "# What all variants share. A variant adds to it, or overrides it.".to_owned(),
    ];
    let (shared, variants) = variant::shared(&experiment.variants);
    lines.extend(shared.iter().map(|(key, value)| format!("{key}: {value}")));
    lines.extend(requests(experiment));
    lines.extend([String::new(), "# The first one is the baseline of every comparison.".to_owned()]);
    lines.push("variants:".to_owned());
    for (variant, keys) in experiment.variants.iter().zip(variants) {
        lines.push(format!("  {}:", scalar(&variant.name)));
        lines.extend(keys.iter().map(|(key, value)| format!("    {key}: {value}")));
    }
    lines.extend(left_out.iter().map(|why| format!("  # left out: {}", why.replace('\n', " "))));
    lines.extend(duration(experiment));
    lines.push("loads:".to_owned());
    for load in &experiment.loads {
        lines.push(format!("  # {}", load::comment(load)));
        lines.push(format!("  - {}", map(&load::keys(load))));
    }
    lines.extend(more(experiment));
    lines.join("\n") + "\n"
}

fn requests(experiment: &Experiment) -> Vec<String> {
    let Some(load) = experiment.loads.first() else { return Vec::new() };
    let requests: Vec<String> = load.all_requests().map(load::request).collect();
    match &requests[..] {
        [one] => vec![format!("request: {one}")],
        several => {
            let items = several.iter().map(|request| format!("  - {request}"));
            std::iter::once("request:".to_owned()).chain(items).collect()
        }
    }
}

/// Warm-up, rounds and budget.
fn duration(experiment: &Experiment) -> Vec<String> {
    let commented = |key: &str, value: &str, comment: &str| {
        let written = format!("{key}: {value}");
        format!("{written:<16}# {comment}")
    };
    let warmup = if experiment.warmup_auto { "auto".to_owned() } else { seconds(experiment.warmup_s) };
    let mut lines =
        vec![String::new(), commented("warmup", &warmup, "how long each server is warmed up, at most")];
    if experiment.crossover {
        lines.push(commented("crossover", "true", "kinds of thread inside one JVM come first"));
    }
    if let Some(budget_s) = experiment.budget_s {
        lines.push(commented("budget", &seconds(budget_s), "no round begins that would end later"));
    }
    if let Some(LoadSpec { runs, protocol: Protocol::Fixed { drop }, .. }) = experiment.loads.first() {
        lines.push(commented("runs", &runs.to_string(), "exactly so many rounds"));
        lines.push(format!("drop: {drop}"));
    }
    lines
}

/// What may be added, as comments.
fn more(experiment: &Experiment) -> Vec<String> {
    let names: Vec<&str> = experiment.variants.iter().map(|variant| variant.name.as_str()).collect();
    let claim = match &names[..] {
        [baseline, other, ..] => format!("{other}.p99 <= 1.1 * {baseline}.p99"),
        _ => "NAME.p99 <= 200ms".to_owned(),
    };
    vec![
        String::new(),
        "# What `threadcount run ./THIS-FILE --quick` does instead, and a statement that fails the run where it does not hold:".to_owned(),
        "# quick: {duration: 5s, warmup: 5s, runs: 2}".to_owned(),
        format!("# claims: [{}]", scalar(&claim)),
    ]
}

/// A path as a file says it.
fn path(path: &Path) -> String {
    scalar(&path.display().to_string())
}

#[cfg(test)]
mod tests;
