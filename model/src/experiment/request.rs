//! One request of a load.

use crate::environment;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use threadcount_load::request::{Header, RequestError, RequestSource, Target};

/// A request; path, headers and body may contain `{rand:1:1000}` and `{seq:1}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestSpec {
    /// `GET`, `POST`, ...
    pub method: String,
    /// Path with query, e.g. `/thread-info?sleep=50ms`.
    pub path: String,
    /// Header lines; one without a value removes a default header.
    pub headers: Vec<(String, Option<String>)>,
    pub body: Option<Body>,
    /// The weight relative to the other requests of the load.
    pub weight: NonZeroU32,
    /// The texts in which `${NAME}` stands for a variable, because it was found when the request was read; elsewhere it is plain text.
    #[serde(skip)]
    pub variables: VariablesIn,
}

/// The texts of a request that contain variables of the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VariablesIn {
    pub path: bool,
    pub headers: bool,
    pub body: bool,
}

/// Body of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Body {
    /// Text.
    Text(String),
    /// Other bytes.
    Bytes {
        /// The bytes in Base64.
        base64: String,
    },
}

impl RequestSpec {
    #[must_use]
    pub fn get(path: &str) -> Self {
        Self {
            method: "GET".to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            body: None,
            weight: NonZeroU32::MIN,
            variables: VariablesIn::default(),
        }
    }

    /// The request of a benchmark, which sends none.
    #[must_use]
    pub fn nothing() -> Self {
        Self { method: String::new(), ..Self::get("") }
    }

    /// The request of a target, without its server.
    #[must_use]
    pub fn of(target: &Target) -> Self {
        let header = |header: &Header| (header.name().to_owned(), header.value().map(str::to_owned));
        Self {
            method: target.method().to_owned(),
            path: target.path().to_owned(),
            headers: target.headers().iter().map(header).collect(),
            body: (!target.body().is_empty()).then(|| Body::of(target.body())),
            weight: target.weight(),
            variables: VariablesIn::default(),
        }
    }

    /// The request to the server at a base URL.
    ///
    /// # Errors
    /// The request cannot be sent; the error says what to write instead.
    pub fn target(&self, base_url: &str) -> Result<Target, RequestError> {
        let url = format!("{}{}", base_url.trim_end_matches('/'), self.path);
        let mut target = Target::new(&self.method, &url)?.with_weight(self.weight);
        for (name, value) in &self.headers {
            let header = match value {
                Some(value) => Header::new(name, value)?,
                None => Header::parse(&format!("{name}:"))?,
            };
            target = target.with_header(header);
        }
        Ok(match &self.body {
            Some(body) => target.with_body(body.bytes()),
            None => target,
        })
    }

    /// The request with the values of the environment in path, headers and body. It is never stored.
    #[must_use]
    pub fn with_environment(&self) -> Self {
        let mut filled = Self { variables: VariablesIn::default(), ..self.clone() };
        if self.variables.path {
            filled.path = environment::filled_in_path(&self.path);
        }
        if self.variables.headers {
            for value in filled.headers.iter_mut().filter_map(|(_, value)| value.as_mut()) {
                *value = environment::filled_in(value);
            }
        }
        if self.variables.body
            && let Some(Body::Text(text)) = &mut filled.body
        {
            *text = environment::filled_in(text);
        }
        filled
    }

    /// Whether the request sends a value of the environment.
    #[must_use]
    pub fn needs_environment(&self) -> bool {
        self.texts_with_variables().next().is_some()
    }

    /// The path, headers (`Name: value`) and body that contain variables, as they are written.
    pub fn texts_with_variables(&self) -> impl Iterator<Item = String> {
        let headers = self.headers.iter().filter(|_| self.variables.headers);
        let headers = headers.filter_map(|(name, value)| Some(format!("{name}: {}", value.as_ref()?)));
        let body = match &self.body {
            Some(Body::Text(text)) if self.variables.body => Some(text.clone()),
            _ => None,
        };
        let path = self.variables.path.then(|| self.path.clone());
        path.into_iter().chain(headers).chain(body).filter(|text| environment::has_names(text))
    }

    /// The path with a number for each placeholder.
    #[must_use]
    pub fn sample_path(&self) -> String {
        let get = Self::get(&self.path).target("http://localhost");
        let source = get.and_then(|target| RequestSource::new(vec![target]));
        let sample = source.ok().and_then(|source| {
            let mut writer = source.writer(0, 1, true);
            let text = String::from_utf8_lossy(writer.http1(0).bytes).into_owned();
            text.split(' ').nth(1).map(str::to_owned)
        });
        sample.unwrap_or_else(|| self.path.clone())
    }

    /// `GET /path`.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{} {}", self.method, self.path).trim().to_owned()
    }
}

impl Body {
    /// The body as text if the bytes are UTF-8.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Bytes { base64: BASE64.encode(bytes) },
        }
    }

    /// The bytes to send. Invalid Base64 is sent as it is.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Bytes { base64 } => BASE64.decode(base64).unwrap_or_else(|_| base64.clone().into_bytes()),
        }
    }

    /// The body for a report: a short text in full, anything else by its size.
    #[must_use]
    pub fn words(&self) -> String {
        const SHORT_BYTES: usize = 500;
        match self {
            Self::Text(text) if text.len() <= SHORT_BYTES => text.clone(),
            _ => format!("{} bytes; they are in result.json", self.bytes().len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_becomes_data_and_the_same_target_again() {
        let target = Target::new("POST", "http://me:secret@h:81/a/{seq:1}?b")
            .unwrap()
            .with_header(Header::parse("Accept:").unwrap())
            .with_header(Header::parse("A: {rand:1:9}").unwrap())
            .with_body(vec![0xff, 0x00])
            .with_weight(NonZeroU32::new(3).unwrap());
        let spec = RequestSpec::of(&target);
        let json = serde_json::to_string(&spec).unwrap();
        let read: RequestSpec = serde_json::from_str(&json).unwrap();
        assert_eq!(read, spec);
        assert_eq!(read.target("http://h:81/").unwrap(), target);
        assert_eq!(spec.body.as_ref().map(Body::words).unwrap(), "2 bytes; they are in result.json");
    }

    #[test]
    fn a_sample_of_a_path_has_numbers_for_its_placeholders() {
        assert_eq!(RequestSpec::get("/a/{rand:7:7}/{seq:3}?b").sample_path(), "/a/7/3?b");
        assert_eq!(RequestSpec::get("/{x}").sample_path(), "/{x}");
    }

    #[test]
    fn a_request_is_read_as_it_is_stored() {
        let json = r#"{"method": "GET", "path": "/", "headers": [["A", "b"]], "body": "text", "weight": 1}"#;
        let read: RequestSpec = serde_json::from_str(json).unwrap();
        let expected = RequestSpec {
            headers: vec![("A".to_owned(), Some("b".to_owned()))],
            body: Some(Body::Text("text".to_owned())),
            ..RequestSpec::get("/")
        };
        assert_eq!(read, expected);
    }
}
