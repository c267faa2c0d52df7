//! The number of requests that are due until a moment, and the inverse: when request number `n` is due.

use crate::plan::RateShape;

/// The rate over time, as straight pieces. The area under it up to a moment is the number of requests due before that moment, and request
/// `n` is due when the area reaches `n`.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pieces: Vec<Piece>,
    /// The piece of the last result. Numbers rise, so the search never goes back.
    current: usize,
}

/// One straight piece of the rate. A piece includes its start but not its end, so a request that is due at the end of a piece before a
/// pause waits for the end of the pause.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start_s: f64,
    lasts_s: f64,
    /// The number of requests due before the piece.
    before: f64,
    /// The number of requests due in the piece.
    count: f64,
    from_per_s: f64,
    /// The change of the rate per second.
    slope: f64,
}

impl Curve {
    pub(super) fn new(shape: &RateShape) -> Self {
        let mut curve = Self { pieces: Vec::new(), current: 0 };
        match shape {
            RateShape::Constant { rate_per_s } => curve.stay(*rate_per_s),
            RateShape::Ramp { from_per_s, to_per_s, over } => {
                curve.line(*from_per_s, *to_per_s, over.as_secs_f64());
                curve.stay(*to_per_s);
            }
            RateShape::Steps(steps) => {
                for step in steps {
                    curve.line(step.rate_per_s, step.rate_per_s, step.lasts.as_secs_f64());
                }
                curve.stay(steps.last().map_or(0.0, |step| step.rate_per_s));
            }
        }
        curve
    }

    /// When request `number` (from 0) is due, in seconds; `None`: never. Numbers must not fall from call to call.
    pub(super) fn time_of(&mut self, number: f64) -> Option<f64> {
        loop {
            let piece = self.pieces.get(self.current)?;
            let within = number - piece.before;
            if within < piece.count {
                return Some(piece.start_s + piece.time_of(within));
            }
            self.current += 1;
        }
    }

    fn stay(&mut self, rate_per_s: f64) {
        self.line(rate_per_s, rate_per_s, f64::INFINITY);
    }

    fn line(&mut self, from_per_s: f64, to_per_s: f64, lasts_s: f64) {
        // `max` also turns NaN into zero.
        let (from_per_s, to_per_s) = (from_per_s.max(0.0), to_per_s.max(0.0));
        // Zero times infinity would be NaN, but at rate zero no request is due at all.
        let count = if from_per_s + to_per_s > 0.0 { (from_per_s + to_per_s) / 2.0 * lasts_s } else { 0.0 };
        let (start_s, before) = self
            .pieces
            .last()
            .map_or((0.0, 0.0), |last| (last.start_s + last.lasts_s, last.before + last.count));
        let slope = (to_per_s - from_per_s) / lasts_s;
        if lasts_s > 0.0 {
            self.pieces.push(Piece { start_s, lasts_s, before, count, from_per_s, slope });
        }
    }
}

impl Piece {
    /// The time after the piece's start at which the area is `within`: the root of `slope/2 t² + from t = within`, written so that nothing
    /// cancels out and a slope of zero needs no case of its own.
    fn time_of(&self, within: f64) -> f64 {
        if within <= 0.0 {
            return 0.0;
        }
        let rate_then = (self.from_per_s * self.from_per_s + 2.0 * self.slope * within).max(0.0).sqrt();
        2.0 * within / (self.from_per_s + rate_then)
    }
}
