//! Exact derivatives by the time: dual numbers, by the chain rule over the tree.

use super::{Expression, Node, Operator, TIME, power};
use std::f64::consts::PI;

/// A value and its derivative by the time.
type Dual = [f64; 2];

impl Node {
    /// Its value and its derivative by the time; none of a function without a known derivative.
    fn dual(&self, variables: &[f64; 4]) -> Option<Dual> {
        Some(match self {
            Self::Number(value) => [*value, 0.0],
            Self::Variable(which) => [variables[*which], f64::from(u8::from(*which == TIME))],
            Self::Negative(of) => of.dual(variables)?.map(|x| -x),
            Self::Two(operator, of) => {
                operator.dual(of[0].dual(variables)?, of[1].dual(variables)?)
            }
            Self::Call(function, of) => {
                let duals: Option<Vec<Dual>> = of.iter().map(|of| of.dual(variables)).collect();
                let duals = duals?;
                let values: Vec<f64> = duals.iter().map(|dual| dual[0]).collect();
                let slopes = slopes(function.name, &values)?;
                // What does not change adds nothing, be its slope infinite.
                let changes = duals.iter().zip(slopes).filter(|(dual, _)| dual[1] != 0.0);
                [
                    (function.of)(&values),
                    changes.map(|(dual, slope)| dual[1] * slope).sum(),
                ]
            }
        })
    }
}

impl Operator {
    fn dual(self, [a, da]: Dual, [b, db]: Dual) -> Dual {
        let slope = match self {
            Self::Add => da + db,
            Self::Subtract => da - db,
            Self::Multiply => da * b + a * db,
            Self::Divide => (da - a / b * db) / b,
            Self::Power => {
                let of_base = if da == 0.0 {
                    0.0
                } else {
                    b * power(a, b - 1.0) * da
                };
                let of_exponent = if db == 0.0 {
                    0.0
                } else {
                    power(a, b) * a.ln() * db
                };
                of_base + of_exponent
            }
            // Steps: 0 on both sides.
            _ => 0.0,
        };
        [self.of(a, b), slope]
    }
}

/// The derivatives of a function by its arguments. At a kink that of one of the sides.
fn slopes(name: &str, v: &[f64]) -> Option<Vec<f64>> {
    let a = v[0];
    let only = |slope: f64| Some(vec![slope]);
    let extreme = |is_better: fn(f64, f64) -> bool| {
        let best = (0..v.len()).fold(0, |best, n| if is_better(v[n], v[best]) { n } else { best });
        Some(
            (0..v.len())
                .map(|n| f64::from(u8::from(n == best)))
                .collect(),
        )
    };
    match name {
        "abs" => only(if a < 0.0 { -1.0 } else { 1.0 }),
        "acos" => only(-1.0 / (1.0 - a * a).sqrt()),
        "asin" => only(1.0 / (1.0 - a * a).sqrt()),
        "atan" => only(1.0 / (1.0 + a * a)),
        "atan2" => {
            let square = a * a + v[1] * v[1];
            Some(vec![v[1] / square, -a / square])
        }
        "cos" => only(-a.sin()),
        "cosh" => only(a.sinh()),
        "erf" => only(2.0 / PI.sqrt() * (-a * a).exp()),
        "exp" => only(a.exp()),
        "floor" | "step" => only(0.0),
        "hypot" => {
            let length = a.hypot(v[1]);
            Some(vec![a / length, v[1] / length])
        }
        "if" => Some(match a == 0.0 {
            true => vec![0.0, 0.0, 1.0],
            false => vec![0.0, 1.0, 0.0],
        }),
        "log" => only(1.0 / a),
        "max" => extreme(|x, best| x > best),
        "min" => extreme(|x, best| x < best),
        "ramp" => {
            let (t, length) = (a, v[1]);
            if !(t > 0.0 && t < length) {
                return Some(vec![0.0, 0.0]);
            }
            let s = t / length;
            let slope = 30.0 * s * s * (1.0 - s) * (1.0 - s) / length;
            Some(vec![slope, -s * slope])
        }
        "sin" => only(a.cos()),
        "sinh" => only(a.cosh()),
        "sqrt" => only(0.5 / a.sqrt()),
        "tan" => only(1.0 / a.cos().powi(2)),
        "tanh" => only(1.0 - a.tanh().powi(2)),
        _ => None,
    }
}

impl Expression {
    /// Its value at a time and its derivative by the time there.
    ///
    /// # Errors
    /// A value or a derivative that is not finite, or a function that has no derivative here: which, and when.
    pub fn with_slope(&self, t: f64) -> Result<Dual, String> {
        let variables = [0.0, 0.0, 0.0, t];
        let Some(dual) = self.root.dual(&variables) else {
            return Err(format!(
                "\"{}\" has a function without a derivative: use others",
                self.text
            ));
        };
        match dual {
            [value, slope] if value.is_finite() && slope.is_finite() => Ok(dual),
            [value, slope] => Err(format!(
                "\"{}\" is {value} with the derivative {slope} at t = {t}",
                self.text
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FUNCTIONS, Scope};
    use super::*;

    fn parse(text: &str) -> Expression {
        let scope = Scope {
            coordinates: 0,
            time: true,
            constants: vec![("pi", PI)],
        };
        Expression::parse("motion", text, &scope).expect("an expression")
    }

    /// Every function that has a derivative, and every operator, with arguments that change.
    const ALL: [&str; 34] = [
        "t",
        "-t",
        "2 + t",
        "1 - t*t",
        "t*sin(t)",
        "t/(1 + t^2)",
        "(1 + t)^3",
        "(1 + t)^-0.5",
        "2^t",
        "(1 + t)^t",
        "abs(t - 2)",
        "acos(t/4)",
        "asin(t/4)",
        "atan(2*t)",
        "atan2(t, 1 - t)",
        "cos(3*t)",
        "cosh(t)",
        "erf(t - 1)",
        "exp(-t)",
        "floor(t) + t",
        "hypot(t, 2*t - 1)",
        "if(t > 1, t^2, -t)",
        "log(1 + t)",
        "max(t, 1, 2 - t^2)",
        "min(t, 1, 2 - t^2)",
        "ramp(t, 3)",
        "ramp(1, 1 + t)",
        "sin(2*pi*t)",
        "sinh(t)",
        "sqrt(1 + t)",
        "step(t - 1)*t",
        "tan(t/3)",
        "tanh(t)",
        "(t < 1) + t",
    ];

    /// The largest error of a derivative against a central difference of values.
    fn error(of: &Expression, slope: impl Fn(f64) -> f64) -> f64 {
        let at = |t: f64| of.at(&[], t).expect("a value");
        let errors = [0.31, 0.77, 1.43, 2.63].map(|t| {
            let h = 1e-5;
            let expected = (at(t + h) - at(t - h)) / (2.0 * h);
            (slope(t) - expected).abs() / (1.0 + expected.abs())
        });
        errors
            .into_iter()
            .fold(0.0, |a: f64, b| if a.is_nan() || a > b { a } else { b })
    }

    #[test]
    fn derivatives_are_those_of_central_differences() {
        for text in ALL {
            let of = parse(text);
            let found = error(&of, |t| of.with_slope(t).expect("a slope")[1]);
            assert!(found < 1e-8, "{text}: {found:e}");
            let off = error(&of, |t| of.with_slope(t).expect("a slope")[1] + 1e-3);
            assert!(off > 1e-5, "{text}: a wrong slope is seen");
            assert!(error(&of, |_| f64::NAN).is_nan(), "NaN is seen");
        }
        let named = |name: &str| ALL.iter().any(|text| text.contains(name));
        for function in FUNCTIONS {
            let is_ring = function.name.starts_with("ring");
            assert!(
                is_ring != named(&format!("{}(", function.name)),
                "{function:?}"
            );
        }
    }

    #[test]
    fn what_has_no_derivative_is_told() {
        let found = parse("sqrt(t)").with_slope(0.0).expect_err("infinite");
        assert!(found.contains("derivative inf at t = 0"), "{found}");
        let found = parse("ring_axial(t, 1, 1, 0.1)")
            .with_slope(1.0)
            .expect_err("none");
        assert!(found.contains("without a derivative"), "{found}");
        // A constant under a root of 0 does not change.
        assert_eq!(parse("sqrt(0) + t").with_slope(2.0), Ok([2.0, 1.0]));
    }
}
