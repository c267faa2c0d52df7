//! A thread that reads a server's process tree at a steady pace.

use super::cpu_clock::{machine_ns, own_thread_cpu_ns};
use super::machine;
use super::process_tree::ProcessTree;
use super::resource_limits::QuotaReader;
use super::samples::{CostlyReading, RawSample, Samples};
use super::server_sockets::SocketReader;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use threadcount_load::clock::now_ns;

/// Default sampling interval.
pub const INTERVAL: Duration = Duration::from_millis(250);

/// The costly part (proportional sets, context switches, open files, the search for new processes) is read at the beginning and the end of
/// the measured window, and in between in every fourth sample at most.
const COSTLY_EVERY: u32 = 4;

/// The rest after a costly reading, as a multiple of the CPU time it took: costly readings may use 0.2 % of a core, because on two full
/// cores the server loses that time. Elapsed time would not do: on a full machine a reading waits for a core, which costs the server
/// nothing, and readings would become too rare.
const COSTLY_REST: u32 = 499;

/// Samples a process tree until it is stopped. The thread also ends when this is dropped.
pub struct Sampler {
    /// Dropping this stops the thread.
    signals: Sender<WindowBegins>,
    thread: JoinHandle<Vec<RawSample>>,
}

/// The signal that the measured window begins.
struct WindowBegins;

impl Sampler {
    /// Takes the first sample before it returns, then one per interval on a thread of its own. Until the [window
    /// begins](Self::window_begins), only the first sample contains the costly part: it may not be read again for seconds, and would be
    /// missing at the beginning of the window.
    ///
    /// # Errors
    /// The system provides no more threads.
    pub fn start(pid: u32, interval: Duration) -> std::io::Result<Self> {
        let mut reader = ProcessReader::of(pid);
        let first = reader.sample(true);
        let (signals, received) = channel();
        let thread = std::thread::Builder::new()
            .name("sampler".to_owned())
            .spawn(move || sample_until_stopped(&received, reader, first, interval))?;
        Ok(Self { signals, thread })
    }

    /// Takes a sample with the costly part now, however long the previous one took.
    pub fn window_begins(&self) {
        // Sending cannot fail, because the thread runs until it is stopped.
        let _ = self.signals.send(WindowBegins);
    }

    /// Takes the last sample now and returns all of them.
    #[must_use]
    pub fn stop(self) -> Samples {
        drop(self.signals);
        Samples::new(self.thread.join().unwrap_or_default(), machine::cores())
    }
}

fn sample_until_stopped(
    signals: &Receiver<WindowBegins>,
    mut reader: ProcessReader,
    first: RawSample,
    interval: Duration,
) -> Vec<RawSample> {
    let mut samples = vec![first];
    let mut due = Instant::now() + interval;
    // `None` until the window begins.
    let mut since_costly: Option<u32> = None;
    loop {
        let wait = due.saturating_duration_since(Instant::now());
        match signals.recv_timeout(wait) {
            Ok(WindowBegins) => {
                due = Instant::now() + interval;
                samples.push(reader.sample(true));
                since_costly = Some(1);
            }
            Err(RecvTimeoutError::Timeout) => {
                let is_its_turn = since_costly.is_some_and(|since| since >= COSTLY_EVERY);
                let costly = is_its_turn && Instant::now() >= reader.costly_again;
                samples.push(reader.sample(costly));
                since_costly = since_costly.map(|since| if costly { 1 } else { since + 1 });
                // Samples missed while this thread was stopped are not caught up.
                due = (due + interval).max(Instant::now());
            }
            Err(RecvTimeoutError::Disconnected) => {
                samples.push(reader.sample(true));
                return samples;
            }
        }
    }
}

/// Takes samples of a process tree, one after the other.
pub struct ProcessReader {
    tree: ProcessTree,
    quota: Option<QuotaReader>,
    sockets: SocketReader,
    costly_again: Instant,
}

impl ProcessReader {
    /// A reader for a process and its descendants.
    #[must_use]
    pub fn of(pid: u32) -> Self {
        let tree = ProcessTree::rooted_at(pid);
        // The JVM may be in other cgroups than the command that started it.
        let quota = QuotaReader::of_process(tree.java_pid().unwrap_or(pid));
        Self { tree, quota, sockets: SocketReader::new(), costly_again: Instant::now() }
    }

    /// Takes a sample now, with the costly part if it may be read again.
    pub fn sample_now(&mut self) -> RawSample {
        self.sample(Instant::now() >= self.costly_again)
    }

    fn sample(&mut self, costly: bool) -> RawSample {
        let began_cpu_ns = own_thread_cpu_ns();
        if costly {
            self.tree.find_members();
        }
        let at_ns = now_ns();
        let (machine_busy_ns, stolen_ns) = machine_ns();
        let reading = self.tree.read();
        let costly = costly.then(|| CostlyReading {
            // Read first, because they belong to the time of the sample.
            switches: self.tree.context_switches(),
            io_calls: self.tree.io_calls(),
            pss_bytes: self.tree.pss_bytes(),
            open_files: self.tree.open_files(),
        });
        if costly.is_some() {
            let took = Duration::from_nanos(own_thread_cpu_ns().saturating_sub(began_cpu_ns));
            self.costly_again = Instant::now() + took * COSTLY_REST;
        }
        RawSample {
            at_ns,
            cpu_ns: reading.cpu_ns,
            kernel_ns: reading.kernel_ns,
            jvm: reading.jvm,
            machine_busy_ns,
            stolen_ns,
            throttled: self.quota.as_ref().and_then(QuotaReader::counters),
            rss_bytes: reading.rss_bytes,
            os_threads: reading.os_threads,
            costly,
            sockets: self.sockets.read(&self.tree),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_shorter_than_the_interval_still_has_a_first_and_a_last_sample() {
        let sampler = Sampler::start(std::process::id(), Duration::from_secs(3600)).unwrap();
        let between = now_ns();
        let samples = sampler.stop();
        let [first, last] = samples.readings() else { panic!("{samples:?}") };
        assert!(first.at_ns <= between && between <= last.at_ns);
        assert!(first.costly.is_some() && last.costly.is_some());
    }

    #[test]
    fn the_costly_part_is_read_where_the_window_begins_and_where_it_ends_and_not_in_the_lead_in() {
        let sampler = Sampler::start(std::process::id(), Duration::from_millis(1)).unwrap();
        let lead_in_ns = now_ns();
        std::thread::sleep(Duration::from_millis(500));
        let begins_ns = now_ns();
        sampler.window_begins();
        let samples = sampler.stop();
        let readings = samples.readings();
        let costly: Vec<_> = readings.iter().filter(|it| it.costly.is_some()).map(|it| it.at_ns).collect();
        let [first, begin, last] = costly[..] else { panic!("{samples:?}") };
        assert!(first <= lead_in_ns && begins_ns <= begin && begin <= last, "{samples:?}");
        assert!(readings.iter().any(|it| (lead_in_ns..begins_ns).contains(&it.at_ns)), "{samples:?}");
    }

    #[test]
    fn samples_are_in_order_and_their_counters_only_grow() {
        let sampler = Sampler::start(std::process::id(), Duration::from_millis(1)).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let samples = sampler.stop();
        assert!(samples.readings().windows(2).all(|pair| {
            pair[0].at_ns < pair[1].at_ns
                && pair[0].cpu_ns <= pair[1].cpu_ns
                && pair[0].machine_busy_ns <= pair[1].machine_busy_ns
        }));
    }
}
