//! Frameworks with a fixed kind of thread: Quarkus fixes it when an application is built, Helidon 4 always uses virtual threads.

use super::asked::Surroundings;
use super::check_distinct;
use super::error::CompareError;
use super::flow::entry;
use super::variant_keys::{VariantKeys, Variants, arguments, jar};
use std::path::{Path, PathBuf};
use threadcount_machine::framework::Framework;
use threadcount_model::experiment::thread_settings::HELIDON_LIMIT_VARIABLE;

/// The limit on concurrent requests of Helidon's limited variant: as many as Tomcat's default pool has threads.
const USUAL_LIMIT: u32 = 200;

/// Makes a variant of each build, because building chooses the threads.
pub(super) fn quarkus(
    builds: &[(String, PathBuf)],
    surroundings: &Surroundings,
) -> Result<Variants, CompareError> {
    for (_, jar) in builds {
        check(Framework::Quarkus, "--quarkus", jar)?;
    }
    if let [(name, _)] = builds {
        return Err(CompareError::OneBuild(name.clone()));
    }
    let names: Vec<&str> = builds.iter().map(|(name, _)| name.as_str()).collect();
    check_distinct("--quarkus", &names)?;
    let variant = |(name, archive): &(String, PathBuf)| VariantKeys {
        server: vec![jar(archive)],
        ..VariantKeys::new(name, &archive.display().to_string())
    };
    Ok(Variants {
        server: arguments(surroundings).into_iter().collect(),
        port_variable: Some("QUARKUS_HTTP_PORT"),
        each: builds.iter().map(variant).collect(),
    })
}

/// Helidon without a limit on concurrent requests, its default, and with one, set through the environment that its configuration reads.
pub(super) fn helidon(archive: &Path, surroundings: &Surroundings) -> Result<Variants, CompareError> {
    check(Framework::Helidon, "--helidon", archive)?;
    let limit = surroundings.limit.unwrap_or(USUAL_LIMIT);
    let mut bounded = VariantKeys::limited(limit, "server.max-concurrent-requests");
    bounded.env.push(entry(HELIDON_LIMIT_VARIABLE, limit.to_string()));
    Ok(Variants {
        server: std::iter::once(jar(archive)).chain(arguments(surroundings)).collect(),
        port_variable: Some("SERVER_PORT"),
        each: vec![VariantKeys::new("virtual", "a virtual thread per request, as Helidon comes"), bounded],
    })
}

fn check(framework: Framework, flag: &'static str, jar: &Path) -> Result<(), CompareError> {
    let refused =
        |why: String, help| Err(CompareError::Archive { flag, path: jar.display().to_string(), why, help });
    match Framework::of(jar) {
        Ok(Some(found)) if found == framework => Ok(()),
        Ok(_) => refused(
            format!("it is not the runnable jar of a {} application", framework.name()),
            "write what `java -jar` starts: target/quarkus-app/quarkus-run.jar, or target/APP.jar beside target/libs",
        ),
        Err(why) => refused(why.to_string(), "write the path of the application's jar"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::asked::Compared;
    use super::super::sample::{asked, experiment};
    use super::*;
    use tempfile::TempDir;
    use threadcount_machine::sample::jar;
    use threadcount_model::experiment::Experiment;

    fn application(main_class: &str, class_path: &str) -> (TempDir, PathBuf) {
        let manifest = format!("Main-Class: {main_class}\nClass-Path: {class_path}\n");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.jar");
        std::fs::write(&path, jar(&[("META-INF/MANIFEST.MF", manifest.as_bytes())])).unwrap();
        (folder, path)
    }

    fn compared(compared: Compared) -> Result<Experiment, CompareError> {
        experiment(&asked("/orders/1", compared))
    }

    #[test]
    fn builds_of_a_quarkus_application_are_compared_and_one_alone_is_refused() {
        let (_folder, path) = application("io.quarkus.bootstrap.runner.QuarkusEntryPoint", "");
        let build = |name: &str| (name.to_owned(), path.clone());
        let made = compared(Compared::Quarkus(vec![build("worker"), build("virtual")])).unwrap();
        assert_eq!(made.question, "What changes between worker and virtual?");
        assert!(made.variants.iter().all(|variant| variant.env["QUARKUS_HTTP_PORT"] == "{port}"));
        let error = compared(Compared::Quarkus(vec![build("app")])).unwrap_err();
        assert_eq!(error, CompareError::OneBuild("app".to_owned()));
        let (_folder, other) = application("shop.Main", "");
        let error =
            compared(Compared::Quarkus(vec![build("a"), ("b".to_owned(), other)])).unwrap_err().to_string();
        assert!(error.ends_with("it is not the runnable jar of a Quarkus application"), "{error}");
    }

    #[test]
    fn a_helidon_application_has_a_limit_or_none() {
        let (_folder, path) = application("shop.Main", "libs/helidon-webserver-4.2.3.jar");
        let made = compared(Compared::Helidon(path)).unwrap();
        let [unlimited, bounded] = &made.variants[..] else { panic!("two variants") };
        assert_eq!((unlimited.name.as_str(), unlimited.env.len()), ("virtual", 1));
        assert_eq!(bounded.env["SERVER_MAX_DASH_CONCURRENT_DASH_REQUESTS"], "200");
        assert_eq!(bounded.env["SERVER_PORT"], "{port}");
        let (_folder, other) = application("shop.Main", "");
        assert!(compared(Compared::Helidon(other)).is_err());
    }
}
