//! Does a crossover inside a JVM: warms it up, switches the threads of its requests in short periods under one load, and switches back at
//! the end.

mod alone;
mod few_clients;
mod left_out;
mod observation;
mod period;
mod treatments;

use crate::run::silence::{Hang, Silence};
use left_out::{Rest, mark_incomplete, mark_lost_cpu, mark_warming_up};
use period::{OpenPeriod, PeriodLength, Subject, Switch};
use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use threadcount_load::clock::{Nanos, now_ns};
use threadcount_load::failure::FailureCause;
use threadcount_load::limits;
use threadcount_load::outcome::{LoadOutcome, Second};
use threadcount_load::periods::Periods;
use threadcount_load::plan::{LoadPlan, Pacing, Stop};
use threadcount_load::report::LoadReport;
use threadcount_load::run::{self, Control, LoadError};
use threadcount_machine::attach::{self, Lack, Need};
use threadcount_machine::lost_cpu::LostCpuMeter;
use threadcount_machine::other_processes::OtherProcesses;
use threadcount_machine::probe::attach::AttachError;
use threadcount_machine::probe::crossover::{CrossoverError, CrossoverSession, SwitchableServer};
use threadcount_machine::scheduling_group;
use threadcount_model::crossover::{Crossover, CrossoverRequests, CrossoverWarmUp, Treatment};
use threadcount_stats::crossover::block_order;
use threadcount_stats::crossover::comparison::{compare, is_decided, is_vague};
use threadcount_stats::random::SplitMix64;
use treatments::{served_at_once, usual_treatments};

/// How long the load itself warms up the JVM, switching through the kinds of thread.
const LOADED_WARM_UP: Duration = Duration::from_secs(6);
/// The load ends when the session does, and at the latest this long (for each kind of thread) after the time that periods may take.
const LONGEST_BESIDE_PERIODS: Duration = Duration::from_secs(150);
/// After this many seconds without a response the service hangs, or responds too slowly for periods.
const SILENT_S: u32 = 20;
/// How long we look for requests of other clients before we send anything.
const LISTENING: Duration = Duration::from_millis(1_500);
/// A load thread that waits for a response hands over its counts within 100 ms; this leaves room.
const HAND_OVER: Duration = Duration::from_millis(250);
/// How often we check whether the user stopped the session or the load has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The server, the load and the kinds of thread of a crossover.
#[derive(Clone)]
pub struct CrossoverOrder<'a> {
    /// The process ID of the JVM.
    pub pid: u32,
    /// The port that the requests go to.
    pub port: u16,
    pub plan: &'a LoadPlan,
    /// The jar of the probe.
    pub jar: PathBuf,
    /// The kinds of thread to compare, the baseline first. If empty, [`usual_treatments`] are compared.
    pub treatments: Vec<Treatment>,
    /// How long all periods together may take.
    pub budget: Duration,
    /// How long all periods together may take if, after `budget`, the JVM still warms up or the intervals are too wide.
    pub longest_budget: Duration,
    /// Goes on even if other clients send requests too.
    pub beside_others: bool,
    /// The kind of thread that the first seconds of a JVM are on, if it was started for the crossover. Its heap is collected then.
    pub alone: Option<Treatment>,
}

/// Progress of a crossover, for the screen.
pub enum CrossoverEvent<'e> {
    /// The server, before anything is sent.
    Found(&'e SwitchableServer),
    /// A second of the warm-up with few clients.
    WarmingUp(&'e Second),
    /// The JVM is warm; periods begin after a few seconds under the load.
    Warm(CrossoverWarmUp),
    /// A block is complete.
    Block(&'e Crossover),
    /// The periods are over, and the search for reasons begins.
    Observing(&'e Crossover),
}

/// Why there is no crossover.
#[derive(Debug, thiserror::Error)]
pub enum CrossoverFailure {
    #[error(transparent)]
    Session(#[from] CrossoverError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Probe(#[from] AttachError),
    #[error("the server's process cannot be read: {0}")]
    Process(#[from] io::Error),
    #[error("port {port} of {server} cannot be switched: {why}")]
    Unsupported { port: u16, server: String, why: String },
    #[error("no server of this JVM listens on port {0}")]
    NothingListens(u16),
    #[error(
        "others send requests to this service ({tasks} in {seconds:.1} s). A crossover would change what they measure, and they what it \
         measures. Stop them, or write --beside-others"
    )]
    OtherTraffic { tasks: u64, seconds: f64 },
    #[error("{threads} more threads in this JVM could leave its application none: {lack}")]
    NoRoom { threads: u64, lack: Lack },
    #[error("{}", .0.lines().join("\n"))]
    Hangs(Box<Hang>),
    #[error("no expected response for {0} s")]
    Silent(u32),
    #[error("none of {sent} requests had an expected response, mostly {why}")]
    NoneExpected { sent: u64, why: FailureCause },
    #[error(
        "the rate of the load changes: a crossover compares kinds of thread under one rate; write -r or -c alone"
    )]
    ChangingLoad,
    /// The server that was started for the crossover.
    #[error("{variant} never became ready. {why}")]
    NotReady { variant: String, why: String },
    #[error("interrupted by the user")]
    Interrupted,
}

impl miette::Diagnostic for CrossoverFailure {
    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        let help = match self {
            Self::Unsupported { .. } => {
                "compare --variant NAME=COMMAND, once for each kind of thread, compares any server in fresh processes"
            }
            Self::NoRoom { .. } => "--treatments own,virtual starts none",
            _ => return None,
        };
        Some(Box::new(help))
    }
}

/// Runs the crossover. However it returns, the server is back on its own threads.
///
/// # Errors
/// The reason why not a single period was measured.
pub fn run(
    order: &CrossoverOrder<'_>,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(CrossoverEvent<'_>),
) -> Result<Crossover, CrossoverFailure> {
    if !order.plan.is_steady() {
        return Err(CrossoverFailure::ChangingLoad);
    }
    let session = &CrossoverSession::attach(order.pid, &order.jar)?;
    let server = server_on(session, order.port)?;
    watch(CrossoverEvent::Found(&server));
    let own_threads = u32::try_from(server.own_max_threads).ok();
    let mut order = order.clone();
    if order.treatments.is_empty() {
        order.treatments = usual_treatments(own_threads, in_flight(order.plan));
    }
    let order = &order;
    check_room_for_pools(order)?;
    let baseline = order.treatments.first().copied().unwrap_or(Treatment::Own);
    let alone = order.alone.filter(|it| order.treatments.contains(it));
    session.switch_to(alone.unwrap_or(baseline), order.port)?;
    if !order.beside_others {
        look_for_others(session)?;
    }
    let alone = alone.map(|it| alone::observe(it, order, stop)).transpose()?;
    session.switch_to(baseline, order.port)?;
    let mut crossover = Crossover {
        server: server.server.clone(),
        port: order.port,
        own_threads,
        treatments: order.treatments.clone(),
        clients: in_flight(order.plan),
        rate_per_s: rate_per_s(order.plan),
        warm_up: few_clients::warm_up(order, session, stop, watch)?,
        periods: Vec::new(),
        busiest_other_process: None,
        requests: CrossoverRequests::default(),
        generator_limit: None,
        shared_group: scheduling_group::shared(order.pid, std::process::id()),
        ended_early: None,
        explaining: Vec::new(),
        unexplained: None,
        alone: alone.into_iter().collect(),
    };
    if stop.load(Ordering::Relaxed) {
        return Err(CrossoverFailure::Interrupted);
    }
    let periods = Arc::new(Periods::default());
    let over = AtomicBool::new(false);
    let silent_s = AtomicU32::new(0);
    let (ended, outcome) = thread::scope(|scope| {
        // Ends the load even if something here panics.
        let _over = SetWhenDropped(&over);
        let load = scope.spawn(|| send(order, &periods, &over, &silent_s));
        let has_load_ended = || load.is_finished();
        let mut alternation = Alternation {
            order,
            session,
            periods: &periods,
            stop,
            has_load_ended: &has_load_ended,
            silent_s: &silent_s,
            at_once: served_at_once(&order.treatments, own_threads, in_flight(order.plan)),
            began_ns: now_ns(),
            switch: None,
            open: Vec::new(),
        };
        let ended = alternation.run(&mut crossover, watch);
        let open = alternation.open;
        over.store(true, Ordering::Relaxed);
        // The load goes on until here, so that requests on our threads can still end.
        let restored = session.restore();
        let outcome = load.join().unwrap_or_else(|_| Err(LoadError::Thread("it panicked".to_owned())));
        complete(&mut crossover, open, &periods);
        (ended.and(restored.map(drop).map_err(CrossoverFailure::from)), outcome)
    });
    let outcome = match outcome {
        Ok(outcome) => outcome,
        // The periods measured before the load failed still count.
        Err(why) if !crossover.periods.is_empty() => {
            crossover.ended_early = Some(why.to_string());
            return Ok(crossover);
        }
        Err(why) => return Err(why.into()),
    };
    if let Err(CrossoverFailure::Silent(seconds)) = ended {
        hang_after(order.pid, &outcome, f64::from(seconds)).map_or(Ok(()), Err)?;
    }
    crossover.ended_early = ended.err().map(|why| why.to_string());
    crossover.requests = CrossoverRequests { ok: outcome.counts.ok, failed: outcome.counts.failed };
    // A first answer, replaced below by the one for each kind of thread: while the JVM warms up, the compiler takes the generator's core.
    crossover.generator_limit = generator_limit(&LoadReport::new(&outcome, order.plan));
    if crossover.ended_early.is_none() {
        watch(CrossoverEvent::Observing(&crossover));
        match observation::observe(order, session, stop, own_threads) {
            Ok(records) => {
                crossover.generator_limit =
                    records.iter().find_map(|it| generator_limit(it.measured.as_ref()?));
                crossover.explaining = records;
            }
            Err(why) => crossover.unexplained = Some(why.to_string()),
        }
    }
    Ok(crossover)
}

fn generator_limit(load: &LoadReport) -> Option<String> {
    load.generator.why.clone().filter(|_| load.generator.bottleneck)
}

/// The hang behind a silence, if it is proven; a service may also refuse all requests, or respond too slowly.
fn hang_after(pid: u32, outcome: &LoadOutcome, silent_s: f64) -> Option<CrossoverFailure> {
    let since_response_s = outcome.ended_ns.saturating_sub(outcome.last_response_ns) as f64 / 1e9;
    let silence = Silence::seen(outcome, since_response_s.min(silent_s));
    let is_silent = since_response_s >= silent_s / 2.0;
    let hang = is_silent.then(|| Hang::find(Some(pid), Some(silence), true, &Arc::default())).flatten();
    hang.filter(Hang::is_proven).map(|it| CrossoverFailure::Hangs(Box::new(it)))
}

/// The server whose requests are switched.
fn server_on(session: &CrossoverSession, port: u16) -> Result<SwitchableServer, CrossoverFailure> {
    let servers = session.servers()?;
    if let Some(server) = servers.targets.into_iter().find(|it| it.port == port) {
        return Ok(server);
    }
    Err(servers.refused.into_iter().find(|it| it.port == port).map_or(
        CrossoverFailure::NothingListens(port),
        |other| CrossoverFailure::Unsupported { port, server: other.server, why: other.why },
    ))
}

/// Checks that the JVM may start the threads of all pools, which stay until the end. A pool starts a thread for a request that finds none free.
fn check_room_for_pools(order: &CrossoverOrder<'_>) -> Result<(), CrossoverFailure> {
    let most = in_flight(order.plan);
    let pools = order.treatments.iter().map(|treatment| match treatment {
        Treatment::Platform { threads } => u64::from(most.min(*threads)),
        Treatment::Own | Treatment::Virtual { .. } => 0,
    });
    let threads: u64 = pools.sum();
    let lack = attach::lack(order.pid, &Need::for_threads(threads)).filter(|_| threads > 0);
    lack.map_or(Ok(()), |lack| Err(CrossoverFailure::NoRoom { threads, lack }))
}

fn look_for_others(session: &CrossoverSession) -> Result<(), CrossoverFailure> {
    let before = began(session)?;
    thread::sleep(LISTENING);
    let tasks = began(session)?.saturating_sub(before);
    match tasks {
        0 => Ok(()),
        tasks => Err(CrossoverFailure::OtherTraffic { tasks, seconds: LISTENING.as_secs_f64() }),
    }
}

fn began(session: &CrossoverSession) -> Result<u64, CrossoverFailure> {
    Ok(session.status()?.current.unwrap_or_default().began)
}

/// Ends the load, which polls this flag, however the scope is left.
struct SetWhenDropped<'a>(&'a AtomicBool);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends the load of the whole session.
fn send(
    order: &CrossoverOrder<'_>,
    periods: &Arc<Periods>,
    over: &AtomicBool,
    silent_s: &AtomicU32,
) -> Result<LoadOutcome, LoadError> {
    let plan = order.plan.clone().with(|changed| {
        let kinds = u32::try_from(order.treatments.len()).unwrap_or(u32::MAX);
        changed.stop = Stop::Duration(order.longest_budget + LONGEST_BESIDE_PERIODS * kinds);
        changed.lead_in = Duration::ZERO;
        changed.log = None;
    });
    limits::raise_descriptor_limit();
    let mut on_second = |second: &Second| {
        let silent = if second.counts.ok > 0 { 0 } else { silent_s.load(Ordering::Relaxed) + 1 };
        silent_s.store(silent, Ordering::Relaxed);
    };
    run::run(&plan, Control::new(over, &mut on_second).with_periods(Arc::clone(periods)))
}

/// The longest silence that is still normal: at a low rate the time between responses is long.
fn most_silent_s(plan: &LoadPlan) -> u32 {
    const REQUESTS: f64 = 5.0;
    SILENT_S.saturating_add(rate_per_s(plan).map_or(0, |rate| (REQUESTS / rate) as u32))
}

/// The largest number of requests in flight.
fn in_flight(plan: &LoadPlan) -> u32 {
    plan.connections.get().saturating_mul(plan.streams_per_connection.get())
}

fn rate_per_s(plan: &LoadPlan) -> Option<f64> {
    match &plan.pacing {
        Pacing::Open { shape, .. } => Some(shape.highest_per_s()),
        _ => None,
    }
}

/// Adds the last periods after the load has ended: a load thread that was stuck without a response or a core hands over its counts late.
fn complete(crossover: &mut Crossover, open: Vec<OpenPeriod>, periods: &Periods) {
    crossover.periods.extend(open.into_iter().map(|it| it.counted(periods)));
    mark_incomplete(crossover);
    if crossover.warm_up.steady != Some(true) {
        mark_warming_up(crossover);
    }
    mark_lost_cpu(crossover, Rest::HasInterval);
}

/// Runs the periods, block by block, while the load goes on.
struct Alternation<'a> {
    order: &'a CrossoverOrder<'a>,
    session: &'a CrossoverSession,
    periods: &'a Periods,
    stop: &'a AtomicBool,
    has_load_ended: &'a dyn Fn() -> bool,
    /// Seconds since the last response.
    silent_s: &'a AtomicU32,
    /// The number of requests that every treatment can serve at once.
    at_once: u32,
    began_ns: Nanos,
    switch: Option<Switch>,
    /// Periods that are over but whose counts may still be incomplete.
    open: Vec<OpenPeriod>,
}

impl Alternation<'_> {
    fn run(
        &mut self,
        crossover: &mut Crossover,
        watch: &mut dyn FnMut(CrossoverEvent<'_>),
    ) -> Result<(), CrossoverFailure> {
        let length = self.warm_up_loaded()?;
        crossover.warm_up.load_s = (now_ns() - self.began_ns) as f64 / 1e9;
        watch(CrossoverEvent::Warm(crossover.warm_up));
        let mut random = SplitMix64(self.order.plan.seed);
        let (began, mut block) = (Instant::now(), 0);
        let mut longest_block = Duration::ZERO;
        let mut is_late = false;
        let others = OtherProcesses::from_now();
        let ended = loop {
            let block_began = Instant::now();
            let order = block_order(self.order.treatments.len(), &mut random);
            if let Err(why) = self.block(block, &order, length) {
                break Err(why);
            }
            longest_block = longest_block.max(block_began.elapsed());
            // The counts of a period are complete once the next period has ended.
            let last = self.open.split_off(self.open.len().saturating_sub(1));
            crossover.periods.extend(self.open.drain(..).map(|it| it.counted(self.periods)));
            self.open = last;
            block += 1;
            let is_warm = mark_warming_up(crossover);
            mark_lost_cpu(crossover, Rest::MayBeFew);
            watch(CrossoverEvent::Block(crossover));
            let found = compare(crossover);
            let is_decided = is_warm && is_decided(&found, self.order.treatments.len());
            let ends_after = |budget: Duration| began.elapsed() + longest_block > budget;
            // From here on only the intervals or the longest budget end the session.
            is_late |= (!is_warm || is_vague(&found)) && ends_after(self.order.budget);
            let budget = if is_late { self.order.longest_budget } else { self.order.budget };
            if is_decided || ends_after(budget) {
                break Ok(());
            }
        };
        crossover.busiest_other_process = others.busiest(Some(self.order.pid));
        ended
    }

    /// Runs each treatment in turn, so that both kinds of thread have run the application under the load.
    fn warm_up_loaded(&mut self) -> Result<PeriodLength, CrossoverFailure> {
        let began = Instant::now();
        let mut length = PeriodLength::default();
        let mut lost_cpu = LostCpuMeter::of_server(self.order.pid);
        // The length is taken from the last turn, because the first turns have the response times of a cold JVM.
        while began.elapsed() < LOADED_WARM_UP {
            let mut next = PeriodLength::default();
            for &treatment in &self.order.treatments {
                let period = self.period(0, treatment, length, &mut lost_cpu)?;
                let counted = period.counted_after(self.periods, HAND_OVER);
                next = next.longer(PeriodLength::of(counted.p50_ms, counted.p99_ms));
            }
            length = next;
        }
        Ok(length)
    }

    fn block(&mut self, block: u32, order: &[usize], length: PeriodLength) -> Result<(), CrossoverFailure> {
        // The meter is new in each block because a server's connections change.
        let mut lost_cpu = LostCpuMeter::of_server(self.order.pid);
        for &index in order {
            let period = self.period(block, self.order.treatments[index], length, &mut lost_cpu)?;
            self.open.push(period);
        }
        Ok(())
    }

    fn period(
        &mut self,
        block: u32,
        treatment: Treatment,
        length: PeriodLength,
        lost_cpu: &mut LostCpuMeter,
    ) -> Result<OpenPeriod, CrossoverFailure> {
        let subject = Subject {
            pid: self.order.pid,
            port: self.order.port,
            session: self.session,
            periods: self.periods,
            began_ns: self.began_ns,
            at_once: self.at_once,
            is_closed: rate_per_s(self.order.plan).is_none(),
        };
        let wait = |time| self.wait(time);
        let switch = match self.switch {
            Some(same) if same.treatment == treatment => same.again(&subject, &wait)?,
            _ => Switch::to(treatment, &subject, length.washout, &wait)?,
        };
        let period = OpenPeriod::run(&subject, block, switch, length.counted, lost_cpu, &wait)?;
        self.switch = Some(switch);
        Ok(period)
    }

    fn wait(&self, time: Duration) -> Result<(), CrossoverFailure> {
        let until = Instant::now() + time;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(CrossoverFailure::Interrupted);
            }
            let silent_s = self.silent_s.load(Ordering::Relaxed);
            if silent_s >= most_silent_s(self.order.plan) {
                return Err(CrossoverFailure::Silent(silent_s));
            }
            if (self.has_load_ended)() {
                return Err(LoadError::Thread("the load ended before the periods did".to_owned()).into());
            }
            match until.saturating_duration_since(Instant::now()) {
                Duration::ZERO => return Ok(()),
                left => thread::sleep(left.min(LOOK_EVERY)),
            }
        }
    }
}
