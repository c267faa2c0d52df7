//! The key `tool:` of a load, an external load tool.

use threadcount_load::request::has_placeholder;
use threadcount_model::experiment::{ExternalTool, RequestSpec, Tool, Workload};
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::fields::Fields;
use threadcount_model::parse::key_spec::{KeySpec, json_schema, map};
use threadcount_model::parse::value_kinds::Count;
use threadcount_model::parse::yaml::Node;
use threadcount_model::{keys, value_kinds};

const KEYS: &[KeySpec] = keys! {
    /// Processes of ApacheBench.
    ab: Count,
};

value_kinds! {
    /// An external load tool.
    pub ToolKeys = |generator| map(generator, KEYS, json_schema!({"required": ["ab"]}));
}

/// Reads `{ab: 5}`: five processes of ApacheBench at once.
pub fn read(node: &Node, workload: Workload, requests: &[RequestSpec]) -> Result<Workload, Diagnostic> {
    let fields = Fields::open(node, "a load generator", KEYS)?;
    let processes = fields.require("ab", "tool: {ab: 1}")?;
    let count = processes.positive_u32("ab")?;
    let Some(clients) = workload.closed_clients() else {
        return Err(Diagnostic::new(node.span.clone(), "ab cannot send at a rate", "with a `rate`")
            .help("give the load `clients`, or leave `tool` out"));
    };
    if clients % count != 0 {
        let message = format!("{clients} clients cannot be shared among {count} processes");
        return Err(Diagnostic::new(processes.span.clone(), message, "processes").help(format!(
            "write `clients: {}`: the clients of all of them",
            clients.div_ceil(count) * count
        )));
    }
    if requests.len() > 1 {
        return Err(Diagnostic::new(
            node.span.clone(),
            "ab sends one kind of request only",
            "with several requests",
        )
        .help("write one `request`, or leave `tool` out"));
    }
    if requests.iter().any(varies) {
        return Err(Diagnostic::new(node.span.clone(), "ab does not know placeholders", "with placeholders")
            .help("write path and headers without them, or leave `tool` out"));
    }
    if requests.iter().any(|request| request.body.is_some()) {
        return Err(Diagnostic::new(node.span.clone(), "ab sends no body here", "with a body")
            .help("ask for something without a body, or leave `tool` out"));
    }
    Ok(Workload::External(ExternalTool { tool: Tool::Ab { processes: count }, clients }))
}

/// Whether the path or a header contains placeholders.
fn varies(request: &RequestSpec) -> bool {
    let headers = request.headers.iter().filter_map(|(_, value)| value.as_deref());
    headers.chain([request.path.as_str()]).any(has_placeholder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config::parse;

    fn tool(load: &str) -> Result<Option<Tool>, String> {
        let text = format!("question: q\nserver: {{tomcat: 11.0}}\nvariants: {{a: {{}}}}\nloads: [{load}]\n");
        let read = parse("x", "x.yaml", &text, false);
        read.map(|experiment| experiment.loads[0].workload.tool()).map_err(|mistake| mistake.to_string())
    }

    #[test]
    fn the_number_of_processes_is_read() {
        let five = tool("{clients: 50, duration: 3s, request: /, tool: {ab: 5}}");
        assert_eq!(five, Ok(Some(Tool::Ab { processes: 5 })));
        assert_eq!(tool("{clients: 50, duration: 3s, request: /}"), Ok(None));
    }

    #[test]
    fn what_ab_cannot_do_is_refused() {
        let refused = |load: &str| tool(load).unwrap_err();
        assert_eq!(
            refused("{rate: 5/s, duration: 3s, request: /, tool: {ab: 1}}"),
            "ab cannot send at a rate"
        );
        assert_eq!(
            refused("{clients: 12, duration: 3s, request: /, tool: {ab: 5}}"),
            "12 clients cannot be shared among 5 processes"
        );
        let posted = "{clients: 1, duration: 3s, request: {method: POST, path: /, body: x}, tool: {ab: 1}}";
        assert_eq!(refused(posted), "ab sends no body here");
        for request in ["'/{seq:1}'", "{path: /, headers: {A: '{rand:1:9}'}}"] {
            let load = format!("{{clients: 1, duration: 3s, request: {request}, tool: {{ab: 1}}}}");
            assert_eq!(refused(&load), "ab does not know placeholders", "{request}");
        }
        assert!(refused("{clients: 1, duration: 3s, request: /, tool: {wrk: 1}}").contains("no key `wrk`"));
    }
}
