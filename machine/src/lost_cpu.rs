//! CPU of this machine that a server could not get: stolen by the hypervisor, or used by unrelated processes.
//!
//! Related processes are its own, those that serve it ([`super::serving_process`]) and this one, which sends the load.

use super::cpu_clock::{machine_ns, process_cpu_ns};
use super::machine;
use super::process_tree::ProcessTree;
use super::serving_process::serving_processes;
use std::iter;
use threadcount_load::clock::{Nanos, now_ns};
use threadcount_model::crossover::LostCpu;

/// Reads the CPU counters of the machine, and of a server with its related processes.
pub struct LostCpuMeter {
    /// The server, and the processes that serve it.
    trees: Vec<ProcessTree>,
}

/// The counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostCpuReading {
    at_ns: Nanos,
    /// CPU time in use on the machine.
    busy_ns: u64,
    stolen_ns: u64,
    /// CPU time of the server, of the processes that serve it, and of this process.
    own_ns: u64,
}

impl LostCpuMeter {
    /// A meter for a server with its current connections. Creating it searches `/proc`, which takes some milliseconds of CPU.
    #[must_use]
    pub fn of_server(pid: u32) -> Self {
        let serving = serving_processes(pid).into_iter().map(|it| it.pid);
        Self { trees: iter::once(pid).chain(serving).map(ProcessTree::rooted_at).collect() }
    }

    /// The counters now.
    pub fn read(&mut self) -> LostCpuReading {
        let (busy_ns, stolen_ns) = machine_ns();
        let at_ns = now_ns();
        let of_load = process_cpu_ns(std::process::id() as i32).unwrap_or_default();
        let of_trees: u64 = self.trees.iter_mut().map(|it| it.read().cpu_ns).sum();
        LostCpuReading { at_ns, busy_ns, stolen_ns, own_ns: of_load + of_trees }
    }
}

impl LostCpuReading {
    /// The CPU lost between this reading and a later one; `None` if no time passed.
    #[must_use]
    pub fn until(&self, later: &Self) -> Option<LostCpu> {
        let passed_ns = later.at_ns.checked_sub(self.at_ns).filter(|&it| it > 0)?;
        let grown = |counter: fn(&Self) -> u64| {
            counter(later).saturating_sub(counter(self)) as f64 / passed_ns as f64
        };
        Some(LostCpu {
            stolen_cores: grown(|it| it.stolen_ns),
            // The difference may be negative, because the kernel counts the machine in ticks but a process to the nanosecond.
            other_processes_cores: (grown(|it| it.busy_ns) - grown(|it| it.own_ns)).max(0.0),
            of_cores: machine::cores(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, ChildStdout, Command, Stdio};

    const BURNED_NS: u64 = 200_000_000;

    #[test]
    fn lost_cores_are_what_the_machine_did_besides_and_what_was_stolen_by_the_time_that_passed() {
        let at = |at_ns, busy_ns, stolen_ns, own_ns| LostCpuReading { at_ns, busy_ns, stolen_ns, own_ns };
        let lost = at(1_000, 500, 70, 90).until(&at(3_000, 3_500, 270, 1_590)).unwrap();
        assert_eq!((lost.other_processes_cores, lost.stolen_cores), (0.75, 0.1));
        let by_ticks = at(1_000, 500, 70, 90).until(&at(3_000, 3_500, 70, 3_100)).unwrap();
        assert_eq!((by_ticks.other_processes_cores, by_ticks.cores()), (0.0, 0.0));
        assert_eq!(at(1_000, 0, 0, 0).until(&at(1_000, 9, 9, 0)), None);
    }

    /// A Python process that listens, connects to the port in `argument` if there is one, and uses 0.2 s of CPU after it printed its port.
    fn burner(argument: &str) -> (Child, BufReader<ChildStdout>, String) {
        const CODE: &str = "import socket,sys,time\ns=socket.create_server(('127.0.0.1',0))\n\
                            c=sys.argv[1] and socket.create_connection(('127.0.0.1',int(sys.argv[1])))\n\
                            print(s.getsockname()[1],flush=True)\nsys.stdin.readline()\nt=time.process_time()\n\
                            while time.process_time()<t+0.2: pass\nprint('burned',flush=True)\nsys.stdin.read()";
        let mut child = Command::new("python3")
            .args(["-c", CODE, argument])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let port = line(&mut lines);
        (child, lines, port)
    }

    fn line(lines: &mut BufReader<ChildStdout>) -> String {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    fn burn((child, lines, _): &mut (Child, BufReader<ChildStdout>, String)) {
        use std::io::Write;
        child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        assert_eq!(line(lines), "burned");
    }

    #[test]
    fn the_work_of_a_server_of_its_backend_and_of_the_load_is_its_own_and_that_of_others_is_not() {
        let mut backend = burner("");
        let mut server = burner(&backend.2);
        let mut other = burner("");
        let mut meter = LostCpuMeter::of_server(server.0.id());
        let mut own_while = |action: &mut dyn FnMut()| {
            let before = meter.read();
            action();
            let after = meter.read();
            assert!(after.busy_ns - before.busy_ns >= BURNED_NS / 2, "{before:?} {after:?}");
            after.own_ns - before.own_ns
        };
        let of_server = own_while(&mut || burn(&mut server));
        let of_backend = own_while(&mut || burn(&mut backend));
        let of_load = own_while(&mut || {
            let began = super::super::cpu_clock::own_thread_cpu_ns();
            while super::super::cpu_clock::own_thread_cpu_ns() < began + BURNED_NS {}
        });
        let of_other = own_while(&mut || burn(&mut other));
        for (child, ..) in [&mut server, &mut backend, &mut other] {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
        assert!(
            [of_server, of_backend, of_load].iter().all(|&it| it >= BURNED_NS),
            "{of_server} {of_backend} {of_load}"
        );
        assert!(of_other < BURNED_NS / 2, "{of_other}");
    }
}
