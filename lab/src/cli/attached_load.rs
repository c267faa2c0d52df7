//! `threadcount compare --attach`: sends a load to a service that runs already, and says what limits it and what its requests wait for.

use super::live::Live;
use super::load_options::{AskedLoad, LoadOptions};
use super::process_id::process_id;
use super::watch::leave;
use super::{interrupt, load, plan_flags, stdout, summary};
use crate::run::attached;
use crate::run::few_clients::{ALONE_S, requests_alone, with_clients};
use crate::run::probe_lines::{NOT_OVER, ProbeLines, follow};
use crate::run::silence::{Hang, Silence};
use crate::run::warm_up::fastest_ms;
use crate::watch::limits::{CurrentLimits, Judge};
use miette::{IntoDiagnostic, WrapErr, miette};
use std::net::{SocketAddr, UdpSocket};
use std::num::NonZeroU32;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::thread;
use threadcount_judge::conclude::times_of_requests;
use threadcount_judge::explain::attached::explain_attached;
use threadcount_judge::finding::Rule;
use threadcount_load::limits;
use threadcount_load::outcome::{LoadOutcome, Second};
use threadcount_load::plan::LoadPlan;
use threadcount_load::report::LoadReport;
use threadcount_load::run::{self, Control, LoadError};
use threadcount_machine::listener::listener;
use threadcount_machine::other_processes::OtherProcesses;
use threadcount_machine::probe::attach::check_room;
use threadcount_machine::probe::{Attached, jar};
use threadcount_machine::sampler::{INTERVAL, Sampler};
use threadcount_model::experiment::{Experiment, LoadSpec};
use threadcount_model::record::{Record, WarmUp};
use threadcount_report::{attached as reasons, live as words};
use threadcount_servers::http_get::BaseUrl;
use threadcount_stats::request_time::other_traffic;

/// The judge looks at ten seconds, and events come up to two seconds late. The load starts this much earlier, so that ten seconds of load
/// fill them.
const LEAD_IN_S: f64 = 3.0;

/// The value of `--attach`: a process id or a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Attachment {
    Process(u32),
    /// The base URL of a service on this machine.
    Service(String),
}

/// Reads a process id, or the URL of a service.
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

/// Says why a service is not on this machine, or `None` if it is. Only an address of this machine can be bound.
fn elsewhere(url: &str) -> Option<String> {
    let base = BaseUrl::parse(url).ok()?;
    let host = &base.host;
    let addresses = match base.addresses() {
        Ok(addresses) => addresses,
        Err(error) => return Some(format!("`{host}` has no address here ({error})")),
    };
    let is_here = |address: &SocketAddr| UdpSocket::bind((address.ip(), 0)).is_ok();
    let first = addresses.first()?.ip();
    (!addresses.iter().any(is_here)).then(|| format!("`{host}` is another machine (at {first})"))
}

impl Attachment {
    pub(super) fn pid(&self) -> miette::Result<u32> {
        let url = match self {
            Self::Process(pid) => return Ok(*pid),
            Self::Service(url) => url,
        };
        let port = BaseUrl::parse(url).into_diagnostic()?.port;
        if let Some(why) = elsewhere(url) {
            return Err(miette!(
                help = "load it from here without observing it: `threadcount load URL`, or `threadcount compare --target-url NAME=URL` for each of two; \
                        or run --attach on its own machine",
                "--attach {url}: {why}, and only a JVM of this machine can be observed"
            ));
        }
        listener(port).ok_or_else(|| {
            miette!(
                help = "write the process id of its JVM, and the whole URL: --attach 4711 --url http://host:8080/path",
                "--attach {url}: no process that we may see listens at port {port} of this machine"
            )
        })
    }

    /// Completes a path with the service's address. For a process, the user must write the whole address.
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

/// Sends the load, observes the JVM meanwhile, and shows both. It compares nothing.
///
/// # Errors
/// Input that cannot be used, a process that does not let the probe in, or a load that cannot be started.
pub(super) fn run(
    target: &Attachment,
    urls: &[String],
    options: &LoadOptions,
    fail_above: f64,
) -> miette::Result<ExitCode> {
    let (load, plan, origin) = planned(target, urls, options)?;
    let pid = target.pid()?;
    let jar = jar::find().into_diagnostic()?;
    let stop = interrupt::stop_flag().into_diagnostic().wrap_err("Ctrl-C cannot be caught")?;
    check_room(pid).into_diagnostic()?;
    let warm_up = alone(&plan, &stop);
    let attached = Attached::to(pid, &jar, None).into_diagnostic()?;
    let detacher = attached.detacher().into_diagnostic()?;
    let sampler = Sampler::start(pid, INTERVAL).into_diagnostic()?;
    let others = OtherProcesses::from_now();
    let (outcome, (lines, limits)) = observed(attached, pid, &plan, &stop, &sampler);
    let busiest_other_process = others.busiest(Some(pid));
    let samples = sampler.stop();
    let left = leave(pid, &detacher, None);
    let outcome = outcome.map_err(|error| miette!("{}", plan_flags::load_error(&error)))?;
    let hang = Hang::find(Some(pid), Silence::of(&outcome), true, &stop);
    let report = LoadReport::naming(plan_flags::flag, &outcome, &plan);
    let mut record =
        attached::record([attached::VARIANT, &load.name], &plan, &outcome, lines.whole(), &samples);
    (record.warm_up, record.busiest_other_process) = (Some(warm_up), busiest_other_process);
    let Explained { limits, why } = explained(&attached::experiment(&load, &origin), record, limits);
    let why: String = why.into_iter().map(|line| line + "\n").collect();
    let shown = summary::summary(&report, &outcome) + "\n" + &in_words(pid, &limits) + &why;
    let hung: String = hang.iter().flat_map(Hang::lines).map(|line| line + "\n").collect();
    stdout::show(&(shown + &hung), false)?;
    // The measurement is good even if the probe could not be removed.
    if let Err(still_there) = &left {
        note!("{still_there}");
    }
    Ok(if hang.is_some() || left.is_err() {
        ExitCode::from(super::FAILED)
    } else {
        load::exit_code(&outcome, fail_above)
    })
}

/// Sends requests from one client alone, so that none waits for another. The first ones may load classes.
fn alone(plan: &LoadPlan, stop: &AtomicBool) -> WarmUp {
    let send = |seconds: f64| {
        let alone = with_clients(plan, 1, seconds).with(|plan| plan.threads = NonZeroU32::new(1));
        run::run(&alone, Control::new(stop, &mut |_| {})).ok()
    };
    let outcomes = [ALONE_S / 2.0, ALONE_S].map(send);
    WarmUp {
        fastest_ms: outcomes.iter().flatten().filter_map(fastest_ms).reduce(f64::min),
        alone: outcomes[1].as_ref().and_then(requests_alone),
        ..WarmUp::default()
    }
}

/// The load, how it is sent, and where to.
pub(super) fn planned(
    target: &Attachment,
    urls: &[String],
    options: &LoadOptions,
) -> miette::Result<(LoadSpec, LoadPlan, String)> {
    let AskedLoad { origin, mut load } = options.load(&target.urls(urls)?)?;
    if load.requests.is_none() && load.shape.is_none() {
        load.sending.lead_in_s.get_or_insert(LEAD_IN_S);
    }
    let plan = plan_flags::planned(&load, &origin)?;
    options.check_target(&plan)?;
    Ok((load, plan, origin))
}

fn observed(
    attached: Attached,
    pid: u32,
    plan: &LoadPlan,
    stop: &AtomicBool,
    sampler: &Sampler,
) -> (Result<LoadOutcome, LoadError>, (ProbeLines, CurrentLimits)) {
    let lines = follow(attached);
    let ended_ns = &AtomicU64::new(NOT_OVER);
    thread::scope(|scope| {
        let reading = scope.spawn(move || beside(pid, &lines, ended_ns));
        let mut live = Live::new(plan, false);
        limits::raise_descriptor_limit();
        let (mut begins, mut second) = (|| sampler.window_begins(), |second: &Second| live.second(second));
        let outcome = run::run(plan, Control::new(stop, &mut second).with_begin(&mut begins));
        // Nobody waits for the last events of a load that was stopped.
        let complete = outcome.as_ref().ok().filter(|outcome| !outcome.interrupted);
        ended_ns.store(complete.map_or(0, |outcome| outcome.ended_ns), Ordering::Relaxed);
        live.finish(outcome.as_ref().ok().map(LoadOutcome::elapsed_s));
        (outcome, reading.join().unwrap_or_default())
    })
}

/// Judges until the load is over. The last judgement says what limits the service.
fn beside(pid: u32, lines: &Receiver<String>, ended_ns: &AtomicU64) -> (ProbeLines, CurrentLimits) {
    let mut judge = Judge::of_process(pid);
    let mut limits = CurrentLimits::default();
    let read = ProbeLines::read(lines, ended_ns, &mut |line| {
        line.into_iter().for_each(|line| judge.add(line));
        if let Some(found) = judge.judge() {
            limits = found;
        }
    });
    (read, limits)
}

/// Explains what the requests spend their time on, with the findings besides the limits of the last seconds.
struct Explained {
    limits: CurrentLimits,
    why: Vec<String>,
}

fn explained(experiment: &Experiment, mut record: Record, limits: CurrentLimits) -> Explained {
    let others = other_traffic(&record);
    // If the neighbour in the same process serves requests of this load, a limit is still a limit.
    let is_its_own = record.neighbours.iter().any(|it| it.is_own);
    if others.is_some()
        && !is_its_own
        && let Some(jvm) = &mut record.jvm
    {
        jvm.wait_profile = None;
    }
    let mut found = explain_attached(experiment, &record, limits.findings());
    // This rule compares all threads that wait for a connection with the requests of this load alone.
    found.others.retain(|finding| others.is_none() || finding.rule() != Rule::Waiting);
    let records = [record];
    let all = [found.limits.as_slice(), &found.others].concat();
    let times = times_of_requests(experiment, &records, &all);
    let others = others.as_ref().map(reasons::others).into_iter();
    let why = others.chain(reasons::lines(&records[0], &times, &found.others)).collect();
    Explained { limits: limits.with_findings(found.limits), why }
}

fn in_words(pid: u32, found: &CurrentLimits) -> String {
    let mut lines = vec![words::attached(pid)];
    for limit in found.words() {
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
    fn a_service_of_another_machine_is_not_looked_for_on_this_one() {
        for (url, why) in [
            ("http://10.255.255.1:8080", "`10.255.255.1` is another machine (at 10.255.255.1)"),
            ("http://no-such-host.invalid:8080", "`no-such-host.invalid` has no address here"),
        ] {
            let refused = Attachment::Service(url.to_owned()).pid().unwrap_err();
            let help = refused.help().map(|help| help.to_string()).unwrap_or_default();
            assert!(refused.to_string().starts_with(&format!("--attach {url}: {why}")), "{refused}");
            assert!(help.contains("--target-url NAME=URL"), "{help}");
        }
        // The system gives port 1 to no process that lets it choose a port.
        let here = Attachment::Service("http://127.0.0.1:1".to_owned()).pid().unwrap_err().to_string();
        assert!(here.ends_with("listens at port 1 of this machine"), "{here}");
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
