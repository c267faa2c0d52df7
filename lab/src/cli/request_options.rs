//! What is asked: the flags that make requests.

use super::values;
use clap::Args;
use std::path::PathBuf;
use threadcount_load::request::{Origin, RequestSource};

/// What each request says.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What is asked")]
pub struct RequestOptions {
    /// Method [default: GET, with --data POST]
    #[arg(short = 'X', long = "request", alias = "method", short_alias = 'm', value_name = "METHOD")]
    method: Option<String>,
    /// A header, e.g. 'Accept: text/html'; as often as needed
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = values::header)]
    headers: Vec<(String, String)>,
    /// The body, or @FILE that holds it
    #[arg(short = 'b', long = "data", visible_alias = "body", value_name = "TEXT|@FILE")]
    data: Option<String>,
    /// Requests from a file in vegeta's format
    #[arg(long, value_name = "FILE")]
    targets: Option<PathBuf>,
    /// How often each URL is asked, relative to the others, e.g. 3,1
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    weights: Vec<u32>,
}

impl RequestOptions {
    pub fn source(&self, urls: &[String]) -> miette::Result<RequestSource> {
        let rest = urls[0].strip_prefix("http://").unwrap();
        let (host, path) = rest.split_once('/').unwrap();
        let (host, port) = host.split_once(':').unwrap();
        Ok(RequestSource::get(
            Origin { tls: false, host: host.to_owned(), port: port.parse().unwrap() },
            &format!("/{path}"),
        ))
    }
}
