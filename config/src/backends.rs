//! `backend:` and `backends:`, the servers behind the server.

use super::{name, process, server};
use std::collections::BTreeMap;
use std::ops::Range;
use threadcount_model::experiment::role_cores::{LOAD, SERVER};
use threadcount_model::experiment::{Backend, ONLY_BACKEND};
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::fields::Fields;
use threadcount_model::parse::key_spec::{KeySpec, each_there, json_schema, map};
use threadcount_model::parse::value_kinds::{Count, PositiveDuration};
use threadcount_model::parse::yaml::{Key, Kind, Node};
use threadcount_model::{keys, value_kinds};
use threadcount_servers::keys::Owner;
use threadcount_servers::kinds as servers;
use threadcount_servers::placeholders::{BACKEND, unknown_backend};

/// The keys of a backend besides those of a server.
const OWN_KEYS: &[KeySpec] = keys! {
    jdk: process::Jdk,
    jvm: process::Jvm,
    env: process::Env,
    /// The largest number of connections that the backend accepts.
    connection_limit: Count,
    /// Time between SIGTERM and SIGKILL.
    stop_within: PositiveDuration,
};

value_kinds! {
    /// A second server that the first one calls.
    pub(super) BackendKeys = |generator| {
        let started = servers::keys().map(|kind| kind.kind.name());
        map(generator, &keys(), json_schema!({"allOf": [server::one_kind()], "anyOf": each_there(&started)}))
    };

    /// Servers that the first one calls, by name, started in their order.
    pub(super) BackendsByName = |generator| BTreeMap::<BackendName, BackendKeys>::json_schema(generator);

    BackendName = |_| json_schema!({
        "type": "string",
        "pattern": format!("^(?!({LOAD}|{SERVER})$)[A-Za-z0-9][A-Za-z0-9_-]*$"),
    });
}

fn keys() -> Vec<KeySpec> {
    [&server::keys()[..], OWN_KEYS].concat()
}

/// All backends in the order of their start; `None`: neither key is written. `jdk` is the variants' JDK.
pub(super) fn read(fields: &Fields<'_>, jdk: Option<u16>) -> Result<Option<Vec<Backend>>, Diagnostic> {
    let single = fields.read("backend", |node| backend(ONLY_BACKEND, "the backend", node, jdk))?;
    let several = fields.read("backends", |node| several(node, jdk))?;
    match (single, several) {
        (Some(_), Some(_)) => {
            let span = fields.key_span("backends").unwrap_or_else(|| fields.span.clone());
            Err(Diagnostic::new(span, "there is a `backend` and there are `backends`", "the second key")
                .help("write the one backend among the others, with a name of its own"))
        }
        (Some(single), None) => Ok(Some(vec![single])),
        (None, several) => Ok(several),
    }
}

fn several(node: &Node, jdk: Option<u16>) -> Result<Vec<Backend>, Diagnostic> {
    let example = "write `backends: {database: {command: ..., ready: tcp}, neighbour: {jar: NAME, args: \"--port={port}\"}}`";
    let Kind::Map(entries) = &node.kind else {
        let message = format!("`backends` is a map from name to settings, and this is {}", node.noun());
        return Err(Diagnostic::new(node.span.clone(), message, "expected `name: {...}`").help(example));
    };
    let mut backends: Vec<Backend> = Vec::new();
    for (Key { name: written, span }, node) in entries {
        let name = role(written, span)?;
        let backend = backend(&name, "a backend", node, jdk)?;
        check_earlier(&backend, span, &backends)?;
        backends.push(backend);
    }
    Ok(backends)
}

/// The name of a backend, which is a role and must differ from the other roles.
fn role(written: &str, span: &Range<usize>) -> Result<String, Diagnostic> {
    let written = name(written, span, "backend")?;
    if [LOAD, SERVER].contains(&written.as_str()) {
        let message = format!("`{written}` cannot be the name of a backend");
        return Err(Diagnostic::new(span.clone(), message, "the name of another role")
            .help("name it by what it does, for example `database`"));
    }
    if written.contains('.') {
        let message = format!("`{written}` cannot be the name of a backend");
        return Err(Diagnostic::new(span.clone(), message, "a name with a dot")
            .help("write letters, digits, - and _: {NAME.port} names its port, and a folder of the run has its name"));
    }
    Ok(written)
}

/// Reads one backend, which has its own readiness path rather than the loads'.
fn backend(name: &str, noun: &'static str, node: &Node, jdk: Option<u16>) -> Result<Backend, Diagnostic> {
    let keys = keys();
    let fields = Fields::open(node, noun, &keys)?;
    let env = fields.read("env", process::env)?.unwrap_or_default();
    let env_texts = env.values().map(String::as_str).collect();
    let owner =
        Owner { name, backend: true, span: &fields.span, fields: &fields, env: env_texts, request: None };
    let parts = server::parts(&fields)?;
    Ok(Backend {
        ready_is_written: parts.has_ready(),
        jdk: fields.read("jdk", process::jdk)?.or(jdk),
        jvm: fields.read("jvm", process::jvm)?.unwrap_or_default(),
        connection_limit: fields.read("connection_limit", |node| node.positive_u32("connection_limit"))?,
        stop_within_s: fields.read("stop_within", |node| node.positive_seconds("stop_within"))?,
        env: env.clone(),
        ..Backend::new(name, parts.complete_server(&owner)?)
    })
}

/// A backend may refer only to earlier backends, which run when it starts.
fn check_earlier(backend: &Backend, span: &Range<usize>, earlier: &[Backend]) -> Result<(), Diagnostic> {
    let names: Vec<&str> = earlier.iter().map(|backend| backend.name.as_str()).collect();
    let env = backend.env.values().map(String::as_str);
    let texts =
        std::iter::once(backend.server.text()).chain(env).chain(backend.jvm.iter().map(String::as_str));
    match texts.into_iter().find_map(|text| unknown_backend(text, &names)) {
        Some(unknown) => {
            let message =
                format!("`{}` uses `{{{unknown}}}`, and no backend before it has this name", backend.name);
            Err(Diagnostic::new(span.clone(), message, "this backend")
                .help("backends are started in the order of the file; write the one that is asked first"))
        }
        None => Ok(()),
    }
}

/// Checks that each backend named in these texts of a variant exists.
pub(super) fn check_placeholders<'a>(
    owner: &Owner<'_>,
    texts: impl Iterator<Item = &'a str>,
    backends: &[Backend],
) -> Result<(), Diagnostic> {
    let names: Vec<&str> = backends.iter().map(|backend| backend.name.as_str()).collect();
    let has_only = backends.len() == 1 || names.contains(&ONLY_BACKEND);
    for text in texts {
        if text.contains(BACKEND) && !has_only {
            let message = format!("`{}` refers to a backend at `{BACKEND}`, and there is none", owner.name);
            let message = if names.is_empty() { message } else { format!("{message} of this name") };
            return Err(Diagnostic::new(owner.span.clone(), message, "no `backend`").help(advice(&names)));
        }
        if let Some(unknown) = unknown_backend(text, &names) {
            let message =
                format!("`{}` refers to a backend at `{{{unknown}}}`, and there is none", owner.name);
            return Err(Diagnostic::new(owner.span.clone(), message, "no such backend").help(advice(&names)));
        }
    }
    Ok(())
}

fn advice(names: &[&str]) -> String {
    if names.is_empty() {
        return "write `backend: {jar: NAME, args: \"--port={port}\"}` here or at the top of the file"
            .to_owned();
    }
    let known: Vec<String> = names.iter().map(|name| format!("{{{name}.port}}, {{{name}.url}}")).collect();
    format!("the backends: {}", known.join(", "))
}
