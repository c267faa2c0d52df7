//! `variants:` with what they inherit from the top of the file: server, backend, jdk, jvm, env.

use super::around::{self, Around};
use super::backends::{self, check_placeholders};
use super::process::{self, env, jdk, jvm};
use super::server::{self, ServerParts};
use super::{known, name, project};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use threadcount_model::experiment::{
    Backend, LONGEST_LABEL, ProbeLevel, RequestSpec, Subject, ThreadKind, Variant,
};
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::fields::Fields;
use threadcount_model::parse::key_spec::{KeySpec, at_most_one, json_schema, map};
use threadcount_model::parse::value_kinds::{Name, Text};
use threadcount_model::parse::yaml::{Kind, Node};
use threadcount_model::{keys, value_kinds};
use threadcount_servers::keys::Owner;
use threadcount_servers::threads::ThreadsKeys;

const KEYS: &[KeySpec] = keys! {
    threads: ThreadsKeys,
    server: server::ServerKeys,
    /// Arguments of its jar or peer.
    args: Text,
    /// Any command; {port} stands for a free port.
    command: Text,
    backend: backends::BackendKeys,
    backends: backends::BackendsByName,
    jdk: process::Jdk,
    jvm: process::Jvm,
    env: process::Env,
    workdir: around::WorkingFolder,
    before: around::CommandBefore,
    after: around::CommandAfter,
    /// The kind of thread that requests must run on.
    answers_on: ThreadKind,
    /// How much the probe watches.
    probe: Probe,
    /// Another variant that it is compared with besides the baseline.
    compare_with: Text,
    /// At most 24 characters beside its name in tables; left out: derived from its threads.
    label: Label,
    /// One line for the reader.
    note: Text,
};

value_kinds! {
    pub(super) VariantsByName = |generator| json_schema!({
        "type": "object",
        "minProperties": 1,
        "propertyNames": generator.subschema_for::<Name>(),
        "additionalProperties": generator.subschema_for::<VariantKeys>(),
    });

    /// One way to run the server. It inherits the keys that it leaves out from the top of the file.
    VariantKeys = |generator| {
        let rules = json_schema!({"type": ["object", "null"], "allOf": [at_most_one(&project::ALTERNATIVES)]});
        map(generator, KEYS, rules)
    };

    Probe = |_| json_schema!({"enum": ["off", "light", "full", false]});

    Label = |_| json_schema!({"type": "string", "minLength": 1, "maxLength": LONGEST_LABEL});
}

/// The keys that all variants share, or that one of them sets.
#[derive(Clone, Debug, Default)]
struct Base<'a> {
    server: ServerParts,
    backends: Vec<Backend>,
    jdk: Option<u16>,
    jvm: Vec<String>,
    env: BTreeMap<String, String>,
    around: Around,
    request: Option<&'a RequestSpec>,
}

pub(super) fn read(
    fields: &Fields<'_>,
    request: Option<&RequestSpec>,
    folder: &Path,
) -> Result<(Vec<Variant>, Vec<String>), Diagnostic> {
    let jdk = fields.read("jdk", self::jdk)?;
    let base = Base {
        server: fields.read("server", server::server)?.unwrap_or_default(),
        backends: backends::read(fields, jdk)?.unwrap_or_default(),
        jdk,
        jvm: fields.read("jvm", jvm)?.unwrap_or_default(),
        env: fields.read("env", env)?.unwrap_or_default(),
        around: Around::read(fields, folder)?,
        request,
    };
    let example = "variants: {platform: {threads: platform}, virtual: {threads: virtual}}";
    let node = fields.require("variants", example)?;
    let Kind::Map(entries) = &node.kind else {
        let message = format!("`variants` is a map from name to settings, and this is {}", node.noun());
        return Err(Diagnostic::new(node.span.clone(), message, "expected `name: {...}`")
            .help(format!("write {example}")));
    };
    if entries.is_empty() {
        return Err(Diagnostic::new(node.span.clone(), "there are no variants", "empty")
            .help(format!("write {example}")));
    }
    let mut variants = Vec::new();
    for (key, node) in entries {
        let name = name(&key.name, &key.span, "variant")?;
        variants.push(variant(name, &key.span, node, &base, folder)?);
    }
    let names: Vec<String> = variants.iter().map(|variant| variant.name.clone()).collect();
    for (variant, (_, node)) in variants.iter_mut().zip(entries) {
        let fields = Fields::open(node, "a variant", KEYS)?;
        variant.compare_with =
            fields.read("compare_with", |node| compare_with(node, &variant.name, &names))?;
    }
    Ok((variants, names))
}

fn variant(
    name: String,
    span: &Range<usize>,
    node: &Node,
    base: &Base<'_>,
    folder: &Path,
) -> Result<Variant, Diagnostic> {
    let fields = Fields::open(node, "a variant", KEYS)?;
    let text = |key: &str| fields.read(key, |node| node.text(key).map(str::to_owned));
    let mut parts = base.server.clone().with(fields.read("server", server::server)?.unwrap_or_default());
    if let Some(command) = text("command")? {
        parts = parts.with(ServerParts::of_command(command));
    }
    if let Some(args) = fields.get("args") {
        parts = parts.with(ServerParts::of_args(args)?);
    }
    let mut env_all = base.env.clone();
    env_all.extend(fields.read("env", env)?.unwrap_or_default());
    let mut jvm_all = base.jvm.clone();
    jvm_all.extend(fields.read("jvm", jvm)?.unwrap_or_default());
    let env_texts = env_all.values().map(String::as_str).collect();
    let owner =
        Owner { name: &name, backend: false, span, fields: &fields, env: env_texts, request: base.request };
    let subject = parts.complete(&owner)?;
    let text_of_server = match &subject {
        Subject::Server(server) => server.text(),
        Subject::Benchmark { .. } | Subject::Target(_) => "",
    };
    // The file does not describe how a server that runs already was started.
    let is_started = !matches!(subject, Subject::Target(_));
    let inherited = if is_started { base.backends.clone() } else { Vec::new() };
    let backends = backends::read(&fields, base.jdk)?.unwrap_or(inherited);
    if !is_started {
        jvm_all.clear();
    }
    let around = Around::read(&fields, folder)?.or(&base.around);
    let texts = std::iter::once(text_of_server).chain(owner.env.iter().copied()).chain(around.texts());
    check_placeholders(&owner, texts.chain(jvm_all.iter().map(String::as_str)), &backends)?;
    Ok(Variant {
        workdir: around.workdir,
        before: around.before,
        after: around.after,
        label: fields.read("label", label)?,
        note: text("note")?,
        ready_is_written: parts.has_ready(),
        jdk: fields.read("jdk", jdk)?.or(base.jdk).filter(|_| is_started),
        jvm: jvm_all,
        env: env_all,
        backends,
        answers_on: fields.read("answers_on", thread_kind)?,
        probe: fields.read("probe", probe)?,
        ..Variant::new(&name, subject)
    })
}

fn thread_kind(node: &Node) -> Result<ThreadKind, Diagnostic> {
    match node.text("answers_on")? {
        "platform" => Ok(ThreadKind::Platform),
        "virtual" => Ok(ThreadKind::Virtual),
        _ => Err(node.bad("answers_on", "a kind of thread").help(
            "write platform or virtual: what GET /thread-info?format=json of this server has to say of its thread",
        )),
    }
}

fn compare_with(node: &Node, variant: &str, names: &[String]) -> Result<String, Diagnostic> {
    let written = node.text("compare_with")?;
    if written == variant {
        let message = format!("`{variant}` cannot be compared with itself");
        return Err(Diagnostic::new(node.span.clone(), message, "the same variant")
            .help("write the name of the variant that differs from it in one setting"));
    }
    known(node, written, "variant", names.iter().map(String::as_str))?;
    Ok(written.to_owned())
}

fn label(node: &Node) -> Result<String, Diagnostic> {
    let text = node.text("label")?;
    if text.is_empty() || text.chars().count() > LONGEST_LABEL {
        return Err(node.bad("label", "a short text").help(format!(
            "write 1 to {LONGEST_LABEL} characters, e.g. `label: pool of 400`; `note:` has room for more"
        )));
    }
    Ok(text.to_owned())
}

fn probe(node: &Node) -> Result<ProbeLevel, Diagnostic> {
    match node.text("probe")? {
        "off" => Ok(ProbeLevel::Off),
        "light" => Ok(ProbeLevel::Light),
        _ => Err(node
            .bad("probe", "off or light")
            .help("write off or light; left out, the command line decides (--no-probe)")),
    }
}
