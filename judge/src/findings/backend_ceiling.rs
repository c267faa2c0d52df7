//! A server behind the server is the limit: its CPU or its connections are used up.

use crate::evidence::variant_runs::{RunFigures, VariantRuns};
use crate::finding::{Fact, Finding};
use crate::words::finding::Words;
use crate::words::reasons;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::backend_limit::BackendLimit;
use threadcount_model::figures;
use threadcount_stats::backend_limit::backend_limit;

/// Figures of the typical run of those that show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct BackendCeiling {
    pub backend: String,
    pub limit: BackendLimit,
    pub rate_per_s: f64,
    pub server_cpu_cores: f64,
    pub machine_cores: u32,
}

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    runs_of_variant.typical_finding(|run| {
        let (backend, limit) = backend_limit(run, &runs_of_variant.runs)?;
        let figures = RunFigures::of(run)?;
        Some(Fact::BackendCeiling(BackendCeiling {
            backend: backend.to_owned(),
            limit,
            rate_per_s: figures.rate_per_s,
            server_cpu_cores: figures.cpu.server_cores,
            machine_cores: figures.cpu.machine_cores as u32,
        }))
    })
}

impl Words for BackendCeiling {
    fn sentence(&self) -> String {
        format!(
            "limited by the backend `{}`: {}. {}/s is not the limit of the server's threads",
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, found, found_in, run, sentence};
    use threadcount_model::record::{BackendFigures, Record};
    use threadcount_model::sample::with_cost;

    fn with_backend(cpu_cores: f64, in_use: f64, thread: f64) -> Record {
        let backend = BackendFigures {
            name: "proxy".to_owned(),
            cpu_cores,
            cores: vec![0, 1],
            cores_in_use: Some(in_use),
            busiest_thread_cores: Some(thread),
            ..BackendFigures::default()
        };
        let record = with_cost(run(800.0, 2.0, 60.0, in_use), |cost| {
            (cost.cpu_cores, cost.backend_cpu_cores) = (0.3, cpu_cores);
        });
        Record { backends: vec![backend], ..record }
    }

    #[test]
    fn a_proxy_that_burns_cpu_is_named_as_the_limit() {
        let finding = found(find, "clients: 50", with_backend(1.5, 1.95, 0.1)).expect("a finding");
        let expected = "limited by the backend `proxy`: it uses 1.50 of 1.95 cores in use on its 2 full cores. 800/s is not the limit of the server's threads";
        assert_eq!(sentence(&finding), expected);
        assert!(advice(&finding).contains("a faster `proxy`"), "{}", advice(&finding));
        let finding = found(find, "clients: 50", with_backend(1.02, 1.5, 0.99)).expect("a finding");
        let expected = "limited by the backend `proxy`: one of its threads does nearly all work and uses 0.99 of a \
            core. 800/s is not the limit of the server's threads";
        assert_eq!(sentence(&finding), expected);
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let silent = [
            ("a busy backend beside idle time", with_backend(1.2, 1.5, 0.3)),
            ("a full machine that the server uses most of", with_backend(0.6, 1.95, 0.1)),
            ("a server without a backend", run(800.0, 2.0, 60.0, 1.95)),
        ];
        for (case, record) in silent {
            assert_eq!(found(find, "clients: 50", record), None, "{case}");
        }
        let one_of_three =
            [with_backend(1.5, 1.95, 0.1), with_backend(0.6, 1.2, 0.1), with_backend(0.6, 1.2, 0.1)];
        assert_eq!(found_in(find, "clients: 50", &one_of_three), None, "in one run of three");
    }
}
