//! The keys of a load for the destination of its connections, the trusted authorities, and the checks of responses.

use std::path::Path;
use threadcount_load::plan::{AddressOverride, ClientIdentity};
use threadcount_load::response::{BodyCheck, Capture};
use threadcount_model::experiment::Sending;
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

/// `capture:` of a load.
pub(in super::super) fn captures(node: &Node) -> Result<Vec<Capture>, Diagnostic> {
    let parse = |text: &str| text.parse::<Capture>().map_err(|error| error.why);
    each(node, "capture", "a value of a response", parse)
}

/// Reads one value, or a list of values; commas inside a value do not split it.
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
