//! `--target-url NAME=URL`: servers that run already.

use super::asked::{CompareAsked, Surroundings};
use super::error::CompareError;
use super::flow::{entry, scalar};
use super::variant_keys::{VariantKeys, Variants};
use super::{check_distinct, check_path};
use threadcount_model::experiment::Subject;
use threadcount_servers::placeholders::PORT;

pub(super) fn variants(targets: &[(String, String)], asked: &CompareAsked) -> Result<Variants, CompareError> {
    let Surroundings { jdks, jvm, args, env, .. } = &asked.surroundings;
    let of_a_start = [
        ("--jdk", !jdks.is_empty()),
        ("--jvm", !jvm.is_empty()),
        ("--args", args.is_some()),
        ("--env", !env.is_empty()),
        ("--health", asked.ready.is_some()),
    ];
    if let Some((flag, _)) = of_a_start.into_iter().find(|(_, is_written)| *is_written) {
        let (kind, help) = ("--target-url", "leave it out: these servers run already");
        return Err(CompareError::NoEffect { flag, kind, help });
    }
    check_path(asked)?;
    let names: Vec<&str> = targets.iter().map(|(name, _)| name.as_str()).collect();
    check_distinct("--target-url", &names)?;
    let twice = |place: &usize| targets[..*place].iter().any(|(_, url)| url == &targets[*place].1);
    if let Some(place) = (0..targets.len()).find(twice)
        && asked.surroundings.before.is_none()
    {
        return Err(CompareError::SameTarget(targets[place].1.clone()));
    }
    let variant = |(name, url): &(String, String)| {
        target(url)?;
        let server = vec![entry("target_url", scalar(url))];
        Ok(VariantKeys { name: name.clone(), server, ..VariantKeys::default() })
    };
    let each = targets.iter().map(variant).collect::<Result<_, CompareError>>()?;
    Ok(Variants { server: Vec::new(), port_variable: None, each })
}

/// A server that runs at this address.
///
/// # Errors
/// The address is not a base URL.
pub(crate) fn target(url: &str) -> Result<Subject, CompareError> {
    let known = threadcount_servers::target::at(url).filter(|_| !url.contains(PORT));
    known.map(Subject::Target).ok_or_else(|| CompareError::Target(url.to_owned()))
}
