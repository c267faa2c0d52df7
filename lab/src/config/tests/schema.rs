//! The JSON Schema of experiments, for editors: it accepts what is read, and refuses what it can see to be wrong.

use super::*;
use crate::parse::yaml::{self, Kind, Node};
use serde_json::{Map, Number, Value};
use std::fs;
use std::sync::LazyLock;

const SCHEMA: &str = include_str!("../../../schema/experiment.schema.json");

static VALIDATOR: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    jsonschema::meta::validate(&schema).expect("the schema is one");
    jsonschema::validator_for(&schema).expect("a validator")
});

/// How the messages begin of mistakes that no schema sees: names that refer to each other, what a variant has from the
/// top of the file, the grammars of claims and requests, ranges.
const UNSEEN: [&str; 30] = [
    "`server.log` cannot be the name of a backend",
    "of 2 runs 2 are dropped",
    "where does the server of",
    "`virtual` asks a backend at",
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
    "`shop` asks a backend at",
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
];

/// The document as an editor sees it.
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

/// What the schema has against a file; `None`: it is no YAML that can be read.
fn complaints(text: &str) -> Option<Vec<String>> {
    let json = as_json(&yaml::parse(text).ok()?);
    let errors = VALIDATOR.iter_errors(&json);
    Some(errors.map(|error| format!("{}: {error}", error.instance_path())).collect())
}

/// The schema accepts this file too.
pub(in crate::config) fn accepts(text: &str) {
    assert_eq!(complaints(text), Some(Vec::new()), "{text}");
}

/// The schema refuses this file too, unless no schema can see what is wrong.
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
fn the_schema_knows_every_metric_that_can_be_published() {
    for metric in Metric::ALL {
        for name in [metric.name(), metric.short_name()] {
            accepts(&format!("{SMALL}published: [{{variant: virtual, {name}: 1}}]\n"));
        }
    }
}

#[test]
fn the_schema_knows_every_key_that_says_how_a_load_is_sent() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let known = &schema["$defs"]["load"]["properties"];
    let unknown: Vec<&str> =
        crate::config::sending::KEYS.into_iter().filter(|key| known[key].is_null()).collect();
    assert_eq!(unknown, [] as [&str; 0]);
}
