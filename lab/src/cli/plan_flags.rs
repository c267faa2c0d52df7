//! The generator's messages about fields of its plan, with flags in place of the fields.

use miette::miette;
use std::path::Path;
use threadcount_load::limits::LimitError;
use threadcount_load::log::LogError;
use threadcount_load::plan::{LoadPlan, TlsFile};
use threadcount_load::run::LoadError;
use threadcount_load::setting::Setting;
use threadcount_model::experiment::LoadSpec;
use threadcount_servers::workload::load_plan::{LoadPlanError, load_plan};

/// Says why a load cannot be started.
pub(super) fn load_error(error: &LoadError) -> String {
    match error {
        LoadError::Plan(error) => error.sentence(flag),
        LoadError::Limit(error) => limit_error(error),
        LoadError::TlsFile(error) => {
            let flag = match error.which {
                TlsFile::Certificate => "--cert",
                TlsFile::Key => "--key",
                _ => "--cacert",
            };
            format!("{flag} {}: {}", error.file.display(), error.why)
        }
        LoadError::Log(error) => log_error(error),
        other => other.to_string(),
    }
}

/// Makes the plan of a load from flags.
///
/// # Errors
/// The load cannot be sent. The message names the flag.
pub(super) fn planned(load: &LoadSpec, origin: &str) -> miette::Result<LoadPlan> {
    load_plan(load, origin).map_err(|error| match error {
        LoadPlanError::Plan(error) => miette!("{}", error.sentence(flag)),
        other => miette!("{other}"),
    })
}

fn limit_error(error: &LimitError) -> String {
    let possible = error.possible_connections();
    let fewer = if possible == 0 { String::new() } else { format!("use -c {possible} or fewer, or ") };
    match error {
        LimitError::Descriptors { connections, needed, limit, .. } => format!(
            "-c {connections} needs {needed} file descriptors, but the hard limit RLIMIT_NOFILE is {limit}: {fewer}raise \
             the limit, {}",
            error.remedy()
        ),
        LimitError::Ports { connections, first, last } => format!(
            "-c {connections} needs as many source ports, but net.ipv4.ip_local_port_range is {first} to {last}: {fewer}{}",
            error.remedy()
        ),
        other => other.to_string(),
    }
}

fn log_error(error: &LogError) -> String {
    let cannot = |file: &Path, why: &dyn std::fmt::Display| format!("--log {}: {why}", file.display());
    match error {
        LogError::Standard => {
            "--log -: standard output has the result; name a file, e.g. requests.csv".to_owned()
        }
        LogError::NotRegular { file } => cannot(file, &"it exists and is not a regular file; name another"),
        LogError::Create { file, source } => cannot(file, &format!("it cannot be created: {source}")),
        LogError::Write { file, source } => cannot(file, &format!("it could not be written: {source}")),
        other => other.to_string(),
    }
}

/// The name of a setting in messages of the generator.
pub(super) const fn flag(setting: Setting) -> &'static str {
    match setting {
        Setting::Threads => "--threads",
        Setting::Cores => "--cores",
        Setting::Rate => "--rate",
        Setting::Connections => "--connections",
        Setting::ConnectTimeout => "--connect-timeout",
        Setting::LeadIn => "--lead-in",
        Setting::Log => "--log",
        Setting::StartAt => "--start-at",
        Setting::Insecure => "--insecure",
        Setting::Follow => "--follow",
        Setting::FirstByte => "--first-byte",
        Setting::Http1 => "use --http1.1",
        Setting::Http2 => "use --http2",
        Setting::Streams => "--streams",
        Setting::Requests => "--requests",
        Setting::Lateness => "--lateness",
        Setting::CloseAfterResponse => "--disable-keepalive",
        Setting::Captures => "--capture",
        Setting::KeepCookies => "--cookies",
        Setting::UnixSocket => "--unix-socket",
        Setting::Resolve => "--resolve and --connect-to",
        Setting::Sni => "--sni",
        Setting::CaFiles => "--cacert",
        Setting::Identity => "--cert",
        Setting::NoResumption => "--no-tls-resumption",
        _ => setting.field(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use threadcount_load::failure::{CertificateProblem, FailureCause};
    use threadcount_load::health::Warning;
    use threadcount_load::plan::PlanError;

    #[test]
    fn no_message_names_a_field_where_there_is_a_flag() {
        let limits = [
            LoadError::Limit(LimitError::Ports { connections: 30_000, first: 32_768, last: 60_999 }),
            LoadError::Plan(PlanError::NeedsTls { setting: Setting::CaFiles }),
            LoadError::Plan(PlanError::NeedsKeepAlive { setting: Setting::KeepCookies }),
            LoadError::Plan(PlanError::UnknownCapture { name: "id".to_owned() }),
            LoadError::Log(LogError::NotRegular { file: PathBuf::from("/dev/null") }),
        ];
        let flags = [
            "use -c 28232 or fewer",
            "--cacert is for https",
            "--cookies needs",
            "--capture id=",
            "--log /dev/null:",
        ];
        for (error, flag) in limits.iter().zip(flags) {
            let text = load_error(error);
            assert!(text.contains(flag) && !text.contains('`') || text.contains("`sysctl"), "{text}");
        }
    }

    #[test]
    fn no_advice_is_a_value_that_cannot_be_given() {
        let too_low = |limit| LimitError::Descriptors { connections: 64, others: 80, needed: 144, limit };
        let text = limit_error(&too_low(64));
        assert!(
            !text.contains("-c 0") && text.contains("is 64: raise the limit, as root `ulimit -n 144`"),
            "{text}"
        );
        assert!(limit_error(&too_low(100)).contains("use -c 20 or fewer, or raise the limit"));
        assert!(!too_low(64).to_string().contains("to 0 or fewer"), "{}", too_low(64));
    }

    #[test]
    fn warnings_name_flags() {
        let warning = |it: &Warning| it.sentence(flag);
        let texts = [
            warning(&Warning::GeneratorBusy { share: 0.95, threads: 2 }),
            warning(&Warning::GeneratorLate { p99_ms: 3.0 }),
            warning(&Warning::RateMissed { asked_per_s: 5.0, sent_per_s: 4.0, completed_per_s: 4.0 }),
            warning(&Warning::ClosedLoop),
            warning(&Warning::RateExceeded { asked_per_s: 5.0, sent_per_s: 6.0, waiting: 9 }),
            warning(&Warning::BegunPartly { open: 1, wanted: 2, has_lead_in: true }),
        ];
        let flags = [
            "(--threads, now 2)",
            "(--cores)",
            "(--rate)",
            "(--rate)",
            "(--lead-in) or more requests at once (--connections)",
            "(--connect-timeout) or fewer connections (--connections)",
        ];
        for (text, flag) in texts.iter().zip(flags) {
            assert!(text.contains(flag) && !text.contains('`'), "{text}");
        }
        let cause = Some(FailureCause::Certificate(CertificateProblem::Expired));
        assert_eq!(
            warning(&Warning::Failures { failed: 1, sent: 4, cause }),
            "1 of 4 requests failed (25.00 %), most often: TLS: the certificate has expired; --insecure accepts it. \
             Failures are in no response time"
        );
        assert!(FailureCause::Http2NotSpoken.sentence(flag).ends_with("use --http1.1"));
        assert!(FailureCause::Http1NotSpoken.sentence(flag).ends_with("use --http2"));
        assert!(warning(&Warning::NoPortLeft { count: 3 }).contains("source ports ran out 3 times"));
    }
}
