//! Decides whether a server is in a steady state, by what it does in each second.
//!
//! A figure is level if each second lies near the mean of all, and the straight line through them (least squares) rises or falls by no more
//! than noise explains over their length. A rate that climbs by 2 % per second is not level, however smooth it is; a rate that jumps by 3 %
//! from second to second is level, because it goes nowhere.

use super::runs::mean;

/// How level a figure must be, as fractions of its mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// How far a second may lie from the mean.
    pub distance: f64,
    /// How far the line may rise or fall from the first to the last second.
    pub drift: f64,
}

/// Tolerance for the rate of a closed load.
pub const RATE: Tolerance = Tolerance { distance: 0.10, drift: 0.03 };
/// Tolerance for the server's CPU, per second if the schedule holds the rate, else per request; garbage collection makes it uneven.
pub const CPU: Tolerance = Tolerance { distance: 0.30, drift: 0.10 };

/// Below this CPU use, the CPU per request is mostly the step of the CPU clock.
const LEAST_CPU_CORES: f64 = 0.05;

/// The work of a server in one second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServedSecond {
    pub rate_per_s: f64,
    pub cpu_cores: f64,
}

/// Is the server's CPU level? `is_open` tells that the schedule holds the rate.
#[must_use]
pub fn is_cpu_level(seconds: &[ServedSecond], is_open: bool) -> bool {
    let figures = |figure: fn(&ServedSecond) -> f64| seconds.iter().map(figure).collect::<Vec<f64>>();
    let cpu_cores = figures(|it| it.cpu_cores);
    let is_busy = mean(&cpu_cores) >= Some(LEAST_CPU_CORES);
    !is_busy
        || match is_open {
            true => is_level(&cpu_cores, CPU),
            false => is_level(&figures(|it| it.cpu_cores / it.rate_per_s.max(1.0)), CPU),
        }
}

/// Is a figure level: does it neither jump nor drift?
#[must_use]
pub fn is_level(seconds: &[f64], tolerance: Tolerance) -> bool {
    let Some(mean) = mean(seconds) else { return false };
    let middle = (seconds.len() as f64 - 1.0) / 2.0;
    let (mut products, mut squares) = (0.0, 0.0);
    for (place, second) in (0_u32..).zip(seconds) {
        let place = f64::from(place) - middle;
        products += place * (second - mean);
        squares += place * place;
    }
    let drift = products / squares * (seconds.len() as f64 - 1.0);
    let near = seconds.iter().all(|second| (second - mean).abs() <= tolerance.distance * mean);
    mean > 0.0 && near && drift.abs() <= tolerance.drift * mean
}
