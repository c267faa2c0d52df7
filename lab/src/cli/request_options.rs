//! The flags that describe requests.

use clap::Args;
use miette::{LabeledSpan, NamedSource, miette};
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use threadcount_load::request::{Header, RequestError, RequestSource, Target, vegeta};
use threadcount_load::whole_file::{self, LARGEST_OF_A_REQUEST};
use threadcount_model::environment;
use threadcount_model::experiment::{RequestSpec, VariablesIn};

/// The parts of each request. Path, headers and body may contain placeholders.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Request")]
pub struct RequestOptions {
    /// Method [default: GET, with --data POST]
    #[arg(short = 'X', long = "request", alias = "method", short_alias = 'm', value_name = "METHOD")]
    method: Option<String>,
    /// A header, e.g. 'Accept: text/html'; repeatable
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = Header::parse)]
    headers: Vec<Header>,
    /// User and password for basic authentication
    #[arg(short, long, value_name = "NAME:PASSWORD", value_parser = user)]
    user: Option<String>,
    /// The body, @FILE, or @- for standard input. In the body, URLs, headers and --user, ${NAME} stands for an environment variable. In path,
    /// headers and body, {rand:1:1000} stands for a random number, {seq:1} for a counter, {csv:FILE:COLUMN} for the next value of a CSV file,
    /// and {capture:NAME} for a captured value
    #[arg(short = 'b', long, visible_alias = "body", aliases = ["data-raw", "data-binary"], value_name = "TEXT|@FILE")]
    data: Option<String>,
    /// Read the requests from a file in vegeta's format
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "data", "weights"])]
    targets: Option<PathBuf>,
    /// Weight of each URL, e.g. 3,1
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    weights: Vec<NonZeroU32>,
}

/// The requests and their origin.
pub struct Asked {
    /// The origin as `http://host:port`, without a user's password.
    pub origin: String,
    /// The first request, with those that are sent in turn with it.
    pub first: RequestSpec,
    pub more: Vec<RequestSpec>,
}

/// Reads `NAME:PASSWORD`. Variables in it are filled in later.
fn user(text: &str) -> Result<String, RequestError> {
    Header::basic(text).map(|_| text.to_owned())
}

impl RequestOptions {
    /// The requests to these URLs, or those of the target file.
    ///
    /// # Errors
    /// The request that cannot be sent, and what to write instead.
    pub fn asked(&self, urls: &[String]) -> miette::Result<Asked> {
        let targets = match &self.targets {
            Some(file) => vegeta::read(file).map_err(|error| target_file_error(&error))?,
            None => self.targets_of(urls)?,
        };
        for (place, text) in self.texts_with_variables() {
            environment_is_set(place, text)?;
        }
        let user = self.user.as_deref().map(|user| Header::basic(&environment::filled_in(user)));
        let user = user.transpose().map_err(in_words)?;
        let with_headers =
            |target: Target| self.headers.iter().chain(&user).cloned().fold(target, Target::with_header);
        let targets: Vec<Target> = targets.into_iter().map(with_headers).collect();
        self.check_user(&targets)?;
        let mut requests = targets.iter().map(|target| self.request(target));
        let first = requests.next().ok_or_else(|| in_words(RequestError::NoTarget))?;
        let more = requests.collect();
        let origin = RequestSource::new(targets).map_err(in_words)?.origin().to_string();
        Ok(Asked { origin, first, more })
    }

    /// Refuses two authorizations in one request, because a server would choose one of them.
    fn check_user(&self, targets: &[Target]) -> miette::Result<()> {
        let is_authorization = |header: &&Header| header.name().eq_ignore_ascii_case("authorization");
        let has_two = |target: &Target| target.headers().iter().filter(is_authorization).count() > 1;
        if self.user.is_some() && targets.iter().any(has_two) {
            return Err(miette!(
                help = "give one of --user, a user in the URL, and an Authorization header",
                "--user: a request has an authorization of its own"
            ));
        }
        Ok(())
    }

    /// Whether the requests come from a file.
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
            let target =
                Target::new(method, &with_authority_filled_in(url)?).map_err(in_words)?.with_weight(weight);
            Ok(match &body {
                Some(body) => target.with_body(body.clone()),
                None => target,
            })
        };
        urls.iter().zip(weights).map(target).collect()
    }

    /// Makes a request. `${NAME}` in its path, headers and body is filled in when it is sent, but is plain text in a file.
    fn request(&self, target: &Target) -> RequestSpec {
        let variables = VariablesIn {
            path: !self.has_target_file() && environment::has_names(target.path()),
            headers: self.headers.iter().filter_map(Header::value).any(environment::has_names),
            body: self.text_of_body().is_some_and(environment::has_names),
        };
        RequestSpec { variables, ..RequestSpec::of(target) }
    }

    /// The values of flags, besides the URLs, in which variables are filled in.
    pub(super) fn texts_with_variables(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let headers = self.headers.iter().filter_map(Header::value).map(|value| ("--header", value));
        let user = self.user.as_deref().map(|user| ("--user", user));
        headers.chain(user).chain(self.text_of_body().map(|text| ("--data", text)))
    }

    /// The text of the body, unless it comes from a file.
    fn text_of_body(&self) -> Option<&str> {
        self.data.as_deref().filter(|data| !data.starts_with('@'))
    }

    fn body(&self) -> miette::Result<Option<Vec<u8>>> {
        let Some(data) = &self.data else { return Ok(None) };
        match data.strip_prefix('@') {
            Some("-") => {
                let body = whole_file::read_from(io::stdin(), LARGEST_OF_A_REQUEST);
                body.map(Some).map_err(|error| miette!("--data @-: cannot read standard input ({error})"))
            }
            Some(file) => whole_file::read(Path::new(file), LARGEST_OF_A_REQUEST)
                .map(Some)
                .map_err(|error| miette!("--data {data}: cannot read the file ({error})")),
            None => Ok(Some(data.clone().into_bytes())),
        }
    }
}

fn environment_is_set(place: &str, text: &str) -> miette::Result<()> {
    match environment::first_unset(text) {
        None => Ok(()),
        Some(unset) => Err(miette!(
            help = "set it for this command, or write the value instead",
            "the environment variable `{unset}` in {place} is not set"
        )),
    }
}

/// The URL with variables filled in its host, port and user. Those in its path stay names.
fn with_authority_filled_in(url: &str) -> miette::Result<String> {
    environment_is_set("the URL", url)?;
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    let (authority, path) = url.split_at(end);
    let (user, place) = authority.split_at(authority.rfind('@').unwrap_or(start));
    Ok(environment::filled_in_path(user) + &environment::filled_in(place) + path)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err gives")]
fn in_words(error: RequestError) -> miette::Report {
    miette!("{error}")
}

/// A mistake in a target file, with the user's line and what is wrong below it.
fn target_file_error(error: &RequestError) -> miette::Report {
    let plain = || miette!("--targets {error}");
    let RequestError::File { file, source } = error else { return plain() };
    let RequestError::Line { line, source } = &**source else { return plain() };
    // A pipe cannot be read twice.
    let Ok(text) =
        (if file.is_file() { whole_file::read_text(file, LARGEST_OF_A_REQUEST) } else { return plain() })
    else {
        return plain();
    };
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let length = text[start..].lines().next().map_or(0, str::len);
    let label = LabeledSpan::at(start..start + length, source.to_string());
    miette!(labels = vec![label], "--targets: line {line} cannot be used")
        .with_source_code(NamedSource::new(file.display().to_string(), text))
}
