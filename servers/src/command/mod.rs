//! A server started by any command: a start script, or `java -jar` with everything written out.

use super::command_line;
use super::error::LaunchError;
use super::keys::{CheckedKey, Keys, READY, WrittenServer, text};
use super::kind::ServerKind;
use super::launch_spec::{LaunchContext, LaunchSpec, with_native_memory};
use threadcount_machine::jdk_finder::choose;
use threadcount_model::experiment::{CommandServer, Server};
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::value_kinds::Text;

impl ServerKind for CommandServer {
    fn keys() -> Keys {
        Keys {
            kind: CheckedKey::new::<Text>("command", "Any command; {port} stands for a free port.", text),
            plural: "commands",
            own: const { &[CheckedKey::new::<Text>("url", "The base URL of a command's server.", text), READY] },
            read,
        }
    }

    fn needs(&self) -> Option<(&'static str, &str)> {
        Some((Self::keys().kind.name(), self.command.split_whitespace().next()?))
    }

    fn launch_spec(&self, context: &LaunchContext<'_>) -> Result<LaunchSpec, LaunchError> {
        let mut spec = from_command_line(context, &self.command, &self.url, &self.ready)?;
        if let Some(flag) = context.instruments.jvm_log_flag_of_any(context.folder) {
            spec.command.add_java_option(&flag);
        }
        Ok(spec)
    }

    fn passes_jvm_flags(&self) -> bool {
        false
    }
}

fn read(written: &WrittenServer<'_>) -> Result<Server, Diagnostic> {
    written.refuse_threads("a command")?;
    written.refuse("args", "a command", "a jar or a peer")?;
    let command = written.kind.to_owned();
    let help = "write `{port}` in the command, and a free port is put there; or `server: {url: \"http://127.0.0.1:8080\"}`";
    // A command that contains `{port}` listens on that port.
    let is_told = command.contains("{port}") || written.owner.env.iter().any(|text| text.contains("{port}"));
    let of_port = || is_told.then(|| "http://127.0.0.1:{port}".to_owned());
    let url = written.text("url")?.or_else(of_port).ok_or_else(|| written.no_url(help.to_owned()))?;
    Ok(Server::Command(CommandServer { ready: written.ready()?, command, url }))
}

/// The launch of a command line, on the variant's Java if the variant names one.
pub(super) fn from_command_line(
    context: &LaunchContext<'_>,
    command: &str,
    url: &str,
    ready: &str,
) -> Result<LaunchSpec, LaunchError> {
    let LaunchContext { jdks, variant, placeholders, .. } = context;
    let jdk = variant.jdk.map(|feature| choose(jdks, Some(feature))).transpose()?.cloned();
    let jvm = if jdk.is_some() { with_native_memory(&variant.jvm) } else { variant.jvm.clone() };
    Ok(LaunchSpec {
        command: command_line::parse(command, &variant.env, jdk.as_ref(), &jvm, placeholders)?,
        url: placeholders.text(url),
        ready: ready.to_owned(),
        jdk,
        product: None,
        pool_max_threads: None,
        base: None,
    })
}
