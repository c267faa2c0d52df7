//! The flags of requests.

use clap::Args;
use miette::{LabeledSpan, NamedSource, miette};
use std::fs;
use std::num::NonZeroU32;
use std::path::PathBuf;
use threadcount_load::request::{Header, RequestError, RequestSource, Target, vegeta};
use threadcount_model::experiment::RequestSpec;

/// What each request consists of. Path, headers and body may have placeholders in them.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Request")]
pub struct RequestOptions {
    /// Method [default: GET, with --data POST]
    #[arg(short = 'X', long = "request", alias = "method", short_alias = 'm', value_name = "METHOD")]
    method: Option<String>,
    /// A header, e.g. 'Accept: text/html'; repeatable
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = Header::parse)]
    headers: Vec<Header>,
    /// The body, or @FILE. In path, headers and body {rand:1:1000} is a random number and {seq:1} a counter.
    /// {csv:FILE:COLUMN} is the next value of a CSV file, {capture:NAME} a captured value
    #[arg(short = 'b', long, visible_alias = "body", value_name = "TEXT|@FILE")]
    data: Option<String>,
    /// Requests from a file in vegeta's format, instead of URLs
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "data", "weights"])]
    targets: Option<PathBuf>,
    /// Weight of each URL, e.g. 3,1
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    weights: Vec<NonZeroU32>,
}

/// The requests and their origin.
pub struct Asked {
    /// `http://host:port`, without a user's password.
    pub origin: String,
    /// One request, and those in turn with it.
    pub first: RequestSpec,
    pub more: Vec<RequestSpec>,
}

impl RequestOptions {
    /// The requests to these URLs, or those of the target file.
    ///
    /// # Errors
    /// What cannot be sent, and what to write.
    pub fn asked(&self, urls: &[String]) -> miette::Result<Asked> {
        let targets = match &self.targets {
            Some(file) => vegeta::read(file).map_err(|error| target_file_error(&error))?,
            None => self.targets_of(urls)?,
        };
        let with_headers = |target: Target| self.headers.iter().cloned().fold(target, Target::with_header);
        let targets: Vec<Target> = targets.into_iter().map(with_headers).collect();
        let mut requests = targets.iter().map(RequestSpec::of);
        let first = requests.next().ok_or_else(|| in_words(RequestError::NoTarget))?;
        let more = requests.collect();
        let origin = RequestSource::new(targets).map_err(in_words)?.origin().to_string();
        Ok(Asked { origin, first, more })
    }

    /// Whether the requests are from a file.
    pub const fn has_target_file(&self) -> bool {
        self.targets.is_some()
    }

    fn targets_of(&self, urls: &[String]) -> miette::Result<Vec<Target>> {
        if !self.weights.is_empty() && self.weights.len() != urls.len() {
            let (weights, urls) = (self.weights.len(), urls.len());
            return Err(miette!(
                help = "write one weight for each URL, e.g. --weights 3,1 for two",
                "--weights has {weights} and there are {urls} URLs"
            ));
        }
        let body = self.body()?;
        let default_method = if body.is_some() { "POST" } else { "GET" };
        let method = self.method.as_deref().unwrap_or(default_method);
        let weights = self.weights.iter().copied().chain(std::iter::repeat(NonZeroU32::MIN));
        let target = |(url, weight): (&String, NonZeroU32)| {
            let target = Target::new(method, url).map_err(in_words)?.with_weight(weight);
            Ok(match &body {
                Some(body) => target.with_body(body.clone()),
                None => target,
            })
        };
        urls.iter().zip(weights).map(target).collect()
    }

    fn body(&self) -> miette::Result<Option<Vec<u8>>> {
        let Some(data) = &self.data else { return Ok(None) };
        match data.strip_prefix('@') {
            Some(file) => fs::read(file)
                .map(Some)
                .map_err(|error| miette!("--data {data}: the file cannot be read: {error}")),
            None => Ok(Some(data.clone().into_bytes())),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err gives")]
fn in_words(error: RequestError) -> miette::Report {
    miette!("{error}")
}

/// A mistake in a target file, with the user's own line and what is wrong under it.
fn target_file_error(error: &RequestError) -> miette::Report {
    let plain = || miette!("--targets {error}");
    let RequestError::File { file, source } = error else { return plain() };
    let RequestError::Line { line, source } = &**source else { return plain() };
    let Ok(text) = fs::read_to_string(file) else { return plain() };
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let length = text[start..].lines().next().map_or(0, str::len);
    let label = LabeledSpan::at(start..start + length, source.to_string());
    miette!(labels = vec![label], "--targets: line {line} cannot be used")
        .with_source_code(NamedSource::new(file.display().to_string(), text))
}
