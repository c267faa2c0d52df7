//! The needs of an experiment from the machine, in words.

use super::subjects::{Kind, kinds};
use threadcount_model::experiment::{Experiment, Subject, Tool};
use threadcount_servers::kinds::kind;
use threadcount_servers::target;
use threadcount_servers::workload::jmh;

/// The Java versions, servers and commands of the variants and their backends, and the tools that send the loads; each once, in the
/// order of the file.
#[must_use]
pub fn needs(experiment: &Experiment) -> Vec<String> {
    let backends = || experiment.variants.iter().flat_map(|variant| &variant.backends);
    let own = experiment.variants.iter().filter_map(|variant| variant.jdk);
    let mut jdks: Vec<u16> = own.chain(backends().filter_map(|backend| backend.jdk)).collect();
    jdks.sort_unstable();
    let own = experiment.variants.iter().filter_map(|variant| match &variant.subject {
        Subject::Server(server) => kind(server).needs(),
        Subject::Benchmark { benchmark } => Some((jmh::keys().kind.name(), benchmark.jar.as_str())),
        Subject::Target(target) => Some((target::keys().kind.name(), target.target_url.as_str())),
    });
    let things: Vec<_> = own.chain(backends().filter_map(|backend| kind(&backend.server).needs())).collect();
    let of_kind = |kind: &Kind| {
        let name = kind.name();
        things.iter().filter(move |it| it.0 == name).map(|it| it.1.to_owned())
    };
    let javas = listed("Java", jdks.iter().map(u16::to_string));
    let others = kinds().into_iter().filter_map(|kind| listed(kind.plural(), of_kind(&kind)));
    let tools = experiment.loads.iter().filter_map(|load| load.workload.tool());
    let tools = listed("tools", tools.map(|Tool::Ab { .. }| "ab".to_owned()));
    javas.into_iter().chain(others).chain(tools).collect()
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
    use super::needs;
    use crate::parse;

    #[test]
    fn each_thing_is_named_once() {
        let text = "question: q\nrequest: /\njdk: 25\nbackend: {jar: slow, args: '{port}'}\n\
            variants: {a: {server: {tomcat: 11.0}}, b: {server: {tomcat: 11.0}, jdk: 21}, c: {server: {peer: go}}, \
            d: {command: 'node x {port}'}}\nloads: [{clients: 1, duration: 1s}, {clients: 1, duration: 1s, name: ab, tool: {ab: 1}}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        assert_eq!(
            needs(&experiment),
            ["Java 21, 25", "Tomcat 11.0", "jars slow", "peers go", "commands node", "tools ab"]
        );
    }
}
