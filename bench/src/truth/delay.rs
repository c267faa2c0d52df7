//! Known distributions of delays: `300ms`, `uniform:1ms:9ms`, `exp:5ms`, `bimodal:1ms:20ms:10`.

use crate::span;
use std::str::FromStr;
use std::time::Duration;

/// The fractional part of the golden ratio in units of 2^-64. Multiples of it modulo one fill 0..1 more evenly than
/// random numbers, so that even a short run has nearly the analytic quantiles (Weyl's equidistribution theorem).
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// How long a response is held back. All times in the figures below are milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Delay {
    /// Not at all.
    #[default]
    None,
    /// Always this long.
    Point(Duration),
    /// Anything between the two, equally likely.
    Uniform(Duration, Duration),
    /// Exponentially distributed with this mean.
    Exponential(Duration),
    /// The first time, or, in this share (0..=1) of the cases, the second, longer one.
    Bimodal(Duration, Duration, f64),
}

impl Delay {
    /// The delay of the n-th request.
    #[must_use]
    pub fn nth(&self, n: u64) -> Duration {
        let u = (n.wrapping_add(1).wrapping_mul(GOLDEN) >> 11) as f64 / (1_u64 << 53) as f64;
        Duration::from_secs_f64(self.quantile_ms(u) / 1e3)
    }

    /// The delay below which a share `q` (0..1) of all delays lies.
    #[must_use]
    pub fn quantile_ms(&self, q: f64) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Point(d) => ms(d),
            Self::Uniform(low, high) => ms(low) + q * (ms(high) - ms(low)),
            Self::Exponential(mean) => -(1.0 - q).ln() * ms(mean),
            Self::Bimodal(short, long, share) => ms(if q < 1.0 - share { short } else { long }),
        }
    }

    /// The longest possible delay; infinite for [`Delay::Exponential`].
    #[must_use]
    pub fn longest_ms(&self) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Point(d) | Self::Uniform(_, d) | Self::Bimodal(_, d, _) => ms(d),
            Self::Exponential(_) => f64::INFINITY,
        }
    }

    /// The share of delays that are at most `x` (ms): the distribution function.
    #[must_use]
    pub fn share_up_to(&self, x: f64) -> f64 {
        let step = |at: f64| if x >= at { 1.0 } else { 0.0 };
        match *self {
            Self::None => step(0.0),
            Self::Point(d) => step(ms(d)),
            Self::Uniform(low, high) => ((x - ms(low)) / (ms(high) - ms(low))).clamp(0.0, 1.0),
            Self::Exponential(mean) => 1.0 - (-x.max(0.0) / ms(mean)).exp(),
            Self::Bimodal(short, long, share) => (1.0 - share) * step(ms(short)) + share * step(ms(long)),
        }
    }

    /// The integral of [`Delay::share_up_to`] from minus infinity to `x` (ms).
    #[must_use]
    pub fn integral_up_to(&self, x: f64) -> f64 {
        let ramp = |at: f64| (x - at).max(0.0);
        match *self {
            Self::None => ramp(0.0),
            Self::Point(d) => ramp(ms(d)),
            Self::Uniform(low, high) => {
                let width = ms(high) - ms(low);
                let inside = (x - ms(low)).clamp(0.0, width);
                inside * inside / (2.0 * width) + ramp(ms(high))
            }
            Self::Exponential(mean) => {
                let x = x.max(0.0);
                x - ms(mean) * (1.0 - (-x / ms(mean)).exp())
            }
            Self::Bimodal(short, long, share) => (1.0 - share) * ramp(ms(short)) + share * ramp(ms(long)),
        }
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl FromStr for Delay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            ["uniform", low, high] => {
                let (low, high) = (span::parse(low)?, span::parse(high)?);
                if low >= high {
                    return Err(format!("`{text}`: the first time must be the smaller one"));
                }
                Ok(Self::Uniform(low, high))
            }
            ["exp", mean] => Ok(Self::Exponential(span::parse(mean)?)),
            ["bimodal", short, long, percent] => {
                let percent: f64 = percent.parse().map_err(|_| format!("`{percent}` is no percentage"))?;
                if !(0.0..=100.0).contains(&percent) {
                    return Err(format!("`{text}`: the last part is a percentage from 0 to 100"));
                }
                Ok(Self::Bimodal(span::parse(short)?, span::parse(long)?, percent / 100.0))
            }
            [time] => Ok(Self::Point(span::parse(time)?)),
            _ => Err(format!(
                "`{text}` is no distribution: write 5ms, uniform:1ms:9ms, exp:5ms or bimodal:1ms:20ms:10 (percent long)"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delay(text: &str) -> Delay {
        text.parse().unwrap()
    }

    const ALL: [&str; 4] = ["5ms", "uniform:1ms:9ms", "exp:5ms", "bimodal:1ms:20ms:10"];

    #[test]
    fn quantiles_are_the_textbooks() {
        assert_eq!(delay("5ms").quantile_ms(0.99), 5.0);
        assert_eq!(delay("uniform:1ms:9ms").quantile_ms(0.75), 7.0);
        assert!((delay("exp:5ms").quantile_ms(0.99) - 23.026).abs() < 1e-3);
        assert_eq!(delay("bimodal:1ms:20ms:10").quantile_ms(0.5), 1.0);
        assert_eq!(delay("bimodal:1ms:20ms:10").quantile_ms(0.95), 20.0);
    }

    #[test]
    fn ten_thousand_delays_have_the_quantiles_of_their_distribution() {
        for text in ALL {
            let mut drawn: Vec<Duration> = (0..10_000).map(|n| delay(text).nth(n)).collect();
            drawn.sort();
            for q in [0.25, 0.5, 0.75, 0.93, 0.99] {
                let (got, want) = (ms(drawn[(q * 10_000.0) as usize]), delay(text).quantile_ms(q));
                assert!((got - want).abs() <= 0.02 * want, "{text} at {q}: {got} against {want}");
            }
        }
    }

    #[test]
    fn the_integral_grows_as_the_distribution_function_says() {
        for text in ALL {
            let sum: f64 =
                (0..40_000).map(|i| delay(text).share_up_to((f64::from(i) + 0.5) / 1e3) / 1e3).sum();
            let (from, to) = (delay(text).integral_up_to(0.0), delay(text).integral_up_to(40.0));
            assert!((to - from - sum).abs() < 1e-3, "{text}: {} against {sum}", to - from);
        }
    }

    #[test]
    fn a_wrong_distribution_is_answered_with_the_right_ones() {
        assert!("gauss:1ms:2ms".parse::<Delay>().unwrap_err().contains("uniform:1ms:9ms"));
        assert!("uniform:9ms:1ms".parse::<Delay>().unwrap_err().contains("smaller"));
        assert!("bimodal:1ms:2ms:200".parse::<Delay>().unwrap_err().contains("percentage"));
    }
}
