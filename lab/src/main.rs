//! `threadcount`: parse the command line, do it, say how it ended.

use rustix::io::Errno;
use std::io::{self, Write};
use std::panic;
use std::process::{self, ExitCode};
use threadcount::cli;
use threadcount_model::masked::{Masked, text_masked};

fn main() -> ExitCode {
    end_with_a_sentence();
    if let Err(error) = cli::interrupt::meet_file_limit_as_an_error() {
        anstream::eprintln!("{error}");
    }
    cli::parse().run().unwrap_or_else(|error| {
        // What was written is quoted in it.
        cli::explain(&text_masked(&format!("{error:?}"), &mut Masked::new()));
        ExitCode::from(cli::code_of(&error))
    })
}

/// The macros that print panic where a reader has gone or a disk is full, and so does a thread that cannot be started. That is no
/// mistake of ours, and ends us with a sentence; servers end with us.
fn end_with_a_sentence() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        match info.payload().downcast_ref::<String>().and_then(|it| cause(it)) {
            // `| head`: what was printed is all that was wanted.
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
