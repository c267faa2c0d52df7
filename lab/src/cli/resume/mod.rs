//! `--resume`: continues a session that was broken off, if everything is as it was.

pub(super) mod begun;
mod commands;
mod programs;

use super::{Cli, Command};
use crate::VERSION;
use clap::Parser;
use clap::builder::{PathBufValueParser, TypedValueParser};
use miette::{IntoDiagnostic, WrapErr, miette};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::result_folder::{IfTaken, ResultFile, ResultFolder, latest};
use threadcount_load::command_line;
use threadcount_machine::machine;
use threadcount_machine::probe::Instruments;
use threadcount_machine::trusted::check_way;
use threadcount_model::experiment::Experiment;
use threadcount_model::masked::{MASK, Secrets};
use threadcount_model::printable::printable;
use threadcount_model::record::Record;

/// The number of differences that are listed. Further ones are only counted.
const NAMED: usize = 8;

/// The result of the session that was broken off.
pub struct Earlier {
    pub folder: PathBuf,
    pub document: ResultDocument,
}

impl Earlier {
    /// Reads the result in a folder, or the latest one of a folder of results.
    ///
    /// # Errors
    /// There is no readable result, or others could have written it.
    pub fn read(folder: &Path) -> miette::Result<Self> {
        let folder = latest(folder);
        let document = ResultFolder::read(&folder).into_diagnostic()?;
        check_ours(&folder.join(ResultFile::Result.name()))?;
        Ok(Self { folder, document })
    }

    /// Locks the folder of a result, then reads it.
    ///
    /// # Errors
    /// As [`read`](Self::read), or another session writes it.
    pub fn locked(folder: &Path) -> miette::Result<(Self, ResultFolder)> {
        let folder = latest(folder);
        let result = folder.join(ResultFile::Result.name());
        if !result.exists() {
            ResultFolder::read(&folder).into_diagnostic()?;
        }
        check_ours(&result)?;
        let locked = ResultFolder::create(&folder, IfTaken::Keep).into_diagnostic()?;
        Ok((Self::read(&folder)?, locked))
    }

    /// The command that began the session, to be run in the folder where it was typed. That folder becomes the working folder.
    ///
    /// # Errors
    /// The command has secrets, which no result keeps, or this user has not typed it on this machine.
    pub fn command(&self) -> miette::Result<Command> {
        let words = &self.document.command;
        let folder = self.folder.display();
        let refused = |why: &str| {
            miette!(
                help = format!("write the whole command again, without --out and with --resume {folder}"),
                "--resume {folder}: its command {why}"
            )
        };
        if words.iter().any(|word| word.contains(MASK)) {
            return Err(refused("has secrets, which are masked in the result"));
        }
        if words.iter().any(|word| word.contains(char::REPLACEMENT_CHARACTER)) {
            return Err(refused("has a name that is not UTF-8, which the result cannot hold"));
        }
        let result = std::fs::canonicalize(&self.folder).into_diagnostic()?;
        let Some(typed_in) = begun::folder_of(words, &result) else {
            let words = words.join(" ");
            let (shown, sessions) = (printable(&words), begun::file());
            return Err(refused(&format!(
                "is not among those that this user typed on this machine ({}), and what a file says is not run: `{shown}`",
                sessions.display()
            )));
        };
        let cli = Cli::try_parse_from(words).map_err(|error| {
            miette!("--resume {folder} cannot repeat its command: {}", error.to_string().trim())
        })?;
        std::env::set_current_dir(&typed_in)
            .into_diagnostic()
            .wrap_err_with(|| format!("--resume {folder}: it began in {}", typed_in.display()))?;
        Ok(cli.command)
    }

    /// The runs that are not repeated. The run that ended the session is repeated, since it may work now.
    pub fn done(mut self) -> Vec<Record> {
        let again: Vec<u32> = self.document.ended_by().iter().map(|record| record.position).collect();
        self.document.records.retain(|record| !again.contains(&record.position));
        self.document.records
    }

    /// The instruments in the JVMs of that session, or `None` if this version cannot read its command.
    fn instruments(&self) -> Option<Instruments> {
        match Cli::try_parse_from(&self.document.command).ok()?.command {
            Command::Run(run) => Some(run.args.instruments()),
            Command::Compare(compare) => Some(compare.args.instruments()),
            _ => None,
        }
    }

    /// Checks that the session is the same (its plan, machine, program, instruments and the files of its servers), then prints the commands
    /// that it will start. None of them has run until then.
    ///
    /// # Errors
    /// The differences, or a peer that others could have changed.
    pub fn announce(&self, experiment: &Experiment, instruments: Instruments) -> miette::Result<()> {
        // Only after peers are built is it known which variants cannot run here.
        let planned = |experiment: &Experiment| {
            let mut planned = experiment.clone();
            planned.variants.iter_mut().for_each(|variant| variant.skipped = None);
            planned.loads.iter_mut().for_each(|load| load.skipped = None);
            planned
        };
        let earlier = Self {
            folder: self.folder.clone(),
            document: ResultDocument {
                experiment: planned(&self.document.experiment),
                ..self.document.clone()
            },
        };
        earlier.check(&planned(experiment), instruments)?;
        commands::peers(experiment).iter().try_for_each(|folder| check_ours(folder))?;
        note!("--resume {} goes on with these commands:", self.folder.display());
        let without_secrets = experiment.without_secrets(&mut Secrets::default()).into_diagnostic()?;
        commands::shown(&without_secrets).iter().for_each(|line| note!("    {}", printable(line)));
        Ok(())
    }

    /// Checks that plan, machine, program and instruments are the same.
    ///
    /// # Errors
    /// The differences.
    pub fn check(&self, experiment: &Experiment, instruments: Instruments) -> miette::Result<()> {
        let mut differing = Vec::new();
        if self.document.threadcount != VERSION {
            differing.push(format!("threadcount: {}, now {VERSION}", self.document.threadcount));
        }
        let before = &self.document;
        differing.extend(differences("machine", &before.machine, &machine::read())?);
        let now = experiment.without_secrets(&mut Secrets::default()).into_diagnostic()?;
        differing.extend(differences("experiment", &before.experiment, &now)?);
        if let Some(before) = self.instruments() {
            differing.extend(differences("instruments", &before, &instruments)?);
        }
        differing.extend(programs::changed(&before.records, experiment));
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

/// Refuses a path that somebody else could have written.
///
/// # Errors
/// The owner, or what others can write.
pub(super) fn check_ours(path: &Path) -> miette::Result<()> {
    check_way(path).map_err(|why| {
        miette!(
            help = "go on only with what is yours: copy it to a folder that only you can write (`cp -r`, `chmod -R go-w`)",
            "--resume: {}: {why}",
            path.display()
        )
    })
}

/// Reads the value of `--resume`: the folder of a result, or a file in it.
pub(super) fn folder_parser() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| {
        let is_file = path.ends_with(ResultFile::Result.name()) && path.is_file();
        match path.parent().filter(|_| is_file) {
            Some(folder) => Path::new(".").join(folder),
            None => path,
        }
    })
}

/// The command that began a session: that of the earlier session, or this one.
pub(super) fn command_of(earlier: Option<&Earlier>) -> Vec<String> {
    earlier.map_or_else(command_line::words, |earlier| earlier.document.command.clone())
}

/// The places where two documents differ, with both values.
fn differences<T: Serialize>(name: &str, before: &T, now: &T) -> miette::Result<Vec<String>> {
    let mut found = Vec::new();
    // The value goes through text, as the earlier one did.
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
