//! `threadcount load --kubernetes`: pods send a load, and their results are merged into one.

use super::kubernetes_events::{Purpose, tell};
use super::kubernetes_options::KubernetesOptions;
use super::live::Live;
use super::output::Output;
use super::{FAILED, interrupt, merge, plan_flags, stdout};
use miette::{IntoDiagnostic, WrapErr, miette};
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};
use threadcount_cluster::ClusterLoad;
use threadcount_cluster::api_error::ClusterError;
use threadcount_cluster::follow::{Event, PodInput, UnboundedSender, follow, unbounded_channel};
use threadcount_cluster::job::manifest;
use threadcount_cluster::pod_state::PodState;
use threadcount_cluster::seen_pods::SeenPods;
use threadcount_load::clock::{NANOS_PER_S, unix_now_ns};
use threadcount_load::merge::{Merge, Message};
use threadcount_load::plan::{LoadPlan, LoadShare};

/// By this time before the start all pods must run and their clocks agree. It is enough time to end them before they send anything.
const CHECK_BEFORE_NS: u64 = 3 * NANOS_PER_S;
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// The time after which a pod that has not begun gets its line again.
const TELL_EVERY: Duration = Duration::from_secs(2);

/// Sends the plan from a cluster and shows the result.
///
/// # Errors
/// A Job that cannot be made, pods that do not run in time, clocks that are too far apart.
pub(super) fn run(options: &KubernetesOptions, plan: &LoadPlan, output: &Output) -> miette::Result<ExitCode> {
    let shared = plan.clone().with(|plan| plan.share = LoadShare::new(0, options.pods()).unwrap_or_default());
    shared.check().map_err(|error| miette!("{}", plan_flags::load_error(&error.into())))?;
    let start_at_unix_ns = unix_now_ns() + options.start_after.as_nanos() as u64;
    let text = |word: OsString| {
        word.into_string().map_err(|word| miette!("`{}` is not UTF-8; pods get text only", word.display()))
    };
    let arguments: Vec<String> = env::args_os().map(text).collect::<miette::Result<_>>()?;
    let (load, told) = options.cluster_load(plan, start_at_unix_ns, &arguments)?;
    if options.dry_run {
        stdout::print(&manifest(&load).into_diagnostic()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let files = output.open()?;
    let interrupted = interrupt::stop_flag().into_diagnostic().wrap_err("Ctrl-C cannot be caught")?;
    let (inputs, to_write) = unbounded_channel();
    let mut gathering = Gathering {
        load: &load,
        start_at_unix_ns,
        merge: merge::gathering(),
        seen: SeenPods::default(),
        live: Live::new(plan, output.quiet),
        is_quiet: output.quiet,
        cut_short: BTreeSet::new(),
        is_checked: false,
        is_cancelled: false,
        refused: None,
        ended: Ok(()),
        telling: Telling { line: told, inputs, told: BTreeMap::new() },
    };
    let (stop, (events, received)) = (AtomicBool::new(false), channel());
    thread::scope(|scope| {
        let (load, stop) = (&load, &stop);
        scope.spawn(move || follow(load, to_write, stop, &events));
        gathering.gather(&received, &interrupted, stop);
    });
    gathering.live.finish(None);
    if let Some(why) = gathering.refused {
        return Err(why);
    }
    if gathering.is_cancelled {
        note!("interrupted before the load began: nothing was sent");
        return Ok(ExitCode::from(FAILED));
    }
    let Gathering { mut merge, seen, ended, is_checked, .. } = gathering;
    seen.clocks.ahead_ns().for_each(|(index, ahead_ns)| merge.set_clock_offset(index, ahead_ns));
    match (ended, is_checked) {
        (Ok(()), _) => merge::show(merge, output, files),
        (Err(error), false) => Err(error.into()),
        // Shows what was measured in spite of the error.
        (Err(error), true) => {
            note!("{:?}", miette::Report::from(error));
            let _ = merge::show(merge, output, files)?;
            Ok(ExitCode::from(FAILED))
        }
    }
}

/// Collects what the pods report.
struct Gathering<'l> {
    load: &'l ClusterLoad,
    start_at_unix_ns: u64,
    merge: Merge,
    seen: SeenPods,
    live: Live,
    is_quiet: bool,
    /// The pods that reported an interruption.
    cut_short: BTreeSet<u32>,
    /// Whether it was decided if the load may begin.
    is_checked: bool,
    /// Whether Ctrl-C came before that decision.
    is_cancelled: bool,
    /// Why nothing was sent.
    refused: Option<miette::Report>,
    ended: Result<(), ClusterError>,
    telling: Telling,
}

/// The arguments for each pod, which are sent again until the pod has begun, because a line may be lost on its way.
struct Telling {
    line: String,
    inputs: UnboundedSender<Vec<PodInput>>,
    /// The time at which each pod got its line last.
    told: BTreeMap<u32, Instant>,
}

impl Telling {
    fn tell(&mut self, index: u32, pod: String) {
        if self.told.get(&index).is_some_and(|at| at.elapsed() < TELL_EVERY) {
            return;
        }
        self.told.insert(index, Instant::now());
        // If nobody follows the Job any more, the events say so.
        let _ = self.inputs.send(vec![PodInput::new(0, pod, &self.line)]);
    }
}

impl Gathering<'_> {
    /// Gathers events until the Job is gone. Ctrl-C, a refusal or a damaged line ends it early.
    fn gather(&mut self, events: &Receiver<Event>, interrupted: &AtomicBool, stop: &AtomicBool) {
        loop {
            match events.recv_timeout(LOOK_EVERY) {
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if !self.is_checked {
                self.tell_those_that_have_not_begun();
            }
            if !self.is_checked && unix_now_ns() + CHECK_BEFORE_NS >= self.start_at_unix_ns {
                self.is_checked = true;
                self.refused = self.refused.take().or_else(|| self.why_not_to_start());
            }
            let is_interrupted = interrupted.load(Ordering::Relaxed);
            self.is_cancelled |= is_interrupted && !self.is_checked;
            if self.refused.is_some() || is_interrupted {
                stop.store(true, Ordering::Relaxed);
                self.is_checked = true;
            }
        }
        if !interrupted.load(Ordering::Relaxed) {
            self.name_who_was_cut_short();
        }
        // All pods ended before the time of the check.
        if !self.is_checked && self.ended.is_ok() {
            self.refused = self.refused.take().or_else(|| self.why_not_to_start());
        }
    }

    fn tell_those_that_have_not_begun(&mut self) {
        let begun: Vec<u32> = self.merge.begun().collect();
        let waiting = (0..self.load.pods).filter(|index| self.seen.runs(*index) && !begun.contains(index));
        waiting.for_each(|index| self.telling.tell(index, self.seen.name(index)));
    }

    /// Names the pods that were cut short. If a node evicts a pod and it ends in time, as ours do, only the events of the API server tell
    /// of it.
    fn name_who_was_cut_short(&mut self) {
        for index in &self.cut_short {
            if let Some(share) = LoadShare::new(*index, self.load.pods) {
                let why = "its node ended it, e.g. by an eviction; `kubectl get events` has the reason";
                self.merge.set_lost(share, why);
            }
        }
    }

    fn take(&mut self, event: Event) {
        self.seen.take(&event);
        let purpose = Purpose::Load { start_at_unix_ns: self.start_at_unix_ns };
        tell(&event, self.load, purpose, self.is_quiet);
        match event {
            Event::Pod { index, state: PodState::Lost(why), .. } | Event::Ending { index, why, .. } => {
                if let Some(share) = LoadShare::new(index, self.load.pods) {
                    self.merge.set_lost(share, &why.to_string());
                }
            }
            Event::Line { index, text, read_unix_ns } => self.line(index, &text, read_unix_ns),
            Event::End(result) => self.ended = result,
            _ => {}
        }
    }

    fn line(&mut self, index: u32, text: &str, read_unix_ns: u64) {
        match self.merge.line(text) {
            Ok(Some(line)) => match line.message {
                Message::Clock { unix_ns } => self.seen.clocks.line(index, unix_ns, read_unix_ns),
                Message::Second(_) | Message::End(_) => {
                    if matches!(&line.message, Message::End(end) if end.outcome.interrupted) {
                        self.cut_short.insert(index);
                    }
                    let live = &mut self.live;
                    self.merge.show_seconds(&mut |second| live.second(second));
                }
                _ => {}
            },
            Ok(None) => {}
            Err(error) => {
                self.refused = self.refused.take().or_else(|| Some(miette!("pod {index}: {error}")))
            }
        }
    }

    /// Says why the load cannot begin: pods are missing, or clocks disagree.
    fn why_not_to_start(&self) -> Option<miette::Report> {
        let begun: Vec<u32> = self.merge.begun().collect();
        let when = format!("{} s before the start", CHECK_BEFORE_NS / NANOS_PER_S);
        match self.seen.check(self.load.pods, |index| begun.contains(&index), &when) {
            Ok(clocks) => {
                clocks.iter().for_each(|text| self.say(text));
                None
            }
            Err(why) => Some(why.into()),
        }
    }

    fn say(&self, text: &str) {
        if !self.is_quiet {
            note!("{text}");
        }
    }
}
