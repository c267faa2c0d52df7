//! What a command was asked for goes to stdout; everything else to stderr.

use std::io::{self, Write};

/// To stdout, without colours where it is not a terminal; a reader that has seen enough (`| head`) is no error.
///
/// # Errors
/// What the system says when stdout cannot be written.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}
