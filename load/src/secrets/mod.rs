//! Secrets stand in no text that people share: what follows a name like `password`, or has the place of a URL's password, becomes
//! `***`. `${NAME}` and `{secret}` are shown: they stand for a secret.
//!
//! Where the end of a value is uncertain, too much is masked, not too little.

mod command;
mod data;
mod line;
mod names;
mod scan;
mod url;
mod value;

pub use data::{masked_text as text_masked, masked_value};
pub use names::is_secret;
use std::collections::BTreeSet;

/// What stands for a secret.
pub const MASK: &str = "***";

/// The names of the secrets that were masked.
pub type Masked = BTreeSet<String>;

#[cfg(test)]
mod tests;
