//! `${NAME}` in headers, bodies and `env`: each variable must be set when the file is read.

use threadcount_model::environment;
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::yaml::Node;

/// Refuses a variable that is not set, or whose value is not UTF-8.
pub(super) fn check(node: &Node, text: &str) -> Result<(), Diagnostic> {
    match environment::first_unset(text) {
        None => Ok(()),
        Some(name) => {
            let why = std::env::var_os(name).map_or("is not set", |_| "is not UTF-8");
            let message = format!("the environment variable `{name}` {why}");
            Err(Diagnostic::new(node.span.clone(), message, format!("`${{{name}}}` is its value")).help(format!(
                "set it for this command, for example `{name}=... threadcount run`; its value appears in no result"
            )))
        }
    }
}
