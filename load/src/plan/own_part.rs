//! The part of a shared load that one process sends.

use super::{LoadPlan, Pacing, RateShape, Step, Stop};
use crate::share::LoadShare;
use std::num::{NonZeroU32, NonZeroU64};

impl LoadPlan {
    /// The number of connections of the whole load, which is never larger than its number of requests.
    #[must_use]
    pub fn all_connections(&self) -> u32 {
        let requests = self.stop.requests().unwrap_or(u64::MAX);
        u64::from(self.connections.get()).min(requests) as u32
    }

    /// This process's share as a load of its own, with its connections, its part of the rate and of the requests. It serves limits, the
    /// judgement of health, and reports; the due times always come from the whole plan.
    #[must_use]
    pub fn own_part(&self) -> Self {
        if self.share.is_whole() {
            return self.clone();
        }
        let (share, connections) = (self.share, self.all_connections());
        let requests = |all: NonZeroU64| {
            NonZeroU64::new(share.requests(all.get(), connections)).unwrap_or(NonZeroU64::MIN)
        };
        let own = NonZeroU32::new(share.connections(connections)).unwrap_or(NonZeroU32::MIN);
        let fraction = share.fraction(connections);
        self.clone().with(|plan| {
            plan.share = LoadShare::WHOLE;
            plan.connections = own;
            plan.stop = match self.stop {
                Stop::Requests(all) => Stop::Requests(requests(all)),
                Stop::Duration(duration) => Stop::Duration(duration),
                Stop::Either(all, duration) => Stop::Either(requests(all), duration),
            };
            if let Pacing::Open { shape, .. } = &mut plan.pacing {
                *shape = shape.scaled(fraction);
            }
        })
    }
}

impl RateShape {
    /// The same shape with each rate multiplied by this fraction.
    #[must_use]
    pub fn scaled(&self, fraction: f64) -> Self {
        match self {
            Self::Constant { rate_per_s } => Self::Constant { rate_per_s: rate_per_s * fraction },
            Self::Ramp { from_per_s, to_per_s, over } => {
                Self::Ramp { from_per_s: from_per_s * fraction, to_per_s: to_per_s * fraction, over: *over }
            }
            Self::Steps(steps) => Self::Steps(
                steps.iter().map(|step| Step { rate_per_s: step.rate_per_s * fraction, ..*step }).collect(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Arrivals, PlanError};
    use crate::request::{Origin, RequestSource};
    use std::sync::Arc;
    use std::time::Duration;

    fn plan(connections: u32, stop: Stop, share: (u32, u32)) -> LoadPlan {
        let origin = Origin { tls: false, host: "127.0.0.1".to_owned(), port: 80 };
        let requests = Arc::new(RequestSource::get(origin, "/"));
        let shape = RateShape::Constant { rate_per_s: 1_000.0 };
        let connections = NonZeroU32::new(connections).unwrap();
        LoadPlan::open(requests, shape, Arrivals::Constant, connections, stop)
            .with(|plan| plan.share = LoadShare::new(share.0, share.1).unwrap())
    }

    fn requests(count: u64) -> Stop {
        Stop::Requests(NonZeroU64::new(count).unwrap())
    }

    #[test]
    fn a_share_has_its_connections_its_requests_and_its_part_of_the_rate() {
        let own = plan(10, requests(25), (0, 4)).own_part();
        assert_eq!((own.connections.get(), own.stop), (3, requests(8)));
        let Pacing::Open { shape, .. } = own.pacing else { panic!("open") };
        assert_eq!(shape, RateShape::Constant { rate_per_s: 300.0 });
        assert!(own.share.is_whole());
        let timed = plan(10, Stop::Duration(Duration::from_secs(3)), (3, 4)).own_part();
        assert_eq!((timed.connections.get(), timed.stop), (2, Stop::Duration(Duration::from_secs(3))));
    }

    #[test]
    fn ramps_and_steps_keep_their_course() {
        let over = Duration::from_secs(3);
        let ramp = RateShape::Ramp { from_per_s: 10.0, to_per_s: 100.0, over };
        assert_eq!(ramp.scaled(0.5), RateShape::Ramp { from_per_s: 5.0, to_per_s: 50.0, over });
        let steps = RateShape::Steps(vec![Step::new(8.0, over), Step::new(0.0, over)]);
        assert_eq!(steps.scaled(0.25), RateShape::Steps(vec![Step::new(2.0, over), Step::new(0.0, over)]));
    }

    #[test]
    fn more_shares_than_connections_or_requests_are_refused() {
        let refused = PlanError::ShareWithoutConnection { connections: 3, shares: 4 };
        assert_eq!(plan(3, Stop::Duration(Duration::from_secs(1)), (0, 4)).check(), Err(refused.clone()));
        assert_eq!(plan(9, requests(3), (0, 4)).check(), Err(refused));
        assert_eq!(plan(4, requests(4), (3, 4)).check(), Ok(()));
    }
}
