//! `server:` and `backend:`: a Tomcat, a runnable jar, a peer, or any command.

use crate::config::fields::Fields;
use crate::config::yaml::{Kind, Node};
use crate::model::experiment::{DropIn, PoolSize, RequestSpec, Server, Threads};
use crate::parse::diagnostic::Diagnostic;
use std::ops::Range;

/// `acceptCount` where nothing is written. Tomcat's own default of 100 is smaller than the burst with which a load
/// of 400 clients connects; the overflow would cost a second (SYN retransmission) and be blamed on the thread
/// model. Linux cuts the backlog to `somaxconn`, 4096 by default.
const ACCEPT_COUNT: u32 = 4_096;

/// The keys of a server. The first five say what it is.
pub(super) const KEYS: [&str; 12] = [
    "tomcat",
    "jar",
    "peer",
    "benchmark",
    "command",
    "app",
    "args",
    "method",
    "accept_count",
    "max_connections",
    "url",
    "ready",
];

const KINDS: [&str; 5] = ["tomcat", "jar", "peer", "benchmark", "command"];

/// A server as written, perhaps in part.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerParts {
    tomcat: Option<String>,
    jar: Option<String>,
    peer: Option<String>,
    benchmark: Option<String>,
    method: Option<String>,
    command: Option<String>,
    app: Option<String>,
    args: Option<String>,
    accept_count: Option<u32>,
    max_connections: Option<u32>,
    url: Option<String>,
    ready: Option<String>,
}

/// What a server belongs to, for messages and for what it inherits.
pub(super) struct Owner<'a> {
    /// The variant's name, or `backend`.
    pub(super) name: &'a str,
    /// Where it stands.
    pub(super) span: &'a Range<usize>,
    /// Its own keys.
    pub(super) fields: &'a Fields<'a>,
    /// Texts other than the arguments in which the port may be told.
    pub(super) env: Vec<&'a str>,
    /// What the loads ask for.
    pub(super) request: Option<&'a RequestSpec>,
}

/// The value of `server:`.
pub(super) fn server(node: &Node) -> Result<ServerParts, Diagnostic> {
    parts(&Fields::open(node, "a server", &KEYS)?)
}

/// The server among these keys.
pub(super) fn parts(fields: &Fields<'_>) -> Result<ServerParts, Diagnostic> {
    let text = |key: &str| fields.read(key, |node| node.text(key).map(str::to_owned));
    let mut kinds = KINDS.into_iter().filter(|kind| fields.get(kind).is_some());
    if let (Some(first), Some(second)) = (kinds.next(), kinds.next()) {
        let message = format!("a server is a {first} or a {second}, not both");
        let span = fields.key_span(second).unwrap_or_else(|| fields.span.clone());
        return Err(
            Diagnostic::new(span, message, "the second kind").help(format!("keep `{first}` or `{second}`"))
        );
    }
    Ok(ServerParts {
        tomcat: fields.read("tomcat", tomcat)?,
        jar: text("jar")?,
        peer: text("peer")?,
        benchmark: text("benchmark")?,
        method: text("method")?,
        command: text("command")?,
        app: text("app")?,
        args: text("args")?,
        accept_count: fields.read("accept_count", |node| node.positive_u32("accept_count"))?,
        max_connections: fields.read("max_connections", |node| node.positive_u32("max_connections"))?,
        url: text("url")?,
        ready: fields.read("ready", path)?,
    })
}

fn tomcat(node: &Node) -> Result<String, Diagnostic> {
    let version = node.text("tomcat")?;
    let numbers = version.split('.').count();
    let starts_well = version.split('.').take(2).all(|part| part.parse::<u16>().is_ok());
    if starts_well && (2..=3).contains(&numbers) {
        return Ok(version.to_owned());
    }
    Err(node
        .bad("tomcat", "a line or a version")
        .help("write the line like \"11.0\", or the version like \"11.0.24\""))
}

fn path(node: &Node) -> Result<String, Diagnostic> {
    let path = node.text("ready")?;
    if path.starts_with('/') {
        return Ok(path.to_owned());
    }
    Err(node.bad("ready", "a path").help(format!("begin it with a slash: `/{path}`")))
}

impl ServerParts {
    /// Only a command.
    pub(super) fn of_command(command: String) -> Self {
        Self { command: Some(command), ..Self::default() }
    }

    /// Only arguments.
    pub(super) fn of_args(args: String) -> Self {
        Self { args: Some(args), ..Self::default() }
    }

    /// What `other` says goes before what is said here; another kind of server leaves nothing of the first kind.
    pub(super) fn with(mut self, other: Self) -> Self {
        if other.tomcat.is_some() {
            self = Self {
                app: self.app,
                accept_count: self.accept_count,
                max_connections: self.max_connections,
                ..Self::default()
            };
        } else if other.command.is_some() {
            self = Self { url: self.url, ready: self.ready, ..Self::default() };
        } else if other.benchmark.is_some() {
            self = Self { method: self.method, ..Self::default() };
        } else if other.jar.is_some() || other.peer.is_some() {
            let args = self.args.filter(|_| self.jar.is_some() == other.jar.is_some());
            self = Self { args, ready: self.ready, ..Self::default() };
        }
        Self {
            tomcat: other.tomcat.or(self.tomcat),
            jar: other.jar.or(self.jar),
            peer: other.peer.or(self.peer),
            benchmark: other.benchmark.or(self.benchmark),
            method: other.method.or(self.method),
            command: other.command.or(self.command),
            app: other.app.or(self.app),
            args: other.args.or(self.args),
            accept_count: other.accept_count.or(self.accept_count),
            max_connections: other.max_connections.or(self.max_connections),
            url: other.url.or(self.url),
            ready: other.ready.or(self.ready),
        }
    }

    /// The whole server, with what is left out filled in.
    pub(super) fn complete(self, owner: &Owner<'_>, threads: Option<Threads>) -> Result<Server, Diagnostic> {
        if let Some(version) = self.tomcat {
            refuse(owner, "args", "a Tomcat", "a jar or a peer")?;
            return Ok(Server::Tomcat {
                version,
                app: self.app.unwrap_or_else(|| "servlets".to_owned()),
                threads: threads.unwrap_or(Threads::Platform(PoolSize::Default)),
                accept_count: self.accept_count.unwrap_or(ACCEPT_COUNT),
                max_connections: self.max_connections,
            });
        }
        let asked = || owner.request.map_or_else(|| "/".to_owned(), RequestSpec::sample_path);
        let ready = self.ready.unwrap_or_else(asked);
        if let Some(jar) = self.jar {
            refuse_threads(owner, "a jar")?;
            let args = self.args.unwrap_or_default();
            if !args.contains("{port}") && !owner.env.iter().any(|text| text.contains("{port}")) {
                return Err(no_url(owner, "args: \"--port={port}\""));
            }
            return Ok(Server::Jar { jar, args, ready });
        }
        if let Some(peer) = self.peer {
            refuse_threads(owner, "a peer")?;
            return Ok(Server::Peer { peer, args: self.args.unwrap_or_default(), ready });
        }
        if let Some(benchmark) = self.benchmark {
            refuse_threads(owner, "a benchmark")?;
            let method = self.method.ok_or_else(|| no_method(owner))?;
            return Ok(Server::Benchmark { benchmark, method });
        }
        let command = self.command.ok_or_else(|| no_server(owner))?;
        refuse_threads(owner, "a command")?;
        refuse(owner, "args", "a command", "a jar or a peer")?;
        let url = self.url.or_else(|| url_of_port(&command)).ok_or_else(|| no_url(owner, "{port}"))?;
        Ok(Server::Command { command, url, ready })
    }
}

fn refuse_threads(owner: &Owner<'_>, kind: &str) -> Result<(), Diagnostic> {
    refuse(owner, "threads", kind, "a Tomcat").map_err(|diagnostic| {
        diagnostic.help("choose the thread model in `args`, in the command or in `env`")
    })
}

/// A key that this kind of server has no use for.
fn refuse(owner: &Owner<'_>, key: &str, kind: &str, configures: &str) -> Result<(), Diagnostic> {
    match owner.fields.key_span(key) {
        None => Ok(()),
        Some(span) => {
            let message = format!("`{key}` configures {configures}, and this server is {kind}");
            Err(Diagnostic::new(span, message, "no effect"))
        }
    }
}

/// A command that is told a port listens there.
fn url_of_port(command: &str) -> Option<String> {
    command.contains("{port}").then(|| "http://127.0.0.1:{port}".to_owned())
}

fn no_url(owner: &Owner<'_>, example: &str) -> Diagnostic {
    let message = format!("where does the server of `{}` listen?", owner.name);
    let help = match example {
        "{port}" => "write `{port}` in the command, and a free port is put there; or \
             `server: {url: \"http://127.0.0.1:8080\"}`"
            .to_owned(),
        example => format!("write, for example, `{example}`, and a free port is put there"),
    };
    Diagnostic::new(owner.span.clone(), message, "no `url`").help(help)
}

fn no_method(owner: &Owner<'_>) -> Diagnostic {
    let message = format!("which benchmark is `{}`?", owner.name);
    Diagnostic::new(owner.span.clone(), message, "no `method`").help("write `server: {method: Class.method}`")
}

fn no_server(owner: &Owner<'_>) -> Diagnostic {
    let message = match owner.name {
        "backend" => "the backend has no server".to_owned(),
        name => format!("the variant `{name}` has no server"),
    };
    Diagnostic::new(owner.span.clone(), message, "what is started?").help(
        "write `server: {tomcat: \"11.0\", app: servlets}`, `server: {jar: NAME, args: \"--port={port}\"}` or \
        `command: java -jar app.jar --server.port={port}`",
    )
}

/// The value of `threads:`.
pub(super) fn threads(node: &Node) -> Result<Threads, Diagnostic> {
    const HELP: &str = "write platform, virtual, cached, {platform: 400}, {platform: clients} (as many as the load \
        has) or {executor: virtual} (ours, for a Tomcat that has none)";
    let helped = |diagnostic: Diagnostic| diagnostic.help(HELP);
    match &node.kind {
        Kind::Scalar(text) => match text.as_str() {
            "platform" => Ok(Threads::Platform(PoolSize::Default)),
            "virtual" => Ok(Threads::Virtual),
            "cached" => Ok(Threads::Executor(DropIn::Cached)),
            _ => Err(helped(node.bad("threads", "a thread model"))),
        },
        _ => {
            let fields = Fields::open(node, "a thread pool", &["platform", "executor"])?;
            if let Some(executor) = fields.get("executor") {
                return match executor.text("executor")? {
                    "virtual" => Ok(Threads::Executor(DropIn::Virtual)),
                    "cached" => Ok(Threads::Executor(DropIn::Cached)),
                    _ => Err(helped(executor.bad("executor", "one of ours"))),
                };
            }
            let size = fields.require("platform", "threads: {platform: 400}")?;
            match size.text("platform")? {
                "clients" => Ok(Threads::Platform(PoolSize::Clients)),
                _ => {
                    size.positive_u32("platform").map(PoolSize::Fixed).map(Threads::Platform).map_err(helped)
                }
            }
        }
    }
}
