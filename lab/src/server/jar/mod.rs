//! A runnable jar: `java FLAGS -jar JAR ARGUMENTS`. Spring Boot and embedded Jetty are started like this.

use super::command_line::{self, ServerCommand};
use super::error::LaunchError;
use super::keys::{Keys, WrittenServer, readiness, text};
use super::kind::ServerKind;
use super::launch_spec::{LOOPBACK, LaunchContext, LaunchSpec};
use crate::host::app;
use crate::host::jdk_finder::choose;
use crate::model::experiment::{JarServer, Server};
use crate::parse::diagnostic::Diagnostic;

impl ServerKind for JarServer {
    fn keys() -> Keys {
        Keys { kind: "jar", plural: "jars", check: text, own: &[("args", text), ("ready", readiness)], read }
    }

    fn needs(&self) -> Option<(&'static str, &str)> {
        Some((Self::keys().kind, &self.jar))
    }

    /// The command of the jar on the variant's Java, else on the newest.
    fn launch_spec(&self, context: &LaunchContext<'_>) -> Result<LaunchSpec, LaunchError> {
        let LaunchContext { jdks, variant, placeholders, .. } = context;
        let jdk = choose(jdks, variant.jdk)?.clone();
        let file = app::find_jar(&self.jar)?;
        let mut arguments = context.jvm_flags(&jdk);
        arguments.extend(["-jar".to_owned(), file.display().to_string()]);
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

fn read(written: &WrittenServer<'_>) -> Result<Server, Diagnostic> {
    written.refuse_threads("a jar")?;
    let args = written.text("args")?.unwrap_or_default();
    if !args.contains("{port}") && !written.owner.env.iter().any(|text| text.contains("{port}")) {
        let help = "write, for example, `args: \"--port={port}\"`, and a free port is put there";
        return Err(written.no_url(help.to_owned()));
    }
    Ok(Server::Jar(JarServer { jar: written.kind.to_owned(), args, ready: written.ready()? }))
}
