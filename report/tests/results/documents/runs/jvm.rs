//! A probe's readings of a made-up run: pools that fill, a sawtooth heap, pauses, and pins of one variant.

use super::{Character, noise};
use threadcount_model::record::jvm::*;

pub fn readings(variant: &str, is: &Character, position: u32, seconds: u32) -> JvmReadings {
    let steps = || (0..seconds * 2).map(|step| (step, f64::from(step) * 0.5 + 0.02));
    let is_virtual = variant == "virtual";
    let max = if variant == "platform" { 200 } else { is.threads - 23 };
    let pool = Pool {
        kind: PoolKind::Tomcat,
        name: format!("http-nio-{}", 40_000 + position),
        max: (!is_virtual).then_some(max),
        samples: steps()
            .filter(|_| !is_virtual)
            .map(|(_, t_s)| PoolSample { t_s, busy: Some(max - 1), size: Some(max), queued: Some(200) })
            .collect(),
    };
    let connections = Pool {
        kind: PoolKind::Hikari,
        name: "main".into(),
        max: Some(10),
        samples: steps()
            .map(|(_, t_s)| PoolSample {
                t_s,
                busy: Some(if is_virtual { 9 } else { 4 }),
                size: Some(10),
                queued: Some(3),
            })
            .collect(),
    };
    let pause = |second: u32| Pause {
        t_s: f64::from(second) + 0.3,
        duration_ms: 3.0 + noise(u64::from(position * 31 + second)),
        name: "G1 Young".into(),
    };
    JvmReadings {
        java: "25.0.3+9".into(),
        samples: steps().map(|(step, t_s)| sample(is, position, step, t_s)).collect(),
        carriers: steps()
            .map(|(step, t_s)| CarrierSample {
                t_s,
                parallelism: 2,
                threads: if is_virtual { 2 } else { 0 },
                mounted: if is_virtual { 1 + step % 2 } else { 0 },
                queued: if is_virtual { u64::from(step % 5) } else { 0 },
                running: u32::from(is_virtual),
            })
            .collect(),
        carriers_source: Some("VirtualThreadSchedulerMXBean".into()),
        pools: vec![pool, connections],
        collections: Vec::new(),
        pauses: (0..seconds).step_by(2).map(pause).collect(),
        pins: if is_virtual { vec![pinned()] } else { Vec::new() },
        pins_series: if is_virtual { pins(seconds) } else { Vec::new() },
        stacks: steps()
            .step_by(2)
            .map(|(_, t_s)| StackSample {
                t_s,
                reserved_bytes: u64::from(is.threads) * 1_048_576,
                committed_bytes: u64::from(is.threads) * 16_600,
            })
            .collect(),
        ..JvmReadings::default()
    }
}

fn sample(is: &Character, position: u32, step: u32, t_s: f64) -> JvmSample {
    let saw = f64::from((step + position) % 7) / 7.0;
    JvmSample {
        t_s,
        heap_used_bytes: (120e6 + 300e6 * saw) as u64,
        heap_committed_bytes: 536_870_912,
        allocated_bytes_per_s: is.rate * 9_000.0,
        cpu_cores: is.rate * is.cpu_us / 1e6,
        rss_bytes: (is.rss_mb * 1e6) as u64,
        platform_threads: is.threads - 9,
    }
}

fn pinned() -> SiteTotal {
    SiteTotal {
        holder: Some("java.util.concurrent.ConcurrentHashMap.computeIfAbsent:1708".into()),
        application: Some("app.SleepServlet.doGet:9".into()),
        top: Some("java.lang.Thread.sleep:509".into()),
        reason: Some(SiteReason::Jvm("monitor".into())),
        total: Total { count: 40, total_ms: 2_000.0, longest_ms: 51.0 },
    }
}

fn pins(seconds: u32) -> Vec<PinSample> {
    let second = |second: u32| PinSample { t_s: f64::from(second) + 0.5, pinned_ms: 410.0, count: 8 };
    (0..seconds).step_by(3).map(second).collect()
}
