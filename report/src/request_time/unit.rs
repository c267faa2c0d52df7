//! The unit of time of a sentence and its parts.

use threadcount_model::request_time::TimeShare;

/// One unit for a whole sentence, with a number of decimals that suits the total.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    pub name: &'static str,
    per_ms: f64,
    digits: usize,
}

impl Unit {
    pub fn for_total(total_ms: f64) -> Self {
        let (name, per_ms) = match total_ms {
            ms if ms >= 1_000.0 => ("s", 0.001),
            ms if ms < 1.0 => ("µs", 1_000.0),
            _ => ("ms", 1.0),
        };
        Self { name, per_ms, digits: digits(total_ms * per_ms) }
    }

    /// The unit with the decimals of the largest part: half of 101 ms, rounded to 51 ms, would contradict a finding's 50.1 ms.
    pub fn with_digits_of(self, part_ms: f64) -> Self {
        Self { digits: digits(part_ms * self.per_ms), ..self }
    }

    /// A number in this unit, e.g. `50.4 ms`.
    pub fn shown(self, number: f64) -> String {
        format!("{number:.*} {}", self.digits, self.name)
    }

    /// The time in this unit, rounded to the decimals that are shown.
    pub fn rounded(self, ms: f64) -> f64 {
        (ms * self.per_ms / self.step()).round() * self.step()
    }

    /// The value of the last decimal that is shown.
    pub fn step(self) -> f64 {
        0.1_f64.powi(i32::try_from(self.digits).unwrap_or(0))
    }

    pub fn number(self, ms: f64) -> String {
        // Never shows a negative zero.
        let number = format!("{:.*}", self.digits, ms * self.per_ms);
        if number.trim_start_matches('-').parse() == Ok(0.0) {
            return number.trim_start_matches('-').to_owned();
        }
        number
    }

    pub fn with_interval(self, time: TimeShare) -> String {
        format!("{} {}{}", self.number(time.ms), self.name, self.interval(time))
    }

    pub fn number_with_interval(self, time: TimeShare) -> String {
        self.number(time.ms) + &self.interval(time)
    }

    pub fn interval(self, time: TimeShare) -> String {
        time.interval.map_or_else(String::new, |interval| {
            format!(" [{}, {}]", self.number(interval.low), self.number(interval.high))
        })
    }
}

/// The number of decimals that gives three significant digits.
fn digits(number: f64) -> usize {
    match number {
        number if number >= 100.0 => 0,
        number if number >= 10.0 => 1,
        _ => 2,
    }
}
