//! A server in an experiment file, where its keys may stand at the top of the file, in a variant, or partly in both.

use std::collections::BTreeMap;
use std::ops::Range;
use threadcount_model::experiment::health::TCP;
use threadcount_model::experiment::{RequestSpec, Server, Threads};
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::fields::Fields;
use threadcount_model::parse::key_spec::{JsonSchema, KeySpec, json_schema};
use threadcount_model::parse::value_kinds::{Count, Text};
use threadcount_model::parse::yaml::{Kind, Node};
use threadcount_model::value_kinds;

/// A check of a key's value at the place where it is written, even if a variant later overrides the value.
pub type Check = fn(&Node, &str) -> Result<(), Diagnostic>;

/// A key of a server, with the check of its value.
#[derive(Clone, Copy)]
pub struct CheckedKey {
    pub spec: KeySpec,
    pub check: Check,
}

impl CheckedKey {
    pub const fn new<T: JsonSchema>(name: &'static str, description: &'static str, check: Check) -> Self {
        Self { spec: KeySpec::of::<T>(name, description), check }
    }

    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.spec.name
    }
}

/// Keys that several kinds of servers share.
pub const APP: CheckedKey = CheckedKey::new::<Text>(
    "app",
    "The web application of a Tomcat or Jetty: a module of jvm/, or a path to a .war.",
    text,
);
pub const ARGS: CheckedKey =
    CheckedKey::new::<Text>("args", "Arguments of a jar or a peer; {port} stands for a free port.", text);
pub const ACCEPT_COUNT: CheckedKey =
    CheckedKey::new::<Count>("accept_count", "The Connector's acceptCount.", positive);
pub const READY: CheckedKey = CheckedKey::new::<Ready>("ready", "", readiness);

value_kinds! {
    /// The path that is requested until the server is ready; tcp: it is ready when it accepts a connection.
    pub Ready = |_| json_schema!({"type": "string", "pattern": "^(/|tcp$)"});

    pub Version = |_| json_schema!({"type": ["string", "number"], "pattern": r"^[0-9]+\.[0-9]+(\..+)?$"});
}

/// The keys of one kind of thing that a variant can measure; they are read into an `S`.
pub struct Keys<S = Server> {
    /// The key that names the kind: `tomcat`.
    pub kind: CheckedKey,
    /// The plural for lists of requirements: `Tomcat`, `jars`.
    pub plural: &'static str,
    /// The other keys that this kind understands.
    pub own: &'static [CheckedKey],
    /// Reads the keys and fills in defaults for those left out.
    pub read: fn(&WrittenServer<'_>) -> Result<S, Diagnostic>,
}

/// The owner of a server (a variant or a backend), for messages and for inherited settings.
pub struct Owner<'a> {
    /// The name of the variant or of the backend.
    pub name: &'a str,
    /// Whether the owner is a backend.
    pub backend: bool,
    pub span: &'a Range<usize>,
    pub fields: &'a Fields<'a>,
    /// Texts besides the arguments that may contain the port.
    pub env: Vec<&'a str>,
    /// The request of the loads.
    pub request: Option<&'a RequestSpec>,
}

/// The keys of one server, merged from all places.
pub struct WrittenServer<'a> {
    /// The value of the key that names the kind.
    pub kind: &'a str,
    pub values: &'a BTreeMap<&'static str, Node>,
    pub owner: &'a Owner<'a>,
}

impl WrittenServer<'_> {
    /// The value of a key as a text.
    pub fn text(&self, key: &str) -> Result<Option<String>, Diagnostic> {
        self.read(key, |node| node.text(key).map(str::to_owned))
    }

    /// Reads the value of a key; `None` if it is absent.
    pub fn read<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Node) -> Result<T, Diagnostic>,
    ) -> Result<Option<T>, Diagnostic> {
        self.values.get(key).map(read).transpose()
    }

    /// The readiness path or `tcp`: the value of `ready`, or the path of the loads.
    pub fn ready(&self) -> Result<String, Diagnostic> {
        let asked = || self.owner.request.map_or_else(|| "/".to_owned(), RequestSpec::sample_path);
        Ok(self.text("ready")?.unwrap_or_else(asked))
    }

    /// The value of `threads:`; only a variant has this key, a backend does not.
    pub fn threads(
        &self,
        read: impl FnOnce(&Node) -> Result<Threads, Diagnostic>,
    ) -> Result<Option<Threads>, Diagnostic> {
        if self.owner.backend { Ok(None) } else { self.owner.fields.read("threads", read) }
    }

    /// Rejects `threads:` for a kind of server on which it has no effect.
    pub fn refuse_threads(&self, kind: &str) -> Result<(), Diagnostic> {
        self.refuse("threads", kind, "a servlet container").map_err(|diagnostic| {
            diagnostic.help("choose the thread model in `args`, in the command or in `env`")
        })
    }

    /// Rejects a key that this kind of server does not have.
    pub fn refuse(&self, key: &str, kind: &str, configures: &str) -> Result<(), Diagnostic> {
        match self.owner.fields.key_span(key) {
            None => Ok(()),
            Some(span) => {
                let message = format!("`{key}` configures {configures}, and this server is {kind}");
                Err(Diagnostic::new(span, message, "no effect"))
            }
        }
    }

    /// The error that neither `url` nor `{port}` is set.
    pub fn no_url(&self, help: String) -> Diagnostic {
        let Owner { name, span, .. } = self.owner;
        let message = format!("where does the server of `{name}` listen?");
        Diagnostic::new((*span).clone(), message, "no `url`").help(help)
    }
}

pub fn text(node: &Node, key: &str) -> Result<(), Diagnostic> {
    node.text(key).map(drop)
}

/// Checks that the value is one text or a list of texts.
pub fn texts(node: &Node, key: &str) -> Result<(), Diagnostic> {
    one_or_several(node, key).map(drop)
}

/// Reads one text or a list of texts.
pub fn one_or_several(node: &Node, key: &str) -> Result<Vec<String>, Diagnostic> {
    match &node.kind {
        Kind::List(_) => node.texts(key),
        _ => Ok(vec![node.text(key)?.to_owned()]),
    }
}

/// Checks that the value is a whole number from 1.
pub fn positive(node: &Node, key: &str) -> Result<(), Diagnostic> {
    node.positive_u32(key).map(drop)
}

/// Checks that the value is a path that begins with a slash, or `tcp`.
pub fn readiness(node: &Node, key: &str) -> Result<(), Diagnostic> {
    let written = node.text(key)?;
    if written.starts_with('/') || written == TCP {
        return Ok(());
    }
    let help = format!(
        "begin it with a slash: `/{written}`; or write `{TCP}` for a server that does not speak HTTP"
    );
    Err(node.bad(key, "a path").help(help))
}

/// Checks that the value is a line (`11.0`) or an exact version (`11.0.24`) of a distribution.
pub fn version(node: &Node, key: &str, line: &str, exact: &str) -> Result<(), Diagnostic> {
    let version = node.text(key)?;
    let numbers = version.split('.').count();
    let starts_well = version.split('.').take(2).all(|part| part.parse::<u16>().is_ok());
    if starts_well && (2..=3).contains(&numbers) {
        return Ok(());
    }
    Err(node
        .bad(key, "a line or a version")
        .help(format!("write the line like \"{line}\", or the version like \"{exact}\"")))
}
