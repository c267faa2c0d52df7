//! The flags for several processes that share one load: which share this one sends, and when it begins.

use clap::Args;
use jiff::Timestamp;
use miette::miette;
use std::env;
use threadcount_load::plan::LoadShare;

/// The environment variables for index and count, in a Job of Kubernetes and in Slurm.
const ENVIRONMENTS: [(&str, &str); 2] =
    [("JOB_COMPLETION_INDEX", "THREADCOUNT_SHARES"), ("SLURM_PROCID", "SLURM_NTASKS")];
const AUTO: &str = "auto";

/// A share of a load that several processes send.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Share of a load")]
pub struct ShareOptions {
    /// Send share INDEX (from 0) of COUNT, and print lines for `threadcount merge`. `auto` reads both from JOB_COMPLETION_INDEX
    /// and THREADCOUNT_SHARES (Kubernetes), or from SLURM_PROCID and SLURM_NTASKS (Slurm)
    #[arg(long, value_name = "INDEX/COUNT|auto", conflicts_with_all = ["json", "hlog"])]
    #[cfg_attr(feature = "kubernetes", arg(conflicts_with = "kubernetes"))]
    share: Option<String>,
    /// Begin at this time, the common start of all shares, in seconds since 1970 or as 2026-11-22T21:00:00Z. A process that
    /// cannot begin within 50 ms of this time sends nothing
    #[arg(long, value_name = "TIME", value_parser = moment)]
    #[cfg_attr(feature = "kubernetes", arg(conflicts_with = "kubernetes"))]
    pub start_at: Option<u64>,
}

impl ShareOptions {
    /// The share of this process, or `None` for all of the load.
    ///
    /// # Errors
    /// A text that is no share, or a share that is not in the environment.
    pub fn share(&self) -> miette::Result<Option<LoadShare>> {
        self.share.as_deref().map(parse).transpose()
    }
}

/// Reads a share, or takes it from the environment.
///
/// # Errors
/// A text that is no share, or a share that is not in the environment.
pub(super) fn parse(written: &str) -> miette::Result<LoadShare> {
    parse_in(written, |name| env::var(name).ok())
}

fn parse_in(written: &str, environment: impl Fn(&str) -> Option<String>) -> miette::Result<LoadShare> {
    let text = if written == AUTO {
        let of =
            |(index, count): (&str, &str)| Some(format!("{}/{}", environment(index)?, environment(count)?));
        ENVIRONMENTS.into_iter().find_map(of).ok_or_else(|| {
            let names = ENVIRONMENTS.map(|(index, count)| format!("{index} and {count}"));
            miette!("--share auto: neither {} is set in the environment", names.join(" nor "))
        })?
    } else {
        written.to_owned()
    };
    text.parse().map_err(|why| miette!("--share {text}: {why}"))
}

/// Reads a moment, in nanoseconds since 1970.
fn moment(text: &str) -> Result<u64, String> {
    let wrong = || "write seconds since 1970, e.g. from `date +%s`, or 2026-11-22T21:00:00Z".to_owned();
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return u64::try_from(timestamp.as_nanosecond()).map_err(|_| wrong());
    }
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > 9 || !is_number(whole) || !is_number(part) {
        return Err(wrong());
    }
    let ns = format!("{whole}{part:0<9}");
    ns.parse().map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(written: &str, environment: &[(&str, &str)]) -> Result<Option<LoadShare>, String> {
        let value = |name: &str| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        parse_in(written, value).map(Some).map_err(|error| error.to_string())
    }

    #[test]
    fn a_share_is_written_or_comes_from_the_environment() {
        assert_eq!(share("2/4", &[]), Ok(LoadShare::new(2, 4)));
        let job = [("JOB_COMPLETION_INDEX", "1"), ("THREADCOUNT_SHARES", "3")];
        assert_eq!(share("auto", &job), Ok(LoadShare::new(1, 3)));
        assert_eq!(share("auto", &[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "2")]), Ok(LoadShare::new(0, 2)));
        assert!(share("auto", &[("SLURM_PROCID", "0")]).unwrap_err().contains("SLURM_NTASKS"));
        assert!(share("4/4", &[]).unwrap_err().starts_with("--share 4/4: write INDEX/COUNT"));
    }

    #[test]
    fn a_start_is_seconds_or_a_date() {
        assert_eq!(moment("1700000000"), Ok(1_700_000_000_000_000_000));
        assert_eq!(moment("1700000000.25"), Ok(1_700_000_000_250_000_000));
        assert_eq!(moment("2023-11-14T22:13:20Z"), Ok(1_700_000_000_000_000_000));
        for text in ["", "soon", "-5", "12:00", "1700000000.1234567890", "99999999999999999999"] {
            assert!(moment(text).is_err(), "{text}");
        }
    }
}
