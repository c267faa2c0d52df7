//! The experiment that the flags of `threadcount compare` describe: it is run, and `--save` writes it to a file.

use super::error::CompareError;
use super::flow::{Entry, map, scalar};
use super::load;
use super::variant_keys::VariantKeys;
use crate::Source;
use miette::Diagnostic;
use std::path::Path;
use thiserror::Error;
use threadcount_model::experiment::{Experiment, LoadSpec, RequestSpec, SessionSize};

/// The experiment of `threadcount compare` in the keys of a file. It names files by their whole paths.
#[derive(Debug)]
pub struct CompareDocument {
    pub(super) question: String,
    /// The keys that all variants share.
    pub(super) shared: Vec<Entry>,
    pub(super) variants: Vec<VariantKeys>,
    /// The keys of rounds and warm-up, each with a comment.
    pub(super) session: Vec<(Entry, &'static str)>,
    pub(super) load: LoadSpec,
    /// Whether `--health` is given: its path must respond with success, while any response is enough for a path derived from the URL.
    pub(super) has_health: bool,
}

/// A document that a file cannot express.
#[derive(Debug, Error, Diagnostic, PartialEq, Eq)]
#[error("--save: a file has no keys for these flags ({why})")]
#[diagnostic(help(
    "leave them out, or write the file without them and add what docs/reference/experiment-file.md has instead"
))]
pub struct NotSaved {
    pub why: String,
}

impl CompareDocument {
    /// Reads the document, with the variants that cannot run here. The requests come from the flags, because a file cannot express all of
    /// them.
    ///
    /// # Errors
    /// A value that no check of the flags caught.
    pub fn experiment(&self) -> Result<Experiment, CompareError> {
        let text = self.text(&[], |_| true);
        let requests = Some(self.load.all_requests().cloned().collect());
        let source = Source {
            name: "compare",
            text: &text,
            folder: Path::new(""),
            size: SessionSize::AsWritten,
            requests,
        };
        let read = source.experiment();
        let mut experiment = read.map_err(|mistake| CompareError::NotRead(mistake.message))?;
        for (variant, keys) in experiment.variants.iter_mut().zip(&self.variants) {
            variant.skipped.clone_from(&keys.skipped);
            variant.ready_is_written &= self.has_health;
        }
        Ok(experiment)
    }

    /// The text of a file for `run`, without the variants that cannot run here.
    ///
    /// # Errors
    /// A request that a file cannot express, or that means something else there.
    pub fn file(&self) -> Result<String, NotSaved> {
        let requests: Vec<&RequestSpec> = self.load.all_requests().collect();
        if !requests.iter().all(|request| load::is_text(request)) {
            let why = "a body is not text; write it to a file beside the experiment".to_owned();
            return Err(NotSaved { why });
        }
        let text = self.text(&requests, |variant| variant.skipped.is_none());
        let read = crate::parse("compare", "experiment.yaml", &text, false);
        let read = read.map_err(|mistake| NotSaved { why: mistake.to_string() })?;
        let is_same = read.loads.iter().all(|load| load.all_requests().eq(requests.iter().copied()));
        if is_same { Ok(text) } else { Err(NotSaved { why: "the requests".to_owned() }) }
    }

    fn text(&self, requests: &[&RequestSpec], is_kept: impl Fn(&VariantKeys) -> bool) -> String {
        let mut lines = vec![
            "# Written by `threadcount compare --save`. `threadcount run ./THIS-FILE` runs it; docs/reference/experiment-file.md describes each key."
                .to_owned(),
            format!("question: {}", scalar(&self.question)),
            String::new(),
            "# What all variants share. A variant adds to it, or overrides it.".to_owned(),
        ];
        lines.extend(self.shared.iter().map(|(key, value)| format!("{key}: {value}")));
        lines.extend(requests_key(requests));
        lines.extend([String::new(), "# The first one is the baseline of every comparison.".to_owned()]);
        lines.push("variants:".to_owned());
        let (kept, left_out): (Vec<_>, Vec<_>) = self.variants.iter().partition(|it| is_kept(it));
        for variant in &kept {
            lines.push(format!("  {}:", scalar(&variant.name)));
            lines.extend(variant.entries().iter().map(|(key, value)| format!("    {key}: {value}")));
        }
        lines.extend(left_out.iter().map(|variant| left_out_comment(variant)));
        lines.push(String::new());
        for ((key, value), comment) in &self.session {
            let written = format!("{key}: {value}");
            lines.push(format!("{written:<16}# {comment}"));
        }
        lines.push("loads:".to_owned());
        lines.push(format!("  # {}", load::comment(&self.load)));
        lines.push(format!("  - {}", map(&load::keys(&self.load))));
        lines.extend(more(&kept));
        lines.join("\n") + "\n"
    }
}

fn requests_key(requests: &[&RequestSpec]) -> Vec<String> {
    match requests {
        [] => Vec::new(),
        [one] => vec![format!("request: {}", load::request(one))],
        several => {
            let items = several.iter().map(|request| format!("  - {}", load::request(request)));
            std::iter::once("request:".to_owned()).chain(items).collect()
        }
    }
}

fn left_out_comment(variant: &VariantKeys) -> String {
    let why = variant.skipped.as_deref().unwrap_or_default();
    format!("  # left out: {} ({})", variant.name, why.replace('\n', " "))
}

/// Suggested additions, as comments.
fn more(variants: &[&VariantKeys]) -> Vec<String> {
    let claim = match variants {
        [baseline, other, ..] => format!("{}.p99 <= 1.1 * {}.p99", other.name, baseline.name),
        _ => "NAME.p99 <= 200ms".to_owned(),
    };
    vec![
        String::new(),
        "# What `threadcount run ./THIS-FILE --quick` does instead, and a statement that fails the run where it does not hold:".to_owned(),
        "# quick: {duration: 5s, warmup: 5s, runs: 2}".to_owned(),
        format!("# claims: [{}]", scalar(&claim)),
    ]
}

#[cfg(test)]
mod tests;
