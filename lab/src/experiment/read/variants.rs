//! `variants:` with what they inherit from the top of the file: server, jdk, jvm, env.

use super::super::fault::Fault;
use super::super::fields::Fields;
use super::super::yaml::{Kind, Node};
use super::super::{PoolSize, RequestSpec, Server, Threads, Variant};
use super::name;
use std::collections::BTreeMap;
use std::ops::Range;

/// `acceptCount` where nothing is written. Tomcat's own default of 100 is smaller than the burst with which a load
/// of 400 clients connects; the overflow would cost a second (SYN retransmission) and be blamed on the thread
/// model. Linux cuts the backlog to `somaxconn`, 4096 by default.
const ACCEPT_COUNT: u32 = 4_096;

/// What all variants share, or one of them says.
#[derive(Clone, Debug, Default)]
struct Base {
    server: ServerParts,
    jdk: Option<u16>,
    jvm: Vec<String>,
    env: BTreeMap<String, String>,
}

/// A server as written, perhaps in part.
#[derive(Clone, Debug, Default)]
struct ServerParts {
    tomcat: Option<String>,
    app: Option<String>,
    accept_count: Option<u32>,
    command: Option<String>,
    url: Option<String>,
    ready: Option<String>,
}

/// The variants and their names.
pub(super) fn read(
    fields: &Fields<'_>,
    request: Option<&RequestSpec>,
) -> Result<(Vec<Variant>, Vec<String>), Fault> {
    let base = Base {
        server: fields.read("server", server)?.unwrap_or_default(),
        jdk: fields.read("jdk", jdk)?,
        jvm: fields.read("jvm", jvm)?.unwrap_or_default(),
        env: fields.read("env", env)?.unwrap_or_default(),
    };
    let example = "variants: {platform: {threads: platform}, virtual: {threads: virtual}}";
    let node = fields.require("variants", example)?;
    let Kind::Map(entries) = &node.kind else {
        let message = format!("`variants` is a map from name to settings, and this is {}", node.noun());
        return Err(
            Fault::new(node.span.clone(), message, "expected `name: {...}`").help(format!("write {example}"))
        );
    };
    if entries.is_empty() {
        return Err(
            Fault::new(node.span.clone(), "there are no variants", "empty").help(format!("write {example}"))
        );
    }
    let mut variants = Vec::new();
    for (key, node) in entries {
        let name = name(&key.name, &key.span, "variant")?;
        variants.push(variant(name, &key.span, node, &base, request)?);
    }
    let names = variants.iter().map(|variant| variant.name.clone()).collect();
    Ok((variants, names))
}

fn variant(
    name: String,
    span: &Range<usize>,
    node: &Node,
    base: &Base,
    request: Option<&RequestSpec>,
) -> Result<Variant, Fault> {
    let fields =
        Fields::open(node, "a variant", &["threads", "server", "jdk", "jvm", "env", "note", "command"])?;
    let mut parts = base.server.clone().with(fields.read("server", server)?.unwrap_or_default());
    if let Some(command) = fields.read("command", |node| node.text("command").map(str::to_owned))? {
        parts = parts.with(ServerParts { command: Some(command), ..ServerParts::default() });
    }
    let threads = fields.read("threads", threads)?;
    let server = parts.complete(&name, threads, &fields, span, request)?;
    let mut env_all = base.env.clone();
    env_all.extend(fields.read("env", env)?.unwrap_or_default());
    let mut jvm_all = base.jvm.clone();
    jvm_all.extend(fields.read("jvm", jvm)?.unwrap_or_default());
    Ok(Variant {
        name,
        note: fields.read("note", |node| node.text("note").map(str::to_owned))?,
        server,
        jdk: fields.read("jdk", jdk)?.or(base.jdk),
        jvm: jvm_all,
        env: env_all,
    })
}

fn server(node: &Node) -> Result<ServerParts, Fault> {
    let fields =
        Fields::open(node, "a server", &["tomcat", "app", "accept_count", "command", "url", "ready"])?;
    let text = |key: &str| fields.read(key, |node| node.text(key).map(str::to_owned));
    if let (Some(_), Some(command)) = (fields.get("tomcat"), fields.key_span("command")) {
        return Err(Fault::new(command, "a server is a Tomcat or a command, not both", "the second kind")
            .help("keep `tomcat` or `command`"));
    }
    Ok(ServerParts {
        tomcat: fields.read("tomcat", tomcat)?,
        app: text("app")?,
        accept_count: fields.read("accept_count", |node| node.positive_u32("accept_count"))?,
        command: text("command")?,
        url: text("url")?,
        ready: fields.read("ready", path)?,
    })
}

fn tomcat(node: &Node) -> Result<String, Fault> {
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

fn path(node: &Node) -> Result<String, Fault> {
    let path = node.text("ready")?;
    if path.starts_with('/') {
        return Ok(path.to_owned());
    }
    Err(node.bad("ready", "a path").help(format!("begin it with a slash: `/{path}`")))
}

impl ServerParts {
    /// What `other` says goes before what is said here; another kind of server leaves nothing of the first kind.
    fn with(mut self, other: Self) -> Self {
        if other.tomcat.is_some() {
            self = Self { app: self.app, accept_count: self.accept_count, ..Self::default() };
        } else if other.command.is_some() {
            self = Self { url: self.url, ready: self.ready, ..Self::default() };
        }
        Self {
            tomcat: other.tomcat.or(self.tomcat),
            app: other.app.or(self.app),
            accept_count: other.accept_count.or(self.accept_count),
            command: other.command.or(self.command),
            url: other.url.or(self.url),
            ready: other.ready.or(self.ready),
        }
    }

    fn complete(
        self,
        name: &str,
        threads: Option<Threads>,
        fields: &Fields<'_>,
        span: &Range<usize>,
        request: Option<&RequestSpec>,
    ) -> Result<Server, Fault> {
        if let Some(version) = self.tomcat {
            return Ok(Server::Tomcat {
                version,
                app: self.app.unwrap_or_else(|| "servlets".to_owned()),
                threads: threads.unwrap_or(Threads::Platform(PoolSize::Default)),
                accept_count: self.accept_count.unwrap_or(ACCEPT_COUNT),
            });
        }
        let command = self.command.ok_or_else(|| no_server(name, span))?;
        if let Some(threads) = fields.key_span("threads") {
            return Err(Fault::new(
                threads,
                "`threads` configures a Tomcat, and this server is a command",
                "no effect",
            )
            .help("choose the thread model in the command or in `env`"));
        }
        let url = self.url.or_else(|| url_of_port(&command)).ok_or_else(|| no_url(name, span))?;
        let ready = self.ready.or_else(|| request.map(|request| request.path.clone()));
        Ok(Server::Command { command, url, ready: ready.unwrap_or_else(|| "/".to_owned()) })
    }
}

/// A command that is told a port listens there.
fn url_of_port(command: &str) -> Option<String> {
    command.contains("{port}").then(|| "http://127.0.0.1:{port}".to_owned())
}

fn no_url(name: &str, span: &Range<usize>) -> Fault {
    Fault::new(span.clone(), format!("where does the server of `{name}` listen?"), "no `url`").help(
        "write `{port}` in the command, and a free port is put there; or \
        `server: {url: \"http://127.0.0.1:8080\"}`",
    )
}

fn no_server(name: &str, span: &Range<usize>) -> Fault {
    Fault::new(span.clone(), format!("the variant `{name}` has no server"), "what is started?").help(
        "write `server: {tomcat: \"11.0\", app: servlets}` or \
        `command: java -jar app.jar --server.port={port}`",
    )
}

fn threads(node: &Node) -> Result<Threads, Fault> {
    const HELP: &str =
        "write platform, virtual, {platform: 400} or {platform: clients} (as many as the load has)";
    match &node.kind {
        Kind::Scalar(text) if text == "platform" => Ok(Threads::Platform(PoolSize::Default)),
        Kind::Scalar(text) if text == "virtual" => Ok(Threads::Virtual),
        Kind::Scalar(_) => Err(node.bad("threads", "a thread model").help(HELP)),
        _ => {
            let size = Fields::open(node, "a thread pool", &["platform"])?;
            let size = size.require("platform", "threads: {platform: 400}")?;
            match size.text("platform")? {
                "clients" => Ok(Threads::Platform(PoolSize::Clients)),
                _ => size
                    .positive_u32("platform")
                    .map(PoolSize::Fixed)
                    .map(Threads::Platform)
                    .map_err(|f| f.help(HELP)),
            }
        }
    }
}

fn jdk(node: &Node) -> Result<u16, Fault> {
    let text = node.text("jdk")?;
    text.parse().ok().filter(|&version| version > 0).ok_or_else(|| {
        node.bad("jdk", "a Java feature version")
            .help("write one number, like 21 or 25; --jdk 21,25 runs both")
    })
}

fn jvm(node: &Node) -> Result<Vec<String>, Fault> {
    match &node.kind {
        Kind::Scalar(flags) => Ok(flags.split_whitespace().map(str::to_owned).collect()),
        _ => node.texts("jvm"),
    }
}

fn env(node: &Node) -> Result<BTreeMap<String, String>, Fault> {
    let Kind::Map(entries) = &node.kind else {
        let message = format!("`env` is a map from name to text, and this is {}", node.noun());
        return Err(Fault::new(node.span.clone(), message, "expected `NAME: value`"));
    };
    let texts = entries.iter().map(|(key, node)| match &node.kind {
        Kind::Null => Ok((key.name.clone(), String::new())),
        _ => node.text(&key.name).map(|text| (key.name.clone(), text.to_owned())),
    });
    texts.collect()
}
