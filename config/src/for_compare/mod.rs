//! `threadcount compare`: the document of an experiment, made of flags. `run` reads the same document from a file.

pub mod asked;
mod commands;
pub mod document;
pub mod error;
mod flow;
mod jdks;
mod load;
mod other_frameworks;
#[cfg(test)]
mod sample;
mod service;
pub(super) mod targets;
mod variant_keys;

use asked::{CompareAsked, Compared, Surroundings};
use document::CompareDocument;
use error::CompareError;
use flow::{Entry, entry, scalar, seconds};
use std::borrow::Cow;
use std::path::Path;
use threadcount_model::experiment::RequestSpec;
use threadcount_model::experiment::warm_up::WarmUpTime;
use threadcount_servers::placeholders::{BACKEND, PORT, unknown_backend};
use variant_keys::{VariantKeys, Variants};

/// The document of what `threadcount compare` runs.
///
/// # Errors
/// Too few variants, names that are invalid or repeated, an invalid URL, a service whose threads cannot be chosen.
pub fn document(asked: &CompareAsked) -> Result<CompareDocument, CompareError> {
    check_commands_around(&asked.surroundings)?;
    if let Some(ready) = asked.ready.as_ref().filter(|ready| !is_path(ready)) {
        return Err(CompareError::Ready(ready.clone()));
    }
    let around = &asked.surroundings;
    if asked.compared.is_service() {
        check_path(asked)?;
        service::check(&asked.compared, around)?;
    }
    let Variants { mut server, port_variable, each } = match &asked.compared {
        Compared::Commands(commands) => commands::variants(commands, asked)?,
        Compared::Targets(targets) => targets::variants(targets, asked)?,
        Compared::SpringBoot(jar) => service::spring_boot(jar, around, asked.load.clients())?,
        Compared::War(war) => service::war(war, asked.ready.is_some(), around, asked.load.clients())?,
        Compared::Quarkus(builds) => other_frameworks::quarkus(builds, around)?,
        Compared::Helidon(jar) => other_frameworks::helidon(jar, around)?,
    };
    check_no_backend(asked)?;
    server.extend(ready(asked).map(|path| entry("ready", scalar(&path))));
    let mut env = around.env.clone();
    env.extend(port_variable.map(|name| (name.to_owned(), PORT.to_owned())));
    Ok(CompareDocument {
        question: question(&asked.compared, &each),
        shared: shared(&server, around, &env.into_iter().collect::<Vec<_>>()),
        variants: jdks::on_each(each, &around.jdks)?,
        session: session(asked),
        load: asked.load.clone(),
        has_health: asked.ready.is_some(),
    })
}

/// The keys above the variants.
fn shared(server: &[Entry], around: &Surroundings, env: &[Entry]) -> Vec<Entry> {
    let jdk = match around.jdks[..] {
        [jdk] => Some(entry("jdk", jdk.to_string())),
        _ => None,
    };
    variant_keys::server(server)
        .into_iter()
        .chain(jdk)
        .chain(variant_keys::surroundings(around))
        .chain(variant_keys::environment(env))
        .collect()
}

/// Warm-up, rounds and budget, each with a comment.
fn session(asked: &CompareAsked) -> Vec<(Entry, &'static str)> {
    let warmup = match asked.warmup {
        WarmUpTime::Auto => "auto".to_owned(),
        WarmUpTime::AtMost(longest_s) => seconds(longest_s),
    };
    let budget = asked.budget_s.map(|budget_s| entry("budget", seconds(budget_s)));
    let runs = asked.runs.map(|runs| entry("runs", runs.to_string()));
    let keys = [
        (Some(entry("warmup", warmup)), "how long each server is warmed up, at most"),
        (
            asked.crossover.then(|| entry("crossover", "true")),
            "kinds of thread are compared inside two JVMs, and not in fresh ones",
        ),
        (budget, "no round begins that would end later"),
        (runs, "exactly so many rounds"),
        (asked.runs.map(|_| entry("drop", "0")), "no round is left out"),
    ];
    keys.into_iter().filter_map(|(key, comment)| Some((key?, comment))).collect()
}

/// The readiness path, if it does not follow from the requests: with `--targets` the requests do not use the URL's path.
fn ready(asked: &CompareAsked) -> Option<String> {
    let path = match &asked.compared {
        Compared::Targets(_) | Compared::War(_) => return None,
        Compared::Commands(_) => commands::split_url(&asked.url)?.1,
        Compared::SpringBoot(_) | Compared::Quarkus(_) | Compared::Helidon(_) => asked.url.clone(),
    };
    let of_url = || Some(RequestSpec::get(&path).sample_path());
    asked.ready.clone().or_else(|| of_url().filter(|path| *path != asked.load.request.sample_path()))
}

fn check_path(asked: &CompareAsked) -> Result<(), CompareError> {
    let flag = asked.compared.flag();
    if is_path(&asked.url) { Ok(()) } else { Err(CompareError::NoPath { url: asked.url.clone(), flag }) }
}

/// Refuses the address of a backend in a flag, because no flag starts a backend.
fn check_no_backend(asked: &CompareAsked) -> Result<(), CompareError> {
    let Surroundings { jvm, args, env, before, after, .. } = &asked.surroundings;
    let commands: &[(String, String)] = match &asked.compared {
        Compared::Commands(commands) => commands,
        _ => &[],
    };
    let texts = (commands.iter().map(|(_, command)| ("--variant", command)))
        .chain(args.iter().map(|args| ("--args", args)))
        .chain(env.values().map(|value| ("--env", value)))
        .chain(jvm.iter().map(|jvm| ("--jvm", jvm)))
        .chain(before.iter().map(|command| ("--before", command)))
        .chain(after.iter().map(|command| ("--after", command)));
    let named = |text: &str| {
        let only = text.contains(BACKEND).then(|| BACKEND.to_owned());
        only.or_else(|| Some(format!("{{{}}}", unknown_backend(text, &[])?)))
    };
    let mut found = texts.filter_map(|(flag, text)| Some(CompareError::Backend { flag, text: named(text)? }));
    found.next().map_or(Ok(()), Err)
}

fn question(compared: &Compared, variants: &[VariantKeys]) -> String {
    match compared {
        Compared::Commands(_) | Compared::Targets(_) | Compared::Quarkus(_) => {
            let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
            format!("What changes between {}?", names.join(" and "))
        }
        Compared::SpringBoot(archive) | Compared::War(archive) => {
            format!("Do virtual threads help {}?", file_name(archive))
        }
        Compared::Helidon(jar) => {
            format!("What does a limit of the requests at once change for {}?", file_name(jar))
        }
    }
}

fn file_name(archive: &Path) -> Cow<'_, str> {
    archive.file_name().unwrap_or(archive.as_os_str()).to_string_lossy()
}

/// Checks that there are at least two names, all valid and different.
fn check_distinct(flag: &'static str, names: &[&str]) -> Result<(), CompareError> {
    if names.len() < 2 {
        return Err(CompareError::TooFew);
    }
    for (index, &name) in names.iter().enumerate() {
        if !crate::is_name(name) {
            return Err(CompareError::Name { flag, name: name.to_owned() });
        }
        if names[..index].contains(&name) {
            return Err(CompareError::Twice { flag, name: name.to_owned() });
        }
    }
    Ok(())
}

fn check_commands_around(surroundings: &Surroundings) -> Result<(), CompareError> {
    let both = [("--before", &surroundings.before), ("--after", &surroundings.after)];
    let outside = both.into_iter().find(|(_, command)| command.as_ref().is_some_and(|it| it.contains(PORT)));
    outside.map_or(Ok(()), |(flag, _)| Err(CompareError::PortOutside(flag)))
}

fn is_path(text: &str) -> bool {
    text.starts_with('/') && !text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::sample::experiment;
    use super::*;
    use std::collections::BTreeMap;
    use threadcount_model::experiment::{CommandServer, Server};

    fn asked(url: &str, variants: &[(&str, &str)]) -> CompareAsked {
        let commands = variants.iter().map(|&(name, command)| (name.into(), command.into())).collect();
        let mut asked = sample::asked(url, Compared::Commands(commands));
        asked.load.request = RequestSpec::get("/a?b=c");
        asked
    }

    #[test]
    fn the_path_of_the_url_is_what_is_asked_and_what_says_ready() {
        let variants = [("before", "run --port {port}"), ("after", "run --new --port {port}")];
        let made = experiment(&asked("http://127.0.0.1:{port}/a?b=c", &variants)).expect("an experiment");
        assert_eq!(made.loads[0].request.path, "/a?b=c");
        assert_eq!(made.loads[0].name, "c64");
        let expected = Server::Command(CommandServer {
            command: "run --port {port}".into(),
            url: "http://127.0.0.1:{port}".into(),
            ready: "/a?b=c".into(),
        });
        assert_eq!(made.variants[0].server(), Some(&expected));
        assert_eq!(made.question, "What changes between before and after?");
    }

    #[test]
    fn the_path_of_a_url_beside_other_requests_may_respond_with_anything_and_that_of_health_may_not() {
        let mut asked = asked("http://127.0.0.1:{port}/up", &[("a", "x {port}"), ("b", "y {port}")]);
        let ready = |asked: &CompareAsked| {
            let variant = experiment(asked).unwrap().variants.remove(0);
            (variant.server().and_then(Server::ready).map(str::to_owned), variant.ready_is_written)
        };
        assert_eq!(ready(&asked), (Some("/up".to_owned()), false));
        asked.ready = Some("/health".to_owned());
        assert_eq!(ready(&asked), (Some("/health".to_owned()), true));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let url = "http://127.0.0.1:8080";
        let error =
            |url: &str, variants: &[(&str, &str)]| experiment(&asked(url, variants)).expect_err("an error");
        assert_eq!(error(url, &[("a", "x")]), CompareError::TooFew);
        assert_eq!(
            error(url, &[("a", "x"), ("a", "y")]),
            CompareError::Twice { flag: "--variant", name: "a".into() }
        );
        assert_eq!(
            error(url, &[("a", "x"), ("b c", "y")]),
            CompareError::Name { flag: "--variant", name: "b c".into() }
        );
        assert_eq!(
            error("127.0.0.1:80", &[("a", "x"), ("b", "y")]),
            CompareError::Url("127.0.0.1:80".into())
        );
        let not_named = error("http://h:{port}", &[("a", "x {port}"), ("b", "y")]);
        assert_eq!(not_named, CompareError::PortNotNamed("b".into()));
        assert!(not_named.to_string().contains("has `{port}`"), "{not_named}");
    }

    #[test]
    fn servers_that_run_already_are_compared_at_their_addresses() {
        let at = |url: &str, targets: &[(&str, &str)]| {
            let targets = targets.iter().map(|&(name, url)| (name.into(), url.into())).collect();
            CompareAsked { compared: Compared::Targets(targets), ..asked(url, &[]) }
        };
        let two = [("old", "http://10.0.0.7:8080/"), ("new", "https://new.test")];
        let made = experiment(&at("/a?b=c", &two)).expect("an experiment");
        let urls: Vec<_> = made.variants.iter().map(|it| it.target().unwrap().target_url.as_str()).collect();
        assert_eq!(urls, ["http://10.0.0.7:8080", "https://new.test"]);
        assert_eq!(made.question, "What changes between old and new?");
        let error = |asked: CompareAsked| experiment(&asked).expect_err("an error").to_string();
        assert!(error(at("http://h/", &two)).contains("with --target-url it is a path"));
        assert!(error(at("/", &[two[0], ("new", "new.test")])).contains("--target-url new.test"));
        assert!(error(at("/", &[two[0], ("new", "http://h/path")])).contains("http://h/path"));
        assert_eq!(error(at("/", &[two[0], two[0]])), "--target-url old: two variants have this name");
        let surroundings = Surroundings { jdks: vec![25], ..Surroundings::default() };
        let with_jdk = CompareAsked { surroundings, ..at("/", &two) };
        assert_eq!(error(with_jdk), "--jdk has no effect with --target-url");
    }

    #[test]
    fn what_surrounds_a_server_is_that_of_all_variants() {
        let around = Surroundings {
            jdks: vec![21, 25],
            jvm: vec!["-Xmx64m".into()],
            env: BTreeMap::from([("A".to_owned(), "b".to_owned())]),
            workdir: Some("/some".into()),
            before: Some("seed".into()),
            after: Some("drop".into()),
            ..Surroundings::default()
        };
        let commands = [("a", "x {port}"), ("b", "y {port}")];
        let asked = CompareAsked { surroundings: around.clone(), ..asked("http://h:{port}/", &commands) };
        let made = experiment(&asked).unwrap();
        let names: Vec<&str> = made.variants.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["a-21", "b-21", "a-25", "b-25"]);
        for variant in &made.variants {
            assert_eq!(
                (&variant.jvm, &variant.env, &variant.workdir),
                (&around.jvm, &around.env, &around.workdir)
            );
            assert_eq!((&variant.before, &variant.after), (&around.before, &around.after));
        }
        let with = |surroundings| experiment(&CompareAsked { surroundings, ..asked.clone() }).unwrap_err();
        let before = Surroundings { before: Some("wait {port}".into()), ..Surroundings::default() };
        assert_eq!(with(before), CompareError::PortOutside("--before"));
        let backend = Surroundings { jvm: vec!["-Durl={shop.url}".into()], ..Surroundings::default() };
        assert_eq!(
            with(backend).to_string(),
            "--jvm: `{shop.url}` is the address of a backend, and compare starts none"
        );
        let args = Surroundings { args: Some("--x".into()), ..Surroundings::default() };
        assert_eq!(with(args).to_string(), "--args has no effect with --variant");
    }
}
