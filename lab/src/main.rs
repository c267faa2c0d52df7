//! `threadcount`: parse the command line, do it, say how it ended.

use clap::Parser;
use std::process::ExitCode;
use threadcount::cli::{self, Cli};

fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.run().unwrap_or_else(|error| {
        anstream::eprintln!("{error:?}");
        ExitCode::from(cli::BAD_INPUT)
    })
}
