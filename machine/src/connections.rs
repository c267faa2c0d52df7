//! Established TCP connections to ports of this machine.

use super::cpu_clock::own_thread_cpu_ns;
use super::sock_diag::{SocketState, TcpSocket, rest_after, tcp_sockets};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use threadcount_load::clock::{Nanos, now_ns};
use threadcount_model::window::Window;

const INTERVAL: Duration = Duration::from_millis(250);
/// The number of connections to each port, counted at the end that accepted them; `None`: the kernel does not answer.
#[must_use]
pub fn established_to(ports: &[u16]) -> Option<Vec<u32>> {
    let sockets = tcp_sockets()?;
    let count = |&port: &u16| {
        let is_at_port = |it: &&TcpSocket| it.state == SocketState::Established && it.local_port == port;
        sockets.iter().filter(is_at_port).count() as u32
    };
    Some(ports.iter().map(count).collect())
}

/// Readings of all ports, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionSamples(Vec<(Nanos, Vec<u32>)>);

impl ConnectionSamples {
    /// The mean and the peak of the connections to the port with this index in a window; `None` if there is no reading in it.
    #[must_use]
    pub fn within(&self, place: usize, window: Window) -> Option<(f64, u32)> {
        let inside = |at: Nanos| at >= window.started_ns && at <= window.ended_ns;
        let counts = self.0.iter().filter(|(at, _)| inside(*at)).filter_map(|(_, counts)| counts.get(place));
        let counts: Vec<u32> = counts.copied().collect();
        let mean = counts.iter().copied().map(f64::from).sum::<f64>() / counts.len().max(1) as f64;
        counts.iter().max().map(|&peak| (mean, peak))
    }
}

/// Counts the connections to some ports until it is stopped. Its thread also ends when this is dropped.
pub struct ConnectionSampler {
    /// The thread stops when this channel is closed.
    wake: Sender<()>,
    thread: JoinHandle<ConnectionSamples>,
}

impl ConnectionSampler {
    /// # Errors
    /// The system provides no more threads.
    pub fn start(ports: Vec<u16>) -> std::io::Result<Self> {
        let (wake, woken) = channel();
        let thread = std::thread::Builder::new()
            .name("connections".to_owned())
            .spawn(move || sample_while_open(&woken, &ports))?;
        Ok(Self { wake, thread })
    }

    /// Reads now, because with a long table of sockets the next reading may be seconds away.
    pub fn read_now(&self) {
        // Sending cannot fail, because the thread ends only after this channel is closed.
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
        let wait = INTERVAL.max(rest_after(began_cpu_ns)).saturating_sub(began.elapsed());
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
    fn open_connections_are_counted_at_the_end_that_accepted_them() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let open: Vec<_> =
            (0..3).map(|_| (TcpStream::connect(address).unwrap(), listener.accept().unwrap())).collect();
        let client = open[0].0.local_addr().unwrap().port();
        assert_eq!(established_to(&[address.port(), client]), Some(vec![3, 1]));
        drop(open);
        assert_eq!(established_to(&[address.port()]), Some(vec![0]), "the listener is no connection");
    }
}
