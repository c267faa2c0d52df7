//! `threadcount worker`: a process that reads orders from standard input and sends its share of each load.

use super::share_worker::{self, CLOCK_EVERY, Lines};
use super::{interrupt, share_options};
use clap::Args;
use miette::{IntoDiagnostic, WrapErr};
use std::io::{self, BufRead};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use threadcount_load::clock::unix_now_ns;
use threadcount_load::limits;
use threadcount_load::merge::Message;
use threadcount_load::plan::LoadShare;
use threadcount_servers::workload::order::{LoadStep, Order};

/// The clock is reported often at first, so that clocks can be compared, and later only to show that the process lives.
const OFTEN_FOR: Duration = Duration::from_secs(10);
const ALIVE_EVERY: Duration = Duration::from_secs(2);
/// After this time without an order, the sender of orders counts as gone.
const LONGEST_IDLE: Duration = Duration::from_secs(3_600);
/// The time between two checks whether a load must end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Send the loads that standard input lists, one after the other, each a share; print lines for `threadcount merge`
///
/// The pods of `run --kubernetes` and `compare --kubernetes` run this command. It ends with its input, with SIGTERM, or after
/// an hour without an order; docs/contributing/share-format.md describes the format. Exit code: 0 done, 2 bad usage.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct WorkerCommand {
    /// Send share INDEX, from 0, of COUNT. `auto`: from JOB_COMPLETION_INDEX and THREADCOUNT_SHARES (Kubernetes) or
    /// SLURM_PROCID and SLURM_NTASKS (Slurm)
    #[arg(long, value_name = "INDEX/COUNT|auto")]
    share: String,
}

const EXAMPLES: &str = "Examples:
  threadcount worker --share 0/4 < orders.jsonl > share-0.txt";

/// A load that was ordered, with the flag that ends it.
struct Ordered {
    step: Box<LoadStep>,
    stop: Arc<AtomicBool>,
}

impl WorkerCommand {
    /// Follows the orders.
    ///
    /// # Errors
    /// A text that is no share, or an output that cannot be written.
    pub fn run(&self) -> miette::Result<ExitCode> {
        let share = share_options::parse(&self.share)?;
        let interrupted = interrupt::stop_flag().into_diagnostic().wrap_err("SIGTERM cannot be caught")?;
        limits::raise_descriptor_limit();
        let (orders, received) = channel();
        thread::spawn(move || read(io::stdin().lock(), &orders));
        let idle = Lines::new(share, 0);
        while let Some(order) = wait(&received, &idle, &interrupted)? {
            let Ordered { step, stop } = order;
            send(&step, share, &stop, &interrupted)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The next order, or `None` if there will be none.
fn wait(
    received: &Receiver<Ordered>,
    idle: &Lines,
    interrupted: &AtomicBool,
) -> miette::Result<Option<Ordered>> {
    let since = Instant::now();
    while !interrupted.load(Ordering::Relaxed) && since.elapsed() < LONGEST_IDLE {
        idle.tell(Message::Clock { unix_ns: unix_now_ns() })?;
        let pause = if since.elapsed() < OFTEN_FOR { CLOCK_EVERY } else { ALIVE_EVERY };
        match received.recv_timeout(pause) {
            Ok(order) => return Ok(Some(order)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(None)
}

/// Sends one load. If that fails, the failure is reported like a result, and the next load can be sent.
fn send(
    step: &LoadStep,
    share: LoadShare,
    stop: &AtomicBool,
    interrupted: &AtomicBool,
) -> miette::Result<()> {
    let plan = match step.plan(share) {
        Ok(plan) => plan,
        Err(error) => return Lines::new(share, step.step).tell(Message::Failed { why: error.to_string() }),
    };
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let looking = scope.spawn(|| {
            while !has_ended.load(Ordering::Relaxed) {
                if interrupted.load(Ordering::Relaxed) {
                    stop.store(true, Ordering::Relaxed);
                }
                thread::park_timeout(LOOK_EVERY);
            }
        });
        // The reason of a failure is reported by the load itself. If the output is closed, the next line finds out.
        let _ = share_worker::run(&plan, step.step, Some(step.start_at_unix_ns), stop);
        has_ended.store(true, Ordering::Relaxed);
        looking.thread().unpark();
    });
    Ok(())
}

/// Reads orders until the input ends. A repeated order is recognized by its number, and an order whose end came first is ended at once. A
/// line that is no order, such as the rest of a broken line, is reported without its text, which may contain a secret, and skipped.
fn read(input: impl BufRead, orders: &Sender<Ordered>) {
    let mut last: Option<(u32, Arc<AtomicBool>)> = None;
    let mut stopped = 0;
    for line in input.lines().map_while(Result::ok).filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str(&line) {
            Ok(Order::Send(step)) if last.as_ref().is_none_or(|(known, _)| step.step > *known) => {
                let stop = Arc::new(AtomicBool::new(step.step <= stopped));
                last = Some((step.step, Arc::clone(&stop)));
                if orders.send(Ordered { step, stop }).is_err() {
                    return;
                }
            }
            Ok(Order::Send(_)) => {}
            Ok(Order::Stop { step }) => {
                stopped = step.max(stopped);
                let stop = last.iter().find(|(known, _)| *known == step).map(|(_, stop)| stop);
                stop.into_iter().for_each(|stop| stop.store(true, Ordering::Relaxed));
            }
            Err(error) => note!("a line of standard input is no order: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::experiment::{LoadKind, LoadSpec, RequestSpec};
    use threadcount_servers::workload::load_plan::load_plan;

    fn order(step: u32) -> String {
        let load = LoadSpec {
            duration_s: Some(1.0),
            ..LoadSpec::new("c4", LoadKind::Closed { clients: 4 }, RequestSpec::get("/"))
        };
        let url = "http://127.0.0.1:1";
        let plan = load_plan(&load, url).unwrap();
        serde_json::to_string(&Order::Send(Box::new(LoadStep::new(step, 0, url, &load, &plan)))).unwrap()
    }

    /// The loads that an input orders, and whether each was ended.
    fn ordered(input: &str) -> Vec<(u32, bool)> {
        let (sender, received) = channel();
        read(input.as_bytes(), &sender);
        drop(sender);
        received.iter().map(|order| (order.step.step, order.stop.load(Ordering::Relaxed))).collect()
    }

    #[test]
    fn an_order_that_comes_twice_is_one_and_a_stop_is_for_the_load_it_names() {
        let stop = |step| serde_json::to_string(&Order::Stop { step }).unwrap();
        let input = [order(1), order(1), stop(1), order(2), stop(1)].join("\n");
        assert_eq!(ordered(&input), [(1, true), (2, false)]);
    }

    #[test]
    fn an_end_that_comes_before_its_order_counts_and_half_a_line_does_not() {
        let stop = serde_json::to_string(&Order::Stop { step: 1 }).unwrap();
        let half = &order(1)[..40];
        let input = [half, "", &stop, &order(1), &order(2)].join("\n");
        assert_eq!(ordered(&input), [(1, true), (2, false)]);
    }
}
