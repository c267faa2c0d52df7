//! Sends the loads from pods of a cluster.

use super::sender::{LoadSender, PlannedLoad, SendError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use threadcount_cluster::api_error::in_one_line;
use threadcount_cluster::workers::{Orders, Workers};
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::plan::LoadShare;
use threadcount_load::run::Control;
use threadcount_servers::workload::order::{LoadStep, Order};

/// The longest time for a load that ends only after a number of requests.
pub const LONGEST_LOAD: Duration = Duration::from_secs(6 * 3_600);
/// Spare time for the pods to send their last lines.
const SPARE: Duration = Duration::from_secs(60);

/// Pods that stay for all loads of a session.
pub struct Pods {
    workers: Mutex<Workers>,
    count: u32,
}

impl Pods {
    #[must_use]
    pub const fn new(workers: Workers) -> Self {
        let count = workers.pods();
        Self { workers: Mutex::new(workers), count }
    }
}

impl LoadSender for Pods {
    fn send(&self, load: PlannedLoad<'_>, url: &str, control: Control<'_>) -> Result<LoadOutcome, SendError> {
        let shared = load.plan.clone().with(|plan| {
            plan.share = LoadShare::new(0, self.count).unwrap_or_default();
        });
        shared.check().map_err(|error| SendError::Load(error.into()))?;
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let merged = workers.send(&OrdersOf { load, url }, control);
        merged.map(|merged| merged.outcome).map_err(|error| SendError::Shared(in_one_line(&error)))
    }

    fn processes(&self) -> u32 {
        self.count
    }
}

/// The orders that the pods get for one load.
struct OrdersOf<'l> {
    load: PlannedLoad<'l>,
    url: &'l str,
}

impl Orders for OrdersOf<'_> {
    fn send(&self, step: u32, start_at_unix_ns: u64) -> String {
        let PlannedLoad { spec, plan } = self.load;
        text(&Order::Send(Box::new(LoadStep::new(step, start_at_unix_ns, self.url, spec, plan))))
    }

    fn stop(&self, step: u32) -> String {
        text(&Order::Stop { step })
    }

    fn lead_in(&self) -> Duration {
        self.load.plan.lead_in
    }

    fn lasts_at_most(&self) -> Duration {
        let plan = self.load.plan;
        let sending = plan.stop.duration().unwrap_or(LONGEST_LOAD);
        plan.lead_in + sending + plan.connect_timeout + plan.request_timeout + plan.grace + SPARE
    }
}

/// Serialises an order. This cannot fail: its maps have only text keys, and nothing is written to a file.
fn text(order: &Order) -> String {
    serde_json::to_string(order).unwrap_or_default()
}
