//! What an experiment needs from the machine, in words.

use super::{Backend, Experiment, Server, Tool, Variant};

/// The kinds of servers, in the order in which they are told.
const KINDS: [&str; 5] = ["Tomcat", "jars", "benchmarks", "peers", "commands"];

impl Experiment {
    /// Java versions, Tomcats, jars, peers and commands of its variants and what is behind them, and the tools that send
    /// its loads; each once, in their order.
    #[must_use]
    pub fn needs(&self) -> Vec<String> {
        let backends = || self.variants.iter().filter_map(|variant| variant.backend.as_ref());
        let own = self.variants.iter().filter_map(|variant: &Variant| variant.jdk);
        let mut jdks: Vec<u16> = own.chain(backends().filter_map(|backend: &Backend| backend.jdk)).collect();
        jdks.sort_unstable();
        let own = self.variants.iter().map(|variant| &variant.server);
        let servers: Vec<_> =
            own.chain(backends().map(|backend| &backend.server)).filter_map(kind_and_name).collect();
        let of = |kind: &'static str| servers.iter().filter(move |it| it.0 == kind).map(|it| it.1.to_owned());
        let javas = listed("Java", jdks.iter().map(u16::to_string));
        let others = KINDS.iter().filter_map(|&kind| listed(kind, of(kind)));
        let tools = self.loads.iter().filter_map(|load| load.tool);
        let tools = listed("tools", tools.map(|Tool::Ab { .. }| "ab".to_owned()));
        javas.into_iter().chain(others).chain(tools).collect()
    }
}

/// What kind of thing a server is, one of [`KINDS`], and which of them.
fn kind_and_name(server: &Server) -> Option<(&'static str, &str)> {
    Some(match server {
        Server::Tomcat { version, .. } => ("Tomcat", version),
        Server::Jar { jar, .. } => ("jars", jar),
        Server::Benchmark { benchmark, .. } => ("benchmarks", benchmark),
        Server::Peer { peer, .. } => ("peers", peer),
        Server::Command { command, .. } => ("commands", command.split_whitespace().next()?),
    })
}

fn listed(kind: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let mut once: Vec<String> = Vec::new();
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    (!once.is_empty()).then(|| format!("{kind} {}", once.join(", ")))
}

#[cfg(test)]
mod tests {
    use crate::config::parse;

    #[test]
    fn each_thing_is_named_once() {
        let text = "question: q\nrequest: /\njdk: 25\nbackend: {jar: slow, args: '{port}'}\n\
            variants: {a: {server: {tomcat: 11.0}}, b: {server: {tomcat: 11.0}, jdk: 21}, c: {server: {peer: go}}, \
            d: {command: 'node x {port}'}}\nloads: [{clients: 1, duration: 1s}, {clients: 1, duration: 1s, name: ab, tool: {ab: 1}}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        assert_eq!(
            experiment.needs(),
            ["Java 21, 25", "Tomcat 11.0", "jars slow", "peers go", "commands node", "tools ab"]
        );
    }
}
