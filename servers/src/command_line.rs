//! Command lines that start servers.

use super::placeholders::Placeholders;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use threadcount_machine::jdk::Jdk;

/// The variable from which `java` itself reads further flags (since Java 9).
const JAVA_OPTIONS: &str = "JDK_JAVA_OPTIONS";

/// A program with its arguments, environment and working folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerCommand {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// Variables added to our environment.
    pub env: BTreeMap<String, String>,
    /// Working folder; `None` for that of this process.
    pub folder: Option<PathBuf>,
}

impl ServerCommand {
    /// The words of the whole line.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let program = self.program.display().to_string();
        std::iter::once(program).chain(self.arguments.iter().cloned()).collect()
    }

    /// Sets a variable of the environment.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.env.insert(name.to_owned(), value.into());
    }

    /// Adds a JVM flag to those in the environment, whoever set them. `java` reads them before its command line, whose flags
    /// therefore win; Java 8 and other programs do not read them at all.
    pub fn add_java_option(&mut self, flag: &str) {
        let before = self.env.get(JAVA_OPTIONS).cloned().or_else(inherited_java_options);
        let options: Vec<_> = before.into_iter().chain([quoted_java_option(flag)]).collect();
        self.set(JAVA_OPTIONS, options.join(" "));
    }
}

/// An error in a command: it cannot be parsed, or its program does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The command ends inside a quote.
    #[error("The command `{0}` ends inside a quote; close it with the same mark")]
    OpenQuote(String),
    #[error("The command `{0}` names no program")]
    Empty(String),
    /// The first word of the command is not a program.
    #[error(
        "The program `{program}` of the command `{command}` was not found on the PATH. \
         No shell is started; for what only a shell can do write sh -c '...'"
    )]
    NotFound {
        program: String,
        /// The command as written.
        command: String,
    },
}

/// Splits a command as a shell does (quotes and backslashes; no variables, no globs), fills in the placeholders, and adds the
/// variant's Java runtime and JVM flags. Words like `NAME=value` before the program go to the environment.
///
/// The runtime is passed as `JAVA_HOME` and put first on the `PATH`, the flags as `JDK_JAVA_OPTIONS`. `java` itself reads
/// these, so they work through start scripts too.
///
/// # Errors
/// [`CommandError`] with the command as it was written.
pub fn parse(
    command: &str,
    env: &BTreeMap<String, String>,
    jdk: Option<&Jdk>,
    jvm: &[String],
    placeholders: &Placeholders<'_>,
) -> Result<ServerCommand, CommandError> {
    let mut words = words(command, placeholders)?.into_iter().peekable();
    let mut made = ServerCommand::default();
    if let Some(jdk) = jdk {
        give_java(&mut made, jdk);
    }
    if !jvm.is_empty() {
        made.set(JAVA_OPTIONS, java_options(jvm, placeholders));
    }
    for (name, value) in env {
        made.set(name, placeholders.text(value));
    }
    while let Some((name, value)) = words.peek().and_then(|word| assignment(word)) {
        made.set(&name, value);
        words.next();
    }
    let program = words.next().ok_or_else(|| CommandError::Empty(command.to_owned()))?;
    made.program = find_program(&program, made.env.get("PATH"))
        .ok_or_else(|| CommandError::NotFound { program, command: command.to_owned() })?;
    made.arguments = words.collect();
    Ok(made)
}

/// Splits a text as a shell does and fills in the placeholders.
///
/// # Errors
/// The text ends inside a quote.
pub fn words(text: &str, placeholders: &Placeholders<'_>) -> Result<Vec<String>, CommandError> {
    let words = shlex::split(text).ok_or_else(|| CommandError::OpenQuote(text.to_owned()))?;
    Ok(words.iter().map(|word| placeholders.text(word)).collect())
}

fn give_java(command: &mut ServerCommand, jdk: &Jdk) {
    let path = std::env::var("PATH").unwrap_or_default();
    command.set("JAVA_HOME", jdk.home.display().to_string());
    command.set("PATH", format!("{}:{path}", jdk.home.join("bin").display()));
}

/// The flags of the user's environment, then these; a flag with a space is quoted for the `java` launcher.
fn java_options(jvm: &[String], placeholders: &Placeholders<'_>) -> String {
    let quoted = |flag: &String| quoted_java_option(&placeholders.text(flag));
    inherited_java_options().into_iter().chain(jvm.iter().map(quoted)).collect::<Vec<_>>().join(" ")
}

fn inherited_java_options() -> Option<String> {
    std::env::var(JAVA_OPTIONS).ok().filter(|it| !it.is_empty())
}

fn quoted_java_option(flag: &str) -> String {
    let quote = if flag.contains('"') { '\'' } else { '"' };
    let needs_quotes = flag.contains(|it: char| it.is_whitespace() || it == '"' || it == '\'');
    if needs_quotes { format!("{quote}{flag}{quote}") } else { flag.to_owned() }
}

fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let is_name = !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    is_name.then(|| (name.to_owned(), value.to_owned()))
}

fn find_program(program: &str, path: Option<&String>) -> Option<PathBuf> {
    let path = path.map(OsString::from).or_else(|| std::env::var_os("PATH"));
    which::which_in(program, path, std::env::current_dir().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_machine::sample::{jdk_release as release, made_up_jdk as made_up};

    const PLACEHOLDERS: Placeholders<'_> = Placeholders { port: 4711, backends: &[], secret: "" };

    fn parsed(command: &str) -> Result<ServerCommand, CommandError> {
        parse(command, &BTreeMap::new(), None, &[], &PLACEHOLDERS)
    }

    #[test]
    fn quotes_work_and_the_port_is_filled_in() {
        let command = parsed("sh -c 'echo \"$0 a  b\"' --port={port} \"x y\"").unwrap();
        assert!(command.program.ends_with("sh") && command.program.is_absolute());
        assert_eq!(command.arguments, ["-c", "echo \"$0 a  b\"", "--port=4711", "x y"]);
    }

    #[test]
    fn assignments_before_the_program_and_the_env_get_the_port_too() {
        let env = BTreeMap::from([("SERVER_PORT".to_owned(), "{port}".to_owned())]);
        let command = parse("MODE=fast URL=:{port} sh", &env, None, &[], &PLACEHOLDERS).unwrap();
        let env: Vec<_> = command.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(env, ["MODE=fast", "SERVER_PORT=4711", "URL=:4711"]);
    }

    #[test]
    fn the_variants_java_comes_before_the_one_on_the_path() {
        let folder = tempfile::tempdir().unwrap();
        made_up(folder.path(), Some(&release("21.0.8+9")), &[("java", "exit 1")]);
        let jdk = Jdk::at(folder.path(), "a test").unwrap();
        let flags = ["-Xmx512m".to_owned(), "-Dname=a b".to_owned()];
        let command =
            parse("java -jar app.jar", &BTreeMap::new(), Some(&jdk), &flags, &PLACEHOLDERS).unwrap();
        assert_eq!(command.program, jdk.java());
        assert_eq!(command.env["JAVA_HOME"], jdk.home.display().to_string());
        assert!(command.env["JDK_JAVA_OPTIONS"].ends_with("-Xmx512m \"-Dname=a b\""));
    }

    #[test]
    fn a_java_option_joins_those_of_the_command_and_is_quoted_for_the_launcher() {
        let mut command = parsed("JDK_JAVA_OPTIONS=-Xmx1g sh -c exit").unwrap();
        command.add_java_option("-Xlog:gc:file=/a/jvm.%p.log:tn");
        assert_eq!(command.env["JDK_JAVA_OPTIONS"], "-Xmx1g -Xlog:gc:file=/a/jvm.%p.log:tn");
        let mut command = parsed("sh -c exit").unwrap();
        command.add_java_option("-Xlog:gc:file=\"/a b:c/jvm.log\"");
        assert!(command.env["JDK_JAVA_OPTIONS"].ends_with("'-Xlog:gc:file=\"/a b:c/jvm.log\"'"));
    }

    #[test]
    fn what_cannot_be_started_is_answered_with_what_to_write() {
        assert!(parsed("sh -c 'open").unwrap_err().to_string().contains("ends inside a quote"));
        assert!(parsed("  ").unwrap_err().to_string().contains("names no program"));
        assert!(parsed("no-such-program-42 x").unwrap_err().to_string().contains("write sh -c '...'"));
    }
}
