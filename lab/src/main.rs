//! `threadcount`: parse the command line, do it, say how it ended.

use std::io::{self, Write};
use std::panic;
use std::process::{self, ExitCode};
use threadcount::cli;

fn main() -> ExitCode {
    end_where_nobody_reads();
    cli::parse().run().unwrap_or_else(|error| {
        anstream::eprintln!("{error:?}");
        ExitCode::from(cli::BAD_INPUT)
    })
}

/// The macros that print panic where a reader has gone or a disk is full. That is no mistake of ours, and ends us with a sentence.
fn end_where_nobody_reads() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let says = info.payload().downcast_ref::<String>();
        match says.and_then(|says| says.strip_prefix("failed printing to ")) {
            Some(failed) => {
                let _ = writeln!(io::stderr(), "cannot write to {failed}");
                process::exit(i32::from(cli::FAILED))
            }
            None => usual(info),
        }
    }));
}
