//! The unit of the parts of a sentence.

use threadcount_model::request_time::TimeShare;

/// One unit for a whole sentence, and digits that suit its total.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    pub name: &'static str,
    per_ms: f64,
    digits: usize,
}

impl Unit {
    pub fn of(total_ms: f64) -> Self {
        let (name, per_ms) = match total_ms {
            ms if ms >= 1_000.0 => ("s", 0.001),
            ms if ms < 1.0 => ("µs", 1_000.0),
            _ => ("ms", 1.0),
        };
        Self { name, per_ms, digits: digits(total_ms * per_ms) }
    }

    /// The digits of the largest part: a half of 101 ms, rounded up to 51 ms, contradicts the 50.1 ms that a finding has.
    pub fn with_digits_of(self, part_ms: f64) -> Self {
        Self { digits: digits(part_ms * self.per_ms), ..self }
    }

    /// `50.4 ms`, of a number in this unit.
    pub fn shown(self, number: f64) -> String {
        format!("{number:.*} {}", self.digits, self.name)
    }

    /// In this unit, to the digits that are shown.
    pub fn rounded(self, ms: f64) -> f64 {
        (ms * self.per_ms / self.step()).round() * self.step()
    }

    /// The last digit that is shown.
    pub fn step(self) -> f64 {
        0.1_f64.powi(i32::try_from(self.digits).unwrap_or(0))
    }

    pub fn number(self, ms: f64) -> String {
        // Without a negative zero.
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

/// For three digits in all.
fn digits(number: f64) -> usize {
    match number {
        number if number >= 100.0 => 0,
        number if number >= 10.0 => 1,
        _ => 2,
    }
}
