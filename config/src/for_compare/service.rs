//! The variants of a service: which settings choose its threads, and how it gets its port.

use super::asked::{Compared, Surroundings};
use super::error::CompareError;
use super::flow::{entry, list, scalar};
use super::variant_keys::{BOUND, VariantKeys, Variants, arguments, jar};
use std::path::Path;
use threadcount_machine::app;
use threadcount_machine::spring_boot::{EmbeddedServer, SpringBootJar};
use threadcount_model::experiment::thread_settings::{LIMIT_JAR, LIMIT_VARIABLE, SPRING_VARIABLE};
use threadcount_servers::placeholders::PORT;
use threadcount_servers::threads::{DEFAULT_QUEUE, DEFAULT_QUEUE_TIMEOUT_MS, FIRST_WITH_VIRTUAL_THREADS};

/// The line of Tomcat that a WAR runs on.
const TOMCAT: &str = "11.0";

const BOUND_NOTE: &str =
    "virtual threads, at most 200 requests at once (docs/how-to/limit-virtual-threads.md)";

/// Refuses a Java without virtual threads, and a port that the user chooses.
pub(super) fn check(compared: &Compared, surroundings: &Surroundings) -> Result<(), CompareError> {
    match surroundings.jdks.iter().find(|&&jdk| jdk < FIRST_WITH_VIRTUAL_THREADS) {
        Some(&jdk) => Err(CompareError::JdkTooOld(jdk)),
        None => check_port(compared, surroundings),
    }
}

/// Arguments and system properties go before the environment, by which a service gets its port.
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

/// By variables of the environment, which Spring Boot puts before its files, and which an application cannot forget to pass on.
pub(super) fn spring_boot(archive: &Path, surroundings: &Surroundings) -> Result<Variants, CompareError> {
    let application = readable(archive)?;
    let with = |name: &str, note: &str, are_virtual: bool| VariantKeys {
        env: vec![entry(SPRING_VARIABLE, are_virtual.to_string())],
        ..VariantKeys::new(name, note)
    };
    let mut bounded = with("virtual-bounded", BOUND_NOTE, true);
    bounded.env.push(entry(LIMIT_VARIABLE, BOUND.to_string()));
    bounded.server.push(entry("class_path", list([scalar(LIMIT_JAR)])));
    bounded.compare_with = Some("virtual".to_owned());
    bounded.skipped = why_no_limit(&application);
    Ok(Variants {
        server: std::iter::once(jar(archive)).chain(arguments(surroundings)).collect(),
        port_variable: Some("SERVER_PORT"),
        each: vec![
            with("platform", "platform threads, as the application configures them", false),
            with("virtual", "the same with spring.threads.virtual.enabled=true", true),
            bounded,
        ],
    })
}

/// What is in the jar, if the property makes a difference to it.
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

/// Why an application cannot have our limit from outside; `None`: it can.
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

/// On a Tomcat of ours, whose connector the variants configure.
pub(super) fn war(
    war: &Path,
    has_ready: bool,
    surroundings: &Surroundings,
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
    let with = |name: &str, note: &str, threads: &str| VariantKeys {
        threads: Some(threads.to_owned()),
        ..VariantKeys::new(name, note)
    };
    let limit = format!(
        "{{virtual: {{bound: {BOUND}, queue: {DEFAULT_QUEUE}, queue_timeout: {DEFAULT_QUEUE_TIMEOUT_MS}ms}}}}"
    );
    let mut bounded = with("virtual-bounded", BOUND_NOTE, &limit);
    bounded.compare_with = Some("virtual".to_owned());
    Ok(Variants {
        server: vec![
            entry("tomcat", format!("\"{TOMCAT}\"")),
            entry("app", scalar(&war.display().to_string())),
        ],
        port_variable: None,
        each: vec![
            with("platform", "200 platform threads, Tomcat's default", "platform"),
            with("virtual", "a virtual thread per request", "virtual"),
            bounded,
        ],
    })
}

#[cfg(test)]
mod tests;
