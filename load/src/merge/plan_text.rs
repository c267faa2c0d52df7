//! A plan without its requests: what must be known of a load to judge it elsewhere.

use crate::plan::{LoadPlan, LoadShare, Pacing, Stop};
use crate::request::{Origin, RequestSource};
use serde::{Deserialize, Serialize};
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::time::Duration;

/// A plan without its requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of LoadPlan")]
#[non_exhaustive]
pub struct PlanText {
    pub origin: String,
    pub target: String,
    pub pacing: Pacing,
    pub connections: NonZeroU32,
    pub requests: Option<NonZeroU64>,
    pub duration_ns: Option<u64>,
    pub streams_per_connection: NonZeroU32,
    pub keep_alive: bool,
    pub connect_timeout_ns: u64,
    pub request_timeout_ns: u64,
    pub seed: u64,
    pub lateness_ns: u64,
    pub lead_in_ns: u64,
    pub grace_ns: u64,
    pub tls_resumption: bool,
}

impl Default for PlanText {
    fn default() -> Self {
        Self {
            origin: String::new(),
            target: String::new(),
            pacing: Pacing::Closed,
            connections: NonZeroU32::MIN,
            requests: None,
            duration_ns: None,
            streams_per_connection: NonZeroU32::MIN,
            keep_alive: true,
            connect_timeout_ns: 0,
            request_timeout_ns: 0,
            seed: 0,
            lateness_ns: 0,
            lead_in_ns: 0,
            grace_ns: 0,
            tls_resumption: true,
        }
    }
}

const fn ns(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

impl PlanText {
    /// The text of a plan.
    #[must_use]
    pub fn new(plan: &LoadPlan) -> Self {
        Self {
            origin: plan.requests.origin().to_string(),
            target: plan.requests.first_url().to_owned(),
            pacing: plan.pacing.clone(),
            connections: plan.connections,
            requests: plan.stop.requests().and_then(NonZeroU64::new),
            duration_ns: plan.stop.duration().map(ns),
            streams_per_connection: plan.streams_per_connection,
            keep_alive: plan.keep_alive,
            connect_timeout_ns: ns(plan.connect_timeout),
            request_timeout_ns: ns(plan.request_timeout),
            seed: plan.seed,
            lateness_ns: ns(plan.lateness),
            lead_in_ns: ns(plan.lead_in),
            grace_ns: ns(plan.grace),
            tls_resumption: plan.tls.resumption,
        }
    }

    /// The plan, as far as reports and the judgement of a load need it; it has no requests to send.
    ///
    /// # Errors
    /// The text is not a plan.
    pub(crate) fn plan(&self) -> Result<LoadPlan, String> {
        let origin = Origin::parse(&self.origin).map_err(|error| error.to_string())?;
        let requests = Arc::new(RequestSource::sent_elsewhere(origin, self.target.clone()));
        let duration = self.duration_ns.map(Duration::from_nanos);
        let stop = match (self.requests, duration) {
            (Some(requests), Some(duration)) => Stop::Either(requests, duration),
            (Some(requests), None) => Stop::Requests(requests),
            (None, Some(duration)) => Stop::Duration(duration),
            (None, None) => return Err("it has no end".to_owned()),
        };
        Ok(LoadPlan::closed(requests, self.connections, stop).with(|plan| {
            plan.pacing = self.pacing.clone();
            plan.streams_per_connection = self.streams_per_connection;
            plan.keep_alive = self.keep_alive;
            plan.connect_timeout = Duration::from_nanos(self.connect_timeout_ns);
            plan.request_timeout = Duration::from_nanos(self.request_timeout_ns);
            plan.seed = self.seed;
            plan.lateness = Duration::from_nanos(self.lateness_ns);
            plan.lead_in = Duration::from_nanos(self.lead_in_ns);
            plan.grace = Duration::from_nanos(self.grace_ns);
            plan.tls.resumption = self.tls_resumption;
            plan.share = LoadShare::WHOLE;
        }))
    }

    /// Applies the pace, the size and the times of this text to a plan whose requests come another way.
    ///
    /// # Errors
    /// The text is not a plan.
    pub fn apply(&self, plan: LoadPlan) -> Result<LoadPlan, String> {
        let paced = self.plan()?;
        Ok(plan.with(|plan| {
            (plan.pacing, plan.connections, plan.stop) = (paced.pacing, paced.connections, paced.stop);
            plan.streams_per_connection = paced.streams_per_connection;
            plan.keep_alive = paced.keep_alive;
            plan.connect_timeout = paced.connect_timeout;
            plan.request_timeout = paced.request_timeout;
            (plan.seed, plan.tls.resumption) = (paced.seed, paced.tls.resumption);
            (plan.lateness, plan.lead_in, plan.grace) = (paced.lateness, paced.lead_in, paced.grace);
        }))
    }

    /// The first thing in which two plans differ, by its name in [`LoadPlan`].
    pub(crate) fn difference(&self, other: &Self) -> Option<&'static str> {
        let pairs = [
            ("target", self.target == other.target && self.origin == other.origin),
            ("rate", self.pacing == other.pacing),
            ("connections", self.connections == other.connections),
            ("requests", self.requests == other.requests),
            ("duration", self.duration_ns == other.duration_ns),
            ("seed", self.seed == other.seed),
        ];
        let named = pairs.into_iter().find(|(_, is_same)| !is_same).map(|(name, _)| name);
        named.or_else(|| (self != other).then_some("another setting"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::LoadOutcome;
    use crate::plan::{Arrivals, RateShape};
    use crate::report::LoadReport;
    use crate::request::Target;

    #[test]
    fn a_plan_that_went_through_text_makes_the_same_report() {
        let target = Target::get("https://shop.test:8443/orders/{seq:1}?x=y").unwrap();
        let requests = Arc::new(RequestSource::new(vec![target]).unwrap());
        let shape = RateShape::Ramp { from_per_s: 1.0, to_per_s: 50.0, over: Duration::from_millis(2_500) };
        let stop = Stop::Either(NonZeroU64::new(9_000).unwrap(), Duration::from_secs(9));
        let connections = NonZeroU32::new(70).unwrap();
        let plan = LoadPlan::open(requests, shape, Arrivals::Poisson, connections, stop).with(|plan| {
            plan.seed = 42;
            plan.lateness = Duration::from_millis(1);
            plan.grace = Duration::from_secs(2);
            plan.keep_alive = false;
            plan.tls.resumption = false;
        });
        let text = serde_json::to_string(&PlanText::new(&plan)).unwrap();
        let back: PlanText = serde_json::from_str(&text).unwrap();
        assert_eq!(back, PlanText::new(&plan));
        let outcome = LoadOutcome::default();
        assert_eq!(LoadReport::new(&outcome, &back.plan().unwrap()), LoadReport::new(&outcome, &plan));
    }

    #[test]
    fn the_first_difference_is_named() {
        let one = PlanText::default();
        assert_eq!(one.difference(&one.clone()), None);
        assert_eq!(one.difference(&PlanText { seed: 7, ..one.clone() }), Some("seed"));
        assert_eq!(one.difference(&PlanText { grace_ns: 7, ..one.clone() }), Some("another setting"));
    }
}
