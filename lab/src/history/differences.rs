//! What differs between two results, other than their figures.
//!
//! Experiments are compared field by field as JSON, so that keys that are added later are
//! not forgotten here.

use super::setting;
use crate::json_leaves::Leaves;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::{Experiment, LoadSpec};
use threadcount_model::record::Record;

/// Without keys that have no effect on the figures: names, notes, numbers of rounds, and limits that were not reached; and a load's own
/// warm-up, which is compared together with the experiment's.
const SETTINGS: Leaves = Leaves {
    whole_lists: true,
    ignored: &[
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
    ],
};
/// Memory sizes that differ by less are equal: the kernel reserves a varying part.
const SAME_MEMORY: f64 = 0.01;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Where it belongs: `machine`, the name of a load or of a variant.
    pub of: String,
    /// Path of the setting, e.g. `kernel`, `kind.closed.clients`, `jdk`; [`setting`] has the words for people.
    pub what: String,
    /// In the first result; `None`: absent.
    pub a: Option<String>,
    /// In the second.
    pub b: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Differences {
    /// The machine: the figures are not comparable.
    pub machine: Vec<Difference>,
    /// The loads: the figures are not comparable.
    pub load: Vec<Difference>,
    /// The servers, which a comparison is usually about.
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
            tool: fields_that_differ("threadcount", &a.threadcount, &b.threadcount),
        }
    }

    /// Those that make a comparison of figures unfair.
    pub fn unfair(&self) -> impl Iterator<Item = &Difference> {
        self.machine.iter().chain(&self.load)
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let side = |text: &Option<String>| {
            text.as_ref().map_or_else(|| "not set".to_owned(), |text| setting::value(&self.what, text))
        };
        let what =
            if self.what.is_empty() { String::new() } else { format!(" {}", setting::name(&self.what)) };
        write!(f, "{}{what}: {} -> {}", self.of, side(&self.a), side(&self.b))
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

/// Of the loads that both have, including the warm-up.
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

/// Of the variants that both have: as configured, and as reported by the running server.
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

fn fields_that_differ<T: Serialize>(whose: &str, a: &T, b: &T) -> Vec<Difference> {
    // What these documents are made of can be written as JSON.
    let differing = SETTINGS.differing(a, b).unwrap_or_default();
    let differ = differing.into_iter().map(|(what, a, b)| Difference {
        of: whose.to_owned(),
        what,
        a: a.as_ref().and_then(plain),
        b: b.as_ref().and_then(plain),
    });
    differ.filter(|it| it.a != it.b).collect()
}

/// `None`: an empty list or map, so that an unset key that older results lack is not a difference.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(fields) if fields.is_empty() => None,
        Value::Array(items) if items.is_empty() => None,
        Value::Array(items) => Some(
            items.iter().map(|it| plain(it).unwrap_or_else(|| it.to_string())).collect::<Vec<_>>().join(" "),
        ),
        other => Some(other.to_string()),
    }
}
