//! The JSON Schema of experiments, for editors: it accepts what is read, and refuses what it can see to be wrong.

use super::*;
use schemars::Schema;
use serde_json::{Map, Number, Value, json};
use std::fs;
use std::sync::LazyLock;
use threadcount_model::kept_schema::assert_is_kept;
use threadcount_model::parse::yaml;
use threadcount_model::parse::yaml::{Kind, Node};

const SCHEMA: &str = include_str!("../../../schema/experiment.schema.json");

static VALIDATOR: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    jsonschema::meta::validate(&schema).expect("the schema is one");
    jsonschema::validator_for(&schema).expect("a validator")
});

/// How the messages begin of mistakes that no schema sees: names that refer to each other, what a variant has from the
/// top of the file, the grammars of claims and requests, ranges.
const UNSEEN: [&str; 39] = [
    "`threads` configures a server that is started",
    "`jdk` configures a server that is started",
    "`jvm` configures a server that is started",
    "`probe` configures a server that is started",
    "`server.log` cannot be the name of a backend",
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
    complaints_of(&VALIDATOR, text)
}

fn complaints_of(validator: &jsonschema::Validator, text: &str) -> Option<Vec<String>> {
    let json = as_json(&yaml::parse(text).ok()?);
    let errors = validator.iter_errors(&json);
    Some(errors.map(|error| format!("{}: {error}", error.instance_path())).collect())
}

/// The schema of `threadcount.yaml`, made of that of an experiment: the same keys, at its top or in each of several experiments, where
/// none has to be written because the other place may have it.
fn project_schema() -> Value {
    let mut schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let document = schema.as_object_mut().expect("an object");
    let needed = document.shift_remove("required").expect("required keys");
    let keys = document["properties"].as_object().expect("keys").clone();
    let reference =
        |key: &String| (key.clone(), json!({"$ref": format!("#/$defs/experiment/properties/{key}")}));
    let mut at_the_top: Map<String, Value> = keys.keys().map(reference).collect();
    at_the_top.insert(
        "experiments".to_owned(),
        json!({
            "description": "Several experiments, by name; each has what stands at the top of the file unless it says it itself.",
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"$ref": "#/$defs/name"},
            "additionalProperties": {"$ref": "#/$defs/experiment"},
        }),
    );
    let experiment = json!({
        "description": "An experiment of the project.",
        "type": "object",
        "additionalProperties": false,
        "properties": keys,
        "not": document["not"],
    });
    document["$defs"]["experiment"] = experiment;
    document["$id"] = "urn:threadcount:schema:project".into();
    document["title"] = "A project's threadcount.yaml".into();
    document["properties"] = at_the_top.into();
    document.insert("if".to_owned(), json!({"not": {"required": ["experiments"]}}));
    document.insert("then".to_owned(), json!({"required": needed}));
    schema
}

/// The schema accepts this file too.
pub(crate) fn accepts(text: &str) {
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

/// The keys that name metrics, each with and without its unit, and those beside them.
fn keys_of_metrics(before: Value, metrics: &[Metric], kind: &str, after: Value) -> Map<String, Value> {
    let entries = |value: Value| value.as_object().cloned().unwrap_or_default();
    let names = metrics.iter().flat_map(|metric| [metric.name(), metric.short_name()]);
    let keys = names.map(|name| (name.to_owned(), json!({"$ref": format!("#/$defs/{kind}")})));
    entries(before).into_iter().chain(keys).chain(entries(after)).collect()
}

#[test]
fn the_schema_of_published_figures_and_of_a_capacity_is_made_of_the_metrics() {
    let mut schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let text = json!({"type": ["string", "number", "boolean"]});
    let which = json!({"variant": text, "load": text, "source": text});
    schema["$defs"]["published"]["properties"] =
        keys_of_metrics(which, &Metric::ALL, "figure", json!({})).into();
    let times: Vec<Metric> = Metric::ALL.into_iter().filter(|metric| metric.is_response_time()).collect();
    let (rate, share) = (json!({"$ref": "#/$defs/rate"}), json!({"$ref": "#/$defs/share"}));
    let search = json!({"from": rate, "to": rate, "failures": share, "resolution": share});
    let capacity = &mut schema["$defs"]["capacity"];
    capacity["properties"] = keys_of_metrics(json!({}), &times, "positive_duration", search).into();
    let names = times.iter().flat_map(|metric| [metric.name(), metric.short_name()]);
    capacity["oneOf"] = names.map(|name| json!({"required": [name]})).collect();
    assert_is_kept(&Schema::try_from(schema).expect("an object"), "experiment.schema.json");
}

#[test]
fn the_schema_knows_every_key_that_says_how_a_load_is_sent() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let known = &schema["$defs"]["load"]["properties"];
    let unknown: Vec<&str> = crate::sending::KEYS.into_iter().filter(|key| known[key].is_null()).collect();
    assert_eq!(unknown, [] as [&str; 0]);
}

#[test]
fn the_schema_of_a_projects_file_in_the_repository_is_made_of_that_of_an_experiment() {
    let schema = project_schema();
    jsonschema::meta::validate(&schema).expect("it is a schema");
    assert_is_kept(&Schema::try_from(schema).expect("an object"), "project.schema.json");
}

#[test]
fn the_schema_of_a_projects_file_accepts_what_is_read_and_refuses_what_is_not() {
    let validator = jsonschema::validator_for(&project_schema()).expect("a validator");
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
