//! The floors, as tools like the others: processes of their own.

use crate::bare::BareResult;
use crate::protocol::Protocol;
use crate::server::answer::BODY;
use crate::span;
use crate::tool::{Call, Claim, Condition, Job, Load, Tool, unreadable};

/// The file name of the program that holds it: this one.
pub const PROGRAM: &str = "threadcount-bench";
/// The name of the closed loop in the tables.
pub const NAME: &str = "bare io_uring loop";
/// The name of the closed loop over HTTP/2 in the clear.
pub const STREAMS: &str = "bare h2c loop";
/// The name of the open loop in the tables.
pub const SLEEPING: &str = "bare sleeping loop";
/// The name of the open loop that sends what falls due within a millisecond together.
pub const WITHIN_1_MS: &str = "bare sleeping loop, 1 ms";
/// The name of the one that does so within ten.
pub const WITHIN_10_MS: &str = "bare sleeping loop, 10 ms";

/// `threadcount-bench bare`: the least that a generator must do.
#[derive(Clone, Copy, Debug)]
pub enum Bare {
    /// A closed loop over io_uring.
    Closed,
    /// A closed loop over HTTP/2 in the clear.
    Streams,
    /// An open loop that sleeps until each request is due.
    Sleeping,
    /// One that sends what falls due within a millisecond together.
    Within1ms,
    /// The same within ten milliseconds.
    Within10ms,
}

impl Tool for Bare {
    fn name(&self) -> &'static str {
        match self {
            Self::Closed => NAME,
            Self::Streams => STREAMS,
            Self::Sleeping => SLEEPING,
            Self::Within1ms => WITHIN_1_MS,
            Self::Within10ms => WITHIN_10_MS,
        }
    }

    fn program(&self) -> &'static str {
        PROGRAM
    }

    fn speaks(&self, protocol: Protocol) -> bool {
        protocol == if matches!(self, Self::Streams) { Protocol::H2c } else { Protocol::Http1 }
    }

    fn call(&self, job: &Job) -> Option<Call> {
        let Condition { body, streams, .. } = job.condition;
        let rate = match (self, job.load) {
            (Self::Streams, Load::Closed { .. }) => format!("--streams {streams}"),
            (Self::Closed, Load::Closed { .. }) if body == BODY.len() => String::new(),
            (Self::Closed, Load::Closed { .. }) => format!("--body {body}"),
            (Self::Sleeping, Load::Open { rate, .. }) => format!("-r {rate}"),
            (Self::Within1ms, Load::Open { rate, .. }) => format!("-r {rate} --lateness 1ms"),
            (Self::Within10ms, Load::Open { rate, .. }) => format!("-r {rate} --lateness 10ms"),
            _ => return None,
        };
        let address = job.url.trim_start_matches("http://").trim_end_matches('/');
        let (connections, lasts) = (job.load.connections(), span::text(job.load.lasts()));
        Some(Call::of(&format!("bare {address} -c {connections} -d {lasts} {rate}")))
    }

    fn claim(&self, output: &str) -> Result<Claim, String> {
        let result: BareResult =
            serde_json::from_str(output).map_err(|_| unreadable(self.name(), "result"))?;
        Ok(Claim {
            answers: Some(result.answers),
            failed: Some(0),
            send_lag_p99_ms: result.send_lag_p99_ms,
            late: result.late,
            ..Claim::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{CLOSED, OPEN, job, job_over};

    #[test]
    fn each_floor_takes_its_own_kind_of_load() {
        let words = |floor: Bare, load| floor.call(&job(load)).map(|call| call.args.join(" "));
        assert_eq!(words(Bare::Closed, CLOSED).unwrap(), "bare 127.0.0.1:8080 -c 64 -d 5s");
        assert_eq!(words(Bare::Closed, OPEN), None);
        assert_eq!(words(Bare::Sleeping, OPEN).unwrap(), "bare 127.0.0.1:8080 -c 500 -d 20s -r 2000");
        assert_eq!(words(Bare::Sleeping, CLOSED), None);
        assert_eq!(
            words(Bare::Within1ms, OPEN).unwrap(),
            "bare 127.0.0.1:8080 -c 500 -d 20s -r 2000 --lateness 1ms"
        );
    }

    #[test]
    fn the_one_with_streams_speaks_h2c_and_nothing_else() {
        let words = Bare::Streams.call(&job_over(Protocol::H2c, 16, CLOSED)).unwrap().args.join(" ");
        assert_eq!(words, "bare 127.0.0.1:8080 -c 64 -d 5s --streams 16");
        assert!(Bare::Streams.speaks(Protocol::H2c) && !Bare::Streams.speaks(Protocol::Http1));
        assert!(Bare::Closed.speaks(Protocol::Http1) && !Bare::Closed.speaks(Protocol::H2c));
    }

    #[test]
    fn a_long_answer_is_a_flag() {
        let job = Job { condition: Condition::with_body(65_536), ..job(CLOSED) };
        let words = Bare::Closed.call(&job).unwrap().args.join(" ");
        assert_eq!(words, "bare 127.0.0.1:8080 -c 64 -d 5s --body 65536");
    }

    #[test]
    fn its_answers_and_its_lag_are_read() {
        let claim = Bare::Sleeping
            .claim(r#"{"answers":363416,"seconds":2.0,"cpu_us_per_request":4.9,"send_lag_p99_ms":0.07,"late":3}"#)
            .unwrap();
        assert_eq!((claim.answers, claim.send_lag_p99_ms, claim.late), (Some(363_416), Some(0.07), Some(3)));
    }
}
