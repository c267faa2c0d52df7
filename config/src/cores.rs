//! Reads `cores:`, which names the CPU cores of each role: the load, the server, each backend.

use super::known;
use threadcount_model::experiment::role_cores::{LOAD, SERVER};
use threadcount_model::experiment::{Experiment, RoleCores};
use threadcount_model::parse;
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::key_spec::json_schema;
use threadcount_model::parse::yaml::{Kind, Node};
use threadcount_model::value_kinds;

value_kinds! {
    pub(super) CoreNumbers = |_| json_schema!({
        "type": ["string", "integer"],
        "minimum": 0,
        "pattern": "^[0-9]+(-[0-9]+)?( *, *[0-9]+(-[0-9]+)?)*$",
    });
}

pub(super) fn read(node: &Node, experiment: &Experiment) -> Result<RoleCores, Diagnostic> {
    let Kind::Map(entries) = &node.kind else {
        let message = format!("`cores` is a map from role to cores, and this is {}", node.noun());
        return Err(Diagnostic::new(node.span.clone(), message, "expected `role: cores`")
            .help("write, for example, `cores: {load: \"0\", server: \"1-2\", database: \"3\"}`"));
    };
    let backends = experiment.variants.iter().flat_map(|variant| &variant.backends);
    let mut roles = vec![LOAD, SERVER];
    for backend in backends {
        if !roles.contains(&backend.name.as_str()) {
            roles.push(&backend.name);
        }
    }
    let mut cores = RoleCores::default();
    for (key, node) in entries {
        let at = Node { span: key.span.clone(), kind: Kind::Null };
        known(&at, &key.name, "role", roles.iter().copied())?;
        let of_role = node.parsed_list(&key.name, "numbers of cores", parse::cores)?;
        cores.by_role.insert(key.name.clone(), of_role.0);
    }
    Ok(cores)
}
