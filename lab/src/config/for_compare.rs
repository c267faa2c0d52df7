//! `threadcount compare`: an experiment without a file.

use crate::model::experiment::protocol::AT_MOST;
use crate::model::experiment::warm_up::WarmUpTime;
use crate::model::experiment::{CommandServer, Experiment, LoadSpec, Protocol, RequestSpec, Server, Variant};
use miette::Diagnostic;
use thiserror::Error;

/// The arguments of `threadcount compare`.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareAsked {
    /// `--url`, the first: scheme, host, port (or `{port}`) and path of the request.
    pub url: String,
    /// `--variant NAME='COMMAND'`, in their order; the first is the baseline.
    pub variants: Vec<(String, String)>,
    /// The load, from its flags.
    pub load: LoadSpec,
    /// `--runs`: exactly so many rounds; `None`: until the result is conclusive.
    pub runs: Option<u32>,
    pub budget_s: Option<f64>,
    pub warmup: WarmUpTime,
    /// `--ready`: the path that responds when the server is ready; `None`: the path of the URL.
    pub ready: Option<String>,
}

#[derive(Debug, Error, Diagnostic, PartialEq, Eq)]
pub enum CompareError {
    #[error("compare needs at least two variants")]
    #[diagnostic(help("write --variant NAME='COMMAND' for each, the baseline first"))]
    TooFew,
    #[error("--variant {0}: two variants have this name")]
    #[diagnostic(help("give each variant a name of its own"))]
    Twice(String),
    /// A name that cannot stand in a table, a file name or a claim.
    #[error("--variant {0}: not a name")]
    #[diagnostic(help("use letters, digits, `-`, `_` and `.`, and begin with a letter or digit"))]
    Name(String),
    #[error("--url {0}: not an http:// or https:// address")]
    #[diagnostic(help("write, for example, http://127.0.0.1:8080/path; `{{port}}` stands for a free port"))]
    Url(String),
    /// The readiness path is not a path.
    #[error("--ready {0}: not a path")]
    #[diagnostic(help("begin it with a slash, for example /health"))]
    Ready(String),
    /// `{port}` in the URL and not in a command.
    #[error("--variant {0}: the URL has `{{port}}`, and this command does not say it to the server")]
    #[diagnostic(help("write `{{port}}` in the command too, or a fixed port in the URL"))]
    PortUnsaid(String),
}

impl Experiment {
    /// The experiment that `threadcount compare` runs.
    ///
    /// # Errors
    /// Too few variants, names that are none or written twice, a URL that is none.
    pub fn for_compare(asked: CompareAsked) -> Result<Self, CompareError> {
        check_variants(&asked)?;
        let (base, path) = split_url(&asked.url).ok_or_else(|| CompareError::Url(asked.url.clone()))?;
        let ready = asked.ready.unwrap_or_else(|| RequestSpec::get(&path).sample_path());
        if !ready.starts_with('/') || ready.contains(char::is_whitespace) {
            return Err(CompareError::Ready(ready));
        }
        let variants: Vec<Variant> = asked
            .variants
            .into_iter()
            .map(|(name, command)| Variant {
                note: Some(command.clone()),
                ..Variant::new(
                    &name,
                    Server::Command(CommandServer { command, url: base.clone(), ready: ready.clone() }),
                )
            })
            .collect();
        let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
        let question = format!("What changes between {}?", names.join(" and "));
        let load = LoadSpec {
            runs: asked.runs.unwrap_or(AT_MOST),
            protocol: asked.runs.map_or(Protocol::adaptive(false), |_| Protocol::Fixed { drop: 0 }),
            ..asked.load
        };
        let mut experiment = Self {
            name: "compare".to_owned(),
            question,
            study: None,
            variants,
            loads: vec![load],
            warmup_s: 0.0,
            warmup_auto: false,
            budget_s: asked.budget_s,
            published: Vec::new(),
            claims: Vec::new(),
            unavailable: Vec::new(),
            cores: None,
            quick: false,
        };
        experiment.set_warmup(asked.warmup);
        Ok(experiment)
    }
}

fn check_variants(asked: &CompareAsked) -> Result<(), CompareError> {
    if asked.variants.len() < 2 {
        return Err(CompareError::TooFew);
    }
    for (index, (name, command)) in asked.variants.iter().enumerate() {
        if !crate::config::is_name(name) {
            return Err(CompareError::Name(name.clone()));
        }
        if asked.variants[..index].iter().any(|(before, _)| before == name) {
            return Err(CompareError::Twice(name.clone()));
        }
        if asked.url.contains("{port}") && !command.contains("{port}") {
            return Err(CompareError::PortUnsaid(name.clone()));
        }
    }
    Ok(())
}

/// `http://user@host:port/path?query` → (`http://host:port`, `/path?query`).
fn split_url(url: &str) -> Option<(String, String)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if !matches!(scheme, "http" | "https") || host.is_empty() || url.contains(char::is_whitespace) {
        return None;
    }
    let slash = if path.starts_with('/') { "" } else { "/" };
    Some((format!("{scheme}://{host}"), format!("{slash}{path}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::experiment::LoadKind;

    fn asked(url: &str, variants: &[(&str, &str)]) -> CompareAsked {
        CompareAsked {
            url: url.into(),
            variants: variants.iter().map(|&(name, command)| (name.into(), command.into())).collect(),
            load: LoadSpec::new("c64", LoadKind::Closed { clients: 64 }, RequestSpec::get("/a?b=c")),
            runs: None,
            budget_s: None,
            warmup: WarmUpTime::AtMost(10.0),
            ready: None,
        }
    }

    #[test]
    fn the_path_of_the_url_is_what_is_asked_and_what_says_ready() {
        let variants = [("before", "run --port {port}"), ("after", "run --new --port {port}")];
        let experiment = Experiment::for_compare(asked("http://127.0.0.1:{port}/a?b=c", &variants))
            .expect("an experiment");
        assert_eq!(experiment.loads[0].request.path, "/a?b=c");
        assert_eq!(experiment.loads[0].name, "c64");
        let expected = Server::Command(CommandServer {
            command: "run --port {port}".into(),
            url: "http://127.0.0.1:{port}".into(),
            ready: "/a?b=c".into(),
        });
        assert_eq!(experiment.variants[0].server(), Some(&expected));
        assert_eq!(experiment.question, "What changes between before and after?");
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let url = "http://127.0.0.1:8080";
        let error = |url: &str, variants: &[(&str, &str)]| {
            Experiment::for_compare(asked(url, variants)).expect_err("an error")
        };
        assert_eq!(error(url, &[("a", "x")]), CompareError::TooFew);
        assert_eq!(error(url, &[("a", "x"), ("a", "y")]), CompareError::Twice("a".into()));
        assert_eq!(error(url, &[("a", "x"), ("b c", "y")]), CompareError::Name("b c".into()));
        assert_eq!(
            error("127.0.0.1:80", &[("a", "x"), ("b", "y")]),
            CompareError::Url("127.0.0.1:80".into())
        );
        let unsaid = error("http://h:{port}", &[("a", "x {port}"), ("b", "y")]);
        assert_eq!(unsaid, CompareError::PortUnsaid("b".into()));
        assert!(unsaid.to_string().contains("has `{port}`"), "{unsaid}");
    }
}
