//! Against random expression trees, against Python, and by hand.

use super::*;

fn scope() -> Scope {
    Scope {
        coordinates: 3,
        time: true,
        constants: vec![
            ("pi", std::f64::consts::PI),
            ("velocity", 1.5),
            ("length", 0.25),
        ],
    }
}

fn parsed(text: &str) -> Expression {
    Expression::parse("it", text, &scope()).unwrap_or_else(|e| panic!("{e}"))
}

/// Deterministic pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// A random expression: its text with minimal parentheses, its precedence, and its value.
fn program(random: &mut Random, depth: u32, place: &[f64; 4]) -> (String, u32, f64) {
    const ATOM: u32 = 5;
    let kind = if depth == 0 { 0 } else { random.below(10) };
    let inner = |random: &mut Random| program(random, depth - 1, place);
    let within = |(text, binds, value): (String, u32, f64), least: u32| match binds >= least {
        true => (text, value),
        false => (format!("({text})"), value),
    };
    match kind {
        0 | 1 => match random.below(8) {
            which @ 0..=3 => (
                VARIABLES[which as usize].into(),
                ATOM,
                place[which as usize],
            ),
            4 => ("pi".into(), ATOM, std::f64::consts::PI),
            _ => {
                let value = random.below(4000) as f64 / 1000.0;
                (format!("{value:?}"), ATOM, value)
            }
        },
        2..=7 => {
            let (a, b) = (inner(random), inner(random));
            // Symbol, its precedence, and the minimum precedences of its operands without parentheses.
            let (symbol, binds, left, right) = match random.below(7) {
                0 => ("+", 1, 1, 2),
                1 => ("-", 1, 1, 2),
                2 | 3 => ("*", 2, 2, 3),
                4 => ("/", 2, 2, 3),
                5 => ("^", 4, ATOM, 3),
                _ => ("<", 0, 1, 1),
            };
            let ((a, x), (b, y)) = (within(a, left), within(b, right));
            let value = match symbol {
                "+" => x + y,
                "-" => x - y,
                "*" => x * y,
                "/" => x / y,
                "^" if y == 2.0 => x * x,
                "^" if y == 3.0 => x * x * x,
                "^" => x.powf(y),
                _ => f64::from(u8::from(x < y)),
            };
            let space = ["", " "][random.below(2) as usize];
            (format!("{a}{space}{symbol}{space}{b}"), binds, value)
        }
        8 => {
            let (text, value) = within(inner(random), 3);
            (format!("-{text}"), 3, -value)
        }
        _ => {
            let (name, of): (&str, fn(f64) -> f64) = match random.below(4) {
                0 => ("sin", f64::sin),
                1 => ("sqrt", f64::sqrt),
                2 => ("abs", f64::abs),
                _ => ("tanh", f64::tanh),
            };
            let (text, _, value) = inner(random);
            (format!("{name}({text})"), ATOM, of(value))
        }
    }
}

#[test]
fn random_programs_have_the_value_of_the_tree_they_were_written_from() {
    let mut random = Random(7);
    let (mut finite, mut longest) = (0, 0);
    for _ in 0..30_000 {
        let place = std::array::from_fn(|_| random.below(4001) as f64 / 1000.0 - 2.0);
        let (text, _, value) = program(&mut random, 5, &place);
        longest = longest.max(text.len());
        match parsed(&text).at(&place[..3], place[3]) {
            Ok(found) => {
                finite += 1;
                assert_eq!(found.to_bits(), value.to_bits(), "{text} at {place:?}");
            }
            Err(_) => assert!(!value.is_finite(), "{text} at {place:?} is {value}"),
        }
    }
    assert!(
        finite > 15_000 && longest > 80,
        "{finite} of them, up to {longest} characters"
    );
}

#[test]
fn python_finds_the_same() {
    let (mut lines, mut differing) = (0, 0);
    for line in include_str!("oracle.tsv").lines() {
        let mut columns = line.split('\t');
        let expression = parsed(columns.next().expect("a text"));
        let numbers: Vec<f64> = columns.map(|n| n.parse().expect("a number")).collect();
        let [x, y, z, t, value] = numbers[..] else {
            unreachable!("five numbers: {line}")
        };
        let found = expression
            .at(&[x, y, z], t)
            .unwrap_or_else(|e| panic!("{e}"));
        // Libraries round functions differently in the last digit, and differences enlarge that.
        let near = |a: f64| (a - value).abs() <= 1e-9 * value.abs().max(1.0);
        assert!(near(found), "{line}: {found}");
        lines += 1;
        differing += usize::from(!near(
            expression.at(&[x, y, z], t + 0.1).unwrap_or(f64::NAN),
        ));
    }
    assert_eq!(lines, 600, "all of them");
    assert!(
        differing > 100,
        "another time gives another value: {differing}"
    );
}

#[test]
fn precedence_is_that_of_mathematics() {
    for (text, value) in [
        ("-2^2", -4.0),
        ("2^-1", 0.5),
        ("2^3^2", 512.0),
        ("2 - 3 - 4", -5.0),
        ("8/4/2", 1.0),
        ("2*-3", -6.0),
        ("--2", 2.0),
        ("1+2*3 < 8", 1.0),
        ("if(1 > 2, 3, 4)", 4.0),
        ("max(1, 3, 2) + min(4, 5, 6)", 7.0),
        ("1.5e2 + .5", 150.5),
        ("step(0) + step(-1e-300)", 1.0),
        ("ramp(1, 2)", 0.5),
        ("ramp(-1, 2) + ramp(2, 2) + ramp(0, 0)", 2.0),
    ] {
        assert_eq!(parsed(text).constant(), Some(value), "{text}");
    }
}

#[test]
fn mistakes_are_reported_with_column_and_hint() {
    let plane = Scope {
        coordinates: 2,
        time: false,
        constants: vec![("velocity", 1.0)],
    };
    for (text, column, word, hint) in [
        (
            "1 + velocty",
            5,
            "unknown name `velocty`",
            "did you mean `velocity`",
        ),
        ("tahn(x)", 1, "unknown name `tahn`", "did you mean `tanh`"),
        ("x + z", 5, "there is no z here", "names: x, y"),
        ("t", 1, "there is no t here", ""),
        ("2 x", 3, "not expected", "2*x"),
        ("(1 + 2", 1, "not closed", ""),
        ("1 + ", 5, "the end", ""),
        ("sin x", 1, "is a function", "sin(...)"),
        ("sin(x, y)", 1, "has 2 arguments", "it takes 1"),
        ("min(x)", 1, "has 1 argument", "2 or more"),
        ("x(2)", 2, "`x` is not a function", "x*(...)"),
        ("x**2", 2, "`**`", "^"),
        ("x = 2", 3, "`=`", "=="),
        ("0 < x < 1", 7, "do not chain", ""),
        ("1,5", 2, "not expected", ""),
        ("x; y", 2, "`;` has no meaning", ""),
        ("1e999", 1, "not a finite number", ""),
        ("", 1, "missing", ""),
    ] {
        let failure =
            Expression::parse("[boundary] \"x-\" velocity", text, &plane).expect_err(text);
        let message = failure.to_string();
        let place = format!("column {column}:");
        for word in ["[boundary] \"x-\" velocity", &place, word, hint] {
            assert!(message.contains(word), "{text}: {message} lacks {word}");
        }
    }
    for text in [
        "(".repeat(100_000),
        "-".repeat(100_000),
        "1+".repeat(100_000),
    ] {
        assert!(
            Expression::parse("it", &text, &plane).is_err(),
            "no overflow"
        );
    }
}

#[test]
fn values_that_are_not_finite_are_reported_with_their_point() {
    let message = parsed("1 / (y - 0.5)")
        .at(&[0.0, 0.5, 2.0], 3.0)
        .expect_err("1 / 0");
    assert_eq!(message, "\"1 / (y - 0.5)\" is inf at x = 0, y = 0.5, z = 2");
    let message = parsed("sqrt(t)").at(&[], -1.0).expect_err("NaN");
    assert_eq!(message, "\"sqrt(t)\" is NaN at t = -1");
    assert!(
        parsed("max(0/0, 1)").at(&[], 0.0).is_err(),
        "NaN is not passed over"
    );
}

#[test]
fn products_of_space_and_time_are_factorized() {
    let place = [0.3, -0.7, 1.1];
    for text in [
        "1.5*(1-(2*y)^2)*ramp(t,2)",
        "-sin(t)*cos(x)/ (2 + cos(t))",
        "x*y",
        "exp(-t)",
        "3",
        "(x + 1) * (2 - t) * z / (1 + t^2)",
    ] {
        let whole = parsed(text);
        let [space, time] = whole.factors().expect(text);
        assert!(
            !space.depends_on_time() && !time.depends_on_space(),
            "{text}"
        );
        for t in [0.1, 1.7] {
            let value = |of: &Expression| of.at(&place, t).expect("finite");
            let product = value(&space) * value(&time);
            assert!((product - value(&whole)).abs() < 1e-15, "{text}: {product}");
        }
    }
    for text in ["sin(x - t)", "x + t", "y^t"] {
        assert!(parsed(text).factors().is_none(), "{text}");
    }
}
