//! `server:`, the subject that a variant measures, and its backends. The keys of each kind are in the kind's own folder.

use super::subjects::{Kind, kinds, named};
use std::collections::BTreeMap;
use threadcount_model::experiment::{ONLY_BACKEND, Server, Subject};
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::fields::Fields;
use threadcount_model::parse::key_spec::{KeySpec, Schema, at_most_one, map};
use threadcount_model::parse::yaml::Node;
use threadcount_model::value_kinds;
use threadcount_servers::keys::{Owner, WrittenServer};

/// The arguments of a program. Several kinds of server have this key, but a variant that names another kind does not inherit it, because it
/// has another program.
const ARGS: &str = "args";

/// A server as written, possibly incomplete.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerParts {
    /// The key that names the kind of server, with its value.
    kind: Option<(&'static str, String)>,
    values: BTreeMap<&'static str, Node>,
}

value_kinds! {
    /// What is measured; one of tomcat, jetty, jar, peer, benchmark, command and target_url.
    pub(super) ServerKeys = |generator| map(generator, &keys(), one_kind());
}

/// The keys of a server, starting with those that name the kind.
pub(super) fn keys() -> Vec<KeySpec> {
    let kinds = kinds();
    let mut keys: Vec<KeySpec> = kinds.iter().map(|kind| kind.key().spec).collect();
    for key in kinds.iter().flat_map(Kind::own) {
        if keys.iter().all(|before| before.name != key.name()) {
            keys.push(key.spec);
        }
    }
    keys
}

/// The rule that a server is of one kind only.
pub(super) fn one_kind() -> Schema {
    let names: Vec<&str> = kinds().iter().map(Kind::name).collect();
    at_most_one(&names)
}

pub(super) fn server(node: &Node) -> Result<ServerParts, Diagnostic> {
    parts(&Fields::open(node, "a server", &keys())?)
}

/// Reads the server from these keys.
pub(super) fn parts(fields: &Fields<'_>) -> Result<ServerParts, Diagnostic> {
    let all = kinds();
    let mut written = all.iter().filter(|kind| fields.get(kind.name()).is_some());
    let (first, second) = (written.next(), written.next());
    if let (Some(first), Some(second)) = (first, second) {
        return Err(two_kinds(fields, first.name(), second.name()));
    }
    let mut parts = ServerParts::default();
    if let Some(kind) = first {
        let value = fields.read(kind.name(), |node| {
            (kind.key().check)(node, kind.name())?;
            node.text(kind.name()).map(str::to_owned)
        })?;
        parts.kind = value.map(|value| (kind.name(), value));
    }
    for key in all.iter().flat_map(Kind::own) {
        if let Some(node) = fields.get(key.name()) {
            (key.check)(node, key.name())?;
            parts.values.insert(key.name(), node.clone());
        }
    }
    Ok(parts)
}

fn two_kinds(fields: &Fields<'_>, first: &str, second: &str) -> Diagnostic {
    let message = format!("a server is a {first} or a {second}, not both");
    let span = fields.key_span(second).unwrap_or_else(|| fields.span.clone());
    Diagnostic::new(span, message, "the second kind").help(format!("keep `{first}` or `{second}`"))
}

impl ServerParts {
    pub(super) fn of_command(command: String) -> Self {
        Self { kind: Some(("command", command)), ..Self::default() }
    }

    pub(super) fn of_args(node: &Node) -> Result<Self, Diagnostic> {
        node.text(ARGS)?;
        Ok(Self { kind: None, values: BTreeMap::from([(ARGS, node.clone())]) })
    }

    pub(super) fn has_ready(&self) -> bool {
        self.values.contains_key("ready")
    }

    /// Merges the two; `other` takes precedence, and another kind of server drops the keys that only the first kind understands.
    pub(super) fn with(mut self, other: Self) -> Self {
        if let Some((name, _)) = &other.kind {
            let understands =
                |key: &str| named(name).is_some_and(|kind| kind.own().iter().any(|own| own.name() == key));
            let is_another = self.kind.as_ref().is_some_and(|mine| mine.0 != *name);
            self.values.retain(|key, _| understands(key) && !(is_another && *key == ARGS));
        }
        self.values.extend(other.values);
        Self { kind: other.kind.or(self.kind), values: self.values }
    }

    /// The subject to measure, with defaults filled in.
    pub(super) fn complete(&self, owner: &Owner<'_>) -> Result<Subject, Diagnostic> {
        let (name, value) = self.kind.as_ref().ok_or_else(|| no_server(owner))?;
        let written = WrittenServer { kind: value, values: &self.values, owner };
        named(name).map_or_else(|| Err(no_server(owner)), |kind| kind.read(&written))
    }

    /// Like [`Self::complete`], for a place that needs a server.
    pub(super) fn complete_server(&self, owner: &Owner<'_>) -> Result<Server, Diagnostic> {
        match self.complete(owner)? {
            Subject::Server(server) => Ok(server),
            Subject::Benchmark { .. } | Subject::Target(_) => {
                let message = format!("`{}` is behind a server, and is not one that is started", owner.name);
                Err(Diagnostic::new(owner.span.clone(), message, "this one")
                    .help("write what starts it: `jar`, `command`, or another kind of server"))
            }
        }
    }
}

fn no_server(owner: &Owner<'_>) -> Diagnostic {
    let message = match owner.backend {
        true if owner.name == ONLY_BACKEND => "the backend has no server".to_owned(),
        true => format!("the backend `{}` has no server", owner.name),
        false => format!("the variant `{}` has no server", owner.name),
    };
    Diagnostic::new(owner.span.clone(), message, "what is started?").help(
        "write `server: {tomcat: \"11.0\", app: servlets}`, `server: {jar: NAME, args: \"--port={port}\"}` or \
        `command: java -jar app.jar --server.port={port}`",
    )
}
