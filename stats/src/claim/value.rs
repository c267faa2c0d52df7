//! The value of an expression of a claim.

use threadcount_model::claim_result::NotTried;
use threadcount_model::experiment::claim::{Expr, Figure, Operator};

/// A function that looks a figure up: in the records, or in what was published.
pub(super) type Look<'a> = &'a dyn Fn(&Figure) -> Result<f64, NotTried>;

/// The value of the expression with the figures that are looked up.
pub(super) fn value(expr: &Expr, look: Look<'_>) -> Result<f64, NotTried> {
    let value = match expr {
        Expr::Number(number) => *number,
        Expr::Figure(figure) => look(figure)?,
        Expr::Negative(inner) => -value(inner, look)?,
        Expr::Binary(left, operator, right) => {
            let (left, right) = (value(left, look)?, value(right, look)?);
            match operator {
                Operator::Plus => left + right,
                Operator::Minus => left - right,
                Operator::Times => left * right,
                Operator::By => left / right,
            }
        }
    };
    if value.is_finite() { Ok(value) } else { Err(NotTried::DividesByZero) }
}
