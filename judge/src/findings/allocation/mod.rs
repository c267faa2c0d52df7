//! Each request allocates much more with one variant than with another under the same load. Then it is that, and not the kind of
//! thread, that the collector's work and a part of the CPU belong to.

mod rule;
mod sites;
mod words;

pub(crate) use rule::{attribute, find};
pub(crate) use sites::{MOST_NAMED, WORTH_NAMING};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub(crate) use words::fewer_allocations;

/// Allocation per request, compared with the variant that allocates least. Means of the runs in which reasons were looked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllocationDifference {
    /// Bytes per request.
    pub bytes_per_request: f64,
    /// The variant that allocates least.
    pub least_variant: String,
    /// Its bytes per request.
    pub least_bytes_per_request: f64,
    /// Where most of the difference is allocated, by the JVM's samples; the largest part first.
    pub sites: Vec<AllocatingPlace>,
    /// Objects that the server creates per request, although it could reuse them.
    pub processors: Option<ProcessorsMadeAnew>,
}

/// A place in the code that allocates more than with the other variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllocatingPlace {
    /// The first frame that belongs neither to the JDK nor to a constructor.
    pub maker: Option<String>,
    /// The first frame of the application.
    pub application: Option<String>,
    /// The class of most of them.
    pub class: String,
    /// Its share of the whole difference per request.
    pub share: f64,
}

/// Processors of a Tomcat's Connector (request, response and their buffers) that are created for one request and dropped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessorsMadeAnew {
    /// Number that the Connector keeps (`processorCache`).
    pub cache: u32,
    /// It is Tomcat's default.
    pub is_default: bool,
    /// Requests in flight, on average.
    pub in_flight: f64,
    /// Their share of the whole difference.
    pub share: f64,
}
