//! Established TCP connections to ports of this machine, by /proc/net/tcp and /proc/net/tcp6.

use super::cpu_clock::own_thread_cpu_ns;
use std::fs;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use threadcount_load::clock::{Nanos, now_ns};
use threadcount_model::window::Window;

const INTERVAL: Duration = Duration::from_millis(250);
/// The next reading waits until this many times the CPU time of the last one has passed: the tables have a line for each socket of
/// the machine, and reading them may use 1 % of a core.
const REST: u32 = 99;
/// The kernel's number of the state ESTABLISHED.
const ESTABLISHED: &str = "01";

/// The number of connections to each port; `None`: the tables cannot be read.
#[must_use]
pub fn established_to(ports: &[u16]) -> Option<Vec<u32>> {
    let mut counts = count(&fs::read_to_string("/proc/net/tcp").ok()?, ports);
    // A kernel without IPv6 has no such file.
    let of_ipv6 = fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    counts.iter_mut().zip(count(&of_ipv6, ports)).for_each(|(all, more)| *all += more);
    Some(counts)
}

/// `   3: 0100007F:1F90 0100007F:A3C2 01 ...`: number, local address, remote address, state. Both ends of a connection over the
/// loopback interface have a line; the one whose local port it is belongs to who accepted it.
fn count(table: &str, ports: &[u16]) -> Vec<u32> {
    let mut counts = vec![0; ports.len()];
    for line in table.lines().skip(1) {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (local, state) = (words.next(), words.nth(1));
        if state != Some(ESTABLISHED) {
            continue;
        }
        let port = local.and_then(|it| it.rsplit_once(':')).and_then(|it| u16::from_str_radix(it.1, 16).ok());
        if let Some(place) = ports.iter().position(|&it| Some(it) == port) {
            counts[place] += 1;
        }
    }
    counts
}

/// Readings of all ports, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionSamples(Vec<(Nanos, Vec<u32>)>);

impl ConnectionSamples {
    /// Mean and peak of the connections to the port at this place of the list, in a window; `None`: no reading in it.
    #[must_use]
    pub fn within(&self, place: usize, window: Window) -> Option<(f64, u32)> {
        let inside = |at: Nanos| at >= window.started_ns && at <= window.ended_ns;
        let counts = self.0.iter().filter(|(at, _)| inside(*at)).filter_map(|(_, counts)| counts.get(place));
        let counts: Vec<u32> = counts.copied().collect();
        let mean = counts.iter().copied().map(f64::from).sum::<f64>() / counts.len().max(1) as f64;
        counts.iter().max().map(|&peak| (mean, peak))
    }
}

/// Reads the connections to some ports until it is stopped. Dropped without a stop, its thread ends too.
pub struct ConnectionSampler {
    /// Closed: it stops.
    wake: Sender<()>,
    thread: JoinHandle<ConnectionSamples>,
}

impl ConnectionSampler {
    /// # Errors
    /// When the system gives no more threads.
    pub fn start(ports: Vec<u16>) -> std::io::Result<Self> {
        let (wake, woken) = channel();
        let thread = std::thread::Builder::new()
            .name("connections".to_owned())
            .spawn(move || sample_while_open(&woken, &ports))?;
        Ok(Self { wake, thread })
    }

    /// Reads now: where the table of sockets is long the next reading may be seconds away.
    pub fn read_now(&self) {
        // Its thread ends only after ours.
        let _ = self.wake.send(());
    }

    #[must_use]
    pub fn stop(self) -> ConnectionSamples {
        drop(self.wake);
        self.thread.join().unwrap_or_default()
    }
}

fn sample_while_open(woken: &Receiver<()>, ports: &[u16]) -> ConnectionSamples {
    let mut samples = ConnectionSamples::default();
    loop {
        let (began, began_cpu_ns) = (Instant::now(), own_thread_cpu_ns());
        if let Some(counts) = established_to(ports) {
            samples.0.push((now_ns(), counts));
        }
        let took = Duration::from_nanos(own_thread_cpu_ns().saturating_sub(began_cpu_ns));
        let wait = INTERVAL.max(took * REST).saturating_sub(began.elapsed());
        if woken.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected) {
            return samples;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn established_connections_are_counted_at_the_end_that_accepted_them() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n\
            \x20  0: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0\n\
            \x20  1: 0100007F:1538 0100007F:A3C2 01 00000000:00000000 00:00000000 00000000     0\n\
            \x20  2: 0100007F:A3C2 0100007F:1538 01 00000000:00000000 00:00000000 00000000     0\n\
            \x20  3: 0100007F:1538 0100007F:A3C4 06 00000000:00000000 00:00000000 00000000     0\n\
            \x20  4: 0100007F:1F90 0100007F:A3C6 01 00000000:00000000 00:00000000 00000000     0\n";
        assert_eq!(count(table, &[0x1538, 0x1f90, 99]), [1, 1, 0]);
        assert_eq!(count("", &[1]), [0]);
    }

    #[test]
    fn mean_and_peak_are_those_of_the_window() {
        let reading = |at_ms: u64, count: u32| (at_ms * 1_000_000, vec![0, count]);
        let samples =
            ConnectionSamples(vec![reading(0, 90), reading(250, 10), reading(500, 13), reading(750, 99)]);
        let window = |from_ms: u64, to_ms: u64| Window {
            started_ns: from_ms * 1_000_000,
            ended_ns: to_ms * 1_000_000,
        };
        assert_eq!(samples.within(1, window(200, 600)), Some((11.5, 13)));
        assert_eq!(samples.within(1, window(2_000, 3_000)), None);
        assert_eq!(samples.within(7, window(200, 600)), None);
    }

    #[test]
    fn connections_of_this_process_are_seen_while_they_are_open() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let open: Vec<_> =
            (0..3).map(|_| (TcpStream::connect(address).unwrap(), listener.accept().unwrap())).collect();
        assert_eq!(established_to(&[address.port()]), Some(vec![3]));
        drop(open);
    }
}
