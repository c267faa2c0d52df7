//! Refuses a load on a public address unless the user declares that it is allowed.

use clap::Args;
use miette::miette;
use std::net::IpAddr;
use threadcount_load::plan::LoadPlan;
use threadcount_load::run::target_addresses;
use threadcount_machine::public_address::is_public;
use threadcount_model::experiment::{Experiment, Variant};
use threadcount_servers::workload::load_plan::load_plan;

/// The condition that the target must meet.
const WHOSE: &str = "it must be your own machine, or its owner must have agreed to this load";

/// The flag for targets outside this machine and private networks.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Address and TLS")]
pub struct RemoteOptions {
    /// Send to a public address. The machine must be yours, or its owner must have agreed to the load
    #[arg(long)]
    pub allow_remote: bool,
}

impl RemoteOptions {
    /// Refuses a plan for a public address without the flag. With the flag, prints the condition.
    ///
    /// # Errors
    /// A public address without `--allow-remote`.
    pub fn check(self, plan: &LoadPlan) -> miette::Result<()> {
        let Some(address) = public_address(plan) else { return Ok(()) };
        let target = plan.requests.origin().to_string();
        if !self.allow_remote {
            return Err(refused(&target, address));
        }
        note!("remote target {target} ({address}): {WHOSE}");
        Ok(())
    }
}

impl RemoteOptions {
    /// Checks each server that an experiment does not start.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_targets(self, experiment: &Experiment) -> miette::Result<()> {
        for target in experiment.variants.iter().filter_map(Variant::target) {
            // A load that cannot be sent is reported elsewhere.
            let mut plans = experiment.loads.iter().filter_map(|load| load_plan(load, &target.url()).ok());
            if let Some(plan) = plans.find(|plan| public_address(plan).is_some()) {
                self.check(&plan)?;
            }
        }
        Ok(())
    }
}

fn public_address(plan: &LoadPlan) -> Option<IpAddr> {
    // A name without an address is reported by the load itself.
    let addresses = target_addresses(plan).unwrap_or_default();
    addresses.iter().map(|it| it.ip()).find(|ip| is_public(*ip))
}

/// Reads the value of `--target-url`, NAME=URL.
pub(super) fn named_url(written: &str) -> Result<(String, String), String> {
    match written.split_once('=') {
        Some((name, url)) if !name.is_empty() && url.contains("://") => Ok((name.to_owned(), url.to_owned())),
        _ => Err("write NAME=URL, for example old=http://10.0.0.7:8080".to_owned()),
    }
}

fn refused(target: &str, address: IpAddr) -> miette::Report {
    miette!(
        help = "if that is so, add --allow-remote",
        "{target} is at {address}, which is neither this machine nor on a private network: {WHOSE}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU32;
    use std::sync::Arc;
    use std::time::Duration;
    use threadcount_load::plan::{AddressOverride, Stop};
    use threadcount_load::request::{Origin, RequestSource};

    fn plan(host: &str, resolve: &[&str]) -> LoadPlan {
        let origin = Origin { tls: false, host: host.to_owned(), port: 80 };
        let stop = Stop::Duration(Duration::from_secs(1));
        let requests = Arc::new(RequestSource::get(origin, "/"));
        LoadPlan::closed(requests, NonZeroU32::MIN, stop).with(|plan| {
            plan.resolve = resolve.iter().map(|rule| AddressOverride::resolve(rule).unwrap()).collect();
        })
    }

    #[test]
    fn a_public_address_needs_the_flag_and_the_message_says_whose_machine_it_must_be() {
        let public = plan("203.0.113.7", &[]);
        let error = RemoteOptions::default().check(&public).unwrap_err();
        let text = format!("{error} {}", error.help().unwrap());
        assert!(text.contains("203.0.113.7") && text.contains("your own machine"), "{text}");
        assert!(text.contains("--allow-remote"), "{text}");
        assert!(RemoteOptions { allow_remote: true }.check(&public).is_ok());
    }

    #[test]
    fn where_connections_really_go_counts_and_not_the_name() {
        let check = |host: &str, rules: &[&str]| RemoteOptions::default().check(&plan(host, rules)).is_ok();
        assert!(check("127.0.0.1", &[]) && check("10.0.0.7", &[]) && check("localhost", &[]));
        assert!(check("shop.test", &["shop.test:80:127.0.0.1"]));
        assert!(!check("127.0.0.1", &["127.0.0.1:80:203.0.113.7"]));
        assert!(!check("shop.test", &["shop.test:80:127.0.0.1,203.0.113.7"]), "one of several");
    }
}
