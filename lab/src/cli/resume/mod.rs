//! `--resume`: a session that was broken off goes on, if everything is as it was.

mod programs;

use super::{Cli, Command};
use crate::VERSION;
use crate::json_leaves::Leaves;
use clap::Parser;
use miette::{IntoDiagnostic, miette};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::result_folder::{ResultFolder, latest};
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

/// The command that began a session: this one, where it goes on with none.
pub(super) fn command_of(earlier: Option<&Earlier>) -> Vec<String> {
    earlier.map_or_else(written, |earlier| earlier.document.command.clone())
}

/// This command line. A name that is no Unicode text is a path; it has a mark where it is none.
pub(super) fn written() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Where two documents differ, with both values.
fn differences<T: Serialize>(name: &str, before: &T, now: &T) -> miette::Result<Vec<String>> {
    let text = |value: Option<Value>| value.unwrap_or_default().to_string();
    let differing = Leaves::default().differing(before, now).into_diagnostic()?.into_iter();
    Ok(differing
        .map(|(path, one, other)| format!("{name}.{path}: {}, now {}", text(one), text(other)))
        .collect())
}
