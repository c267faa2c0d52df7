//! Carriers that wait for a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::record::jvm::SiteTotal;

/// Of the run in which carriers waited longest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct CarrierFileIo {
    /// Carriers that wait for a file, on average, by events of 1 ms and longer.
    pub waiting_carriers: f64,
    pub carriers: f64,
    /// Where most of it is.
    pub site: SiteTotal,
    /// Its share of the whole.
    pub site_share: f64,
    /// Number of reads, writes and forces.
    pub count: u64,
    /// Virtual threads that wait for a carrier; `None`: not read.
    pub queued_threads: Option<f64>,
    /// Until a virtual thread that could run had a carrier, p99; `None`: not read.
    pub virtual_delay_p99_ms: Option<f64>,
}
