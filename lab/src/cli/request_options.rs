//! What is asked: the flags that make requests.

use clap::Args;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::fs;
use std::num::NonZeroU32;
use std::path::PathBuf;
use threadcount_load::request::{Header, RequestSource, Target, vegeta};

/// What each request says. `{rand:1:1000}` and `{seq:1}` stand for numbers in path, headers and body.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What is asked")]
pub struct RequestOptions {
    /// Method [default: GET, with --data POST]
    #[arg(short = 'X', long = "request", alias = "method", short_alias = 'm', value_name = "METHOD")]
    method: Option<String>,
    /// A header, e.g. 'Accept: text/html'; as often as needed
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = Header::parse)]
    headers: Vec<Header>,
    /// The body, or @FILE that holds it. In path, headers and body {rand:1:1000} stands for a random number, {seq:1}
    /// for one that counts up
    #[arg(short = 'b', long, visible_alias = "body", value_name = "TEXT|@FILE")]
    data: Option<String>,
    /// Requests from a file in vegeta's format, instead of URLs
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "data", "weights"])]
    targets: Option<PathBuf>,
    /// How often each URL is asked, relative to the others, e.g. 3,1
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    weights: Vec<NonZeroU32>,
}

impl RequestOptions {
    /// The requests to these URLs, or those of the target file.
    ///
    /// # Errors
    /// What cannot be asked, and what to write.
    pub fn source(&self, urls: &[String]) -> miette::Result<RequestSource> {
        let targets = match &self.targets {
            Some(_) if !urls.is_empty() => {
                return Err(miette!("--targets and a URL: give one of the two"));
            }
            Some(file) => vegeta::read(file).into_diagnostic().wrap_err("--targets")?,
            None => self.targets_of(urls)?,
        };
        let with_headers = |target: Target| self.headers.iter().cloned().fold(target, Target::with_header);
        RequestSource::new(targets.into_iter().map(with_headers).collect()).into_diagnostic()
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
            let target = Target::new(method, url).into_diagnostic()?.with_weight(weight);
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
                .into_diagnostic()
                .wrap_err_with(|| format!("--data {data}: the file cannot be read")),
            None => Ok(Some(data.clone().into_bytes())),
        }
    }
}
