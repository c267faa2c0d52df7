//! What an experiment needs from the machine, in words.

use super::{Backend, Experiment, Server, Variant};

impl Experiment {
    /// Java versions, Tomcats, jars, peers and commands of its variants and what is behind them; each once, in their
    /// order.
    #[must_use]
    pub fn needs(&self) -> Vec<String> {
        let backends = || self.variants.iter().filter_map(|variant| variant.backend.as_ref());
        let own = self.variants.iter().filter_map(|variant: &Variant| variant.jdk);
        let mut jdks: Vec<u16> = own.chain(backends().filter_map(|backend: &Backend| backend.jdk)).collect();
        jdks.sort_unstable();
        let servers = || {
            let own = self.variants.iter().map(|variant| &variant.server);
            own.chain(backends().map(|backend| &backend.server))
        };
        let of = |pick: fn(&Server) -> Option<String>| servers().filter_map(pick).collect();
        let kinds = [
            ("Java", jdks.iter().map(u16::to_string).collect()),
            (
                "Tomcat",
                of(|server| match server {
                    Server::Tomcat { version, .. } => Some(version.clone()),
                    _ => None,
                }),
            ),
            (
                "jars",
                of(|server| match server {
                    Server::Jar { jar, .. } => Some(jar.clone()),
                    _ => None,
                }),
            ),
            (
                "benchmarks",
                of(|server| match server {
                    Server::Benchmark { benchmark, .. } => Some(benchmark.clone()),
                    _ => None,
                }),
            ),
            (
                "peers",
                of(|server| match server {
                    Server::Peer { peer, .. } => Some(peer.clone()),
                    _ => None,
                }),
            ),
            (
                "commands",
                of(|server| match server {
                    Server::Command { command, .. } => command.split_whitespace().next().map(str::to_owned),
                    _ => None,
                }),
            ),
        ];
        kinds.into_iter().filter_map(|(kind, names)| listed(kind, names)).collect()
    }
}

fn listed(kind: &str, names: Vec<String>) -> Option<String> {
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
    use crate::experiment::read::parse;

    #[test]
    fn each_thing_is_named_once() {
        let text = "question: q\nrequest: /\njdk: 25\nbackend: {jar: slow, args: '{port}'}\n\
            variants: {a: {server: {tomcat: 11.0}}, b: {server: {tomcat: 11.0}, jdk: 21}, c: {server: {peer: go}}, \
            d: {command: 'node x {port}'}}\nloads: [{clients: 1, duration: 1s}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        assert_eq!(
            experiment.needs(),
            ["Java 21, 25", "Tomcat 11.0", "jars slow", "peers go", "commands node"]
        );
    }
}
