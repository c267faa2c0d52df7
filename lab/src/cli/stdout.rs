//! The output of a command goes to stdout; everything else to stderr. Whatever quotes the text of others passes here, and is printable.

use super::unwritten::Unwritten;
use std::io::{self, IsTerminal, Write};
use threadcount_model::masked::secrets_in;
use threadcount_model::printable::printable_lines;
use threadcount_report::layout::folded;
use threadcount_report::terminal::TerminalStyle;

/// For pipes and files.
const DEFAULT_WIDTH: usize = 100;

/// As wide as the terminal, and in colour where stdout is one.
pub fn style() -> TerminalStyle {
    let width = match rustix::termios::tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => DEFAULT_WIDTH,
    };
    TerminalStyle { width, colour: io::stdout().is_terminal() }
}

/// For people: as [`print`], in lines that fit the terminal. JSON stays JSON.
///
/// # Errors
/// As [`print`].
pub fn show(text: &str, is_json: bool) -> miette::Result<()> {
    if is_json { print(text) } else { print(&fitting(text)) }
}

/// In lines that fit the terminal; where stdout is none, as it is.
pub fn fitting(text: &str) -> String {
    let text = printable_lines(text);
    if io::stdout().is_terminal() { folded(&text, style().width) } else { text.into_owned() }
}

/// A message on stderr, in lines that fit the terminal. A closed stderr must not end a session.
pub fn explain(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{}", fitting_messages(text));
}

/// An error on stderr, which may quote what the user wrote, without the secrets that the user gave.
pub fn explain_error(text: &str) {
    let words: Vec<String> = std::env::args_os().map(|word| word.display().to_string()).collect();
    let mut secrets = secrets_in(&words);
    let text = secrets.hidden_in(text);
    explain(&secrets.mask_text(&text));
}

/// In lines that fit the terminal of stderr; where it is none, as it is.
pub fn fitting_messages(text: &str) -> String {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok().filter(|size| size.ws_col > 0);
    let text = printable_lines(text);
    size.map_or_else(|| text.to_string(), |size| folded(&text, usize::from(size.ws_col)))
}

/// To stdout, without colours where it is not a terminal; a reader that closes the pipe (`| head`) is not an error.
///
/// # Errors
/// Stdout cannot be written, a full disk for example.
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
