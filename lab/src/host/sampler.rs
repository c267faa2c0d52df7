//! A thread that reads a server's process tree at a steady pace.

use super::cpu_clock::{machine_ns, own_thread_cpu_ns};
use super::machine;
use super::process_tree::ProcessTree;
use super::resource_limits::QuotaReader;
use super::samples::{CostlyReading, RawSample, Samples};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use threadcount_load::clock::now_ns;

/// Default sampling interval.
pub const INTERVAL: Duration = Duration::from_millis(250);

/// The costly part (proportional sets, context switches, open files, looking for new processes) is in every so many-th
/// sample ...
const COSTLY_EVERY: u32 = 4;

/// ... but never again before this many times the CPU time it took has passed: it may use 1 % of a core. Not the time it
/// took: on a full machine it waits for a core, which costs the server nothing, and the readings would become too few.
const COSTLY_REST: u32 = 99;

/// Samples a process tree until it is stopped. Dropped without a stop, the thread ends too.
pub struct Sampler {
    stop: Sender<()>,
    thread: JoinHandle<Vec<RawSample>>,
}

impl Sampler {
    /// Takes the first sample now, before it returns, then one in each interval on a thread of its own.
    ///
    /// # Errors
    /// When the system gives no more threads.
    pub fn start(pid: u32, interval: Duration) -> std::io::Result<Self> {
        let mut reader = ProcessReader::of(pid);
        let first = reader.sample(true);
        // It was taken before the load: the next one, the first in the window, need not wait for it.
        reader.costly_again = Instant::now();
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new()
            .name("sampler".to_owned())
            .spawn(move || sample_until(&stopped, reader, first, interval))?;
        Ok(Self { stop, thread })
    }

    /// Takes the last sample now and returns all of them.
    #[must_use]
    pub fn stop(self) -> Samples {
        drop(self.stop);
        Samples::new(self.thread.join().unwrap_or_default(), machine::cores())
    }
}

fn sample_until(
    stopped: &Receiver<()>,
    mut reader: ProcessReader,
    first: RawSample,
    interval: Duration,
) -> Vec<RawSample> {
    let mut samples = vec![first];
    let mut due = Instant::now() + interval;
    let mut since_costly = COSTLY_EVERY;
    loop {
        let wait = due.saturating_duration_since(Instant::now());
        if stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
            samples.push(reader.sample(true));
            return samples;
        }
        let costly = since_costly >= COSTLY_EVERY && Instant::now() >= reader.costly_again;
        samples.push(reader.sample(costly));
        since_costly = if costly { 1 } else { since_costly + 1 };
        // Samples missed while this thread was stopped are not made up for.
        due = (due + interval).max(Instant::now());
    }
}

/// Takes one sample after the other.
pub struct ProcessReader {
    tree: ProcessTree,
    quota: Option<QuotaReader>,
    costly_again: Instant,
}

impl ProcessReader {
    /// Of a process and those it started.
    #[must_use]
    pub fn of(pid: u32) -> Self {
        let tree = ProcessTree::rooted_at(pid);
        // The JVM may be in other groups than the command that started it.
        let quota = QuotaReader::of_process(tree.java_pid().unwrap_or(pid));
        Self { tree, quota, costly_again: Instant::now() }
    }

    /// A sample now, with the costly part where that may be read again.
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
            // First: they belong to the time of the sample.
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
    fn the_first_sample_of_the_load_has_the_costly_part_whatever_the_one_before_it_took() {
        let sampler = Sampler::start(std::process::id(), Duration::from_millis(1)).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let samples = sampler.stop();
        assert!(samples.readings()[1].costly.is_some(), "{samples:?}");
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
