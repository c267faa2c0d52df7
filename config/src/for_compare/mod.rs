//! `threadcount compare`: an experiment without a file.

pub mod asked;
pub mod error;
mod jdks;
mod other_frameworks;
#[cfg(test)]
mod sample;
mod service;
mod service_variant;

use asked::{CompareAsked, Compared, Surroundings};
use error::CompareError;
use std::borrow::Cow;
use std::path::Path;
use threadcount_model::experiment::protocol::AT_MOST;
use threadcount_model::experiment::{
    CommandServer, Experiment, LoadSpec, Protocol, RequestSpec, Server, Subject, Variant,
};
use threadcount_servers::placeholders::PORT;

/// The experiment that `threadcount compare` runs.
///
/// # Errors
/// Too few variants, names that are none or written twice, a URL that is none, a service that has no choice of threads.
pub fn experiment(asked: CompareAsked) -> Result<Experiment, CompareError> {
    check_commands_around(&asked.surroundings)?;
    if let Some(ready) = asked.ready.as_ref().filter(|ready| !is_path(ready)) {
        return Err(CompareError::Ready(ready.clone()));
    }
    let variants = match &asked.compared {
        Compared::Commands(commands) => of_commands(commands, &asked)?,
        Compared::Targets(targets) => of_targets(targets, &asked)?,
        service => of_service(service, &asked)?,
    };
    let question = question(&asked.compared, &variants);
    let variants = jdks::on_each(variants, &asked.surroundings.jdks)?;
    let variants = variants.into_iter().map(|variant| surrounded(variant, &asked)).collect();
    let load = LoadSpec {
        runs: asked.runs.unwrap_or(AT_MOST),
        protocol: asked.runs.map_or(Protocol::adaptive(false), |_| Protocol::Fixed { drop: 0 }),
        ..asked.load
    };
    let mut experiment = Experiment {
        name: "compare".to_owned(),
        question,
        study: None,
        variants,
        loads: vec![load],
        warmup_s: 0.0,
        warmup_auto: false,
        crossover: asked.crossover,
        budget_s: asked.budget_s,
        published: Vec::new(),
        claims: Vec::new(),
        unavailable: Vec::new(),
        cores: None,
        quick: false,
    };
    experiment.set_warmup(asked.warmup);
    Ok(experiment)
}

fn of_commands(commands: &[(String, String)], asked: &CompareAsked) -> Result<Vec<Variant>, CompareError> {
    check_names(commands, &asked.url)?;
    let no_effect =
        |flag: &'static str, help: &'static str| CompareError::NoEffect { flag, kind: "--variant", help };
    if asked.surroundings.args.is_some() {
        return Err(no_effect("--args", "write the arguments in each command"));
    }
    let (base, path) = split_url(&asked.url).ok_or_else(|| CompareError::Url(asked.url.clone()))?;
    let ready = asked.ready.clone().unwrap_or_else(|| RequestSpec::get(&path).sample_path());
    if !is_path(&ready) {
        return Err(CompareError::Ready(ready));
    }
    let variant = |(name, command): &(String, String)| Variant {
        note: Some(command.clone()),
        ..Variant::new(
            name,
            Server::Command(CommandServer {
                command: command.clone(),
                url: base.clone(),
                ready: ready.clone(),
            }),
        )
    };
    Ok(commands.iter().map(variant).collect())
}

fn of_targets(targets: &[(String, String)], asked: &CompareAsked) -> Result<Vec<Variant>, CompareError> {
    let Surroundings { jdks, jvm, args, env, .. } = &asked.surroundings;
    let of_a_start = [
        ("--jdk", !jdks.is_empty()),
        ("--jvm", !jvm.is_empty()),
        ("--args", args.is_some()),
        ("--env", !env.is_empty()),
        ("--health", asked.ready.is_some()),
    ];
    if let Some((flag, _)) = of_a_start.into_iter().find(|(_, is_written)| *is_written) {
        let (kind, help) = ("--target-url", "leave it out: these servers run already");
        return Err(CompareError::NoEffect { flag, kind, help });
    }
    check_path(asked)?;
    let names: Vec<&str> = targets.iter().map(|(name, _)| name.as_str()).collect();
    check_distinct("--target-url", &names)?;
    let twice = |place: &usize| targets[..*place].iter().any(|(_, url)| url == &targets[*place].1);
    if let Some(place) = (0..targets.len()).find(twice)
        && asked.surroundings.before.is_none()
    {
        return Err(CompareError::SameTarget(targets[place].1.clone()));
    }
    targets.iter().map(|(name, url)| Ok(Variant::new(name, target(url)?))).collect()
}

/// A server that runs at this address.
///
/// # Errors
/// It is no base URL.
pub(crate) fn target(url: &str) -> Result<Subject, CompareError> {
    let known = threadcount_servers::target::at(url).filter(|_| !url.contains(PORT));
    known.map(Subject::Target).ok_or_else(|| CompareError::Target(url.to_owned()))
}

fn check_path(asked: &CompareAsked) -> Result<(), CompareError> {
    let flag = asked.compared.flag();
    if is_path(&asked.url) { Ok(()) } else { Err(CompareError::NoPath { url: asked.url.clone(), flag }) }
}

fn of_service(service: &Compared, asked: &CompareAsked) -> Result<Vec<Variant>, CompareError> {
    check_path(asked)?;
    let path = RequestSpec::get(&asked.url).sample_path();
    service::variants(service, asked.ready.as_deref(), &path, &asked.surroundings)
}

/// With what all variants share; what a variant sets itself has precedence.
fn surrounded(mut variant: Variant, asked: &CompareAsked) -> Variant {
    let Surroundings { jvm, env, workdir, before, after, .. } = asked.surroundings.clone();
    let own = std::mem::replace(&mut variant.env, env);
    variant.env.extend(own);
    Variant { jvm, workdir, before, after, ready_is_written: asked.ready.is_some(), ..variant }
}

fn question(compared: &Compared, variants: &[Variant]) -> String {
    match compared {
        Compared::Commands(_) | Compared::Targets(_) | Compared::Quarkus(_) => {
            let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
            format!("What changes between {}?", names.join(" and "))
        }
        Compared::SpringBoot(archive) | Compared::War(archive) => {
            format!("What do virtual threads change for {}?", file_name(archive))
        }
        Compared::Helidon(jar) => {
            format!("What does a limit of the requests at once change for {}?", file_name(jar))
        }
    }
}

fn file_name(archive: &Path) -> Cow<'_, str> {
    archive.file_name().unwrap_or(archive.as_os_str()).to_string_lossy()
}

fn check_names(commands: &[(String, String)], url: &str) -> Result<(), CompareError> {
    let names: Vec<&str> = commands.iter().map(|(name, _)| name.as_str()).collect();
    check_distinct("--variant", &names)?;
    for (name, command) in commands {
        if url.contains(PORT) && !command.contains(PORT) {
            return Err(CompareError::PortUnsaid(name.clone()));
        }
    }
    Ok(())
}

/// At least two names, each of which is one and its own.
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

/// `http://user@host:port/path?query` → (`http://host:port`, `/path?query`).
fn split_url(url: &str) -> Option<(String, String)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if !matches!(scheme, "http" | "https") || host.is_empty() || url.contains(char::is_whitespace) {
        return None;
    }
    let slash = if path.starts_with('/') { "" } else { "/" };
    Some((format!("{scheme}://{host}"), format!("{slash}{path}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use threadcount_model::experiment::LoadKind;
    use threadcount_model::experiment::warm_up::WarmUpTime;

    fn asked(url: &str, variants: &[(&str, &str)]) -> CompareAsked {
        let commands = variants.iter().map(|&(name, command)| (name.into(), command.into())).collect();
        CompareAsked {
            url: url.into(),
            compared: Compared::Commands(commands),
            surroundings: Surroundings::default(),
            load: LoadSpec::new("c64", LoadKind::Closed { clients: 64 }, RequestSpec::get("/a?b=c")),
            runs: None,
            crossover: false,
            budget_s: None,
            warmup: WarmUpTime::AtMost(10.0),
            ready: None,
        }
    }

    #[test]
    fn the_path_of_the_url_is_what_is_asked_and_what_says_ready() {
        let variants = [("before", "run --port {port}"), ("after", "run --new --port {port}")];
        let experiment =
            super::experiment(asked("http://127.0.0.1:{port}/a?b=c", &variants)).expect("an experiment");
        assert_eq!(experiment.loads[0].request.path, "/a?b=c");
        assert_eq!(experiment.loads[0].name, "c64");
        let expected = Server::Command(CommandServer {
            command: "run --port {port}".into(),
            url: "http://127.0.0.1:{port}".into(),
            ready: "/a?b=c".into(),
        });
        assert_eq!(experiment.variants[0].server(), Some(&expected));
        assert_eq!(experiment.question, "What changes between before and after?");
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let url = "http://127.0.0.1:8080";
        let error = |url: &str, variants: &[(&str, &str)]| {
            super::experiment(asked(url, variants)).expect_err("an error")
        };
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
        let unsaid = error("http://h:{port}", &[("a", "x {port}"), ("b", "y")]);
        assert_eq!(unsaid, CompareError::PortUnsaid("b".into()));
        assert!(unsaid.to_string().contains("has `{port}`"), "{unsaid}");
    }

    #[test]
    fn servers_that_run_already_are_compared_at_their_addresses() {
        let at = |url: &str, targets: &[(&str, &str)]| {
            let targets = targets.iter().map(|&(name, url)| (name.into(), url.into())).collect();
            CompareAsked { compared: Compared::Targets(targets), ..asked(url, &[]) }
        };
        let two = [("old", "http://10.0.0.7:8080/"), ("new", "https://new.test")];
        let experiment = super::experiment(at("/a?b=c", &two)).expect("an experiment");
        let urls: Vec<_> =
            experiment.variants.iter().map(|it| it.target().unwrap().target_url.as_str()).collect();
        assert_eq!(urls, ["http://10.0.0.7:8080", "https://new.test"]);
        assert_eq!(experiment.question, "What changes between old and new?");
        let error = |asked| super::experiment(asked).expect_err("an error").to_string();
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
        let experiment = super::experiment(asked.clone()).unwrap();
        let names: Vec<&str> = experiment.variants.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["a-21", "b-21", "a-25", "b-25"]);
        for variant in &experiment.variants {
            assert_eq!(
                (&variant.jvm, &variant.env, &variant.workdir),
                (&around.jvm, &around.env, &around.workdir)
            );
            assert_eq!((&variant.before, &variant.after), (&around.before, &around.after));
        }
        let with =
            |surroundings| super::experiment(CompareAsked { surroundings, ..asked.clone() }).unwrap_err();
        let before = Surroundings { before: Some("wait {port}".into()), ..Surroundings::default() };
        assert_eq!(with(before), CompareError::PortOutside("--before"));
        let args = Surroundings { args: Some("--x".into()), ..Surroundings::default() };
        assert_eq!(with(args).to_string(), "--args has no effect with --variant");
    }
}
