//! Settings of a process besides its command: `jdk:`, `jvm:`, `env:`.

use super::environment;
use std::collections::BTreeMap;
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::key_spec::json_schema;
use threadcount_model::parse::value_kinds::{NamedTexts, Text};
use threadcount_model::parse::yaml::{Kind, Node};
use threadcount_model::value_kinds;

value_kinds! {
    /// A Java feature version: 21, 25.
    pub(super) Jdk = |_| json_schema!({"type": "integer", "minimum": 1, "maximum": u16::MAX});

    /// JVM flags.
    pub(super) Jvm = |generator| json_schema!({
        "anyOf": [{"type": "string"}, generator.subschema_for::<Vec<Text>>()],
    });

    /// Environment variables.
    pub(super) Env = |generator| NamedTexts::json_schema(generator);
}

pub(super) fn jdk(node: &Node) -> Result<u16, Diagnostic> {
    let text = node.text("jdk")?;
    text.parse().ok().filter(|&version| version > 0).ok_or_else(|| {
        node.bad("jdk", "a Java feature version")
            .help("write one number, like 21 or 25; --jdk 21,25 runs both")
    })
}

pub(super) fn jvm(node: &Node) -> Result<Vec<String>, Diagnostic> {
    match &node.kind {
        Kind::Scalar(flags) => Ok(flags.split_whitespace().map(str::to_owned).collect()),
        _ => node.texts("jvm"),
    }
}

pub(super) fn env(node: &Node) -> Result<BTreeMap<String, String>, Diagnostic> {
    let Kind::Map(entries) = &node.kind else {
        let message = format!("`env` is a map from name to text, and this is {}", node.noun());
        return Err(Diagnostic::new(node.span.clone(), message, "expected `NAME: value`"));
    };
    let texts = entries.iter().map(|(key, node)| match &node.kind {
        Kind::Null => Ok((key.name.clone(), String::new())),
        _ => {
            let text = node.text(&key.name)?;
            environment::check(node, text)?;
            Ok((key.name.clone(), text.to_owned()))
        }
    });
    texts.collect()
}
