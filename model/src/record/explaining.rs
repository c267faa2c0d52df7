//! The explaining window.

use super::{Cost, Record};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_load::report::LoadReport;

/// The same load on the same warm server after the measured window, with the probe in its JVM. Its figures are not compared
/// between variants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainingWindow {
    /// The load generator's report over this window.
    pub load: LoadReport,
    pub cost: Option<Cost>,
    /// The wait between attaching and this window. `None`: nothing had to be attached.
    pub recompiling: Option<Recompiling>,
}

/// The time in which the load went on so that the JVM could recompile its code.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recompiling {
    pub lasted_s: f64,
    /// At the end the compiler was quiet, or no busier than when the server was measured.
    pub is_over: bool,
}

/// The cost of the probe in one run: figures of the explaining window divided by those of the measured window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservationCost {
    /// The ratio of completed requests per second.
    pub rate_ratio: f64,
    /// The ratio of the server's CPU per request; `None`: not known in both windows.
    pub cpu_per_request_ratio: Option<f64>,
}

impl ExplainingWindow {
    /// The ratios to the measured window; `None`: no request was completed in it.
    #[must_use]
    pub fn observation_cost(&self, measured: &LoadReport, cost: Option<&Cost>) -> Option<ObservationCost> {
        let rate_per_s = measured.rate_per_s.completed;
        let cpu_us = |cost: Option<&Cost>| cost?.cpu_us_per_request.filter(|&us| us > 0.0);
        let cpu = cpu_us(self.cost.as_ref()).zip(cpu_us(cost));
        (rate_per_s > 0.0).then(|| ObservationCost {
            rate_ratio: self.load.rate_per_s.completed / rate_per_s,
            cpu_per_request_ratio: cpu.map(|(here, there)| here / there),
        })
    }
}

impl Record {
    /// Load and cost in the explaining window, while the probe read the JVM.
    #[must_use]
    pub fn observed_window(&self) -> Option<(&LoadReport, Cost)> {
        match &self.explaining {
            Some(window) => Some((&window.load, window.cost?)),
            None => Some((self.measured.as_ref()?, self.cost?)),
        }
    }

    /// The server's cost while the probe read the JVM; a window without a load has one too.
    #[must_use]
    pub fn observed_cost(&self) -> Option<Cost> {
        self.explaining.as_ref().map_or(self.cost, |window| window.cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(rate_per_s: f64, cpu_us: Option<f64>) -> ExplainingWindow {
        let mut load = LoadReport::default();
        load.rate_per_s.completed = rate_per_s;
        ExplainingWindow {
            load,
            cost: Some(Cost { cpu_us_per_request: cpu_us, ..Cost::default() }),
            recompiling: None,
        }
    }

    #[test]
    fn observing_costs_what_is_less_than_in_the_measured_window() {
        let (measured, observed) = (window(1_000.0, Some(50.0)), window(980.0, Some(51.0)));
        let cost = observed.observation_cost(&measured.load, measured.cost.as_ref()).unwrap();
        assert!((cost.rate_ratio - 0.98).abs() < 1e-12);
        assert!((cost.cpu_per_request_ratio.unwrap() - 1.02).abs() < 1e-12);
    }

    #[test]
    fn what_was_not_measured_costs_nothing_that_is_known() {
        let observed = window(980.0, None);
        assert_eq!(observed.observation_cost(&window(0.0, None).load, None), None);
        let cost = observed.observation_cost(&window(980.0, None).load, observed.cost.as_ref()).unwrap();
        assert_eq!((cost.rate_ratio, cost.cpu_per_request_ratio), (1.0, None));
    }
}
