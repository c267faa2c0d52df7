//! `published:`: published figures.

use super::known;
use std::collections::BTreeMap;
use threadcount_model::experiment::{Experiment, Published};
use threadcount_model::metric::Metric;
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::key_spec::{KeySpec, json_schema, map};
use threadcount_model::parse::suggest::advice;
use threadcount_model::parse::value_kinds::{Figure, Text};
use threadcount_model::parse::yaml::{Kind, Node};
use threadcount_model::{keys, value_kinds};

const WHICH: &[KeySpec] = keys! {
    variant: Text,
    load: Text,
    source: Text,
};

value_kinds! {
    /// Figures of one variant under one load that were published before.
    pub(super) PublishedKeys = |generator| map(generator, &keys(), json_schema!({"required": ["variant"]}));
}

/// The metrics with and without their units.
fn keys() -> Vec<KeySpec> {
    let names = Metric::ALL.into_iter().flat_map(|metric| [metric.name(), metric.short_name()]);
    WHICH.iter().copied().chain(names.map(|name| KeySpec::of::<Figure>(name, ""))).collect()
}

/// The list of published figures. A metric may be written with or without its unit; it is stored with the unit.
pub(super) fn read(node: &Node, experiment: &Experiment) -> Result<Vec<Published>, Diagnostic> {
    node.items("published")?.iter().map(|item| entry(item, experiment)).collect()
}

fn entry(node: &Node, experiment: &Experiment) -> Result<Published, Diagnostic> {
    let Kind::Map(entries) = &node.kind else {
        let message = format!("a published figure is a map, and this is {}", node.noun());
        return Err(Diagnostic::new(
            node.span.clone(),
            message,
            "expected `{variant: ..., rate_per_s: ...}`",
        ));
    };
    let mut published = Published::default();
    let mut figures = BTreeMap::new();
    for (key, value) in entries {
        match key.name.as_str() {
            "variant" => {
                let written = value.text("variant")?;
                known(
                    value,
                    written,
                    "variant",
                    experiment.variants.iter().map(|variant| variant.name.as_str()),
                )?;
                written.clone_into(&mut published.variant);
            }
            "load" => {
                let written = value.text("load")?;
                known(value, written, "load", experiment.loads.iter().map(|load| load.name.as_str()))?;
                published.load = Some(written.to_owned());
            }
            "source" => published.source = Some(value.text("source")?.to_owned()),
            written => {
                let metric = Metric::from_name(written).ok_or_else(|| {
                    let names = WHICH.iter().map(|key| key.name).chain(Metric::ALL.map(Metric::name));
                    let help = advice(written, "keys and metrics", names);
                    Diagnostic::new(
                        key.span.clone(),
                        format!("there is no metric `{written}`"),
                        "unknown metric",
                    )
                    .help(help)
                })?;
                figures.insert(metric.name().to_owned(), value.figure(metric.name())?);
            }
        }
    }
    if published.variant.is_empty() {
        return Err(Diagnostic::new(node.span.clone(), "which variant was this?", "no `variant`")
            .help("write `variant: NAME` with the name of one of the variants"));
    }
    Ok(Published { figures, ..published })
}
