//! `request:` of a load, or of all of them: a path, a map, a list of both, or a file.

use super::{environment, sending};
use std::num::NonZeroU32;
use std::path::Path;
use threadcount_load::request::{RequestError, RequestSource, vegeta};
use threadcount_load::whole_file::{self, LARGEST_OF_A_REQUEST};
use threadcount_model::environment::has_names;
use threadcount_model::experiment::{Body, RequestSpec, VariablesIn};
use threadcount_model::parse;
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::fields::Fields;
use threadcount_model::parse::key_spec::{KeySpec, List, json_schema, map};
use threadcount_model::parse::value_kinds::{Count, NamedTexts, Text};
use threadcount_model::parse::yaml::{Kind, Node};
use threadcount_model::{keys, value_kinds};

/// Placeholder of the address, which differs per variant.
const SOMEWHERE: &str = "http://localhost";

const KEYS: &[KeySpec] = keys! {
    method: Method,
    path: RequestPath,
    headers: NamedTexts,
    /// The text, or @FILE.
    body: Text,
    weight: Count,
};

const FROM_FILE: &[KeySpec] = keys! {
    /// A file in the format of vegeta.
    targets: Text,
};

value_kinds! {
    /// What is requested: a path, a map, a list of both, or a file of targets.
    pub(super) Requests = |generator| json_schema!({
        "anyOf": [
            generator.subschema_for::<SingleRequest>(),
            generator.subschema_for::<List<SingleRequest>>(),
            map(generator, FROM_FILE, json_schema!({"required": ["targets"]})),
        ],
    });

    SingleRequest = |generator| json_schema!({
        "anyOf": [
            generator.subschema_for::<RequestPath>(),
            map(generator, KEYS, json_schema!({"required": ["path"]})),
        ],
    });

    /// A path with its query; each variant has an address of its own.
    RequestPath = |_| json_schema!({"type": "string", "pattern": r"^/[^\s]*$", "not": {"pattern": "://"}});

    Method = |_| json_schema!({"type": "string", "pattern": "^[A-Z-]+$"});
}

/// Reads all requests, at least one. Files are relative to `folder`.
pub(super) fn read(node: &Node, folder: &Path) -> Result<Vec<RequestSpec>, Diagnostic> {
    match &node.kind {
        Kind::List(items) if !items.is_empty() => {
            items.iter().map(|item| single_request(item, folder)).collect()
        }
        Kind::List(_) => Err(Diagnostic::new(node.span.clone(), "`request` is an empty list", "no request")
            .help("write one path, or a list like `[/a, {path: /b, weight: 3}]`")),
        Kind::Map(entries) if entries.iter().any(|(key, _)| key.name == "targets") => targets(node, folder),
        _ => Ok(vec![single_request(node, folder)?]),
    }
}

/// Reads a path, or a map with all parts of a request.
fn single_request(node: &Node, folder: &Path) -> Result<RequestSpec, Diagnostic> {
    let request = match node.kind {
        Kind::Scalar(_) => {
            let path = path(node)?;
            let variables = VariablesIn { path: has_names(path), ..VariablesIn::default() };
            RequestSpec { variables, ..RequestSpec::get(path) }
        }
        _ => from_map(node, folder)?,
    };
    // Some mistakes show only in a whole request: placeholders, and an invalid `Host`.
    let target = request.target(SOMEWHERE).map(|target| target.with_files_in(folder));
    let checked = target.and_then(|target| RequestSource::new(vec![target.clone()]).map(|_| target));
    let target = checked.map_err(|error| cannot_be_sent(node, &error))?;
    Ok(RequestSpec {
        body: request.body.is_some().then(|| Body::of(target.body())),
        variables: request.variables,
        ..RequestSpec::of(&target)
    })
}

/// Checks that each captured value that a request sends is captured.
pub(super) fn check_captures(fields: &Fields<'_>, asked: &[RequestSpec]) -> Result<(), Diagnostic> {
    let captured = fields.read("capture", sending::captures)?.unwrap_or_default();
    let targets = asked.iter().filter_map(|request| request.target(SOMEWHERE).ok()).collect();
    let Ok(source) = RequestSource::new(targets) else { return Ok(()) };
    let unknown = source.captures_sent().find(|name| captured.iter().all(|capture| capture.name != *name));
    let Some(name) = unknown else { return Ok(()) };
    let span = fields.key_span("request").unwrap_or_else(|| fields.span.clone());
    let message =
        format!("a request sends `{{capture:{name}}}`, and `capture` does not say where it comes from");
    Err(Diagnostic::new(span, message, "sent by this load").help(format!(
        "write `capture: ['{name}=header:X-Name']`, `{name}=regex:id=([0-9]+)` or `{name}=json:/id` beside it"
    )))
}

fn from_map(node: &Node, folder: &Path) -> Result<RequestSpec, Diagnostic> {
    let fields = Fields::open(node, "a request", KEYS)?;
    let (body, is_checked) = fields.read("body", |node| body(node, folder))?.unzip();
    let headers = fields.read("headers", headers)?.unwrap_or_default();
    let path = path(fields.require("path", "path: /thread-info?sleep=50ms")?)?;
    let variables = VariablesIn {
        path: has_names(path),
        headers: headers.iter().filter_map(|(_, value)| value.as_deref()).any(has_names),
        body: is_checked == Some(true) && matches!(&body, Some(Body::Text(text)) if has_names(text)),
    };
    let by_default = if body.is_some() { "POST" } else { "GET" };
    let weight = |node: &Node| node.parsed("weight", "a whole number from 1", parse::positive_u32);
    Ok(RequestSpec {
        method: fields.read("method", method)?.unwrap_or_else(|| by_default.to_owned()),
        headers,
        body,
        variables,
        weight: fields.read("weight", weight)?.unwrap_or(NonZeroU32::MIN),
        ..RequestSpec::get(path)
    })
}

/// Reads a file in vegeta's format. Its addresses are another server's and are dropped.
fn targets(node: &Node, folder: &Path) -> Result<Vec<RequestSpec>, Diagnostic> {
    let fields = Fields::open(node, "a request from a file", FROM_FILE)?;
    let file = fields.require("targets", "targets: requests.txt")?;
    let wrong = |error: RequestError| {
        Diagnostic::new(file.span.clone(), error.to_string(), "this file")
            .help("it has the format of vegeta: lines like `GET http://localhost/path`; the address is that of each variant")
    };
    let targets = vegeta::read(&folder.join(file.text("targets")?)).map_err(wrong)?;
    let requests = targets.iter().map(RequestSpec::of).collect();
    RequestSource::new(targets).map_err(wrong)?;
    Ok(requests)
}

fn path(node: &Node) -> Result<&str, Diagnostic> {
    let path = node.text("request")?;
    if path.contains("://") {
        return Err(node.bad("request", "a path, because each variant has an address of its own").help(
            "write what follows the host, for example `/thread-info?sleep=50ms`; the address belongs to \
             `server: {url: ...}`",
        ));
    }
    if !path.starts_with('/') || path.contains(char::is_whitespace) {
        return Err(node.bad("request", "a path").help("begin it with a slash; write a space as %20"));
    }
    environment::check(node, path)?;
    Ok(path)
}

fn method(node: &Node) -> Result<String, Diagnostic> {
    let method = node.text("method")?;
    if !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-') {
        return Ok(method.to_owned());
    }
    Err(node.bad("method", "a method in capitals").help("write GET, POST, PUT, DELETE, HEAD, ..."))
}

/// Reads the headers. A header without a value removes the default header.
fn headers(node: &Node) -> Result<Vec<(String, Option<String>)>, Diagnostic> {
    let Kind::Map(entries) = &node.kind else {
        let message = format!("`headers` is a map from name to text, and this is {}", node.noun());
        return Err(Diagnostic::new(node.span.clone(), message, "expected `Name: value`")
            .help("write `headers: {Content-Type: application/json}`"));
    };
    let value = |name: &str, node: &Node| match node.kind {
        Kind::Null => Ok(None),
        _ => {
            let value = node.text(name)?;
            environment::check(node, value)?;
            Ok(Some(value.to_owned()))
        }
    };
    let header = |(name, value): (String, Option<String>), node: &Node| {
        let header = RequestSpec { headers: vec![(name, value)], ..RequestSpec::get("/") };
        header.target(SOMEWHERE).map_err(|error| cannot_be_sent(node, &error))?;
        Ok(header.headers)
    };
    let each = entries.iter().map(|(key, node)| header((key.name.clone(), value(&key.name, node)?), node));
    Ok(each.collect::<Result<Vec<_>, Diagnostic>>()?.concat())
}

/// Reads text, or `@FILE` with the text, and whether its variables are filled in. Variables inside a file are not.
fn body(node: &Node, folder: &Path) -> Result<(Body, bool), Diagnostic> {
    let text = node.text("body")?;
    let Some(file) = text.strip_prefix('@') else {
        environment::check(node, text)?;
        return Ok((Body::Text(text.to_owned()), true));
    };
    let file = folder.join(file);
    let bytes = whole_file::read(&file, LARGEST_OF_A_REQUEST).map_err(|why| {
        Diagnostic::new(node.span.clone(), format!("cannot read {}: {why}", file.display()), "this file")
            .help("`body: \"@FILE\"` sends what is in a file beside this one; a body that begins with @ goes into a file")
    })?;
    Ok((Body::of(&bytes), false))
}

/// A mistake in a request, without the address, which is only a placeholder here.
fn cannot_be_sent(node: &Node, error: &RequestError) -> Diagnostic {
    let why = match error {
        RequestError::Url { why, .. } => format!("this path cannot be asked: {why}"),
        other => other.to_string(),
    };
    Diagnostic::new(node.span.clone(), why, "here")
}

#[cfg(test)]
mod tests {
    use super::super::{Experiment, parse};
    use super::*;

    /// Reads an experiment from a folder with some files.
    fn experiment(request: &str) -> Result<Experiment, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("order.json"), "{\"id\": \"{seq:1}\"}").unwrap();
        std::fs::write(folder.path().join("variable.txt"), "${PATH}").unwrap();
        std::fs::write(folder.path().join("picture"), [0xff, 0xd8]).unwrap();
        let targets =
            "GET http://elsewhere:81/a\nX-Id: {rand:1:9}\n\nPOST http://elsewhere:81/b\n@order.json\n";
        std::fs::write(folder.path().join("targets.txt"), targets).unwrap();
        std::fs::write(folder.path().join("broken.txt"), "GET nowhere\n").unwrap();
        let text = format!(
            "question: q\nserver: {{command: 'x {{port}}'}}\nrequest: {request}\nvariants: {{a: {{}}}}\nloads: \
                [{{clients: 1, duration: 1s}}]\n"
        );
        let file = folder.path().join("x.yaml").display().to_string();
        parse("x", &file, &text, false).map_err(|mistake| mistake.to_string())
    }

    fn requests(request: &str) -> Vec<RequestSpec> {
        let experiment = experiment(request).unwrap_or_else(|error| panic!("{request}: {error}"));
        experiment.loads[0].all_requests().cloned().collect()
    }

    #[test]
    fn a_request_is_a_path_a_map_or_a_list_of_both() {
        assert_eq!(requests("/a"), [RequestSpec::get("/a")]);
        let weighted =
            RequestSpec { weight: NonZeroU32::new(3).unwrap(), ..RequestSpec::get("/b/{rand:1:9}") };
        assert_eq!(
            requests("['/a', {path: '/b/{rand:1:9}', weight: 3}]"),
            [RequestSpec::get("/a"), weighted]
        );
        let plain = RequestSpec {
            headers: vec![("Accept".to_owned(), None), ("A".to_owned(), Some(String::new()))],
            ..RequestSpec::get("/")
        };
        assert_eq!(requests("{path: /, headers: {Accept: , A: ''}}"), [plain]);
    }

    #[test]
    fn a_body_is_text_or_a_file_beside_the_experiment_and_makes_it_a_post() {
        let posted =
            |body: Body| RequestSpec { method: "POST".to_owned(), body: Some(body), ..RequestSpec::get("/") };
        assert_eq!(requests("{path: /, body: text}"), [posted(Body::Text("text".to_owned()))]);
        assert_eq!(
            requests("{path: /, body: '@order.json'}"),
            [posted(Body::Text("{\"id\": \"{seq:1}\"}".to_owned()))]
        );
        assert_eq!(
            requests("{path: /, body: '@picture'}"),
            [posted(Body::Bytes { base64: "/9g=".to_owned() })]
        );
    }

    #[test]
    fn a_variable_is_filled_in_where_it_was_checked_and_is_text_in_a_file() {
        // A variable that is set in every test run.
        let filled = |request: &str| requests(request)[0].with_environment();
        let in_path = threadcount_model::environment::filled_in_path("/a?b=${PATH}");
        assert!(!in_path.contains(['$', ':']), "{in_path}");
        assert_eq!(filled("'/a?b=${PATH}'").path, in_path);
        assert_eq!(filled("{path: '/a?b=${PATH}'}").path, in_path);
        let inline = filled("{path: /, headers: {A: '${PATH}'}, body: '${PATH}'}");
        let path = std::env::var("PATH").unwrap();
        assert_eq!(inline.headers, [("A".to_owned(), Some(path.clone()))]);
        assert_eq!(inline.body, Some(Body::Text(path)));
        let text = Some(Body::Text("${PATH}".to_owned()));
        assert_eq!(filled("{path: /, headers: {A: '${PATH}'}, body: '@variable.txt'}").body, text);
        assert!(!requests("{path: /, body: '@variable.txt'}")[0].needs_environment());
        let typed = RequestSpec { body: text.clone(), ..RequestSpec::get("/") };
        assert_eq!(typed.with_environment().body, text, "a request of the command line");
    }

    #[test]
    fn a_target_file_gives_everything_but_the_address() {
        let first = RequestSpec {
            headers: vec![("X-Id".to_owned(), Some("{rand:1:9}".to_owned()))],
            ..RequestSpec::get("/a")
        };
        let second = RequestSpec {
            method: "POST".to_owned(),
            body: Some(Body::Text("{\"id\": \"{seq:1}\"}".to_owned())),
            ..RequestSpec::get("/b")
        };
        assert_eq!(requests("{targets: targets.txt}"), [first, second]);
    }

    #[test]
    fn what_cannot_be_asked_is_refused_before_anything_is_started() {
        let refused = |request: &str, why: &str| {
            let message = experiment(request).unwrap_err();
            assert!(message.contains(why), "{request}: {message}");
        };
        refused("[]", "`request` is an empty list");
        refused("{path: /é}", "this path cannot be asked: 'é' must be written percent-encoded, %C3%A9");
        refused("'/{rand:9:1}'", "is not a placeholder");
        refused("{path: /, headers: {'a b': c}}", "its name has a character that names cannot have");
        refused("{path: /, headers: {Content-Length: 5}}", "it follows from the body");
        refused("{path: /, body: '@missing'}", "cannot read");
        refused("{path: /, weight: 0}", "`weight` must be a whole number from 1");
        refused("{targets: missing.txt}", "cannot read");
        refused("{targets: broken.txt}", "line 1");
        refused("{targets: targets.txt, method: GET}", "a request from a file has no key `method`");
    }
}
