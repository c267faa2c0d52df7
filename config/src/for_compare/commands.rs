//! `--variant NAME='COMMAND'`: commands that start servers.

use super::asked::CompareAsked;
use super::check_distinct;
use super::error::CompareError;
use super::flow::{entry, scalar};
use super::variant_keys::{VariantKeys, Variants};
use threadcount_servers::placeholders::PORT;

pub(super) fn variants(
    commands: &[(String, String)],
    asked: &CompareAsked,
) -> Result<Variants, CompareError> {
    check_names(commands, &asked.url)?;
    if asked.surroundings.args.is_some() {
        let (kind, help) = ("--variant", "write the arguments in each command");
        return Err(CompareError::NoEffect { flag: "--args", kind, help });
    }
    let (base, _) = split_url(&asked.url).ok_or_else(|| CompareError::Url(asked.url.clone()))?;
    let variant = |(name, command): &(String, String)| VariantKeys {
        server: vec![entry("command", scalar(command))],
        ..VariantKeys::new(name, command)
    };
    Ok(Variants {
        server: vec![entry("url", scalar(&base))],
        port_variable: None,
        each: commands.iter().map(variant).collect(),
    })
}

fn check_names(commands: &[(String, String)], url: &str) -> Result<(), CompareError> {
    let names: Vec<&str> = commands.iter().map(|(name, _)| name.as_str()).collect();
    check_distinct("--variant", &names)?;
    for (name, command) in commands {
        if url.contains(PORT) && !command.contains(PORT) {
            return Err(CompareError::PortNotNamed(name.clone()));
        }
    }
    Ok(())
}

/// `http://user@host:port/path?query` → (`http://host:port`, `/path?query`).
pub(super) fn split_url(url: &str) -> Option<(String, String)> {
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
