//! `threadcount list`: the experiments.

use crate::experiment::find::Places;
use clap::Args;
use std::process::ExitCode;

/// Show the experiments: what each asks, where it comes from, how long it takes
#[derive(Args, Debug)]
pub struct ListCommand {
    /// The times of the small sizes
    #[arg(long)]
    quick: bool,
}

impl ListCommand {
    /// Prints them.
    ///
    /// # Errors
    /// None: a file that cannot be read is listed with the reason.
    pub fn run(&self) -> miette::Result<ExitCode> {
        for listed in Places::usual(None).list(self.quick) {
            match listed.about {
                Ok(about) => {
                    let time = about.estimate_s.map_or_else(
                        || "nobody knows how long".to_owned(),
                        |seconds| format!("at most about {:.0} min", (seconds / 60.0).ceil()),
                    );
                    anstream::println!("{:<20} {}", listed.name, about.question);
                    anstream::println!("{:<20} at most {} runs, {time}", "", about.runs);
                    if let Some(study) = about.study {
                        anstream::println!("{:<20} study: {study}", "");
                    }
                }
                Err(error) => {
                    anstream::println!("{:<20} cannot be read: {error}", listed.name);
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
