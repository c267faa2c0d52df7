//! The program `threadcount`: parses the command line, runs the command, and explains how it ended.

use rustix::io::Errno;
use std::io::{self, Write};
use std::panic;
use std::process::{self, ExitCode};
use threadcount::cli;

fn main() -> ExitCode {
    end_with_a_sentence();
    if let Err(error) = cli::interrupt::meet_file_limit_as_an_error() {
        anstream::eprintln!("{error}");
    }
    cli::parse().run().unwrap_or_else(|error| {
        cli::explain_error(&format!("{error:?}"));
        ExitCode::from(cli::code_of(&error))
    })
}

/// Ends the program with a sentence, instead of a panic, if the output is closed, the disk is full, or no thread can be started. These are
/// not bugs of ours. Our servers end with us.
fn end_with_a_sentence() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        match info.payload().downcast_ref::<String>().and_then(|it| cause(it)) {
            // `| head` has read as much as it wanted.
            Some(sentence) if sentence.contains("stdout") && sentence.contains("Broken pipe") => {
                process::exit(0)
            }
            Some(sentence) => {
                let _ = writeln!(io::stderr(), "{sentence}");
                let is_full = sentence.ends_with(&io::Error::from(Errno::NOSPC).to_string());
                process::exit(i32::from(if is_full { cli::DISK_FULL } else { cli::FAILED }))
            }
            None => usual(info),
        }
    }));
}

fn cause(panic: &str) -> Option<String> {
    let no_room = "cannot start a thread: the limit of threads is reached; raise `ulimit -u`, or `pids.max` of the container";
    let unwritten =
        panic.strip_prefix("failed printing to ").map(|failed| format!("cannot write to {failed}"));
    unwritten.or_else(|| panic.starts_with("failed to spawn thread").then(|| no_room.to_owned()))
}
