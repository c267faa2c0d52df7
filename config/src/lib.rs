//! Reads the YAML file of an experiment into an [`Experiment`]. Each part of the file has a module of its own.

mod around;
mod backends;
mod claims;
mod cores;
mod environment;
pub mod find;
pub mod for_compare;
mod loads;
pub mod needs;
mod process;
pub mod project;
mod published;
mod request;
mod same_kind;
pub mod schema;
pub mod select;
mod sending;
mod server;
mod sizes;
mod subjects;
mod variants;

use loads::Shared;
pub use sending::setting_key;
use threadcount_load::whole_file;
use threadcount_model::experiment::{Experiment, RequestSpec, SessionSize, Study, warm_up};
use threadcount_model::parse::diagnostic::{Diagnostic, Mistake};
use threadcount_model::parse::fields::Fields;
use threadcount_model::parse::key_spec::{KeySpec, List, OneOrMore, at_most_one, json_schema, map};
use threadcount_model::parse::value_kinds::{Count, PositiveDuration, Text, WarmUp, Whole};
use threadcount_model::parse::yaml;
use threadcount_model::parse::yaml::{Kind, Node};
use threadcount_model::{keys, value_kinds};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Maximum file size; a larger file is not an experiment.
const LARGEST_BYTES: u64 = 1 << 20;

const KEYS: &[KeySpec] = keys! {
    /// The question it answers, as a sentence.
    question: Text,
    /// The study that asked the question first.
    study: StudyKeys,
    server: server::ServerKeys,
    backend: backends::BackendKeys,
    backends: backends::BackendsByName,
    /// Cores by role: load, server, and the names of the backends.
    cores: BTreeMap<String, OneOrMore<cores::CoreNumbers>>,
    jdk: process::Jdk,
    jvm: process::Jvm,
    env: process::Env,
    workdir: around::WorkingFolder,
    before: around::CommandBefore,
    after: around::CommandAfter,
    request: request::Requests,
    /// How long a load runs before it is measured, at most; auto: until the server is warm.
    warmup: WarmUp,
    /// Rounds, at most.
    runs: Count,
    /// First rounds that no figure uses.
    drop: Whole,
    /// Compare kinds of thread inside two JVMs of the first variant, instead of fresh JVMs of each variant.
    crossover: bool,
    /// How long everything may take.
    budget: PositiveDuration,
    /// The ways to run the server, by name; the first is the baseline.
    variants: variants::VariantsByName,
    loads: List<loads::LoadKeys>,
    quick: sizes::SizeKeys,
    decided: sizes::SizeKeys,
    published: Vec<published::PublishedKeys>,
    claims: Vec<claims::ClaimOrText>,
    /// What the study says and this tool cannot test.
    unavailable: Vec<claims::UnavailableKeys>,
};

/// The keys that an experiment cannot do without.
const REQUIRED: [&str; 3] = ["question", "variants", "loads"];

const STUDY: &[KeySpec] = keys! {
    title: Text,
    date: Text,
    authors: Text,
    url: Text,
    machine: Text,
};

value_kinds! {
    /// For editors: keys, their kinds and what excludes what. `threadcount run` checks more: names that refer to each other,
    /// ranges, placeholders.
    ExperimentKeys = |generator| {
        let rules = json_schema!({"required": REQUIRED, "allOf": [at_most_one(&project::ALTERNATIVES)]});
        map(generator, KEYS, rules)
    };

    StudyKeys = |generator| map(generator, STUDY, json_schema!({"required": ["title"]}));
}

/// The reason why an experiment could not be read.
#[derive(Debug, Error, miette::Diagnostic)]
pub enum ReadError {
    #[error("cannot read {path}: {why}", path = path.display())]
    #[diagnostic(help("`threadcount list` shows the experiments that are known"))]
    Unreadable { path: PathBuf, why: std::io::Error },
    /// The text is not an experiment.
    #[error("{path} is not an experiment: {why}", path = path.display())]
    #[diagnostic(help(
        "an experiment is a YAML file in UTF-8; `threadcount list` shows those that are known"
    ))]
    NoText { path: PathBuf, why: String },
    #[error(transparent)]
    #[diagnostic(transparent)]
    Mistake(#[from] Mistake),
}

/// Reads the experiment in a file, with these sizes.
///
/// # Errors
/// The file cannot be read, or contains a mistake, which is shown with its line and a caret.
pub fn read(path: &Path, size: impl Into<SessionSize>) -> Result<Experiment, ReadError> {
    let text = text_of(path)?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(parse(&name, &path.display().to_string(), &text, size)?)
}

fn text_of(path: &Path) -> Result<String, ReadError> {
    let unreadable = |why| ReadError::Unreadable { path: path.into(), why };
    let no_text = |why| ReadError::NoText { path: path.into(), why };
    let bytes = whole_file::read(path, LARGEST_BYTES).map_err(|why| match why.kind() {
        std::io::ErrorKind::FileTooLarge => no_text(why.to_string()),
        _ => unreadable(why),
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        no_text(format!("line {line} has bytes that are not UTF-8"))
    })
}

/// Reads the text of an experiment. Messages call it `file`, and relative paths in it start beside that file.
///
/// # Errors
/// The first mistake in the text.
pub fn parse(
    name: &str,
    file: &str,
    text: &str,
    size: impl Into<SessionSize>,
) -> Result<Experiment, Mistake> {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let source = Source { name, text, folder, size: size.into(), requests: None };
    source.experiment().map_err(|diagnostic| diagnostic.within(file, text))
}

/// A document and its context.
struct Source<'a> {
    name: &'a str,
    text: &'a str,
    /// The folder in which paths in the document start.
    folder: &'a Path,
    size: SessionSize,
    /// Requests from flags, instead of the key `request`.
    requests: Option<Vec<RequestSpec>>,
}

impl Source<'_> {
    fn experiment(&self) -> Result<Experiment, Diagnostic> {
        experiment(self, &yaml::parse(self.text)?)
    }
}

fn experiment(source: &Source<'_>, root: &Node) -> Result<Experiment, Diagnostic> {
    let Source { name, text, folder, size, requests } = source;
    if root.kind == Kind::Null {
        return Err(Diagnostic::new(root.span.clone(), "the file has nothing in it", "empty").help(
            "begin with `question: Do virtual threads help?`; docs/reference/experiment-file.md has the other keys",
        ));
    }
    let fields = Fields::open(root, "an experiment", KEYS)?;
    let requests = match requests {
        Some(requests) => Some(requests.clone()),
        None => fields.read("request", |node| request::read(node, folder))?,
    };
    let (variants, variant_names) =
        variants::read(&fields, requests.as_deref().and_then(<[_]>::first), folder)?;
    let shared = Shared { requests: requests.as_deref(), variants: &variant_names, folder };
    let mut experiment = Experiment {
        name: (*name).to_owned(),
        question: fields
            .require("question", "question: Do virtual threads help?")?
            .text("question")?
            .to_owned(),
        study: fields.read("study", study)?,
        variants,
        loads: loads::read(&fields, &shared)?,
        warmup_s: warm_up::USUAL_S,
        warmup_auto: true,
        crossover: fields.read("crossover", |node| node.truth("crossover"))?.unwrap_or_default(),
        budget_s: fields.read("budget", |node| node.positive_seconds("budget"))?,
        published: Vec::new(),
        claims: Vec::new(),
        unavailable: fields.read("unavailable", claims::unavailable)?.unwrap_or_default(),
        cores: None,
        size: SessionSize::AsWritten,
    };
    if let Some(warmup) = fields.read("warmup", |node| node.warm_up("warmup"))? {
        experiment.set_warmup(warmup);
    }
    experiment.cores = fields.read("cores", |node| cores::read(node, &experiment))?;
    let loads_at = fields.key_span("loads").unwrap_or_else(|| fields.span.clone());
    same_kind::check(&experiment, &loads_at)?;
    loads::check_interleaved(&experiment, &loads_at)?;
    experiment.published =
        fields.read("published", |node| published::read(node, &experiment))?.unwrap_or_default();
    experiment.claims =
        fields.read("claims", |node| claims::read(node, text, &experiment))?.unwrap_or_default();
    sizes::apply(&fields, *size, &mut experiment)?;
    Ok(experiment)
}

fn study(node: &Node) -> Result<Study, Diagnostic> {
    let fields = Fields::open(node, "a study", STUDY)?;
    let text = |key: &str| fields.read(key, |node| node.text(key).map(str::to_owned));
    Ok(Study {
        title: fields.require("title", "title: \"Tomcat 11 & Virtual Threads\"")?.text("title")?.to_owned(),
        date: text("date")?,
        authors: text("authors")?,
        url: text("url")?,
        machine: text("machine")?,
    })
}

/// Checks the name of a variant or load, which appears in tables, file names and claims.
fn name(written: &str, span: &std::ops::Range<usize>, noun: &str) -> Result<String, Diagnostic> {
    if is_name(written) {
        return Ok(written.to_owned());
    }
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    let message = format!("`{written}` cannot be the name of {article} {noun}");
    Err(Diagnostic::new(span.clone(), message, "this name")
        .help("use letters, digits, `-`, `_` and `.`, and begin with a letter or digit"))
}

fn is_name(written: &str) -> bool {
    written.starts_with(|c: char| c.is_ascii_alphanumeric())
        && written.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// Checks that a name exists.
fn known<'a>(
    node: &Node,
    written: &str,
    noun: &str,
    names: impl IntoIterator<Item = &'a str> + Clone,
) -> Result<(), Diagnostic> {
    if names.clone().into_iter().any(|name| name == written) {
        return Ok(());
    }
    let help = threadcount_model::parse::suggest::advice(written, &format!("the {noun}s"), names);
    Err(Diagnostic::new(
        node.span.clone(),
        format!("there is no {noun} `{written}`"),
        format!("unknown {noun}"),
    )
    .help(help))
}

fn variant_list(node: &Node, names: &[String]) -> Result<Vec<String>, Diagnostic> {
    let mut found = Vec::new();
    for item in node.items("variants")? {
        let written = item.text("variants")?;
        known(item, written, "variant", names.iter().map(String::as_str))?;
        found.push(written.to_owned());
    }
    if found.is_empty() {
        return Err(Diagnostic::new(node.span.clone(), "`variants` is empty", "no variant")
            .help("leave the key out, and all variants run"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
