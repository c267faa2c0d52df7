//! `server: {target_url: URL}`: a server that runs elsewhere, which is neither started nor observed.

use super::http_get::BaseUrl;
use super::keys::{CheckedKey, Keys, WrittenServer};
use threadcount_model::environment;
use threadcount_model::experiment::RemoteTarget;
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::key_spec::json_schema;
use threadcount_model::parse::yaml::Node;
use threadcount_model::value_kinds;

/// Keys that only configure servers that we start.
const OF_A_START: [&str; 7] = ["threads", "args", "jdk", "jvm", "backend", "backends", "probe"];

pub fn keys() -> Keys<RemoteTarget> {
    let description = "The base URL of a server that runs already, here or elsewhere.";
    Keys {
        kind: CheckedKey::new::<TargetUrl>("target_url", description, url),
        plural: "targets",
        own: &[],
        read,
    }
}

value_kinds! {
    TargetUrl = |_| json_schema!({"type": "string", "pattern": "^https?://[^/]+/?$"});
}

fn url(node: &Node, key: &str) -> Result<(), Diagnostic> {
    let help = "write its base URL, like http://10.0.0.7:8080; paths stand in `request`";
    let url = node.text(key)?;
    if let Some(name) = environment::first_unset(url) {
        let message = format!("the environment variable `{name}` is not set");
        return Err(Diagnostic::new(node.span.clone(), message, "its value belongs here")
            .help(format!("set it for this command: {name}=... threadcount run")));
    }
    if is_base(&environment::filled_in(url)) {
        Ok(())
    } else {
        Err(node.bad(key, "the base URL of a server that runs").help(help))
    }
}

/// The server at a base URL; `None` if the text is not a base URL.
pub fn at(url: &str) -> Option<RemoteTarget> {
    is_base(url).then(|| remote_target(url))
}

fn is_base(url: &str) -> bool {
    BaseUrl::parse(url).is_ok_and(|base| base.path.is_empty())
}

fn remote_target(base_url: &str) -> RemoteTarget {
    RemoteTarget { target_url: base_url.trim_end_matches('/').to_owned() }
}

fn read(written: &WrittenServer<'_>) -> Result<RemoteTarget, Diagnostic> {
    for key in OF_A_START {
        written.refuse(key, "one that runs already", "a server that is started")?;
    }
    Ok(remote_target(written.kind))
}
