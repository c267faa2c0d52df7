//! `threadcount completions`: the script with which a shell completes this program's flags.

use super::{Cli, stdout};
use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};
use std::process::ExitCode;

/// Print the script with which a shell completes commands and flags
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsCommand {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

const EXAMPLES: &str = "Examples:
  bash:
    threadcount completions bash \\
      > ~/.local/share/bash-completion/completions/threadcount
  fish:
    threadcount completions fish > ~/.config/fish/completions/threadcount.fish";

impl CompletionsCommand {
    /// Prints it.
    ///
    /// # Errors
    /// stdout cannot be written.
    pub fn run(&self) -> miette::Result<ExitCode> {
        let mut script = Vec::new();
        generate(self.shell, &mut Cli::command(), "threadcount", &mut script);
        stdout::print(&String::from_utf8_lossy(&script))?;
        Ok(ExitCode::SUCCESS)
    }
}
