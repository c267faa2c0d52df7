//! `threadcount man-pages`: makes the man pages from the definition of the command line, for `./dev dist`.

use super::Cli;
use super::unwritten::Unwritten;
use crate::VERSION;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use jiff::Timestamp;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write the man pages, one per command, into a folder
#[derive(Args, Debug)]
#[command(hide = true, after_help = EXAMPLES)]
pub struct ManPagesCommand {
    /// The folder; it must exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

const EXAMPLES: &str = "Examples:
  Into the folder of your own pages:
    threadcount man-pages ~/.local/share/man/man1";

impl ManPagesCommand {
    /// Writes them.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn run(&self) -> miette::Result<ExitCode> {
        let mut command = Cli::command().disable_help_subcommand(true);
        command.build();
        write(&command, &self.folder, &date()).map_err(|error| not_written(&self.folder, error))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn not_written(folder: &Path, error: io::Error) -> Unwritten {
    let help = match error.kind() {
        io::ErrorKind::NotFound => "make the folder first, or name another",
        _ => "name a folder that you may write to",
    };
    Unwritten::with_help(format!("{}: the pages cannot be written", folder.display()), help, error)
}

/// Writes the page of a command and the pages of its subcommands.
fn write(command: &Command, folder: &Path, date: &str) -> io::Result<()> {
    for inner in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        write(inner, folder, date)?;
    }
    let page = Man::new(command.clone()).date(date).source(format!("threadcount {VERSION}"));
    let mut text = Vec::new();
    page.render(&mut text)?;
    // An empty line is a break already. Breaks around it are a warning of mandoc.
    let text = String::from_utf8_lossy(&text).replace("\n.br\n\n.br\n", "\n.sp\n");
    fs::write(folder.join(page.get_filename()), text)
}

/// The date of the release, which reproducible builds pass in a variable, or today.
fn date() -> String {
    let seconds = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|it| it.parse().ok());
    let at = seconds.and_then(|it| Timestamp::from_second(it).ok()).unwrap_or_else(Timestamp::now);
    at.strftime("%Y-%m-%d").to_string()
}
