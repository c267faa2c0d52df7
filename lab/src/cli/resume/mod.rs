//! `--resume`: a session that was broken off goes on, if everything is as it was.

mod programs;

use super::{Cli, Command};
use crate::VERSION;
use clap::Parser;
use clap::builder::{PathBufValueParser, TypedValueParser};
use miette::{IntoDiagnostic, miette};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::result_folder::{ResultFile, ResultFolder, latest};
use threadcount_load::command_line;
use threadcount_machine::machine;
use threadcount_machine::probe::Instruments;
use threadcount_model::experiment::Experiment;
use threadcount_model::masked::{MASK, Masked};

/// More differences than this are counted.
const NAMED: usize = 8;

/// The result of the session that was broken off.
pub struct Earlier {
    pub folder: PathBuf,
    pub document: ResultDocument,
}

impl Earlier {
    /// Of a result's folder, or the latest of a folder of results.
    ///
    /// # Errors
    /// There is no result that can be read.
    pub fn read(folder: &Path) -> miette::Result<Self> {
        let folder = latest(folder);
        let document = ResultFolder::read(&folder).into_diagnostic()?;
        Ok(Self { folder, document })
    }

    /// The command that began it, to be run again.
    ///
    /// # Errors
    /// It has secrets, which no result keeps, or is none of this version.
    pub fn command(&self) -> miette::Result<Command> {
        let words = &self.document.command;
        let folder = self.folder.display();
        if words.iter().any(|word| word.contains(MASK)) {
            return Err(miette!(
                help = format!("write the whole command again, without --out and with --resume {folder}"),
                "--resume {folder}: its command has secrets, which are masked in the result"
            ));
        }
        if words.iter().any(|word| word.contains(char::REPLACEMENT_CHARACTER)) {
            return Err(miette!(
                help = format!("write the whole command again, without --out and with --resume {folder}"),
                "--resume {folder}: its command has a name that is not UTF-8, which the result cannot hold"
            ));
        }
        let cli = Cli::try_parse_from(words).map_err(|error| {
            miette!("--resume {folder} cannot repeat its command: {}", error.to_string().trim())
        })?;
        Ok(cli.command)
    }

    /// Goes to the folder in which the session began, because paths of its command are relative to it. It is known where the result
    /// still lies where the command put it: `out` is as the command has it.
    pub fn go_to_first_folder(&self, out: &Path) {
        let Ok(folder) = std::fs::canonicalize(&self.folder) else { return };
        let out = out.strip_prefix(".").unwrap_or(out);
        let inside = folder.file_name().map(|name| out.join(name)).unwrap_or_default();
        let found = [inside.as_path(), out].into_iter().find(|it| it.is_relative() && folder.ends_with(it));
        let first = found.and_then(|found| folder.ancestors().nth(found.components().count()));
        // Where it cannot be entered, the command says what it does not find.
        first.into_iter().for_each(|first| drop(std::env::set_current_dir(first)));
    }

    /// What was put into the JVMs; `None`: its command is none of this version.
    fn instruments(&self) -> Option<Instruments> {
        match Cli::try_parse_from(&self.document.command).ok()?.command {
            Command::Run(run) => Some(run.args.instruments()),
            Command::Compare(compare) => Some(compare.args.instruments()),
            _ => None,
        }
    }

    /// Is it the same plan, on the same machine, with the same program and instruments?
    ///
    /// # Errors
    /// What differs.
    pub fn check(&self, experiment: &Experiment, instruments: Instruments) -> miette::Result<()> {
        let mut differing = Vec::new();
        if self.document.threadcount != VERSION {
            differing.push(format!("threadcount: {}, now {VERSION}", self.document.threadcount));
        }
        let before = self.document.clone();
        differing.extend(differences("machine", &before.machine, &machine::read())?);
        let now = experiment.without_secrets(&mut Masked::new()).into_diagnostic()?;
        differing.extend(differences("experiment", &before.experiment, &now)?);
        if let Some(before) = self.instruments() {
            differing.extend(differences("instruments", &before, &instruments)?);
        }
        differing.extend(programs::changed(&self.document.records, experiment));
        if differing.is_empty() {
            return Ok(());
        }
        let more = differing.len().saturating_sub(NAMED);
        differing.truncate(NAMED);
        if more > 0 {
            differing.push(format!("and {more} more"));
        }
        Err(miette!(
            help = "run it as it was, or begin a new result without --resume",
            "--resume {} cannot go on, because something differs:\n  {}",
            self.folder.display(),
            differing.join("\n  ")
        ))
    }
}

/// The value of `--resume`: the folder of a result, of which the file may be named.
pub(super) fn folder_parser() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| {
        let is_file = path.ends_with(ResultFile::Result.name()) && path.is_file();
        match path.parent().filter(|_| is_file) {
            Some(folder) => Path::new(".").join(folder),
            None => path,
        }
    })
}

/// The command that began a session: this one, where it goes on with none.
pub(super) fn command_of(earlier: Option<&Earlier>) -> Vec<String> {
    earlier.map_or_else(command_line::words, |earlier| earlier.document.command.clone())
}

/// Where two documents differ, with both values.
fn differences<T: Serialize>(name: &str, before: &T, now: &T) -> miette::Result<Vec<String>> {
    let mut found = Vec::new();
    // Through text, as the earlier one came.
    let value = |it: &T| serde_json::to_string(it).and_then(|text| serde_json::from_str(&text));
    compare(name, &value(before).into_diagnostic()?, &value(now).into_diagnostic()?, &mut found);
    Ok(found)
}

fn compare(path: &str, before: &Value, now: &Value, found: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(one), Value::Object(other)) => {
            let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
            for name in names {
                let of = |map: &serde_json::Map<String, Value>| map.get(name).cloned().unwrap_or_default();
                compare(&format!("{path}.{name}"), &of(one), &of(other), found);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                compare(&format!("{path}[{index}]"), one, other, found);
            }
        }
        (one, other) if one == other => {}
        (one, other) => found.push(format!("{path}: {one}, now {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_are_named_with_their_place_and_both_values() {
        let before = json!({"loads": [{"runs": 3, "name": "c4"}], "jvm": ["-Xmx1g"]});
        let now = json!({"loads": [{"runs": 5, "name": "c4"}], "jvm": ["-Xmx1g", "-Xint"], "jdk": 25});
        let found = differences("experiment", &before, &now).unwrap();
        assert_eq!(
            found,
            [
                "experiment.loads[0].runs: 3, now 5",
                "experiment.jvm: [\"-Xmx1g\"], now [\"-Xmx1g\",\"-Xint\"]",
                "experiment.jdk: null, now 25"
            ]
        );
        assert!(differences("experiment", &before, &before).unwrap().is_empty());
    }
}
