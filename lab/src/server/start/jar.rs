//! A runnable jar: `java FLAGS -jar JAR ARGUMENTS`.

use super::super::command::{self, ServerCommand};
use super::super::error::LaunchError;
use super::{Given, LOOPBACK, Start, jvm_flags};
use crate::host::app;
use crate::host::jdk_finder::choose;

/// The command of the jar on the variant's Java, else on the newest.
pub(super) fn start(given: &Given<'_>, jar: &str, args: &str, ready: &str) -> Result<Start, LaunchError> {
    let Given { jdks, variant, fill, .. } = given;
    let jdk = choose(jdks, variant.jdk)?.clone();
    let file = app::find_jar(jar)?;
    let (mut arguments, probe) = jvm_flags(given, &jdk);
    arguments.extend(["-jar".to_owned(), file.display().to_string()]);
    arguments.extend(command::words(args, fill)?);
    let mut command = ServerCommand { program: jdk.java(), arguments, ..ServerCommand::default() };
    for (name, value) in &variant.env {
        command.set(name, fill.text(value));
    }
    Ok(Start {
        command,
        url: fill.text(LOOPBACK),
        ready: ready.to_owned(),
        product: file.file_name().map(|name| name.to_string_lossy().into_owned()),
        pool_max_threads: None,
        jdk: Some(jdk),
        base: None,
        probe,
    })
}
