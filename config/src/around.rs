//! The surroundings of a server: its working folder (`workdir:`), and the user's own commands (`before:`, `after:`).

use std::path::{Path, PathBuf};
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::fields::Fields;
use threadcount_model::parse::key_spec::json_schema;
use threadcount_model::parse::yaml::Node;
use threadcount_model::value_kinds;
use threadcount_servers::placeholders::PORT;

value_kinds! {
    /// Working folder of the server, relative to that of this file.
    pub(super) WorkingFolder = |generator| String::json_schema(generator);

    /// A command that is run before each start of the server.
    pub(super) CommandBefore = |generator| OwnCommand::json_schema(generator);

    /// A command that is run each time the server has ended.
    pub(super) CommandAfter = |generator| OwnCommand::json_schema(generator);

    OwnCommand = |_| json_schema!({"type": "string", "not": {"pattern": r"\{port\}"}});
}

/// The surroundings as written at the top of the file, or in a variant.
#[derive(Clone, Debug, Default)]
pub(super) struct Around {
    pub workdir: Option<PathBuf>,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl Around {
    /// Reads the keys. A relative folder starts at the file's folder.
    pub fn read(fields: &Fields<'_>, folder: &Path) -> Result<Self, Diagnostic> {
        let command = |key: &str| fields.read(key, |node| command(node, key));
        Ok(Self {
            workdir: fields.read("workdir", |node| Ok(folder.join(node.text("workdir")?)))?,
            before: command("before")?,
            after: command("after")?,
        })
    }

    /// These settings, with those that are missing taken from `above`.
    pub fn or(self, above: &Self) -> Self {
        Self {
            workdir: self.workdir.or_else(|| above.workdir.clone()),
            before: self.before.or_else(|| above.before.clone()),
            after: self.after.or_else(|| above.after.clone()),
        }
    }

    /// The texts that may contain placeholders.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.before.as_deref().into_iter().chain(self.after.as_deref())
    }
}

fn command(node: &Node, key: &str) -> Result<String, Diagnostic> {
    let command = node.text(key)?;
    if command.contains(PORT) {
        return Err(node.bad(key, "a command without `{port}`").help(
            "the server gets its port when it starts, and does not run during this command. `{NAME.port}` is that of a backend",
        ));
    }
    Ok(command.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::parse;
    use std::path::PathBuf;
    use threadcount_model::experiment::Experiment;

    fn experiment(top: &str, variant: &str) -> Result<Experiment, String> {
        let text = format!(
            "question: q\nserver: {{command: 'x {{port}}'}}\nrequest: /\n{top}\nvariants: {{a: {{}}, b: {{{variant}}}}}\nloads: [{{clients: 1, duration: 1s}}]\n"
        );
        parse("x", "/some/x.yaml", &text, false).map_err(|mistake| mistake.to_string())
    }

    #[test]
    fn a_variant_has_its_own_surroundings_or_those_at_the_top() {
        let read = experiment("workdir: app\nbefore: seed --all\nafter: drop", "before: seed --few").unwrap();
        let [a, b] = &read.variants[..] else { panic!("two variants") };
        assert_eq!(a.workdir, Some(PathBuf::from("/some/app")));
        assert_eq!((a.before.as_deref(), a.after.as_deref()), (Some("seed --all"), Some("drop")));
        assert_eq!((b.before.as_deref(), b.after.as_deref()), (Some("seed --few"), Some("drop")));
        let plain = experiment("", "").unwrap();
        assert_eq!((&plain.variants[0].workdir, &plain.variants[0].before), (&None, &None));
    }

    #[test]
    fn a_command_knows_backends_and_not_the_port() {
        let wrong = experiment("before: wait-for {port}", "").unwrap_err();
        assert!(wrong.starts_with("`before` must be a command without `{port}`"), "{wrong}");
        let unknown = experiment("before: 'seed {database.port}'", "").unwrap_err();
        assert!(unknown.contains("refers to a backend at `{database.port}`"), "{unknown}");
    }
}
