//! The keys of a load for where its connections go, which authorities they trust, and what they check in responses.

use std::path::Path;
use threadcount_load::plan::{AddressOverride, ClientIdentity};
use threadcount_load::response::{BodyCheck, Capture};
use threadcount_model::experiment::{Sending, Workload};
use threadcount_model::parse;
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::fields::Fields;
use threadcount_model::parse::yaml::{Kind, Node};

/// The defaults with these keys applied. Files are relative to `folder`.
pub(super) fn read(fields: &Fields<'_>, folder: &Path) -> Result<Sending, Diagnostic> {
    let usual = Sending::default();
    let text = |key: &str| fields.read(key, |node| node.text(key).map(str::to_owned));
    let file = |key: &str| Ok(text(key)?.map(|file| folder.join(file)));
    let truth = |key: &str| fields.read(key, |node| node.truth(key));
    let seconds = |key: &str| fields.read(key, |node| node.seconds(key));
    let resolved = |text: &str| AddressOverride::resolve(text).map_err(|error| error.to_string());
    let connected = |text: &str| AddressOverride::connect_to(text).map_err(|error| error.to_string());
    let mut resolve = fields
        .read("connect_to", |node| each(node, "connect_to", "another host and port", connected))?
        .unwrap_or_default();
    resolve.extend(
        fields
            .read("resolve", |node| each(node, "resolve", "the address of a host", resolved))?
            .unwrap_or_default(),
    );
    let ca_files =
        fields.read("cacert", |node| each(node, "cacert", "a file", |text| Ok(folder.join(text))))?;
    let (certificate, key) = (file("cert")?, file("key")?);
    let identity = certificate.map(|certificate| {
        let key = key.unwrap_or_else(|| certificate.clone());
        ClientIdentity::new(certificate, key)
    });
    let body_check =
        |node: &Node| node.parsed("expect_body", "a text or regex:PATTERN", |text| text.parse::<BodyCheck>());
    Ok(Sending {
        resolve,
        unix_socket: text("unix_socket")?.map(Into::into),
        sni: text("sni")?,
        ca_files: ca_files.unwrap_or_default(),
        identity,
        tls_resumption: truth("tls_resumption")?.unwrap_or(usual.tls_resumption),
        expect_body: fields.read("expect_body", body_check)?,
        captures: fields.read("capture", captures)?.unwrap_or_default(),
        follow: truth("follow")?.unwrap_or_default(),
        first_byte: truth("first_byte")?.unwrap_or_default(),
        cookies: truth("cookies")?.unwrap_or_default(),
        log: fields.read("log", log)?.map(Into::into),
        grace_s: seconds("grace")?.unwrap_or_default(),
        lateness_s: seconds("lateness")?.unwrap_or_default(),
        lead_in_s: seconds("lead_in")?,
        ..usual
    })
}

/// Keys that exclude the kind of load or another key.
pub(super) fn check(fields: &Fields<'_>, workload: Workload) -> Result<(), Diagnostic> {
    let is_there = |key: &str| fields.get(key).is_some();
    let refused = |key: &str, message: &str, label: &str, help: &str| {
        let span = fields.key_span(key).unwrap_or_else(|| fields.span.clone());
        Err(Diagnostic::new(span, message, label).help(help))
    };
    if is_there("lateness") && workload.is_closed() {
        let message = "clients send as soon as they have their responses, so nothing is due together";
        return refused(
            "lateness",
            message,
            "needs a rate",
            "leave it out, or write `rate: 5000/s` instead of `clients`",
        );
    }
    if is_there("lead_in") && is_there("requests") {
        let message = "requests that are counted begin with the first";
        return refused("lead_in", message, "needs a duration", "leave it out, or `requests`");
    }
    if is_there("lead_in") && (is_there("ramp") || is_there("steps")) {
        let message = "a rate that changes is measured from its beginning";
        return refused("lead_in", message, "needs a steady load", "leave it out");
    }
    if is_there("key") && !is_there("cert") {
        let help = "write `cert: client.pem` too, or leave `key` out";
        return refused("key", "a key needs its certificate", "no `cert`", help);
    }
    let address = ["resolve", "connect_to"].into_iter().find(|key| is_there(key));
    if let Some(key) = address.filter(|_| is_there("unix_socket")) {
        let message = "a Unix socket has no host and port";
        return refused(key, message, "beside `unix_socket`", "leave out one of the two");
    }
    let closes = fields.get("keep_alive").is_some_and(|node| matches!(node.truth("keep_alive"), Ok(false)));
    if let Some(key) = ["cookies", "capture"].into_iter().find(|key| is_there(key)).filter(|_| closes) {
        let message =
            "cookies and values belong to a connection, and without keep-alive each has one request";
        return refused(key, message, "needs keep-alive", "leave out one of `keep_alive` and this");
    }
    Ok(())
}

/// `capture:` of a load.
pub(in super::super) fn captures(node: &Node) -> Result<Vec<Capture>, Diagnostic> {
    let parse = |text: &str| text.parse::<Capture>().map_err(|error| error.why);
    let captures = each(node, "capture", "a value of a response", parse)?;
    let names: Vec<&str> = captures.iter().map(|capture| capture.name.as_str()).collect();
    let twice = (1..names.len()).find(|&place| names[..place].contains(&names[place]));
    match twice {
        Some(place) => {
            let message = format!("`capture` has `{}` twice", names[place]);
            Err(Diagnostic::new(node.span.clone(), message, "two of one name")
                .help("give each a name of its own"))
        }
        None => Ok(captures),
    }
}

/// One value, or a list of them; none has a comma of its own to be split at.
fn each<T>(
    node: &Node,
    what: &str,
    expected: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, Diagnostic> {
    match &node.kind {
        Kind::List(items) => items.iter().map(|item| item.parsed(what, expected, &parse)).collect(),
        _ => Ok(vec![node.parsed(what, expected, parse)?]),
    }
}

/// The name of a file in the folder of each run.
fn log(node: &Node) -> Result<String, Diagnostic> {
    node.parsed("log", "the name of a file", |text| {
        parse::log_file(text)?;
        if text.contains('/') {
            return Err("write a name without a folder, e.g. requests.csv: it is in the folder of each run"
                .to_owned());
        }
        Ok(text.to_owned())
    })
}
