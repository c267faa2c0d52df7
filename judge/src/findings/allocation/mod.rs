//! A variant allocates much more per request than another one under the same load. This, and not the kind of thread, then explains the
//! collector's work and part of the CPU use.

mod rule;
mod sites;
mod words;

pub(crate) use rule::{attribute, find};
pub(crate) use sites::{MOST_NAMED, WORTH_NAMING};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub(crate) use words::fewer_allocations;

/// Allocation per request, compared with the variant that allocates least; means over the runs that the probe observed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllocationDifference {
    /// Bytes per request.
    pub bytes_per_request: f64,
    /// The variant that allocates least.
    pub least_variant: String,
    /// Bytes per request of that variant.
    pub least_bytes_per_request: f64,
    /// The places that allocate most of the difference, largest first, from the JVM's samples.
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
    /// The class of most objects allocated there.
    pub class: String,
    /// Share of this place in the whole difference per request.
    pub share: f64,
}

/// Processors of Tomcat's Connector (request, response and their buffers) that are created for one request and dropped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessorsMadeAnew {
    /// The number of processors that the Connector keeps (`processorCache`).
    pub cache: u32,
    /// Whether `cache` is Tomcat's default.
    pub is_default: bool,
    /// Requests in flight, on average.
    pub in_flight: f64,
    /// Share of the processors in the whole difference.
    pub share: f64,
}
