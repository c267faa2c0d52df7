//! The commands that a session starts, as lines for its user.

use std::path::PathBuf;
use threadcount_model::experiment::{Experiment, Server, Subject, Variant};
use threadcount_servers::peer::build;

/// One line for each command: those before and after a server, those of its backends, and the server's command.
pub(super) fn shown(experiment: &Experiment) -> Vec<String> {
    running(experiment).flat_map(lines).collect()
}

/// The folders of peers whose programs are started.
pub(super) fn peers(experiment: &Experiment) -> Vec<PathBuf> {
    let peer = |server: &Server| match server {
        Server::Peer(peer) => build::find(&peer.peer).ok(),
        _ => None,
    };
    let folders = running(experiment).flat_map(servers).filter_map(|(_, server)| peer(server));
    folders.flat_map(|folder| [folder.join("build"), folder.join("run"), folder]).collect()
}

fn running(experiment: &Experiment) -> impl Iterator<Item = &Variant> {
    experiment.variants.iter().filter(|variant| variant.skipped.is_none())
}

/// The servers of a variant with their names, in the order in which they start.
fn servers(variant: &Variant) -> impl Iterator<Item = (String, &Server)> {
    let behind = |name: &str| format!("{}, behind it {name}", variant.name);
    let backends = variant.backends.iter().map(move |backend| (behind(&backend.name), &backend.server));
    backends.chain(variant.server().map(|server| (variant.name.clone(), server)))
}

fn lines(variant: &Variant) -> Vec<String> {
    let own = |when: &str, command: &Option<String>| {
        command.as_ref().map(|command| format!("{}, {when} each run: {command}", variant.name))
    };
    let benchmark = match &variant.subject {
        Subject::Benchmark { benchmark } => Some(format!("{}: {}", variant.name, benchmark.jar)),
        Subject::Server(_) | Subject::Target(_) => None,
    };
    let servers = servers(variant).map(|(name, server)| format!("{name}: {}", command(server)));
    let before = own("before", &variant.before);
    let after = own("after", &variant.after);
    before.into_iter().chain(servers).chain(benchmark).chain(after).collect()
}

fn command(server: &Server) -> String {
    match server {
        Server::Command(command) => command.command.clone(),
        Server::Jar(jar) => format!("java -jar {} {}", jar.jar, jar.args),
        Server::Peer(peer) => {
            let folder = build::find(&peer.peer).unwrap_or_else(|_| PathBuf::from(&peer.peer));
            let [build, run] = ["build", "run"].map(|program| folder.join(program));
            format!("{}, then {} {}", build.display(), run.display(), peer.args)
        }
        Server::Tomcat(tomcat) => format!("Tomcat {} with {}", tomcat.version, tomcat.app),
        Server::Jetty(jetty) => format!("Jetty {} with {}", jetty.version, jetty.app),
    }
}
