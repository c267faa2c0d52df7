//! The floor, as a tool like the others: a process of its own.

use crate::bare::BareResult;
use crate::span;
use crate::tool::{Call, Claim, Job, Load, Tool, VersionBy, unreadable};

/// The file name of the program that holds it: this one.
pub const PROGRAM: &str = "threadcount-bench";
/// Its name in the tables.
pub const NAME: &str = "bare io_uring loop";

/// `threadcount-bench bare`.
#[derive(Clone, Copy, Debug)]
pub struct Bare;

impl Tool for Bare {
    fn name(&self) -> &'static str {
        NAME
    }

    fn program(&self) -> &'static str {
        PROGRAM
    }

    fn version(&self) -> VersionBy {
        VersionBy::Argument("--version")
    }

    fn call(&self, job: &Job) -> Option<Call> {
        let Load::Closed { connections, lasts } = job.load else { return None };
        let address = job.url.trim_start_matches("http://").trim_end_matches('/');
        Some(Call::of(&format!("bare {address} -c {connections} -d {}", span::text(lasts))))
    }

    fn claim(&self, output: &str) -> Result<Claim, String> {
        let result: BareResult = serde_json::from_str(output).map_err(|_| unreadable(NAME, "result"))?;
        Ok(Claim { answers: Some(result.answers), failed: Some(0), ..Claim::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{CLOSED, OPEN, job};

    #[test]
    fn it_is_a_closed_loop_only() {
        assert_eq!(Bare.call(&job(CLOSED)).unwrap().args.join(" "), "bare 127.0.0.1:8080 -c 64 -d 5s");
        assert_eq!(Bare.call(&job(OPEN)), None);
    }

    #[test]
    fn its_answers_are_read() {
        let claim = Bare.claim(r#"{"answers":363416,"seconds":2.0,"cpu_us_per_request":4.9}"#).unwrap();
        assert_eq!(claim.answers, Some(363_416));
    }
}
