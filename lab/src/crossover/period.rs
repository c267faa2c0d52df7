//! Does one period: switches, waits until the requests on the other kind of thread are gone, counts, and reads the cost.

use super::{CrossoverFailure, LOOK_EVERY};
use std::thread;
use std::time::Duration;
use threadcount_load::clock::{Nanos, now_ns};
use threadcount_load::periods::{PeriodCounts, Periods};
use threadcount_machine::cpu_clock::process_cpu_ns;
use threadcount_machine::lost_cpu::LostCpuMeter;
use threadcount_machine::probe::crossover::{CrossoverSession, PeriodTasks};
use threadcount_model::crossover::{CrossoverPeriod, LeftOut, ResponseTimes, Treatment, quantile_ms};

/// The length of the counted part when responses are fast.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(4);
/// The counted part is long enough for this many median responses.
const RESPONSES: f64 = 10.0;
/// The counted part is also long enough for one slow response, but not extended beyond this, because fewer blocks widen each interval.
const LONGEST_FOR_P99: Duration = Duration::from_millis(1_500);
/// The number of response times after which the queues of the previous treatment are gone.
const WASHOUT_RESPONSES: f64 = 3.0;
/// The shortest and the longest washout.
const WASHOUT: (Duration, Duration) = (Duration::from_millis(150), Duration::from_secs(4));
/// How long we wait for all requests on the previous kind of thread when new requests starve them: long washouts leave few blocks.
const STARVED: Duration = Duration::from_secs(1);
/// After that, this share of requests may still run on the previous kind of thread: it dilutes a ratio's effect by at most this share.
const LARGEST_REST: f64 = 0.05;

/// How long a period is counted, and how long the washout before it lasts at least.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeriodLength {
    pub counted: Duration,
    pub washout: Duration,
}

impl Default for PeriodLength {
    fn default() -> Self {
        Self { counted: SHORTEST, washout: WASHOUT.0 }
    }
}

impl PeriodLength {
    /// A period that is long enough for these response times.
    pub fn of(p50_ms: Option<f64>, p99_ms: Option<f64>) -> Self {
        let times =
            |ms: Option<f64>, count: f64| Duration::from_secs_f64(ms.unwrap_or_default() * count / 1e3);
        let of_p99 = times(p99_ms, 1.0).min(LONGEST_FOR_P99);
        Self {
            counted: times(p50_ms, RESPONSES).min(LONGEST).max(SHORTEST).max(of_p99),
            washout: times(p50_ms, WASHOUT_RESPONSES).clamp(WASHOUT.0, WASHOUT.1),
        }
    }

    /// A period that is long enough for both.
    pub fn longer(self, other: Self) -> Self {
        Self { counted: self.counted.max(other.counted), washout: self.washout.max(other.washout) }
    }
}

/// The server that is switched, and the load whose responses are counted.
pub(super) struct Subject<'a> {
    pub pid: u32,
    pub port: u16,
    pub session: &'a CrossoverSession,
    pub periods: &'a Periods,
    /// The time at which the load began.
    pub began_ns: Nanos,
    /// The number of requests that every treatment can serve at once. Leftover requests run beside them: 10 would enlarge a pool of 200 by
    /// 5 %.
    pub at_once: u32,
    /// The load is closed, so its clients always keep `at_once` requests in flight.
    pub is_closed: bool,
}

/// The treatment that runs now. Consecutive periods of the same treatment need only one switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switch {
    pub treatment: Treatment,
    at_ns: Nanos,
    /// Requests that ran or waited at the switch.
    requests: u64,
    /// Requests that outlasted the previous treatment; they weigh equally on whatever follows.
    lasting: u64,
    is_washed_out: bool,
}

impl Switch {
    /// Switches, and waits until the requests of the treatment before are gone.
    pub fn to(
        treatment: Treatment,
        subject: &Subject<'_>,
        washout: Duration,
        wait: &Wait<'_>,
    ) -> Result<Self, CrossoverFailure> {
        let lasting = subject.session.status()?.earlier_tasks;
        let switched = subject.session.switch_to(treatment, subject.port)?;
        let at_once = u64::from(subject.at_once);
        // An open load uses only a part of its connections.
        let requests = if subject.is_closed { at_once } else { switched.earlier_tasks.min(at_once) };
        Self { treatment, at_ns: switched.t_ns, requests, lasting, is_washed_out: false }
            .washed_out(subject, washout, wait)
    }

    /// Reuses the switch for the next period of the same treatment; the requests of the previous treatment may have ended meanwhile.
    pub fn again(self, subject: &Subject<'_>, wait: &Wait<'_>) -> Result<Self, CrossoverFailure> {
        if self.is_washed_out { Ok(self) } else { self.washed_out(subject, Duration::ZERO, wait) }
    }

    /// Waits until all but 1 % of the requests of earlier treatments are gone: that few cannot be measured. One that lasts a minute would
    /// spoil every period, so after [`STARVED`] a few more are accepted. `is_washed_out` is false if too many remain.
    fn washed_out(
        self,
        subject: &Subject<'_>,
        least: Duration,
        wait: &Wait<'_>,
    ) -> Result<Self, CrossoverFailure> {
        let few = self.requests / 100;
        let rest = ((self.requests as f64 * LARGEST_REST) as u64).max(1);
        wait(least)?;
        let mut waited = least;
        loop {
            let left = subject.session.status()?.earlier_tasks;
            let of_before = left.saturating_sub(self.lasting);
            let is_washed_out = of_before <= few || (waited >= STARVED && of_before <= rest);
            if is_washed_out || waited >= WASHOUT.1 {
                return Ok(Self { is_washed_out, ..self });
            }
            wait(LOOK_EVERY)?;
            waited += LOOK_EVERY;
        }
    }
}

/// A period that is over but whose counts may still be incomplete.
pub(super) struct OpenPeriod {
    /// The number of its first half; the second half has the next number.
    number: u32,
    record: CrossoverPeriod,
    half_s: [f64; 2],
    cpu_ns: Option<u64>,
    tasks: PeriodTasks,
}

type Wait<'w> = dyn Fn(Duration) -> Result<(), CrossoverFailure> + 'w;

impl OpenPeriod {
    /// Runs the period, starting now.
    pub fn run(
        subject: &Subject<'_>,
        block: u32,
        switch: Switch,
        counted: Duration,
        lost_cpu: &mut LostCpuMeter,
        wait: &Wait<'_>,
    ) -> Result<Self, CrossoverFailure> {
        let Switch { treatment, at_ns: switched_ns, is_washed_out, .. } = switch;
        let number = unique_number();
        let lost_before = lost_cpu.read();
        let cpu_before = process_cpu_ns(subject.pid as i32);
        let began_ns = now_ns();
        subject.periods.begin(number, switched_ns);
        let first = wait(counted / 2);
        let middle_ns = now_ns();
        subject.periods.begin(number + 1, switched_ns);
        let second = first.and_then(|()| wait(counted / 2));
        subject.periods.end();
        let ended_ns = now_ns();
        let cpu_ns = cpu_before
            .zip(process_cpu_ns(subject.pid as i32))
            .map(|(before, after)| after.saturating_sub(before));
        let lost_cpu = lost_before.until(&lost_cpu.read());
        second?;
        let tasks = subject.session.status()?.current.unwrap_or_default();
        let seconds = |from: Nanos, to: Nanos| to.saturating_sub(from) as f64 / 1e9;
        let record = CrossoverPeriod {
            jvm: 0,
            block,
            treatment,
            switched_s: seconds(subject.began_ns, switched_ns),
            washout_ms: seconds(switched_ns, began_ns) * 1e3,
            counted_s: seconds(began_ns, ended_ns),
            ok: 0,
            failed: 0,
            overlapping: 0,
            rate_per_s: 0.0,
            response_times: ResponseTimes::default(),
            p50_ms: None,
            p99_ms: None,
            half_rates_per_s: [0.0; 2],
            cpu_us_per_request: None,
            lost_cpu,
            thread_names: tasks.thread_names.keys().cloned().collect(),
            left_out: left_out(is_washed_out, &tasks),
        };
        let half_s = [seconds(began_ns, middle_ns), seconds(middle_ns, ended_ns)];
        Ok(Self { number, record, half_s, cpu_ns, tasks })
    }

    /// The finished period, after each load thread has had `time` to receive a response and hand over its counts.
    pub fn counted_after(self, periods: &Periods, time: Duration) -> CrossoverPeriod {
        thread::sleep(time);
        self.counted(periods)
    }

    /// The finished period, with its counts.
    pub fn counted(self, periods: &Periods) -> CrossoverPeriod {
        let Self { number, mut record, half_s, cpu_ns, tasks } = self;
        let halves = [number, number + 1].map(|it| periods.take(it).unwrap_or_default());
        let rate = |half: &PeriodCounts, seconds: f64| half.ok as f64 / seconds.max(f64::MIN_POSITIVE);
        record.half_rates_per_s = [rate(&halves[0], half_s[0]), rate(&halves[1], half_s[1])];
        let [mut times, later] = halves.each_ref().map(|it| it.response_time.clone());
        times.merge(&later);
        record.ok = halves.iter().map(|it| it.ok).sum();
        record.failed = halves.iter().map(|it| it.failed).sum();
        record.overlapping = halves.iter().map(|it| it.overlapping).sum();
        record.rate_per_s = record.ok as f64 / record.counted_s.max(f64::MIN_POSITIVE);
        let counted = times.histogram().iter_recorded();
        let times_ms = counted.map(|it| (it.value_iterated_to() as f64 / 1e6, it.count_at_value()));
        record.response_times = ResponseTimes::in_period(times_ms, record.washout_ms, record.counted_s * 1e3);
        let quantile = |quantile| quantile_ms([&record.response_times], quantile);
        (record.p50_ms, record.p99_ms) = (quantile(0.5), quantile(0.99));
        record.cpu_us_per_request =
            cpu_ns.filter(|_| record.ok > 0).map(|cpu_ns| cpu_ns as f64 / 1e3 / record.ok as f64);
        if tasks.began == 0 && record.ok > 0 {
            record.left_out = Some(LeftOut::NoRequest);
        }
        record
    }
}

/// A number for a period that is unique in this process; the one after it is free for the second half.
fn unique_number() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(2, Ordering::Relaxed)
}

fn left_out(is_washed_out: bool, tasks: &PeriodTasks) -> Option<LeftOut> {
    match tasks {
        _ if !is_washed_out => Some(LeftOut::NotWashedOut),
        PeriodTasks { kind_as_asked: false, began, .. } if *began > 0 => Some(LeftOut::OtherThreads),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_holds_a_median_response_ten_times_and_a_slow_one_once_within_bounds() {
        let length = |p50_ms| PeriodLength::of(p50_ms, p50_ms);
        assert_eq!(length(None).counted, SHORTEST);
        assert_eq!(length(Some(10.0)).counted, SHORTEST);
        assert_eq!(length(Some(200.0)).counted, Duration::from_secs(2));
        assert_eq!((length(Some(9_000.0)).counted, length(Some(9_000.0)).washout), (LONGEST, WASHOUT.1));
        assert_eq!(PeriodLength::of(Some(10.0), Some(1_200.0)).counted, Duration::from_millis(1_200));
        assert_eq!(PeriodLength::of(Some(10.0), Some(60_000.0)).counted, LONGEST_FOR_P99);
    }

    #[test]
    fn a_period_whose_requests_ran_elsewhere_does_not_count() {
        let tasks = |began, kind_as_asked| PeriodTasks { began, kind_as_asked, ..PeriodTasks::default() };
        assert_eq!(left_out(true, &tasks(9, true)), None);
        assert_eq!(left_out(true, &tasks(9, false)), Some(LeftOut::OtherThreads));
        assert_eq!(left_out(false, &tasks(9, true)), Some(LeftOut::NotWashedOut));
    }
}
