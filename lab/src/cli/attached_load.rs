//! `threadcount compare --attach`: a load on a service that runs already, and what limits it meanwhile.

use super::live::Live;
use super::load_options::{AskedLoad, LoadOptions};
use super::process_id::process_id;
use super::watch::{follow, leave, parsed};
use super::{interrupt, load, plan_flags, stdout, summary};
use crate::host::listener::listener;
use crate::probe::line::Line;
use crate::probe::{Attached, ProbeChoice, jar};
use crate::report::live as words;
use crate::server::http_get::BaseUrl;
use crate::watch::limits::{CurrentLimits, Judge};
use crate::workload::load_plan::load_plan;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use threadcount_load::limits;
use threadcount_load::outcome::{LoadOutcome, Second};
use threadcount_load::plan::LoadPlan;
use threadcount_load::run::{self, Control, LoadError};

/// How long a line of the probe is waited for.
const REACTION: Duration = Duration::from_millis(100);

/// Ten seconds are judged, whose last events are up to two seconds late: a load of ten seconds that was there before them fills them.
const LEAD_IN_S: f64 = 3.0;

/// `--attach PID|URL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Attachment {
    Process(u32),
    /// The base URL of a service on this machine.
    Service(String),
}

/// A process id, or the URL of a service.
pub(super) fn attachment(text: &str) -> Result<Attachment, String> {
    if text.parse::<i64>().is_ok() {
        return process_id(text).map(Attachment::Process);
    }
    match BaseUrl::parse(text) {
        Ok(_) => Ok(Attachment::Service(text.trim_end_matches('/').to_owned())),
        Err(_) => Err("write the process id of the JVM, e.g. 4711, or the address of the service, e.g. \
             http://127.0.0.1:8080"
            .to_owned()),
    }
}

impl Attachment {
    fn pid(&self) -> miette::Result<u32> {
        let url = match self {
            Self::Process(pid) => return Ok(*pid),
            Self::Service(url) => url,
        };
        let port = BaseUrl::parse(url).into_diagnostic()?.port;
        listener(port).ok_or_else(|| {
            miette!(
                help = "write the process id of its JVM, and the whole URL: --attach 4711 --url http://host:8080/path",
                "--attach {url}: no process that we may see listens at port {port} of this machine"
            )
        })
    }

    /// A path is one of the service; of a process the address must be written.
    fn urls(&self, urls: &[String]) -> miette::Result<Vec<String>> {
        let whole = |url: &String| match self {
            _ if url.contains("://") => Ok(url.clone()),
            Self::Service(base) if url.starts_with('/') => Ok(format!("{base}{url}")),
            _ => Err(miette!(
                help = "write the whole URL, e.g. http://127.0.0.1:8080/orders/1",
                "--url {url}: with --attach PID the address of the service is not known"
            )),
        };
        urls.iter().map(whole).collect()
    }
}

/// Sends the load, observes the JVM meanwhile, and shows both. Nothing is compared.
///
/// # Errors
/// Input that cannot be used, a process that does not let the probe in, a load that cannot be started.
pub(super) fn run(target: &Attachment, urls: &[String], options: &LoadOptions) -> miette::Result<ExitCode> {
    let AskedLoad { origin, mut load } = options.load(&target.urls(urls)?)?;
    if load.requests.is_none() && load.shape.is_none() {
        load.sending.lead_in_s.get_or_insert(LEAD_IN_S);
    }
    let plan =
        load_plan(&load, &origin).map_err(|error| miette!("{}", plan_flags::load_plan_error(&error)))?;
    options.check_target(&plan)?;
    let pid = target.pid()?;
    let jar = jar::find().into_diagnostic()?;
    let stop = interrupt::stop_flag().into_diagnostic().wrap_err("Ctrl-C cannot be caught")?;
    let attached = Attached::to(pid, &jar, ProbeChoice::Light, None).into_diagnostic()?;
    let detacher = attached.detacher().into_diagnostic()?;
    let (outcome, found) = observed(attached, pid, &plan, &stop);
    leave(pid, &detacher, None)?;
    let outcome = outcome.map_err(|error| miette!("{}", plan_flags::load_error(&error)))?;
    let report = plan_flags::report(&outcome, &plan);
    let shown = summary::summary(&report, &outcome) + "\n" + &in_words(pid, &found);
    stdout::print(&shown).into_diagnostic().wrap_err("stdout cannot be written")?;
    Ok(load::exit_code(&outcome))
}

fn observed(
    attached: Attached,
    pid: u32,
    plan: &LoadPlan,
    stop: &AtomicBool,
) -> (Result<LoadOutcome, LoadError>, CurrentLimits) {
    let lines = parsed(follow(attached));
    let is_over = AtomicBool::new(false);
    let until = &is_over;
    thread::scope(|scope| {
        let judging = scope.spawn(move || judged(pid, &lines, until));
        let mut live = Live::new(plan, false);
        limits::raise_descriptor_limit();
        let outcome = run::run(plan, Control::new(stop, &mut |second: &Second| live.second(second)));
        until.store(true, Ordering::Relaxed);
        live.finish();
        (outcome, judging.join().unwrap_or_default())
    })
}

/// What is found last before the load is over.
fn judged(pid: u32, lines: &Receiver<Line>, is_over: &AtomicBool) -> CurrentLimits {
    let mut judge = Judge::of_process(pid);
    let mut found = CurrentLimits::default();
    while !is_over.load(Ordering::Relaxed) {
        match lines.recv_timeout(REACTION) {
            Ok(line) => judge.add(&line),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if let Some(limits) = judge.judge() {
            found = limits;
        }
    }
    found
}

fn in_words(pid: u32, found: &CurrentLimits) -> String {
    let limits = match found {
        CurrentLimits::TooEarly => vec![words::too_early()],
        CurrentLimits::Judged { window_s, findings } => words::limits(*window_s, findings),
    };
    let mut lines = vec![words::attached(pid)];
    for limit in limits {
        let advice = limit.advice.map(|it| format!(". {it}")).unwrap_or_default();
        lines.push(format!("  limit: {}{advice}", limit.sentence));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_or_an_address_is_attached_to() {
        assert_eq!(attachment("4711"), Ok(Attachment::Process(4_711)));
        assert_eq!(attachment("http://h:8080/"), Ok(Attachment::Service("http://h:8080".to_owned())));
        assert!(attachment("-5").unwrap_err().starts_with("write the number of a process"));
        assert!(attachment("shop").unwrap_err().starts_with("write the process id of the JVM"));
    }

    #[test]
    fn a_path_belongs_to_the_service_and_a_process_has_no_address() {
        let service = Attachment::Service("http://h:8080".to_owned());
        let urls = ["/a".to_owned(), "http://h:8080/b".to_owned()];
        assert_eq!(service.urls(&urls).unwrap(), ["http://h:8080/a", "http://h:8080/b"]);
        let refused = Attachment::Process(7).urls(&urls).unwrap_err().to_string();
        assert_eq!(refused, "--url /a: with --attach PID the address of the service is not known");
    }
}
