use super::KindAndNumber;
use crate::evidence::in_flight::Arrivals;
use crate::finding::RunsShowing;
use crate::words::figure::{figure, known};
use crate::words::finding::Words;
use threadcount_model::figures::{count, milliseconds as ms, whole};

impl Words for KindAndNumber {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let (in_flight, threads) = (count(self.requests_in_flight.into()), count(self.pool_threads.into()));
        if let Some(arrivals) = &self.arrivals {
            return format!(
                "without a larger platform pool, kind or number is open. On average {}/s x {} = {} requests are in flight, \
                 each with its own thread. With {} {threads} of them have one",
                whole(arrivals.rate_per_s),
                ms(arrivals.service_time_ms),
                whole(arrivals.in_flight()),
                self.pool_variant
            );
        }
        format!(
            "without a pool of {in_flight} threads, kind or number is open. Each of the {in_flight} requests in flight \
             has its own thread. With {} {threads} of them have one",
            self.pool_variant
        )
    }

    fn advice(&self) -> Option<String> {
        Some(format!("{}, which separates the kind of thread from the number", confounded_advice(self)))
    }

    fn evidence(&self) -> Vec<String> {
        let pool = format!("threads of the pool of {}", self.pool_variant);
        let mut figures = vec![
            figure("requests in flight", self.requests_in_flight.into(), "requests"),
            figure(&pool, self.pool_threads.into(), "threads"),
        ];
        figures.extend(known(&[
            ("throughput of virtual threads", self.arrivals.map(|it| it.rate_per_s), "requests/s"),
            ("their mean service time", self.arrivals.map(|it| it.service_time_ms), "ms"),
        ]));
        figures
    }
}

/// Advice that tells kind and number of threads apart: `a variant with a platform pool of 1,000`.
fn confounded_advice(confounded: &KindAndNumber) -> String {
    // At times more requests are in flight than on average, but a closed loop never has more than its clients, and a limit on virtual
    // threads always holds.
    let in_flight = u64::from(confounded.requests_in_flight);
    let is_average = |it: &&Arrivals| it.in_flight().round() as u64 == in_flight;
    let pool = match confounded.arrivals.as_ref().filter(is_average) {
        Some(arrivals) => {
            format!("a platform pool of at least {}", count(arrivals.threads_needed().ceil() as u64))
        }
        None => format!("a platform pool of {}", count(in_flight)),
    };
    match &confounded.sized_variant {
        Some(variant) => format!("{variant} under this load ({pool})"),
        None => format!("a variant with {pool}"),
    }
}
