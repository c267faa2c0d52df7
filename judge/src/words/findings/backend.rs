//! The words for a server behind the server that is the limit.

use super::Words;
use super::evidence::known;
use crate::finding::{BackendCeiling, RunsShowing};
use crate::words::reasons;
use threadcount_model::backend_limit::BackendLimit;
use threadcount_model::figures;

impl Words for BackendCeiling {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        format!(
            "limited by the backend `{}`: {}; {}/s say nothing about the server's threads",
            self.backend,
            reasons::backend_limit(&self.limit),
            figures::whole(self.rate_per_s)
        )
    }

    fn advice(&self) -> Option<String> {
        let name = &self.backend;
        Some(match self.limit {
            BackendLimit::Connections { .. } => {
                format!(
                    "more connections at `{name}`, or fewer in the server's pool, which is the same for all variants"
                )
            }
            _ => format!("a faster `{name}`, cores of its own (`cores`), or a load below what it can do"),
        })
    }

    fn evidence(&self) -> Vec<String> {
        let (cpu, in_use, thread, connections, limit) = match self.limit {
            BackendLimit::Cpu { cpu_cores, cores_in_use, .. } => {
                (Some(cpu_cores), Some(cores_in_use), None, None, None)
            }
            BackendLimit::OneThread { thread_cores, cpu_cores } => {
                (Some(cpu_cores), None, Some(thread_cores), None, None)
            }
            BackendLimit::Connections { connections, limit } => {
                (None, None, None, Some(connections), Some(f64::from(limit)))
            }
        };
        known(&[
            ("CPU of the backend", cpu, "cores"),
            ("CPU in use on its cores", in_use, "cores"),
            ("CPU of its busiest thread", thread, "cores"),
            ("its connections", connections, "connections"),
            ("connections that it accepts", limit, "connections"),
            ("CPU of the server", Some(self.server_cpu_cores), "cores"),
            ("cores of the machine", Some(f64::from(self.machine_cores)), "cores"),
            ("measured throughput", Some(self.rate_per_s), "requests/s"),
        ])
    }
}
