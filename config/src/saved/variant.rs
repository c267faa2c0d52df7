//! The variants of a file, and what stands above them because all of them have it.

use super::flow::{Entry, entry, list, map, scalar};
use super::path;
use threadcount_model::experiment::{
    CommandServer, DropIn, JarServer, PoolSize, RemoteTarget, Server, Threads, TomcatServer, Variant,
};

/// Each variant as maps.
struct Parts {
    server: Vec<Entry>,
    env: Vec<Entry>,
    /// The others, each of which is the same in all variants or stands in each.
    rest: Vec<Entry>,
    /// What only a variant has.
    own: Vec<Entry>,
}

/// The keys for the top of the file, and those of each variant.
pub(super) fn shared(variants: &[Variant]) -> (Vec<Entry>, Vec<Vec<Entry>>) {
    let parts: Vec<Parts> = variants.iter().map(Parts::of).collect();
    let in_all = |entry: &Entry, of: fn(&Parts) -> &Vec<Entry>| parts.iter().all(|it| of(it).contains(entry));
    let split = |of: fn(&Parts) -> &Vec<Entry>, part: &Parts| -> (Vec<Entry>, Vec<Entry>) {
        of(part).iter().cloned().partition(|entry| in_all(entry, of))
    };
    let keys = |part: &Parts, is_top: bool| {
        let chosen = |of: fn(&Parts) -> &Vec<Entry>| {
            let (common, different) = split(of, part);
            if is_top { common } else { different }
        };
        let (server, env) = (chosen(|it| &it.server), chosen(|it| &it.env));
        let mut keys = Vec::new();
        if !server.is_empty() {
            keys.push(entry("server", map(&server)));
        }
        keys.extend(chosen(|it| &it.rest));
        if !env.is_empty() {
            keys.push(entry("env", map(&env)));
        }
        keys
    };
    let top = parts.first().map(|first| keys(first, true)).unwrap_or_default();
    let each = parts.iter().map(|part| part.own.iter().cloned().chain(keys(part, false)).collect());
    (top, each.collect())
}

impl Parts {
    fn of(variant: &Variant) -> Self {
        let text = |key: &str, value: &Option<String>| value.as_ref().map(|value| entry(key, scalar(value)));
        let flags =
            (!variant.jvm.is_empty()).then(|| entry("jvm", list(variant.jvm.iter().map(|it| scalar(it)))));
        let rest = [
            variant.jdk.map(|jdk| entry("jdk", jdk.to_string())),
            flags,
            variant.workdir.as_ref().map(|folder| entry("workdir", path(folder))),
            text("before", &variant.before),
            text("after", &variant.after),
        ];
        let threads = variant.server().and_then(Server::threads).map(|it| entry("threads", threads(it)));
        let own = [
            text("label", &variant.label),
            text("note", &variant.note),
            threads,
            text("compare_with", &variant.compare_with),
        ];
        Self {
            server: variant.server().map(server).or_else(|| variant.target().map(target)).unwrap_or_default(),
            env: variant.env.iter().map(|(name, value)| (scalar(name), scalar(value))).collect(),
            rest: rest.into_iter().flatten().collect(),
            own: own.into_iter().flatten().collect(),
        }
    }
}

/// What is left out has its default; kinds that `compare` does not make are none, which the caller notices.
fn server(server: &Server) -> Vec<Entry> {
    match server {
        Server::Command(CommandServer { command, url, ready }) => {
            vec![entry("command", scalar(command)), entry("url", scalar(url)), entry("ready", scalar(ready))]
        }
        Server::Jar(JarServer { jar, args, ready, class_path }) => {
            let args = (!args.is_empty()).then(|| entry("args", scalar(args)));
            let added = || entry("class_path", list(class_path.iter().map(|it| scalar(it))));
            let added = (!class_path.is_empty()).then(added);
            let always = [entry("jar", scalar(jar)), entry("ready", scalar(ready))];
            always.into_iter().chain(args).chain(added).collect()
        }
        Server::Tomcat(TomcatServer { version, app, .. }) => {
            vec![entry("tomcat", format!("\"{version}\"")), entry("app", scalar(app))]
        }
        Server::Jetty(_) | Server::Peer(_) => Vec::new(),
    }
}

fn target(target: &RemoteTarget) -> Vec<Entry> {
    vec![entry("target_url", scalar(&target.target_url))]
}

fn threads(threads: &Threads) -> String {
    match threads {
        Threads::Platform(PoolSize::Default) => "platform".to_owned(),
        Threads::Platform(PoolSize::Fixed(size)) => format!("{{platform: {size}}}"),
        Threads::Platform(PoolSize::Clients) => "{platform: clients}".to_owned(),
        Threads::Virtual => "virtual".to_owned(),
        Threads::Executor(DropIn::Virtual) => "{executor: virtual}".to_owned(),
        Threads::Executor(DropIn::Cached) => "cached".to_owned(),
        Threads::Executor(DropIn::BoundedVirtual(limit)) => format!(
            "{{virtual: {{bound: {}, queue: {}, queue_timeout: {}ms}}}}",
            limit.max_concurrent, limit.max_queue, limit.queue_timeout_ms
        ),
    }
}
