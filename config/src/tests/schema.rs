//! Tests of the JSON Schema of experiments, for editors: it must accept what is read, and refuse what it can recognise as wrong.

use super::*;
use crate::schema::{experiment_schema, project_schema};
use schemars::Schema;
use serde_json::{Map, Number, Value};
use std::fs;
use std::sync::LazyLock;
use threadcount_model::kept_schema::assert_is_kept;
use threadcount_model::parse::yaml;
use threadcount_model::parse::yaml::{Kind, Node};

static VALIDATOR: LazyLock<jsonschema::Validator> = LazyLock::new(|| validator(&experiment_schema()));

fn validator(schema: &Schema) -> jsonschema::Validator {
    jsonschema::meta::validate(schema.as_value()).expect("the schema is one");
    jsonschema::validator_for(schema.as_value()).expect("a validator")
}

/// The beginnings of messages about mistakes that no schema sees: references between names, keys that a variant inherits from the top
/// of the file, the grammars of claims and requests, ranges.
const UNSEEN: [&str; 38] = [
    "`threads` configures a server that is started",
    "`jdk` configures a server that is started",
    "`jvm` configures a server that is started",
    "`probe` configures a server that is started",
    "of 2 runs 2 are dropped",
    "where does the server of",
    "`virtual` refers to a backend at",
    "`args` configures a jar or a peer",
    "`threads` configures a servlet container",
    "`threads` must be a thread model of",
    "which benchmark is",
    "`small` is a",
    "the variant `platform` has no server",
    "what does this load ask for?",
    "there is no variant",
    "there is no load",
    "there is no role",
    "`shop` refers to a backend at",
    "`neighbour` uses",
    "there is no metric `sped`",
    "there is no metric `speed`",
    "`x` names no known variant",
    "two loads are called",
    "`platform` is written twice",
    "the highest rate,",
    "`resolution` must lie between",
    "a step is too short",
    "a benchmark has no `",
    "the loads",
    "`{backend}`",
    "clients send when",
    "a connection of HTTP/1.1",
    "how long is this load?",
    "requests that are counted are sent at one go",
    "a turn of ",
    "a log holds one window",
    "a search, a benchmark and an external tool have no turns",
    "`interleave` runs servers side by side",
];

/// The document in the form that an editor checks.
fn as_json(node: &Node) -> Value {
    match &node.kind {
        Kind::Null => Value::Null,
        Kind::Scalar(text) => scalar(text),
        Kind::List(items) => items.iter().map(as_json).collect(),
        Kind::Map(entries) => {
            let entries = entries.iter().map(|(key, node)| (key.name.clone(), as_json(node)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
    }
}

fn scalar(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => {
            let whole = text.parse::<u64>().ok().map(Value::from);
            let number = || text.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number);
            whole.or_else(number).unwrap_or_else(|| Value::String(text.to_owned()))
        }
    }
}

/// The complaints of the schema about a file; `None` if the file is not readable YAML.
fn complaints(text: &str) -> Option<Vec<String>> {
    complaints_of(&VALIDATOR, text)
}

fn complaints_of(validator: &jsonschema::Validator, text: &str) -> Option<Vec<String>> {
    let json = as_json(&yaml::parse(text).ok()?);
    let errors = validator.iter_errors(&json);
    Some(errors.map(|error| format!("{}: {error}", error.instance_path())).collect())
}

/// Checks that the schema accepts this file too.
pub(crate) fn accepts(text: &str) {
    assert_eq!(complaints(text), Some(Vec::new()), "{text}");
}

/// Checks that the schema refuses this file too, unless no schema can see the mistake.
pub(super) fn refuses(text: &str, message: &str) {
    if UNSEEN.iter().any(|unseen| message.starts_with(unseen)) {
        return;
    }
    assert_ne!(complaints(text), Some(Vec::new()), "{message}\n{text}");
}

#[test]
fn all_experiments_of_the_repository_are_accepted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../experiments");
    let mut files = 0;
    for entry in fs::read_dir(folder).expect("the experiments") {
        let path = entry.expect("a file").path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            let text = fs::read_to_string(&path).expect("an experiment");
            assert_eq!(complaints(&text), Some(Vec::new()), "{}", path.display());
            files += 1;
        }
    }
    assert!(files > 10, "{files} experiments");
}

#[test]
fn the_schemas_in_the_repository_are_those_of_the_keys() {
    assert_is_kept(&experiment_schema(), "experiment.schema.json");
    assert_is_kept(&project_schema(), "project.schema.json");
}

#[test]
fn the_schema_of_a_projects_file_accepts_what_is_read_and_refuses_what_is_not() {
    let validator = validator(&project_schema());
    let complaints = |text: &str| complaints_of(&validator, text);
    let guide = include_str!("../../../docs/reference/experiment-file.md");
    let shown = guide.rsplit("```yaml\n").next().and_then(|it| it.split("```").next()).expect("an example");
    assert!(shown.contains("experiments:"), "{shown}");
    let read = "experiments: {read: {question: q, request: /, loads: [{clients: 1, duration: 1s}]}}";
    let backends = "backend: {jar: x, args: '{port}'}\nvariants: {a: {}}\n\
        experiments: {read: {backends: {b: {jar: x, args: '{port}'}}}}\n";
    for right in [SMALL, shown, read, backends] {
        assert_eq!(complaints(right), Some(Vec::new()), "{right}");
    }
    for wrong in [
        "question: q\nvariants: {a: {}}\n",
        "experiments: {}\n",
        "experiments: [a]\n",
        "experiments: {read: {quesion: q}}\n",
        "experiments: {'a b': {question: q}}\n",
        "experiments: {read: {}}\nwarm: 1s\n",
        "experiments: {read: {experiments: {}}}\n",
    ] {
        assert_ne!(complaints(wrong), Some(Vec::new()), "{wrong}");
    }
}
