//! Checks that the programs of a session's servers, and their Java, are those of its first run.

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
use threadcount_servers::peer::build;
use threadcount_servers::placeholders::Placeholders;

/// The files of a Java runtime that change with each of its builds.
const OF_JAVA: [&str; 3] = ["release", "lib/modules", "lib/server/libjvm.so"];

const NO_PLACEHOLDERS: Placeholders<'_> = Placeholders { port: 0, backends: &[], secret: "" };

/// The differences from the session that has these runs.
pub(super) fn changed(records: &[Record], experiment: &Experiment) -> Vec<String> {
    let jdks = Places::of_this_machine().find();
    let began = records.iter().filter_map(|it| it.started_at.parse::<Timestamp>().ok()).min();
    let mut changed = BTreeSet::new();
    let mut files = BTreeSet::new();
    for record in records {
        let Some(variant) = experiment.variants.iter().find(|it| it.name == record.variant) else { continue };
        for started in started(record, variant) {
            changed.extend(started.other_java(&jdks));
            files.extend(started.program.map(PathBuf::from).into_iter().flat_map(with_java));
            files.extend(started.archives());
            files.extend(started.sources(began));
        }
        if let Subject::Benchmark { benchmark } = &variant.subject {
            files.extend(app::find_jar(&benchmark.jar));
        }
    }
    changed.extend(clock_set_back(records, Timestamp::now()));
    // The time of the last change of the file's metadata, which neither a copy nor a package manager sets back.
    let is_newer = |path: &&PathBuf| {
        let time = path.metadata().map(|it| it.ctime());
        time.is_ok_and(|time| began.is_some_and(|began| time > began.as_second()))
    };
    let newer = files.iter().filter(is_newer);
    changed.extend(newer.map(|path| format!("{}: it was changed after the first run began", path.display())));
    changed.into_iter().collect()
}

/// Files show when they were changed by the wall clock. If the clock was set back, a later change looks older than the runs.
fn clock_set_back(records: &[Record], now: Timestamp) -> Option<String> {
    let began = records.iter().filter_map(|it| it.started_at.parse::<Timestamp>().ok()).max()?;
    (now < began).then(|| format!("the clock: the last run began at {began}, and it is {now} now"))
}

/// A process that a run started.
struct Started<'a> {
    name: String,
    server: Option<&'a Server>,
    jdk: Option<u16>,
    env: &'a BTreeMap<String, String>,
    java: Option<&'a str>,
    program: Option<&'a str>,
    /// Its working folder, if it is not ours.
    folder: Option<&'a Path>,
}

/// The server of a run and its backends.
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
            folder: None,
        })
    });
    let server = Started {
        name: variant.name.clone(),
        server: variant.server(),
        jdk: variant.jdk,
        env: &variant.env,
        java: record.server.java.as_deref(),
        program: record.server.command.first().map(String::as_str),
        folder: variant.workdir.as_deref(),
    };
    std::iter::once(server).chain(behind).collect()
}

impl Started<'_> {
    /// Says which other Java it would start with. `None` if it is the same, or none is known.
    fn other_java(&self, jdks: &[Jdk]) -> Option<String> {
        let (before, now) = (self.java?, self.java_now(jdks)?);
        let is_other = !now.may_be(before);
        is_other.then(|| format!("Java of {}: {before}, now {}", self.name, now.describe()))
    }

    fn java_now(&self, jdks: &[Jdk]) -> Option<Jdk> {
        match self.server {
            Some(Server::Command(command)) if self.jdk.is_none() => {
                let parsed =
                    command_line::parse(&command.command, self.env, None, &[], &NO_PLACEHOLDERS).ok()?;
                Jdk::of_program(&parsed.program, "a command")
            }
            Some(Server::Peer(_)) => None,
            _ => choose(jdks, self.jdk).ok().cloned(),
        }
    }

    /// The jars and web applications of a process.
    fn archives(&self) -> Vec<PathBuf> {
        let Some(server) = self.server else { return Vec::new() };
        let found: Vec<_> = match server {
            Server::Jar(jar) => {
                jar.class_path.iter().chain([&jar.jar]).map(|name| (name, app::find_jar(name))).collect()
            }
            Server::Tomcat(tomcat) => vec![(&tomcat.app, app::find(&tomcat.app))],
            Server::Jetty(jetty) => vec![(&jetty.app, app::find(&jetty.app))],
            Server::Command(_) | Server::Peer(_) => Vec::new(),
        };
        let found = found.into_iter().map(|(name, found)| found.unwrap_or_else(|_| PathBuf::from(name)));
        let words = command_line::words(server.text(), &NO_PLACEHOLDERS).unwrap_or_default();
        // A word may contain several, as in `-cp a.jar:b.jar` or `-javaagent:a.jar=x`.
        let parts = words.iter().flat_map(|word| word.split([':', '=', ',']));
        let named = parts.filter(|part| part.ends_with(".jar") || part.ends_with(".war"));
        let folder = self.folder.unwrap_or_else(|| Path::new(""));
        found.chain(named.map(|part| folder.join(part))).filter(|path| path.is_file()).collect()
    }

    /// The source files of a peer, because each session builds it again.
    fn sources(&self, began: Option<Timestamp>) -> Vec<PathBuf> {
        let Some(Server::Peer(peer)) = self.server else { return Vec::new() };
        build::find(&peer.peer).map(|folder| files_below(&folder, began)).unwrap_or_default()
    }
}

/// The files below a folder, without those that a peer builds or writes: they are in `target`, or in a folder made by a run.
fn files_below(folder: &Path, began: Option<Timestamp>) -> Vec<PathBuf> {
    let was_there =
        |folder: &Path| made_at_s(folder).zip(began).is_none_or(|(made, at)| made < at.as_second());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let seen = entries
        .filter(|it| it.file_name() != "target" && !it.file_name().as_encoded_bytes().starts_with(b"."));
    seen.flat_map(|entry| match entry.file_type() {
        Ok(it) if it.is_dir() && was_there(&entry.path()) => files_below(&entry.path(), began),
        Ok(it) if !it.is_dir() => vec![entry.path()],
        _ => Vec::new(),
    })
    .collect()
}

/// When a folder was made, in whole seconds since 1970, because the clock of files is some milliseconds late. If the file system does not
/// store it, the oldest change of the folder and its content.
fn made_at_s(folder: &Path) -> Option<i64> {
    let of_folder = folder.metadata().ok()?;
    if let Ok(made) = of_folder.created().map(Timestamp::try_from) {
        return made.ok().map(Timestamp::as_second);
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let changes = entries.filter_map(|it| it.metadata().ok()).map(|it| it.mtime());
    changes.chain([of_folder.mtime()]).min()
}

/// A program. For `java` also the files of its runtime.
fn with_java(program: PathBuf) -> Vec<PathBuf> {
    let java = fs::canonicalize(&program).ok().filter(|path| path.ends_with("bin/java"));
    let home = java.as_deref().and_then(Path::parent).and_then(Path::parent);
    let of_java = home.into_iter().flat_map(|home| OF_JAVA.map(|file| home.join(file)));
    let all: Vec<PathBuf> = of_java.collect();
    all.into_iter().chain([program]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_back_is_named_and_one_that_went_on_is_not() {
        let at = |started_at: &str| Record { started_at: started_at.to_owned(), ..Record::default() };
        let runs = [at("2026-11-27T20:00:00Z"), at("2026-11-27T20:10:00Z"), at("")];
        let named = |now: &str| clock_set_back(&runs, now.parse().unwrap());
        let why = "the clock: the last run began at 2026-11-27T20:10:00Z, and it is 2026-11-27T19:30:00Z now";
        assert_eq!(named("2026-11-27T19:30:00Z").as_deref(), Some(why));
        assert_eq!(named("2026-11-27T20:11:00Z"), None);
        assert_eq!(clock_set_back(&[], Timestamp::UNIX_EPOCH), None);
    }
}
