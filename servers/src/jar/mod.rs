//! A server in a runnable jar, like Spring Boot or embedded Jetty: `java FLAGS -jar JAR ARGUMENTS`.

use super::command_line::{self, ServerCommand};
use super::error::LaunchError;
use super::keys::{ARGS, CheckedKey, Keys, READY, WrittenServer, one_or_several, text, texts};
use super::kind::ServerKind;
use super::launch_spec::{LOOPBACK, LaunchContext, LaunchSpec};
use std::path::Path;
use threadcount_machine::app;
use threadcount_machine::jdk_finder::choose;
use threadcount_machine::spring_boot::{PROPERTIES_LAUNCHER, SpringBootJar};
use threadcount_model::experiment::{JarServer, Server};
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::value_kinds::{Text, Texts};

/// The key for jars that are added to the class path.
const CLASS_PATH: &str = "class_path";

impl ServerKind for JarServer {
    fn keys() -> Keys {
        Keys {
            kind: CheckedKey::new::<Text>("jar", "A runnable jar: a module of jvm/, or a path.", text),
            plural: "jars",
            own: const {
                &[
                    ARGS,
                    READY,
                    CheckedKey::new::<Texts>(
                        CLASS_PATH,
                        "Jars that are added to the class path of a Spring Boot application, as `jar` names one.",
                        texts,
                    ),
                ]
            },
            read,
        }
    }

    fn needs(&self) -> Option<(&'static str, &str)> {
        Some((Self::keys().kind.name(), &self.jar))
    }

    /// The command that runs the jar on the variant's Java, or on the newest if the variant names none.
    fn launch_spec(&self, context: &LaunchContext<'_>) -> Result<LaunchSpec, LaunchError> {
        let LaunchContext { jdks, variant, placeholders, .. } = context;
        let jdk = choose(jdks, variant.jdk)?.clone();
        let file = app::find_jar(&self.jar)?;
        let mut arguments = context.jvm_flags(&jdk);
        arguments.extend(if self.class_path.is_empty() {
            vec!["-jar".to_owned(), file.display().to_string()]
        } else {
            with_class_path(&file, &self.class_path)?
        });
        arguments.extend(command_line::words(&self.args, placeholders)?);
        let command = ServerCommand { program: jdk.java(), arguments, ..ServerCommand::default() };
        Ok(LaunchSpec {
            command: context.with_env(command),
            url: placeholders.text(LOOPBACK),
            ready: self.ready.clone(),
            product: file.file_name().map(|name| name.to_string_lossy().into_owned()),
            pool_max_threads: None,
            jdk: Some(jdk),
            base: None,
        })
    }
}

/// The arguments that start a Spring Boot application with more jars on its class path, by the launcher inside its own jar.
fn with_class_path(file: &Path, class_path: &[String]) -> Result<Vec<String>, LaunchError> {
    let can_be_extended =
        SpringBootJar::read(file).is_ok_and(|jar| jar.is_some_and(|jar| jar.can_be_extended));
    if !can_be_extended {
        return Err(LaunchError::NoClassPath { jar: file.display().to_string() });
    }
    let found = class_path.iter().map(|jar| Ok(app::find_jar(jar)?.display().to_string()));
    let found = found.collect::<Result<Vec<_>, LaunchError>>()?;
    let added = format!("-Dloader.path={}", found.join(","));
    Ok(vec![added, "-cp".to_owned(), file.display().to_string(), PROPERTIES_LAUNCHER.to_owned()])
}

fn read(written: &WrittenServer<'_>) -> Result<Server, Diagnostic> {
    written.refuse_threads("a jar")?;
    let args = written.text("args")?.unwrap_or_default();
    if !args.contains("{port}") && !written.owner.env.iter().any(|text| text.contains("{port}")) {
        let help = "write, for example, `args: \"--port={port}\"`, and a free port is put there";
        return Err(written.no_url(help.to_owned()));
    }
    let class_path = written.read(CLASS_PATH, |node| one_or_several(node, CLASS_PATH))?.unwrap_or_default();
    Ok(Server::Jar(JarServer { jar: written.kind.to_owned(), args, ready: written.ready()?, class_path }))
}
