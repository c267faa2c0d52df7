//! The command line of this process as text, for what is recorded.

use std::env;

/// Its words. A name that is no Unicode text is a path; it has a mark where it is none.
#[must_use]
pub fn words() -> Vec<String> {
    env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}
