//! Prints the output of a command on stdout and everything else on stderr. Text that quotes others is made printable here.

use super::unwritten::Unwritten;
use std::io::{self, IsTerminal, Write};
use threadcount_model::masked::secrets_in;
use threadcount_model::printable::printable_lines;
use threadcount_report::layout::folded;
use threadcount_report::terminal::TerminalStyle;

/// The width for pipes and files.
const DEFAULT_WIDTH: usize = 100;

/// The width of the terminal, and colours if stdout is a terminal.
pub fn style() -> TerminalStyle {
    let width = match rustix::termios::tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => DEFAULT_WIDTH,
    };
    TerminalStyle { width, colour: io::stdout().is_terminal() }
}

/// Prints text in lines that fit the terminal, and JSON as it is.
///
/// # Errors
/// As [`print`].
pub fn show(text: &str, is_json: bool) -> miette::Result<()> {
    if is_json { print(text) } else { print(&fitting(text)) }
}

/// Folds text to the terminal's width. If stdout is no terminal, the text stays as it is.
pub fn fitting(text: &str) -> String {
    let text = printable_lines(text);
    if io::stdout().is_terminal() { folded(&text, style().width) } else { text.into_owned() }
}

/// Prints a message on stderr, in lines that fit the terminal. A closed stderr must not end a session.
pub fn explain(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{}", fitting_messages(text));
}

/// Prints an error on stderr. It may quote what the user wrote, but without the user's secrets.
pub fn explain_error(text: &str) {
    let words: Vec<String> = std::env::args_os().map(|word| word.display().to_string()).collect();
    let mut secrets = secrets_in(&words);
    let text = secrets.hidden_in(text);
    explain(&secrets.mask_text(&text));
}

/// Folds text to the width of stderr's terminal. If stderr is no terminal, the text stays as it is.
pub fn fitting_messages(text: &str) -> String {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok().filter(|size| size.ws_col > 0);
    let text = printable_lines(text);
    size.map_or_else(|| text.to_string(), |size| folded(&text, usize::from(size.ws_col)))
}

/// Prints on stdout, without colours if it is no terminal. A reader that closes the pipe (`| head`) is not an error.
///
/// # Errors
/// Stdout cannot be written, for example because the disk is full.
pub fn print(text: &str) -> miette::Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(printable_lines(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let help = "make room, or name another file";
            Err(Unwritten::with_help("cannot write to stdout".to_owned(), help, error).into())
        }
        _ => Ok(()),
    }
}
