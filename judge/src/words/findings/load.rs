//! The load and what carries it: the load generator, its clients, the accept queue, files and ports.

use super::Words;
use super::evidence::{cpu, figure, known, showing};
use crate::finding::{
    AcceptQueueOverflow, ClientCeiling, GeneratorBottleneck, LimitedGenerator, ResourceLimit, RunsShowing,
};
use threadcount_model::figures::{count, milliseconds as ms, percent, whole};

/// ` in 2 of 3 runs`.
fn in_runs(runs: Option<RunsShowing>) -> String {
    runs.map_or_else(String::new, |runs| format!(" {}", showing(runs)))
}

impl Words for GeneratorBottleneck {
    fn sentence(&self, runs: Option<RunsShowing>) -> String {
        let runs = in_runs(runs);
        match &self.limited {
            LimitedGenerator::Own { why } => {
                let why = why.as_deref().unwrap_or("the reason is not known");
                format!("the load generator was the bottleneck{runs}, so no verdict is drawn: {why}")
            }
            LimitedGenerator::External { full_processes, processes } => {
                let share = percent(self.cpu_share);
                let used = match processes {
                    1 => format!("it used {share} of a core and can use no more than one"),
                    _ => format!(
                        "{full_processes} of its {processes} processes used up to {share} of a core and can use no more \
                         than one each"
                    ),
                };
                format!(
                    "the load tool was the bottleneck{runs}: {used}, so the figures are those of the tool, not of the \
                     server"
                )
            }
        }
    }

    fn advice(&self) -> Option<String> {
        let advice = match self.limited {
            LimitedGenerator::Own { .. } => {
                "more generator threads, another machine for the generator, or a lower rate"
            }
            LimitedGenerator::External { .. } => {
                "more processes of the tool, or Threadcount's own load generator"
            }
        };
        Some(advice.to_owned())
    }

    fn evidence(&self) -> Vec<String> {
        known(&[
            ("busiest generator thread's share of a core", Some(self.cpu_share), "of a core"),
            ("generator CPU per request", Some(self.cpu_us_per_request), "µs"),
            ("send lag, 99th percentile", self.send_lag_p99_ms, "ms"),
        ])
    }
}

impl Words for AcceptQueueOverflow {
    fn sentence(&self, runs: Option<RunsShowing>) -> String {
        format!(
            "the accept queue overflowed {} times{}, and {} connection attempts were retried after 1 s: a limit of the \
             backlog, not of the thread model",
            count(self.overflows),
            in_runs(runs),
            count(self.syn_retransmits)
        )
    }

    fn advice(&self) -> Option<String> {
        Some(
            "`accept_count` (Tomcat: acceptCount) and the kernel's net.core.somaxconn above the number of clients"
                .to_owned(),
        )
    }

    fn evidence(&self) -> Vec<String> {
        vec![
            figure("accept queue overflows", self.overflows as f64, "connections"),
            figure("connection attempts repeated", self.syn_retransmits as f64, "segments"),
            figure("clients", self.clients.into(), "clients"),
        ]
    }
}

impl Words for ResourceLimit {
    fn sentence(&self, runs: Option<RunsShowing>) -> String {
        let what = match *self {
            Self::ServerFiles { open, at_most } => format!(
                "the server had {} of at most {} files open ({}); each connection takes one",
                count(open),
                count(at_most),
                percent(open as f64 / at_most as f64)
            ),
            Self::SourcePorts { failed_requests, ports: 0, .. } => {
                format!("{} requests failed for lack of a source port", count(failed_requests))
            }
            Self::SourcePorts { failed_requests, time_wait, ports } => format!(
                "{} requests failed for lack of a source port: {} connections in TIME_WAIT, of {} ports",
                count(failed_requests),
                count(time_wait),
                count(ports)
            ),
            Self::GeneratorFiles { failed_requests } => format!(
                "{} requests failed because the load generator reached its limit of open files",
                count(failed_requests)
            ),
        };
        runs.map_or_else(|| what.clone(), |runs| format!("{what} ({})", showing(runs)))
    }

    fn advice(&self) -> Option<String> {
        let advice = match self {
            Self::ServerFiles { .. } => {
                "a higher limit before the server starts (ulimit -n, or LimitNOFILE= in its systemd unit), or fewer \
                 connections"
            }
            Self::SourcePorts { .. } => {
                "keep-alive (Tomcat: maxKeepAliveRequests=\"-1\"), a minute between runs, or a wider \
                 net.ipv4.ip_local_port_range"
            }
            Self::GeneratorFiles { .. } => {
                "a higher limit (ulimit -n) before threadcount starts, or fewer connections"
            }
        };
        Some(advice.to_owned())
    }

    fn evidence(&self) -> Vec<String> {
        match *self {
            Self::ServerFiles { open, at_most } => vec![
                figure("files the server had open", open as f64, "files"),
                figure("files it may have open", at_most as f64, "files"),
            ],
            Self::SourcePorts { failed_requests, time_wait, ports } => vec![
                figure("requests without a source port", failed_requests as f64, "requests"),
                figure("connections in TIME_WAIT", time_wait as f64, "connections"),
                figure("ports for connecting sockets", ports as f64, "ports"),
            ],
            Self::GeneratorFiles { failed_requests } => {
                vec![figure("requests without a file descriptor", failed_requests as f64, "requests")]
            }
        }
    }
}

impl Words for ClientCeiling {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        format!(
            "limited by the load: {} clients cannot request more than {}/s at {} per request",
            count(self.clients.into()),
            whole(self.limit_per_s()),
            ms(self.mean_ms)
        )
    }

    fn advice(&self) -> Option<String> {
        Some("more clients, or a rate, to find the limit of the server".to_owned())
    }

    fn evidence(&self) -> Vec<String> {
        let mut figures = vec![
            figure("clients", self.clients.into(), "clients"),
            figure("mean response time", self.mean_ms, "ms"),
            figure("median response time", self.p50_ms, "ms"),
            figure("fastest response", self.fastest_ms, "ms"),
            figure("measured throughput", self.rate_per_s, "requests/s"),
        ];
        figures.extend(cpu(&self.cpu));
        figures
    }
}
