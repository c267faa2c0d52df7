//! Pods of a cluster send the loads.

use super::sender::{LoadSender, PlannedLoad, SendError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use threadcount_cluster::api_error::in_one_line;
use threadcount_cluster::workers::{Orders, Workers};
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::plan::LoadShare;
use threadcount_load::run::Control;
use threadcount_servers::workload::order::{LoadStep, Order};

/// What a load may last where only a number of requests ends it.
pub const LONGEST_LOAD: Duration = Duration::from_secs(6 * 3_600);
/// For the lines of the pods.
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

/// What they are told for one load.
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

/// Its types have no map with other keys than texts, and write to no file: nothing of it can fail.
fn text(order: &Order) -> String {
    serde_json::to_string(order).unwrap_or_default()
}
