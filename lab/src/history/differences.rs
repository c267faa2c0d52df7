//! The differences between two results, other than their figures.
//!
//! Experiments are compared field by field as JSON, so that keys added later are not forgotten here.

use super::setting;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::{Experiment, LoadSpec};
use threadcount_model::record::Record;

/// Keys without effect on the figures: names, notes, numbers of rounds, limits that were not reached, and a load's own warm-up, which is
/// compared together with the experiment's.
const IGNORED: [&str; 10] = [
    "name",
    "label",
    "note",
    "runs",
    "only_variants",
    "max_open_files",
    "rounds",
    "protocol",
    "warmup_s",
    "warmup_auto",
];
/// Memory sizes that differ by less than this share are equal: the kernel reserves a varying part.
const SAME_MEMORY: f64 = 0.01;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The part that differs: `machine`, or the name of a load or variant.
    pub of: String,
    /// The path of the setting, e.g. `kernel`, `kind.closed.clients`, `jdk`; [`setting`] translates it for people.
    pub what: String,
    /// The value in the first result; `None` if absent.
    pub a: Option<String>,
    /// The value in the second result; `None` if absent.
    pub b: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Differences {
    /// Differences of the machine, which make the figures incomparable.
    pub machine: Vec<Difference>,
    /// Differences of the loads, which make the figures incomparable.
    pub load: Vec<Difference>,
    /// Differences of the servers, which a comparison is usually about.
    pub server: Vec<Difference>,
    pub tool: Vec<Difference>,
}

impl Differences {
    #[must_use]
    pub fn between(a: &ResultDocument, b: &ResultDocument) -> Self {
        Self {
            machine: machine(a, b),
            load: loads(a, b),
            server: servers(a, b),
            tool: fields_that_differ("threadcount", &text(&a.threadcount), &text(&b.threadcount)),
        }
    }

    /// The differences that make a comparison of figures unfair.
    pub fn unfair(&self) -> impl Iterator<Item = &Difference> {
        self.machine.iter().chain(&self.load)
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let side = |text: &Option<String>| {
            text.as_ref().map_or_else(|| "not set".to_owned(), |text| setting::value(&self.what, text))
        };
        let setting_name =
            if self.what.is_empty() { String::new() } else { format!(" {}", setting::name(&self.what)) };
        write!(f, "{}{setting_name}: {} -> {}", self.of, side(&self.a), side(&self.b))
    }
}

fn machine(a: &ResultDocument, b: &ResultDocument) -> Vec<Difference> {
    let (old, new) = (a.machine.memory_bytes as f64, b.machine.memory_bytes as f64);
    let mut second = b.machine.clone();
    if (old - new).abs() <= SAME_MEMORY * old {
        second.memory_bytes = a.machine.memory_bytes;
    }
    fields_that_differ("machine", &a.machine, &second)
}

/// Differences between the loads that both results contain, including the warm-up.
fn loads(a: &ResultDocument, b: &ResultDocument) -> Vec<Difference> {
    let (old, new) = (&a.experiment, &b.experiment);
    let both = old.loads.iter().filter_map(|load| Some((load, new.load(&load.name)?)));
    let both: Vec<(&LoadSpec, &LoadSpec)> = both.collect();
    let of_load = |&(load, other): &(&LoadSpec, &LoadSpec)| {
        fields_that_differ(&format!("load {}", load.name), load, other)
    };
    let mut differ: Vec<Difference> = both.iter().flat_map(of_load).collect();
    let warm_up = |of: &Experiment, load: &LoadSpec| format!("{} s", of.longest_warmup_s(load));
    for (load, other) in both {
        let (a, b) = (warm_up(old, load), warm_up(new, other));
        if a != b {
            let of = format!("load {}", load.name);
            differ.push(Difference { of, what: "warm-up".to_owned(), a: Some(a), b: Some(b) });
        }
    }
    differ
}

/// Differences between the variants that both results contain: as configured, and as reported by the running server.
fn servers(a: &ResultDocument, b: &ResultDocument) -> Vec<Difference> {
    let old = &a.experiment.variants;
    let both = old.iter().filter_map(|variant| Some((variant, b.experiment.variant(&variant.name)?)));
    let differ = both.flat_map(|(variant, other)| {
        let name = variant.name.as_str();
        let mut differ = fields_that_differ(name, variant, other);
        for (what, read_fact) in [("server", product as ReadFact), ("java", java as ReadFact)] {
            let (a, b) =
                (distinct_facts(&a.records, name, read_fact), distinct_facts(&b.records, name, read_fact));
            if a != b {
                differ.push(Difference { of: name.to_owned(), what: what.to_owned(), a, b });
            }
        }
        differ
    });
    differ.collect()
}

type ReadFact = fn(&Record) -> Option<&str>;

fn product(record: &Record) -> Option<&str> {
    record.server.product.as_deref()
}

fn java(record: &Record) -> Option<&str> {
    record.server.java.as_deref()
}

/// The distinct values that the runs of a variant reported.
fn distinct_facts(records: &[Record], variant: &str, read_fact: ReadFact) -> Option<String> {
    let all: BTreeSet<&str> =
        records.iter().filter(|record| record.variant == variant).filter_map(read_fact).collect();
    (!all.is_empty()).then(|| all.into_iter().collect::<Vec<_>>().join(", "))
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn fields_that_differ(owner: &str, a: &impl Serialize, b: &impl Serialize) -> Vec<Difference> {
    let flat = |value: &dyn Fn() -> serde_json::Result<Value>| {
        let mut leaves = BTreeMap::new();
        flatten("", &value().unwrap_or_default(), &mut leaves);
        leaves
    };
    let (a, b) = (flat(&|| serde_json::to_value(a)), flat(&|| serde_json::to_value(b)));
    let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let differ = keys.into_iter().filter(|key| a.get(*key) != b.get(*key));
    differ
        .map(|key| Difference {
            of: owner.to_owned(),
            what: key.clone(),
            a: a.get(key).cloned(),
            b: b.get(key).cloned(),
        })
        .collect()
}

/// Every leaf with its path, `server.tomcat.version`. A list is one leaf. Null counts as absent,
/// so that an unset key that older results lack is not a difference.
fn flatten(path: &str, value: &Value, leaves: &mut BTreeMap<String, String>) {
    let leaf = match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter().filter(|(key, _)| !IGNORED.contains(&key.as_str())) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                flatten(&path, value, leaves);
            }
            return;
        }
        Value::Null => return,
        Value::Array(items) if items.is_empty() => return,
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        other => plain(other),
    };
    leaves.insert(path.to_owned(), leaf);
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
