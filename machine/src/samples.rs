//! Readings over time, and how they are cut to the measured window.

mod joined;

use super::cgroup::cpu::ThrottleCounters;
use super::context_switches::Switches;
use super::io_calls::IoCalls;
use super::jvm_threads::JvmCpu;
use super::open_files::OpenFiles;
use super::server_sockets::{self, SocketReading};
use threadcount_load::clock::{NANOS_PER_S, Nanos};
use threadcount_model::record::neighbour::NeighbourConnections;
use threadcount_model::record::server_sockets::ServerSockets;
use threadcount_model::record::{Cost, ProcessSample};
use threadcount_model::window::Window;

/// A sample this little outside the window still bounds it, in nanoseconds: it was taken right when the load started or ended.
const SLACK_NS: Nanos = 20_000_000;

/// Context switches and calls are read seldom. Readings around the window bound it too if they are at most this share of the window away on
/// each side: the little that the server does in between is spread over the window.
const AROUND_SHARE: f64 = 0.05;
/// The minimum for a short window, in nanoseconds: on a full machine the last reading can be this late.
const LATE_READING_NS: Nanos = 100_000_000;
/// Two readings that cover less than this share of the window do not represent it.
const ENOUGH_OF_WINDOW: f64 = 0.5;

/// One reading of a server's process tree and of the machine. The counters only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawSample {
    /// The time on the load's clock.
    pub at_ns: Nanos,
    /// Counter: CPU of the process tree.
    pub cpu_ns: u64,
    /// Counter: the part of `cpu_ns` spent in the kernel.
    pub kernel_ns: u64,
    /// Counter: CPU of the whole machine.
    pub machine_busy_ns: u64,
    /// Counter: CPU time that the hypervisor took from the machine.
    pub stolen_ns: u64,
    /// Counters: CPU of the JVM's own threads; 0 without a JVM.
    pub jvm: JvmCpu,
    /// Counters of the CPU quota; `None` if there is no quota.
    pub throttled: Option<ThrottleCounters>,
    pub rss_bytes: u64,
    pub os_threads: u32,
    /// The costly part: read at the edges of the window, and at most in every fourth sample between them.
    pub costly: Option<CostlyReading>,
    /// The sockets; `None` if the server does not listen, they are unreadable, or it was too early to read them again.
    pub sockets: Option<SocketReading>,
}

/// The part of a reading that costs the server CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostlyReading {
    /// The proportional set in bytes; `None` if unreadable.
    pub pss_bytes: Option<u64>,
    /// Counters: context switches.
    pub switches: Switches,
    /// Counters: calls of read and write.
    pub io_calls: IoCalls,
    /// The open files of the process that is nearest to its limit.
    pub open_files: Option<OpenFiles>,
}

/// All readings of one run, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    readings: Vec<RawSample>,
    machine_cores: u32,
}

impl Samples {
    /// Readings in order of time, on a machine with this many cores.
    #[must_use]
    pub const fn new(readings: Vec<RawSample>, machine_cores: u32) -> Self {
        Self { readings, machine_cores }
    }

    /// Cores of the machine.
    #[must_use]
    pub const fn machine_cores(&self) -> u32 {
        self.machine_cores
    }

    /// The time from the first reading to the last; `None` if there is no reading.
    #[must_use]
    pub fn window(&self) -> Option<Window> {
        let (first, last) = (self.readings.first()?, self.readings.last()?);
        Some(Window { started_ns: first.at_ns, ended_ns: last.at_ns })
    }

    /// All readings, uncut.
    #[must_use]
    pub fn readings(&self) -> &[RawSample] {
        &self.readings
    }

    /// Cuts to the measured window: the cost in it, and the series.
    ///
    /// Counters are differences between the first and the last sample inside the window, divided by the time between those two, so that
    /// nothing from before or after the load is included. A window too short for two samples is bounded by the two around it; without those
    /// there is no cost. `cpu_us_per_request` is left open, see [`cpu_us_per_request`].
    #[must_use]
    pub fn cut(&self, Window { started_ns, ended_ns }: Window) -> (Option<Cost>, Vec<ProcessSample>) {
        let window = self.readings_in(started_ns, ended_ns);
        let [first, .., last] = window else { return (None, Vec::new()) };
        if last.at_ns <= first.at_ns {
            return (None, Vec::new());
        }
        let mut cost = self.cost(window, first, last);
        if let Some(costly) = self.costly_between(started_ns.max(first.at_ns), ended_ns.min(last.at_ns)) {
            cost.voluntary_switches_per_s = Some(costly.per_s(|it| it.switches.voluntary));
            cost.involuntary_switches_per_s = Some(costly.per_s(|it| it.switches.involuntary));
            cost.read_calls_per_s = Some(costly.per_s(|it| it.io_calls.reads));
            cost.write_calls_per_s = Some(costly.per_s(|it| it.io_calls.writes));
        }
        (Some(cost), series(window, started_ns))
    }

    /// Connection attempts that the server's listening sockets dropped; `None` if not read.
    #[must_use]
    pub fn dropped_connections(&self) -> Option<u64> {
        self.sockets(Window { started_ns: 0, ended_ns: Nanos::MAX / 2 }).map(|sockets| sockets.dropped)
    }

    /// The server's sockets in a window. Drops are counted over all readings, because connections are made before the window.
    #[must_use]
    pub fn sockets(&self, window: Window) -> Option<ServerSockets> {
        let within = |readings: &[RawSample]| server_sockets::within(&socket_readings(readings));
        let dropped = within(&self.readings)?.dropped;
        Some(ServerSockets { dropped, ..within(self.readings_in(window.started_ns, window.ended_ns))? })
    }

    /// The connections that the server had opened, in a window.
    #[must_use]
    pub fn neighbours(&self, window: Window) -> Vec<NeighbourConnections> {
        let readings = self.readings_in(window.started_ns, window.ended_ns);
        server_sockets::neighbours_within(&socket_readings(readings))
    }

    fn readings_in(&self, started_ns: Nanos, ended_ns: Nanos) -> &[RawSample] {
        let inside_from = self.readings.partition_point(|it| it.at_ns + SLACK_NS < started_ns);
        let inside_to = self.readings.partition_point(|it| it.at_ns <= ended_ns + SLACK_NS);
        if inside_to >= inside_from + 2 {
            return &self.readings[inside_from..inside_to];
        }
        let around_to = self.readings.len().min(inside_to + 1);
        &self.readings[inside_from.saturating_sub(1).min(around_to)..around_to]
    }

    fn cost(&self, window: &[RawSample], first: &RawSample, last: &RawSample) -> Cost {
        let window_s = seconds(last.at_ns - first.at_ns);
        let cpu_s = seconds(last.cpu_ns.saturating_sub(first.cpu_ns));
        let machine_s = seconds(last.machine_busy_ns.saturating_sub(first.machine_busy_ns));
        let rss = window.iter().map(|it| it.rss_bytes);
        let files = window.iter().filter_map(|it| it.costly?.open_files).reduce(OpenFiles::nearer);
        let jvm = jvm_cores(first, last);
        Cost {
            window_s,
            cpu_s,
            cpu_cores: cpu_s / window_s,
            cpu_cores_peak: busiest_second(window),
            cpu_us_per_request: None,
            kernel_cpu_cores: seconds(last.kernel_ns.saturating_sub(first.kernel_ns)) / window_s,
            gc_cpu_cores: jvm.map(|jvm| jvm.gc),
            jit_cpu_cores: jvm.map(|jvm| jvm.jit),
            jit_waiting_threads: jvm.map(|jvm| jvm.jit_waiting),
            open_files_peak: files.map(|files| files.open),
            open_files_limit: files.map(|files| files.limit),
            machine_cpu_cores: machine_s / window_s,
            backend_cpu_cores: 0.0,
            stolen_cores: seconds(last.stolen_ns.saturating_sub(first.stolen_ns)) / window_s,
            machine_cores: self.machine_cores,
            rss_peak_bytes: rss.clone().max().unwrap_or(0),
            rss_mean_bytes: rss.sum::<u64>() / window.len().max(1) as u64,
            pss_peak_bytes: window.iter().filter_map(|it| it.costly?.pss_bytes).max(),
            os_threads_peak: window.iter().map(|it| it.os_threads).max().unwrap_or(0),
            voluntary_switches_per_s: None,
            involuntary_switches_per_s: None,
            read_calls_per_s: None,
            write_calls_per_s: None,
        }
    }

    /// The costly readings nearest to the edges of the window; `None` if they do not cover it.
    fn costly_between(&self, started_ns: Nanos, ended_ns: Nanos) -> Option<CostlySpan> {
        let length_ns = ended_ns.saturating_sub(started_ns) as f64;
        let slack_ns = LATE_READING_NS.max((length_ns * AROUND_SHARE) as Nanos);
        let near = |it: &&RawSample| it.at_ns + slack_ns >= started_ns && it.at_ns <= ended_ns + slack_ns;
        let read = || self.readings.iter().filter(near).filter_map(|it| Some((it.at_ns, it.costly?)));
        let (from_ns, from) = read().min_by_key(|&(at_ns, _)| at_ns.abs_diff(started_ns))?;
        let (to_ns, to) = read().min_by_key(|&(at_ns, _)| at_ns.abs_diff(ended_ns))?;
        let between_ns = to_ns.saturating_sub(from_ns);
        (between_ns > 0 && between_ns as f64 >= length_ns * ENOUGH_OF_WINDOW).then_some(CostlySpan {
            from,
            to,
            between_ns,
        })
    }
}

fn socket_readings(readings: &[RawSample]) -> Vec<(Nanos, SocketReading)> {
    readings.iter().filter_map(|it| Some((it.at_ns, it.sockets?))).collect()
}

/// Two costly readings and the time between them.
struct CostlySpan {
    from: CostlyReading,
    to: CostlyReading,
    between_ns: Nanos,
}

impl CostlySpan {
    fn per_s(&self, counter: fn(&CostlyReading) -> u64) -> f64 {
        counter(&self.to).saturating_sub(counter(&self.from)) as f64 / seconds(self.between_ns)
    }
}

/// CPU per completed request, in microseconds: the cores used over the sampled window, spread over the requests of the whole load. `None`
/// if no request completed.
#[must_use]
pub fn cpu_us_per_request(cost: &Cost, elapsed_s: f64, completed: u64) -> Option<f64> {
    (completed > 0).then(|| cost.cpu_cores * elapsed_s * 1e6 / completed as f64)
}

/// Cores used by the collector and the compiler, and the number of compiler threads that wait for a core.
#[derive(Clone, Copy)]
struct JvmCores {
    gc: f64,
    jit: f64,
    jit_waiting: f64,
}

/// The cores of a JVM's own threads; `None` without a JVM (a running JVM has always compiled something).
fn jvm_cores(first: &RawSample, last: &RawSample) -> Option<JvmCores> {
    let span_ns = (last.at_ns - first.at_ns) as f64;
    let mean =
        |counter: fn(&JvmCpu) -> u64| counter(&last.jvm).saturating_sub(counter(&first.jvm)) as f64 / span_ns;
    (last.jvm != JvmCpu::default()).then(|| JvmCores {
        gc: mean(|jvm| jvm.gc_ns),
        jit: mean(|jvm| jvm.jit_ns),
        jit_waiting: mean(|jvm| jvm.jit_waited_ns),
    })
}

/// The most cores used over about a second: from each sample back to the last one that is at least a second older. `None` if the window is
/// shorter.
fn busiest_second(window: &[RawSample]) -> Option<f64> {
    let mut oldest = 0;
    let mut peak: Option<f64> = None;
    for sample in window {
        while window.get(oldest + 1).is_some_and(|next| next.at_ns + NANOS_PER_S <= sample.at_ns) {
            oldest += 1;
        }
        let first = &window[oldest];
        if first.at_ns + NANOS_PER_S <= sample.at_ns {
            let cores =
                seconds(sample.cpu_ns.saturating_sub(first.cpu_ns)) / seconds(sample.at_ns - first.at_ns);
            peak = Some(peak.map_or(cores, |before| before.max(cores)));
        }
    }
    peak
}

/// The series. Rates cover the time since the previous sample; for the first sample, the time until the next one.
fn series(window: &[RawSample], started_ns: Nanos) -> Vec<ProcessSample> {
    let one = |(index, sample): (usize, &RawSample)| {
        let earlier = &window[index.saturating_sub(1)];
        let later = &window[index.max(1)];
        let span_s = seconds(later.at_ns.saturating_sub(earlier.at_ns));
        let cores = |from: u64, to: u64| {
            if span_s > 0.0 { seconds(to.saturating_sub(from)) / span_s } else { 0.0 }
        };
        ProcessSample {
            t_s: (sample.at_ns as f64 - started_ns as f64) / NANOS_PER_S as f64,
            cpu_cores: cores(earlier.cpu_ns, later.cpu_ns),
            machine_cpu_cores: cores(earlier.machine_busy_ns, later.machine_busy_ns),
            rss_bytes: sample.rss_bytes,
            pss_bytes: sample.costly.and_then(|it| it.pss_bytes),
            os_threads: sample.os_threads,
        }
    };
    window.iter().enumerate().map(one).collect()
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / NANOS_PER_S as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A sample every 250 ms from t = 10 s on: idle for a second, then one core of the server and 1.5 of the machine for
    /// two seconds, then idle; a thread more in each sample.
    fn made_by_hand() -> Samples {
        let reading = |step: u64| {
            let busy_ms = (step * 250).clamp(1_000, 3_000) - 1_000;
            let voluntary = busy_ms * 4;
            let switches = Switches { voluntary, involuntary: busy_ms / 2 };
            let jvm = JvmCpu {
                gc_ns: 30 * MS + busy_ms * MS / 10,
                jit_ns: 70 * MS + busy_ms * MS / 5,
                jit_waited_ns: 90 * MS + busy_ms * MS / 2,
            };
            let open_files = Some(OpenFiles { open: 40 + step, limit: 100 });
            RawSample {
                at_ns: 10_000 * MS + step * 250 * MS,
                cpu_ns: 7_000 * MS + busy_ms * MS,
                kernel_ns: 900 * MS + busy_ms * MS / 4,
                machine_busy_ns: 99_000 * MS + busy_ms * MS * 3 / 2,
                stolen_ns: 5_000 * MS + step * 250 * MS / 8,
                jvm,
                throttled: None,
                rss_bytes: 1_000 + step,
                os_threads: 20 + step as u32,
                costly: step.is_multiple_of(4).then_some(CostlyReading {
                    pss_bytes: Some(500 + step),
                    switches,
                    io_calls: IoCalls { reads: busy_ms * 8, writes: busy_ms * 3 },
                    open_files,
                }),
                sockets: None,
            }
        };
        Samples::new((0..=16).map(reading).collect(), 2)
    }

    const fn window(started_ns: Nanos, ended_ns: Nanos) -> Window {
        Window { started_ns, ended_ns }
    }

    #[test]
    fn what_the_server_did_outside_the_window_is_not_in_the_cost() {
        let (cost, _) = made_by_hand().cut(window(11_000 * MS, 13_000 * MS));
        let cost = cost.unwrap();
        assert!((cost.window_s - 2.0).abs() < 1e-9, "{cost:?}");
        assert!((cost.cpu_s - 2.0).abs() < 1e-9 && (cost.cpu_cores - 1.0).abs() < 1e-9, "{cost:?}");
        assert!((cost.machine_cpu_cores - 1.5).abs() < 1e-9, "{cost:?}");
        assert_eq!(cost.machine_cores, 2);
        // An eighth of a core is taken all the time: in a lead-in before the window too.
        assert!((cost.stolen_cores - 0.125).abs() < 1e-9, "{cost:?}");
    }

    #[test]
    fn counters_are_divided_by_the_time_between_the_samples_really_taken() {
        // The samples inside are those at 11.25 and 12.75 s.
        let (cost, series) = made_by_hand().cut(window(11_050 * MS, 12_900 * MS));
        let cost = cost.unwrap();
        assert!((cost.window_s - 1.5).abs() < 1e-9, "{cost:?}");
        assert!((cost.cpu_cores - 1.0).abs() < 1e-9, "{cost:?}");
        assert_eq!(series.len(), 7);
        assert!((series[0].t_s - 0.2).abs() < 1e-9, "{:?}", series[0]);
        assert!(series.iter().all(|it| (it.cpu_cores - 1.0).abs() < 1e-9), "{series:?}");
    }

    #[test]
    fn a_sample_taken_right_at_the_start_and_at_the_stop_bounds_the_window() {
        let samples = made_by_hand();
        let (cost, _) = samples.cut(window(11_000 * MS + 5 * MS, 13_000 * MS - 5 * MS));
        assert!((cost.unwrap().window_s - 2.0).abs() < 1e-9);
    }

    #[test]
    fn peaks_and_means_are_those_of_the_window() {
        let (cost, _) = made_by_hand().cut(window(11_000 * MS, 13_000 * MS));
        let cost = cost.unwrap();
        assert_eq!((cost.rss_peak_bytes, cost.rss_mean_bytes), (1_012, 1_008));
        assert_eq!(cost.pss_peak_bytes, Some(512));
        assert_eq!(cost.os_threads_peak, 32);
    }

    #[test]
    fn the_kernel_the_collector_and_the_compiler_have_their_part_of_the_cores() {
        let cost = made_by_hand().cut(window(10_900 * MS, 13_100 * MS)).0.unwrap();
        assert!((cost.kernel_cpu_cores / cost.cpu_cores - 0.25).abs() < 1e-9, "{cost:?}");
        assert!((cost.gc_cpu_cores.unwrap() - 0.1).abs() < 1e-9, "{cost:?}");
        assert!((cost.jit_cpu_cores.unwrap() - 0.2).abs() < 1e-9, "{cost:?}");
        assert!((cost.jit_waiting_threads.unwrap() - 0.5).abs() < 1e-9, "{cost:?}");
        assert_eq!((cost.open_files_peak, cost.open_files_limit), (Some(52), Some(100)));
    }

    #[test]
    fn a_server_without_a_jvm_has_neither_collector_nor_compiler() {
        let at = |ms: u64| RawSample {
            at_ns: ms * MS,
            costly: Some(CostlyReading::default()),
            ..RawSample::default()
        };
        let cost = Samples::new(vec![at(0), at(1_000)], 2).cut(window(0, 1_000 * MS)).0.unwrap();
        assert_eq!((cost.gc_cpu_cores, cost.jit_cpu_cores, cost.open_files_peak), (None, None, None));
    }

    #[test]
    fn the_busiest_second_is_not_the_mean_and_not_the_busiest_sample() {
        // Half a second of two cores after ten idle seconds, then idle again: one core over the busiest second.
        let reading = |step: u64| RawSample {
            at_ns: step * 100 * MS,
            cpu_ns: (step.clamp(100, 105) - 100) * 200 * MS,
            ..RawSample::default()
        };
        let samples = Samples::new((0..=200).map(reading).collect(), 2);
        let cost = samples.cut(window(0, 20_000 * MS)).0.unwrap();
        assert!((cost.cpu_cores_peak.unwrap() - 1.0).abs() < 1e-9, "{cost:?}");
        assert!((cost.cpu_cores - 0.05).abs() < 1e-9, "{cost:?}");
        assert_eq!(samples.cut(window(10_000 * MS, 10_500 * MS)).0.unwrap().cpu_cores_peak, None);
    }

    #[test]
    fn context_switches_are_per_second_of_the_samples_that_have_them() {
        let (cost, _) = made_by_hand().cut(window(10_950 * MS, 13_050 * MS));
        let cost = cost.unwrap();
        assert!((cost.voluntary_switches_per_s.unwrap() - 4_000.0).abs() < 1e-6, "{cost:?}");
        assert!((cost.involuntary_switches_per_s.unwrap() - 500.0).abs() < 1e-6, "{cost:?}");
        assert!((cost.read_calls_per_s.unwrap() - 8_000.0).abs() < 1e-6, "{cost:?}");
        assert!((cost.write_calls_per_s.unwrap() - 3_000.0).abs() < 1e-6, "{cost:?}");
    }

    /// One costly reading right before the load, perhaps one in it, one right after; 1,000 switches a second in between.
    fn seldom_read(costly_at_ms: &[u64]) -> Samples {
        let reading = |step: u64| {
            let at_ms = step * 50;
            let switches = Switches { voluntary: at_ms.clamp(1_000, 9_000) - 1_000, involuntary: 0 };
            RawSample {
                at_ns: at_ms * MS,
                costly: costly_at_ms
                    .contains(&at_ms)
                    .then_some(CostlyReading { switches, ..CostlyReading::default() }),
                ..RawSample::default()
            }
        };
        Samples::new((0..=200).map(reading).collect(), 2)
    }

    #[test]
    fn readings_of_context_switches_right_around_the_window_are_enough() {
        let cost = seldom_read(&[900, 9_100]).cut(window(1_000 * MS, 9_000 * MS)).0.unwrap();
        let spread_over_8_2_s = 8_000.0 / 8.2;
        assert!((cost.voluntary_switches_per_s.unwrap() - spread_over_8_2_s).abs() < 1e-6, "{cost:?}");
    }

    #[test]
    fn readings_at_the_edges_of_the_window_count_and_not_those_around_them() {
        // What is read in the lead-in and after the load is idle.
        let costly_at_ms = [700, 1_000, 3_000, 9_000, 9_300];
        let cost = seldom_read(&costly_at_ms).cut(window(1_000 * MS, 9_000 * MS)).0.unwrap();
        assert!((cost.voluntary_switches_per_s.unwrap() - 1_000.0).abs() < 1e-6, "{cost:?}");
        // A window of a fifth of a second has its figure too, where the last reading was late.
        let cost = seldom_read(&[200, 5_000, 5_250]).cut(window(4_995 * MS, 5_195 * MS)).0.unwrap();
        assert!((cost.voluntary_switches_per_s.unwrap() - 1_000.0).abs() < 1e-6, "{cost:?}");
    }

    #[test]
    fn context_switches_that_were_not_read_over_the_window_are_absent_and_not_zero() {
        let in_window = |costly_at_ms: &[u64]| {
            let cost = seldom_read(costly_at_ms).cut(window(1_000 * MS, 9_000 * MS)).0.unwrap();
            (cost.voluntary_switches_per_s, cost.involuntary_switches_per_s)
        };
        assert_eq!(
            in_window(&[0, 4_000, 10_000]),
            (None, None),
            "one inside, the others long before and after"
        );
        assert_eq!(in_window(&[2_000, 4_000]), (None, None), "a quarter of the window");
        assert_eq!(in_window(&[]), (None, None));
        assert_eq!(in_window(&[2_000, 7_000]), (Some(1_000.0), Some(0.0)), "five eighths of it");
    }

    #[test]
    fn a_window_shorter_than_the_interval_is_bounded_by_the_samples_around_it() {
        let (cost, series) = made_by_hand().cut(window(11_300 * MS, 11_400 * MS));
        assert!((cost.unwrap().window_s - 0.25).abs() < 1e-9);
        assert_eq!(series.len(), 2);
    }

    #[test]
    fn without_two_samples_there_is_no_cost() {
        assert_eq!(Samples::default().cut(window(0, 1)), (None, Vec::new()));
        let one = Samples::new(vec![RawSample::default()], 2);
        assert_eq!(one.cut(window(0, 1)), (None, Vec::new()));
        assert_eq!(made_by_hand().cut(window(90_000 * MS, 91_000 * MS)).0, None);
        assert_eq!(made_by_hand().cut(window(1_000 * MS, 2_000 * MS)).0, None);
    }

    #[test]
    fn cpu_per_request_spreads_the_cores_over_the_requests() {
        let cost = Cost { cpu_cores: 0.5, ..Cost::default() };
        assert_eq!(cpu_us_per_request(&cost, 10.0, 100_000), Some(50.0));
        assert_eq!(cpu_us_per_request(&cost, 10.0, 0), None);
    }
}
