//! The variants of a service: which settings choose its threads, and how it gets its port.

use super::asked::{Compared, Surroundings};
use super::error::CompareError;
use super::flow::{entry, list, scalar};
use super::variant_keys::{VariantKeys, Variants, arguments, jar};
use std::path::Path;
use threadcount_machine::app;
use threadcount_machine::spring_boot::{EmbeddedServer, SpringBootJar};
use threadcount_model::experiment::thread_settings::{
    JETTY_POOL_VARIABLE, LIMIT_JAR, LIMIT_VARIABLE, SPRING_VARIABLE, TOMCAT_POOL_VARIABLE,
    UNDERTOW_POOL_VARIABLE,
};
use threadcount_servers::placeholders::PORT;
use threadcount_servers::threads::{DEFAULT_QUEUE, DEFAULT_QUEUE_TIMEOUT_MS, FIRST_WITH_VIRTUAL_THREADS};

/// The version of Tomcat on which a WAR runs.
const TOMCAT: &str = "11.0";

/// The page that describes the limit.
const LIMIT: &str = "docs/how-to/limit-virtual-threads.md";

/// The default number of threads in the pools of Tomcat and Jetty.
const USUAL_POOL: u32 = 200;
/// The default threads of Undertow per core, for at least two cores.
const UNDERTOW_THREADS_PER_CORE: u32 = 8;

/// Refuses a Java without virtual threads, and a port that the user chooses.
pub(super) fn check(compared: &Compared, surroundings: &Surroundings) -> Result<(), CompareError> {
    match surroundings.jdks.iter().find(|&&jdk| jdk < FIRST_WITH_VIRTUAL_THREADS) {
        Some(&jdk) => Err(CompareError::JdkTooOld(jdk)),
        None => check_port(compared, surroundings),
    }
}

/// Refuses arguments and system properties that set the port, because they override the environment variable by which we set it.
fn check_port(compared: &Compared, surroundings: &Surroundings) -> Result<(), CompareError> {
    let args = surroundings.args.iter().flat_map(|args| args.split_whitespace());
    let args = args.map(|setting| ("--args", setting));
    let jvm = surroundings.jvm.iter().map(|setting| ("--jvm", setting.as_str()));
    let ours: &[(&str, &str)] = match compared {
        Compared::SpringBoot(_) => &[("--args", "--server.port"), ("--jvm", "-Dserver.port")],
        Compared::Quarkus(_) => &[("--jvm", "-Dquarkus.http.port")],
        Compared::Helidon(_) => &[("--jvm", "-Dserver.port")],
        Compared::War(_) | Compared::Commands(_) | Compared::Targets(_) => &[],
    };
    let mut settings = args.chain(jvm).filter(|(_, setting)| !setting.contains(PORT));
    let chosen = settings
        .find(|(flag, setting)| ours.contains(&(flag, setting.split('=').next().unwrap_or_default())));
    chosen
        .map_or(Ok(()), |(flag, setting)| Err(CompareError::PortChosen { flag, setting: setting.to_owned() }))
}

/// The variants of a Spring Boot application. They set environment variables, which override Spring Boot's files and which every application passes on.
pub(super) fn spring_boot(
    archive: &Path,
    surroundings: &Surroundings,
    clients: u32,
) -> Result<Variants, CompareError> {
    let application = readable(archive)?;
    let on = |are_virtual: bool, mut keys: VariantKeys| {
        keys.env.push(entry(SPRING_VARIABLE, are_virtual.to_string()));
        keys
    };
    let mut each = vec![
        on(false, VariantKeys::new("platform", "platform threads, as the application configures them")),
        on(true, VariantKeys::new("virtual", "the same with spring.threads.virtual.enabled=true")),
    ];
    each.extend(own_pool(&application, surroundings).filter(|(_, own)| *own < clients).map(
        |(variable, _)| {
            let mut sized = on(false, VariantKeys::sized());
            sized.env.push(entry(variable, clients.to_string()));
            sized
        },
    ));
    each.extend(surroundings.limit.map(|limit| {
        let mut bounded = on(true, VariantKeys::limited(limit, LIMIT));
        bounded.env.push(entry(LIMIT_VARIABLE, limit.to_string()));
        bounded.server.push(entry("class_path", list([scalar(LIMIT_JAR)])));
        bounded.skipped = why_no_limit(&application);
        bounded
    }));
    Ok(Variants {
        server: std::iter::once(jar(archive)).chain(arguments(surroundings)).collect(),
        port_variable: Some("SERVER_PORT"),
        each,
    })
}

/// The variable for the pool size of the server, and the size without it: from the flags, or else the server's default, because the
/// application's files are not read. `None`: a variable cannot set the size.
fn own_pool(application: &SpringBootJar, surroundings: &Surroundings) -> Option<(&'static str, u32)> {
    let cores = || std::thread::available_parallelism().map_or(2, |it| it.get() as u32);
    let (variable, usual) = match application.server? {
        EmbeddedServer::Tomcat => (TOMCAT_POOL_VARIABLE, USUAL_POOL),
        EmbeddedServer::Jetty => (JETTY_POOL_VARIABLE, USUAL_POOL),
        EmbeddedServer::Undertow => (UNDERTOW_POOL_VARIABLE, UNDERTOW_THREADS_PER_CORE * cores().max(2)),
        EmbeddedServer::Netty => return None,
    };
    // An argument or a system property overrides the variable.
    let property = variable.to_lowercase().replace('_', ".");
    let mut settings = surroundings.args.iter().chain(&surroundings.jvm).flat_map(|it| it.split_whitespace());
    if settings.any(|it| it.trim_start_matches("--").trim_start_matches("-D").starts_with(&property)) {
        return None;
    }
    let set = surroundings.env.get(variable).and_then(|it| it.parse().ok());
    Some((variable, set.unwrap_or(usual)))
}

/// The contents of the jar, if Spring Boot's property for virtual threads changes its server's threads.
fn readable(jar: &Path) -> Result<SpringBootJar, CompareError> {
    let refused = |why: String, help: &'static str| {
        let path = jar.display().to_string();
        CompareError::Archive { flag: "--spring-boot", path, why, help }
    };
    let read = SpringBootJar::read(jar);
    let read = read.map_err(|why| refused(why.to_string(), "write the path of the application's jar"))?;
    let application = read.ok_or_else(|| {
        let help = "the build makes it: `mvn package` with spring-boot-maven-plugin, or `gradle bootJar`; for another \
            server write --variant NAME='COMMAND'";
        refused("it is not the runnable jar of a Spring Boot application".to_owned(), help)
    })?;
    if !application.knows_virtual_threads() {
        let why = format!("Spring Boot {} has no spring.threads.virtual.enabled", application.version);
        return Err(refused(why, "it came with Spring Boot 3.2"));
    }
    if !application.changes_its_threads() {
        let server = application.server.map_or("no server that is known here", EmbeddedServer::name);
        let why = format!("it has {server} inside, whose threads the property does not change");
        let help = "compare it with another application: --variant NAME='COMMAND' for each";
        return Err(refused(why, help));
    }
    Ok(application)
}

/// The reason why our limit cannot be added to an application from outside; `None`: it can.
fn why_no_limit(application: &SpringBootJar) -> Option<String> {
    match application.server {
        Some(EmbeddedServer::Tomcat) => {}
        Some(other) => {
            return Some(format!("the limit is for Tomcat, and the application has {} inside", other.name()));
        }
        None => return Some("the limit is for Tomcat".to_owned()),
    }
    if !application.can_be_extended {
        return Some("the jar cannot be given another one from outside".to_owned());
    }
    app::find_jar(LIMIT_JAR).err().map(|missing| missing.to_string())
}

/// The variants of a WAR, which configure the connector of a Tomcat that we install.
pub(super) fn war(
    war: &Path,
    has_ready: bool,
    surroundings: &Surroundings,
    clients: u32,
) -> Result<Variants, CompareError> {
    let no_effect =
        |flag: &'static str, help: &'static str| Err(CompareError::NoEffect { flag, kind: "--war", help });
    if surroundings.args.is_some() {
        return no_effect("--args", "configure the application with --env or --jvm");
    }
    if has_ready {
        return no_effect(
            "--health",
            "leave it out: Tomcat is ready when it responds, with the application deployed",
        );
    }
    let is_war = war.extension().is_some_and(|it| it == "war");
    if !is_war || !war.is_file() {
        return Err(CompareError::Archive {
            flag: "--war",
            path: war.display().to_string(),
            why: "there is no such file with the ending .war".to_owned(),
            help: "write the path of a web application for Jakarta EE (Tomcat 11); `mvn package` makes it",
        });
    }
    let on = |threads: &str, keys: VariantKeys| VariantKeys { threads: Some(threads.to_owned()), ..keys };
    let mut each = vec![
        on("platform", VariantKeys::new("platform", "200 platform threads, Tomcat's default")),
        on("virtual", VariantKeys::new("virtual", "a virtual thread per request")),
    ];
    each.extend((USUAL_POOL < clients).then(|| on("{platform: clients}", VariantKeys::sized())));
    each.extend(surroundings.limit.map(|limit| {
        let queue = format!("queue: {DEFAULT_QUEUE}, queue_timeout: {DEFAULT_QUEUE_TIMEOUT_MS}ms");
        on(&format!("{{virtual: {{bound: {limit}, {queue}}}}}"), VariantKeys::limited(limit, LIMIT))
    }));
    Ok(Variants {
        server: vec![
            entry("tomcat", format!("\"{TOMCAT}\"")),
            entry("app", scalar(&war.display().to_string())),
        ],
        port_variable: None,
        each,
    })
}

#[cfg(test)]
mod tests;
