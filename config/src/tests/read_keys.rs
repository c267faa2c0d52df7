//! Tests that each key of the schema is read. An assertion in [`Fields::get`] checks the opposite: that each key that is read is in its
//! table.

use super::*;
use crate::schema::experiment_schema;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ops::Range;
use threadcount_model::parse::yaml::{Key, Kind, Node};

/// A valid file that contains most of the maps.
const VALID: &str = "question: q\nstudy: {title: T}\nserver: {tomcat: 11.0}\nbackend: {tomcat: 11.0}\nrequest: {path: /}\n\
    variants: {a: {threads: {virtual: {bound: 1}}}}\nloads: [{clients: 1, duration: 1s, tool: {ab: 1}}]\n\
    quick: {loads: {c1: {runs: 1}}}\npublished: [{variant: a, rate: 1}]\nclaims: [{claim: a.rate > 1}]\n\
    unavailable: [{what: w, why: y}]\n";

/// Parts of [`VALID`] with their replacements in other files. Not all of these are valid, but each reads keys that the others refuse.
const OTHERS: [(&str, &str); 8] = [
    ("clients: 1, duration: 1s, tool: {ab: 1}", "duration: 1s"),
    ("clients: 1, duration: 1s, tool: {ab: 1}", "rate: 5/s, duration: 1s, cert: c.pem"),
    ("clients: 1, duration: 1s, tool: {ab: 1}", "iterations: 1, duration: 1s"),
    ("clients: 1, duration: 1s, tool: {ab: 1}", "capacity: {from: 1/s}"),
    ("clients: 1, duration: 1s, tool: {ab: 1}", "capacity: {p99: 200ms}"),
    ("tomcat: 11.0", "app: x"),
    ("path: /", "targets: x"),
    ("virtual: {bound: 1}", "platform: 1"),
];

/// The place of a value that no key understands.
const NONSENSE: Range<usize> = 1_000_000..1_000_001;

/// The steps to a map of a file, each the place of an entry, and the keys that the schema has for this map.
type FoundMap<'a> = (Vec<usize>, &'a Map<String, Value>);

fn maps_of_file<'a>(root: &'a Value, schema: &'a Value, node: &Node, path: &[usize]) -> Vec<FoundMap<'a>> {
    let reference =
        schema["$ref"].as_str().and_then(|reference| root.pointer(reference.trim_start_matches('#')));
    let others = schema["anyOf"].as_array().into_iter().flatten().chain(reference);
    let mut found: Vec<FoundMap<'_>> =
        others.flat_map(|other| maps_of_file(root, other, node, path)).collect();
    let mut below = |schema, node: &Node, place| {
        found.extend(maps_of_file(root, schema, node, &[path, &[place]].concat()));
    };
    match &node.kind {
        Kind::Map(entries) => {
            for (place, (key, value)) in entries.iter().enumerate() {
                below(&schema["properties"][&key.name], value, place);
                below(&schema["additionalProperties"], value, place);
            }
            found.extend(schema["properties"].as_object().map(|keys| (path.to_vec(), keys)));
        }
        Kind::List(items) => {
            items.iter().enumerate().for_each(|(place, item)| below(&schema["items"], item, place));
        }
        Kind::Null | Kind::Scalar(_) => {}
    }
    found
}

fn maps_of_schema<'a>(schema: &'a Value, found: &mut Vec<&'a Map<String, Value>>) {
    found.extend(schema["properties"].as_object());
    match schema {
        Value::Object(entries) => entries.values().for_each(|part| maps_of_schema(part, found)),
        Value::Array(items) => items.iter().for_each(|part| maps_of_schema(part, found)),
        _ => {}
    }
}

/// The document with a value that no key understands for this key, which is in the map at the end of the path.
fn with_nonsense(root: &Node, path: &[usize], name: &str) -> Node {
    let mut root = root.clone();
    let mut node = &mut root;
    for &place in path {
        node = match &mut node.kind {
            Kind::Map(entries) => &mut entries[place].1,
            Kind::List(items) => &mut items[place],
            Kind::Null | Kind::Scalar(_) => panic!("no way"),
        };
    }
    let Kind::Map(entries) = &mut node.kind else { panic!("no map") };
    entries.retain(|(key, _)| key.name != name);
    let list = |items| Node { span: NONSENSE, kind: Kind::List(items) };
    entries.push((Key { name: name.to_owned(), span: 0..1 }, list(vec![list(Vec::new())])));
    root
}

#[test]
fn each_key_of_the_schema_is_read() {
    let schema = Value::from(experiment_schema());
    let mut maps = Vec::new();
    maps_of_schema(&schema, &mut maps);
    let keys = maps.iter().flat_map(|keys| keys.values().map(std::ptr::from_ref).zip(keys.keys()));
    let mut unread: BTreeMap<*const Value, &String> = keys.collect();
    let files = OTHERS.iter().map(|(part, other)| VALID.replace(part, other)).chain([VALID.to_owned()]);
    for root in files.map(|text| yaml::parse(&text).expect("YAML")) {
        for (path, keys) in maps_of_file(&schema, &schema, &root, &[]) {
            for (name, value) in keys {
                let source = Source {
                    name: "x",
                    text: "",
                    folder: Path::new(""),
                    size: SessionSize::AsWritten,
                    requests: None,
                };
                let read = experiment(&source, &with_nonsense(&root, &path, name));
                if read.is_err_and(|mistake| mistake.span == NONSENSE) {
                    unread.remove(&std::ptr::from_ref(value));
                }
            }
        }
    }
    assert_eq!(unread.into_values().collect::<Vec<_>>(), [] as [&str; 0]);
}
