//! The programs of a session's servers, and the Java below them: are they those of its first run?

use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use threadcount_machine::app;
use threadcount_machine::jdk::Jdk;
use threadcount_machine::jdk_finder::{Places, choose};
use threadcount_model::experiment::{Experiment, Server, Subject, Variant};
use threadcount_model::record::Record;
use threadcount_servers::command_line;
use threadcount_servers::placeholders::Placeholders;

/// What of a Java runtime changes with each of its builds.
const OF_JAVA: [&str; 3] = ["release", "lib/modules", "lib/server/libjvm.so"];

/// What differs from the session whose runs these are.
pub(super) fn changed(records: &[Record], experiment: &Experiment) -> Vec<String> {
    let jdks = Places::of_this_machine().find();
    let mut changed = BTreeSet::new();
    let mut files = BTreeSet::new();
    for record in records {
        let Some(variant) = experiment.variants.iter().find(|it| it.name == record.variant) else { continue };
        for started in started(record, variant) {
            changed.extend(started.other_java(&jdks));
            files.extend(started.program.map(PathBuf::from).into_iter().flat_map(with_java));
        }
        files.extend(archives(variant));
    }
    let began = records.iter().filter_map(|it| it.started_at.parse::<Timestamp>().ok()).min();
    // The time of a change, which no copy and no package manager sets back.
    let is_newer = |path: &&PathBuf| {
        let time = path.metadata().map(|it| it.ctime());
        time.is_ok_and(|time| began.is_some_and(|began| time > began.as_second()))
    };
    let newer = files.iter().filter(is_newer);
    changed.extend(newer.map(|path| format!("{}: it was changed after the first run began", path.display())));
    changed.into_iter().collect()
}

/// A process of a run.
struct Started<'a> {
    name: String,
    server: Option<&'a Server>,
    jdk: Option<u16>,
    env: &'a BTreeMap<String, String>,
    java: Option<&'a str>,
    program: Option<&'a str>,
}

/// The server of a run, and those behind it.
fn started<'a>(record: &'a Record, variant: &'a Variant) -> Vec<Started<'a>> {
    let behind = record.server.backends.iter().filter_map(|facts| {
        let backend = variant.backends.iter().find(|it| it.name == facts.name)?;
        Some(Started {
            name: format!("{} of {}", backend.name, variant.name),
            server: Some(&backend.server),
            jdk: backend.jdk,
            env: &backend.env,
            java: facts.java.as_deref(),
            program: facts.command.first().map(String::as_str),
        })
    });
    let server = Started {
        name: variant.name.clone(),
        server: variant.server(),
        jdk: variant.jdk,
        env: &variant.env,
        java: record.server.java.as_deref(),
        program: record.server.command.first().map(String::as_str),
    };
    std::iter::once(server).chain(behind).collect()
}

impl Started<'_> {
    /// `None`: it would start with the same Java, or with none that is known.
    fn other_java(&self, jdks: &[Jdk]) -> Option<String> {
        let (before, now) = (self.java?, self.java_now(jdks)?.describe());
        (before != now).then(|| format!("Java of {}: {before}, now {now}", self.name))
    }

    fn java_now(&self, jdks: &[Jdk]) -> Option<Jdk> {
        let none = Placeholders { port: 0, backends: &[], secret: "" };
        match self.server {
            Some(Server::Command(command)) if self.jdk.is_none() => {
                let parsed = command_line::parse(&command.command, self.env, None, &[], &none).ok()?;
                Jdk::of_program(&parsed.program, "a command")
            }
            Some(Server::Peer(_)) => None,
            _ => choose(jdks, self.jdk).ok().cloned(),
        }
    }
}

/// A program, and what belongs to it if it is `java`.
fn with_java(program: PathBuf) -> Vec<PathBuf> {
    let java = fs::canonicalize(&program).ok().filter(|path| path.ends_with("bin/java"));
    let home = java.as_deref().and_then(Path::parent).and_then(Path::parent);
    let of_java = home.into_iter().flat_map(|home| OF_JAVA.map(|file| home.join(file)));
    let all: Vec<PathBuf> = of_java.collect();
    all.into_iter().chain([program]).collect()
}

/// Jars and web applications.
fn archives(variant: &Variant) -> Vec<PathBuf> {
    let of_workload: Vec<&str> = match &variant.subject {
        Subject::Server(Server::Jar(jar)) => {
            jar.class_path.iter().map(String::as_str).chain([jar.jar.as_str()]).collect()
        }
        Subject::Server(Server::Tomcat(tomcat)) => vec![&tomcat.app],
        Subject::Server(Server::Jetty(jetty)) => vec![&jetty.app],
        Subject::Benchmark { benchmark } => vec![&benchmark.jar],
        Subject::Server(Server::Command(_) | Server::Peer(_)) | Subject::Target(_) => Vec::new(),
    };
    let is_web = matches!(variant.server(), Some(Server::Tomcat(_) | Server::Jetty(_)));
    let find = |name| if is_web { app::find(name) } else { app::find_jar(name) };
    let found = of_workload.into_iter().map(|name| find(name).unwrap_or_else(|_| PathBuf::from(name)));
    let words = variant.server().map_or("", Server::text).split_whitespace();
    let of_words = words.filter(|word| word.ends_with(".jar") || word.ends_with(".war")).map(PathBuf::from);
    found.chain(of_words).filter(|path| path.is_file()).collect()
}
