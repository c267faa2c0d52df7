//! Target files as vegeta reads them (github.com/tsenart/vegeta, README, "http format" and "json format").
//!
//! ```text
//! # a comment
//! GET http://localhost:8080/users/1
//! X-Account: 8675309
//!
//! POST http://localhost:8080/users
//! Content-Type: application/json
//! @new-user.json
//! ```
//!
//! or one JSON object per line, with the body in Base64:
//!
//! ```text
//! {"method": "POST", "url": "http://localhost:8080/users", "body": "e30=", "header": {"X-Account": ["1"]}}
//! ```

use super::{Header, RequestError, Target};
use crate::whole_file::{self, LARGEST_OF_A_REQUEST};
use base64::Engine as _;
use std::collections::BTreeMap;
use std::path::Path;

/// Reads a target file. Body files are relative to its folder.
///
/// # Errors
/// [`RequestError::Read`], [`RequestError::File`] with the line, [`RequestError::NoTarget`] if it contains no target.
pub fn read(file: &Path) -> Result<Vec<Target>, RequestError> {
    let text = whole_file::read_text(file, LARGEST_OF_A_REQUEST)
        .map_err(|source| RequestError::Read { file: file.to_owned(), source })?;
    parse(&text, file.parent().unwrap_or(Path::new("")))
        .map_err(|source| RequestError::File { file: file.to_owned(), source: Box::new(source) })
}

/// Reads targets in either format. Body and data files are relative to `base_dir`.
///
/// # Errors
/// [`RequestError::Line`] with the mistake, [`RequestError::NoTarget`] if there is no target.
pub fn parse(text: &str, base_dir: &Path) -> Result<Vec<Target>, RequestError> {
    // Some editors begin a file with a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    let is_json = text.trim_start().starts_with('{');
    let mut targets = Vec::new();
    let mut open: Option<Target> = None;
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        let at_line = |source| RequestError::Line { line: number, source: Box::new(source) };
        if line.starts_with('#') {
            continue;
        }
        if is_json {
            if !line.is_empty() {
                targets.push(json_target(line).map_err(at_line)?);
            }
        } else if line.is_empty() {
            targets.extend(open.take());
        } else if is_first_line(line) {
            targets.extend(open.replace(first_line(line).map_err(at_line)?));
        } else {
            let target = open.take().ok_or_else(|| at_line(not_a_target(line)))?;
            if let Some(file) = line.strip_prefix('@') {
                targets.push(target.with_body(body(&base_dir.join(file.trim())).map_err(at_line)?));
            } else {
                open = Some(target.with_header(header(line).map_err(at_line)?));
            }
        }
    }
    targets.extend(open);
    if targets.is_empty() {
        return Err(RequestError::NoTarget);
    }
    Ok(targets.into_iter().map(|target| target.with_files_in(base_dir)).collect())
}

/// Whether a line begins a target, by vegeta's own rule: capital letters, then white space.
fn is_first_line(line: &str) -> bool {
    let method = line.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(line.len());
    method > 0 && line[method..].starts_with([' ', '\t'])
}

fn first_line(line: &str) -> Result<Target, RequestError> {
    let (method, url) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    // Request files of editors and browsers have the protocol at the end of the line.
    Target::new(method, url.strip_suffix("HTTP/1.1").unwrap_or(url).trim())
}

/// Parses a header. Unlike on a command line, `Name:` means an empty value.
fn header(line: &str) -> Result<Header, RequestError> {
    match line.split_once(':') {
        Some((name, value)) => Header::new(name.trim(), value),
        None => Header::parse(line),
    }
}

fn not_a_target(line: &str) -> RequestError {
    let why = "write the method and the URL first, such as GET http://localhost:8080/".to_owned();
    RequestError::Target { text: line.to_owned(), why }
}

fn body(file: &Path) -> Result<Vec<u8>, RequestError> {
    whole_file::read(file, LARGEST_OF_A_REQUEST)
        .map_err(|source| RequestError::Read { file: file.to_owned(), source })
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonTarget {
    method: String,
    url: String,
    #[serde(default)]
    body: String,
    #[serde(default, alias = "headers")]
    header: BTreeMap<String, Vec<String>>,
}

fn json_target(line: &str) -> Result<Target, RequestError> {
    let refused = |why: String| RequestError::Target { text: line.to_owned(), why };
    let json: JsonTarget = serde_json::from_str(line).map_err(|error| refused(error.to_string()))?;
    let body = base64::engine::general_purpose::STANDARD
        .decode(&json.body)
        .map_err(|error| refused(format!("its body is not Base64: {error}")))?;
    let mut target = Target::new(&json.method, &json.url)?.with_body(body);
    for (name, values) in &json.header {
        for value in values {
            target = target.with_header(Header::new(name, value)?);
        }
    }
    Ok(target)
}
