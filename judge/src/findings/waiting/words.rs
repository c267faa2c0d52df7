use super::WaitingPlace;
use crate::evidence::connection_pools::full_pool;
use crate::finding::RunsShowing;
use crate::words::figure::figure;
use crate::words::finding::Words;
use crate::words::site::{place, waits_for};
use threadcount_model::figures::percent;
use threadcount_model::record::jvm::{PoolKind, SiteReason};

/// The word for what waits: with an asynchronous client, requests wait without a thread.
const fn waiters(kind: PoolKind) -> &'static str {
    match kind {
        PoolKind::JettyClient | PoolKind::ReactorPool => "requests",
        _ => "threads",
    }
}

impl Words for WaitingPlace {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        match self {
            Self::Pool(pool) => format!("requests wait for a connection. {}", full_pool(pool)),
            Self::Code { site, waiting_threads, requests_in_flight } => format!(
                "{} of the requests in flight wait at {} ({}). On average {waiting_threads:.1} threads of {requests_in_flight:.1} \
                 requests wait there",
                percent((waiting_threads / requests_in_flight).min(1.0)),
                place(site),
                waits_for(site)
            ),
        }
    }

    fn advice(&self) -> Option<String> {
        Some(match self {
            Self::Pool(pool) if pool.kind != PoolKind::Hikari => {
                "a larger pool, if what it connects to can serve it, or connections held for a shorter time".to_owned()
            }
            Self::Pool(_) => {
                "a larger pool (Spring Boot: spring.datasource.hikari.maximum-pool-size) if the database can serve it, or \
                 connections held for a shorter time"
                    .to_owned()
            }
            Self::Code { site, .. } => code_advice(site.reason.as_ref(), &place(site)),
        })
    }

    fn evidence(&self) -> Vec<String> {
        match self {
            Self::Pool(pool) => vec![
                figure("readings with all connections in use", pool.full_share * 100.0, "%"),
                figure("connections of the pool", pool.connections, "connections"),
                figure("waiting for one", pool.waiting_threads, waiters(pool.kind)),
            ],
            Self::Code { site, waiting_threads, requests_in_flight } => vec![
                figure("threads waiting there, waits of 20 ms and longer", *waiting_threads, "threads"),
                figure("requests in flight", *requests_in_flight, "requests"),
                figure(
                    "such waits in one run (at `light` an estimate if the JVM was busy)",
                    site.total.count as f64,
                    "waits",
                ),
                figure("longest of them", site.total.longest_ms, "ms"),
            ],
        }
    }
}

fn code_advice(reason: Option<&SiteReason>, at: &str) -> String {
    match reason {
        Some(SiteReason::ReadFrom(peer)) => {
            format!("a faster {peer}, which takes the time, or fewer calls of it at {at}")
        }
        Some(SiteReason::Monitor(_)) => {
            format!("the lock at {at} held for a shorter time, or by fewer requests")
        }
        _ => {
            format!("a larger pool, if {at} takes from one. A lock held for a shorter time, if it takes one")
        }
    }
}
