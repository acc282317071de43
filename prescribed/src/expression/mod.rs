//! Expressions of a case: arithmetic in x, y, z (metres), t (seconds) and named constants.
//!
//! Grammar, lowest precedence first: comparisons (1 if true, else 0; they do not chain), + and -, * and /, a sign, ^
//! (right-associative, binds tighter than a sign on its left: -2^2 is -4), numbers, names, calls and parentheses. All
//! values are f64; functions are those of the standard library. Evaluation always performs the same sequence of
//! operations.

mod parse;
pub mod ring;
mod slope;
#[cfg(test)]
mod tests;

use cutlink_common::{Error, config::suggestion};
use std::fmt;

/// Names of the variables.
const VARIABLES: [&str; 4] = ["x", "y", "z", "t"];

/// Index of time in [`VARIABLES`].
const TIME: usize = 3;

/// A function: its name, the minimum and maximum number of arguments, and its implementation.
struct Function {
    name: &'static str,
    least: usize,
    most: usize,
    of: fn(&[f64]) -> f64,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

const MANY: usize = usize::MAX;

macro_rules! functions {
    ($($name:literal, $least:expr, $most:expr, $of:expr;)+) => {
        &[$(Function { name: $name, least: $least, most: $most, of: $of }),+]
    };
}

static FUNCTIONS: &[Function] = functions! {
    "abs", 1, 1, |v| v[0].abs();
    "acos", 1, 1, |v| v[0].acos();
    "asin", 1, 1, |v| v[0].asin();
    "atan", 1, 1, |v| v[0].atan();
    "atan2", 2, 2, |v| v[0].atan2(v[1]);
    "cos", 1, 1, |v| v[0].cos();
    "cosh", 1, 1, |v| v[0].cosh();
    "erf", 1, 1, |v| libm::erf(v[0]);
    "exp", 1, 1, |v| v[0].exp();
    "floor", 1, 1, |v| v[0].floor();
    "hypot", 2, 2, |v| v[0].hypot(v[1]);
    "if", 3, 3, |v| if v[0] == 0.0 { v[2] } else { v[1] };
    "log", 1, 1, |v| v[0].ln();
    "max", 2, MANY, |v| v.iter().copied().fold(f64::NEG_INFINITY, larger);
    "min", 2, MANY, |v| -v.iter().map(|x| -x).fold(f64::NEG_INFINITY, larger);
    "ramp", 2, 2, |v| ramp(v[0], v[1]);
    "ring_axial", 4, 4, |v| ring::axial(v[0], v[1], v[2], v[3]);
    "ring_radial", 4, 4, |v| ring::radial(v[0], v[1], v[2], v[3]);
    "sin", 1, 1, |v| v[0].sin();
    "sinh", 1, 1, |v| v[0].sinh();
    "sqrt", 1, 1, |v| v[0].sqrt();
    "step", 1, 1, |v| f64::from(u8::from(v[0] >= 0.0));
    "tan", 1, 1, |v| v[0].tan();
    "tanh", 1, 1, |v| v[0].tanh();
};

/// The larger value; NaN if either is NaN, unlike [`f64::max`].
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// Rises from 0 at t = 0 to 1 at t = T, with zero first and second derivatives at both; a step if T is 0.
pub fn ramp(t: f64, length: f64) -> f64 {
    if t >= length {
        return 1.0;
    }
    let s = (t / length).max(0.0);
    s * s * s * (10.0 - s * (15.0 - 6.0 * s))
}

/// Operators with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Unequal,
}

impl Operator {
    fn of(self, a: f64, b: f64) -> f64 {
        let truth = |is: bool| f64::from(u8::from(is));
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Power => power(a, b),
            Self::Less => truth(a < b),
            Self::LessOrEqual => truth(a <= b),
            Self::Greater => truth(a > b),
            Self::GreaterOrEqual => truth(a >= b),
            Self::Equal => truth(a == b),
            Self::Unequal => truth(a != b),
        }
    }
}

/// Small integer exponents by multiplication, so that results are exact if the products are.
fn power(a: f64, b: f64) -> f64 {
    match b {
        _ if b == 2.0 => a * a,
        _ if b == 3.0 => a * a * a,
        _ => a.powf(b),
    }
}

#[derive(Debug, Clone)]
enum Node {
    Number(f64),
    Variable(usize),
    Negative(Box<Node>),
    Two(Operator, Box<[Node; 2]>),
    Call(&'static Function, Vec<Node>),
}

impl Node {
    fn at(&self, variables: &[f64; 4]) -> f64 {
        match self {
            Self::Number(value) => *value,
            Self::Variable(which) => variables[*which],
            Self::Negative(of) => -of.at(variables),
            Self::Two(operator, of) => operator.of(of[0].at(variables), of[1].at(variables)),
            Self::Call(function, of) => match of.as_slice() {
                [a] => (function.of)(&[a.at(variables)]),
                [a, b] => (function.of)(&[a.at(variables), b.at(variables)]),
                of => {
                    let values: Vec<f64> = of.iter().map(|of| of.at(variables)).collect();
                    (function.of)(&values)
                }
            },
        }
    }

    fn has(&self, is: fn(usize) -> bool) -> bool {
        match self {
            Self::Number(_) => false,
            Self::Variable(which) => is(*which),
            Self::Negative(of) => of.has(is),
            Self::Two(_, of) => of.iter().any(|of| of.has(is)),
            Self::Call(_, of) => of.iter().any(|of| of.has(is)),
        }
    }

    fn is_one(&self) -> bool {
        matches!(self, Self::Number(1.0))
    }

    /// Splits a product into a factor that depends on space only and one that depends on time only, if it is written as
    /// such.
    fn factors(&self) -> Option<[Self; 2]> {
        let one = || Self::Number(1.0);
        if !self.has(|which| which == TIME) {
            return Some([self.clone(), one()]);
        }
        if !self.has(|which| which != TIME) {
            return Some([one(), self.clone()]);
        }
        match self {
            Self::Negative(of) => {
                let [space, time] = of.factors()?;
                Some([Self::Negative(Box::new(space)), time])
            }
            Self::Two(operator @ (Operator::Multiply | Operator::Divide), of) => {
                let [[a, s], [b, t]] = [of[0].factors()?, of[1].factors()?];
                let both = |a: Self, b: Self| match b.is_one() {
                    true => a,
                    false => Self::Two(*operator, Box::new([a, b])),
                };
                Some([both(a, b), both(s, t)])
            }
            _ => None,
        }
    }
}

/// The names available to an expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Scope {
    /// Number of coordinates, from x on: 0, 2 or 3.
    pub coordinates: usize,
    /// Whether time is available.
    pub time: bool,
    /// Constants.
    pub constants: Vec<(&'static str, f64)>,
}

impl Scope {
    /// Whether a variable is available.
    fn takes(&self, which: usize) -> bool {
        match which {
            TIME => self.time,
            axis => axis < self.coordinates,
        }
    }
}

/// An expression. Two are equal if their texts and constants are equal.
#[derive(Debug, Clone)]
pub struct Expression {
    text: String,
    root: Node,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        format!("{:?}", self.root) == format!("{:?}", other.root)
    }
}

/// A syntax error and its column, in characters from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mistake {
    column: usize,
    what: String,
    hint: String,
}

impl Expression {
    /// Parses an expression; `what` names its key.
    ///
    /// # Errors
    /// An invalid text: its column, and for an unknown name the nearest known one.
    pub fn parse(what: &str, text: &str, scope: &Scope) -> Result<Self, Error> {
        let root = parse::parse(text, scope).map_err(|mistake| {
            let Mistake {
                column,
                what: why,
                hint,
            } = mistake;
            let shown: String = text.chars().take(200).collect();
            Error::input(format!("{what} is \"{shown}\", column {column}: {why}")).hint(hint)
        })?;
        Ok(Self {
            text: text.to_owned(),
            root,
        })
    }

    /// A constant expression.
    pub fn number(value: f64) -> Self {
        Self {
            text: format!("{value:?}"),
            root: Node::Number(value),
        }
    }

    /// The text it was parsed from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its value if it depends on neither space nor time.
    pub fn constant(&self) -> Option<f64> {
        (!self.root.has(|_| true)).then(|| self.root.at(&[0.0; 4]))
    }

    /// Whether it depends on the position.
    pub fn depends_on_space(&self) -> bool {
        self.root.has(|which| which != TIME)
    }

    /// Whether it depends on the time.
    pub fn depends_on_time(&self) -> bool {
        self.root.has(|which| which == TIME)
    }

    /// Its factors in space and in time, if it is written as such a product.
    pub fn factors(&self) -> Option<[Self; 2]> {
        let roots = self.root.factors()?;
        Some(roots.map(|root| Self {
            text: self.text.clone(),
            root,
        }))
    }

    /// Its value at a point and time.
    ///
    /// # Errors
    /// A value that is not finite: the value and its point.
    pub fn at(&self, x: &[f64], t: f64) -> Result<f64, String> {
        let mut variables = [0.0; 4];
        variables[..x.len()].copy_from_slice(x);
        variables[TIME] = t;
        let value = self.root.at(&variables);
        if value.is_finite() {
            return Ok(value);
        }
        let place = VARIABLES.iter().zip(&variables).enumerate();
        let place = place.filter(|(which, _)| match *which {
            TIME => self.depends_on_time(),
            axis => axis < x.len() && self.depends_on_space(),
        });
        let place: Vec<String> = place
            .map(|(_, (name, v))| format!("{name} = {v}"))
            .collect();
        Err(format!(
            "\"{}\" is {value} at {}",
            self.text,
            place.join(", ")
        ))
    }
}

/// All known names: variables, constants, functions.
fn known(scope: &Scope) -> Vec<&'static str> {
    let variables = VARIABLES.iter().enumerate();
    variables
        .filter(|(which, _)| scope.takes(*which))
        .map(|(_, name)| *name)
        .chain(scope.constants.iter().map(|(name, _)| *name))
        .chain(FUNCTIONS.iter().map(|function| function.name))
        .collect()
}

fn nearest(name: &str, scope: &Scope) -> String {
    suggestion("name", name, &known(scope))
}
