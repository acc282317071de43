//! Whether a result can be trusted: checks with bars, and the verdict, which is the worst of them (`docs/verdict.md`).
//!
//! A check is one number against two bars. Some are known before the first step, the others are measured while the flow
//! runs, and of its histories at the end: [`rows`] has those that hold for every physics.

pub mod rows;

use cutlink_common::{Error, ErrorKind};
use serde_json::{Value, json};
use std::{
    fmt::{self, Write as _},
    path::Path,
};

/// The names of all checks.
const NAMES: [&str; 30] = [
    "walls",
    "time step",
    "resolution",
    "trt in 3D",
    "precision",
    "compressibility",
    "sound of bodies",
    "openings: level",
    "openings: flow",
    "openings: inflow",
    "mean density",
    "mass taken by resets",
    "imbalance",
    "exchange",
    "Mach",
    "duration",
    "sound",
    "growth",
    "swing",
    "movement",
    "stationarity",
    "overlap",
    "energy",
    "lost grains",
    "eddy viscosity",
    "Courant",
    "divergence",
    "volume",
    "heat",
    "temperature",
];

/// Checks the names of `[run] accept`.
///
/// # Errors
/// A name of no check.
pub fn check_accepted(accepted: &[String]) -> Result<(), Error> {
    match accepted.iter().find(|name| !NAMES.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(
            Error::input(format!("[run] accept: there is no check \"{name}\""))
                .hint(format!("the checks are \"{}\"", NAMES.join("\", \""))),
        ),
    }
}

/// What a check says; the order is that of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Below both bars.
    Ok,
    /// An error of a few per cent is likely.
    Doubtful,
    /// The result should not be used.
    Wrong,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Doubtful => "doubtful",
            Self::Wrong => "wrong",
        })
    }
}

/// A number against its bars.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The row of the table, such as `walls`.
    pub name: &'static str,
    /// The number; shares are relative, not per cent.
    pub value: f64,
    /// The bars of [`Grade::Doubtful`] and [`Grade::Wrong`]; infinite where there is none. Where both are finite and the
    /// second is the lower one, small values are the bad ones.
    pub bars: [f64; 2],
    /// What the number is, as a clause.
    pub what: String,
    /// What to change in this case; printed unless the check is ok.
    pub remedy: Option<String>,
}

impl Check {
    /// The grade of its value; a value that is not a number is wrong.
    pub fn grade(&self) -> Grade {
        let [doubtful, wrong] = self.bars;
        let falls = doubtful.is_finite() && wrong < doubtful;
        let is_within = |bar: f64| match falls {
            true => self.value >= bar,
            false => self.value <= bar,
        };
        if !is_within(wrong) {
            Grade::Wrong
        } else if !is_within(doubtful) {
            Grade::Doubtful
        } else {
            Grade::Ok
        }
    }

    /// For `summary.json` and `--dry-run --json`.
    pub fn to_json(&self) -> Value {
        let finite = |bar: f64| bar.is_finite().then_some(bar);
        json!({
            "check": self.name,
            "value": self.value,
            "doubtful": finite(self.bars[0]),
            "wrong": finite(self.bars[1]),
            "grade": self.grade().to_string(),
            "what": self.what,
            "remedy": self.remedy.as_ref().filter(|_| self.grade() != Grade::Ok),
        })
    }
}

/// The checks of a run, and those of them that the case accepts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// All checks.
    pub checks: Vec<Check>,
    /// Names of checks whose grade does not count: `[run] accept`.
    accepted: Vec<String>,
}

impl Verdict {
    /// The checks, and the names of those that are accepted.
    pub fn new(checks: Vec<Check>, accepted: &[String]) -> Self {
        Self {
            checks,
            accepted: accepted.to_vec(),
        }
    }

    fn is_accepted(&self, check: &Check) -> bool {
        self.accepted.iter().any(|name| name == check.name)
    }

    /// Checks that count, the worst first; those of a grade in their order.
    fn worst_first(&self) -> Vec<&Check> {
        let counts = |check: &&Check| !self.is_accepted(check);
        let mut checks: Vec<&Check> = self.checks.iter().filter(counts).collect();
        checks.sort_by_key(|check| std::cmp::Reverse(check.grade()));
        checks
    }

    /// The worst grade of the checks that count.
    pub fn grade(&self) -> Grade {
        let worst = self.worst_first();
        worst.first().map_or(Grade::Ok, |check| check.grade())
    }

    /// Whether a check is there and wrong, accepted or not.
    pub fn is_wrong(&self, name: &str) -> bool {
        let is = |check: &Check| check.name == name && check.grade() == Grade::Wrong;
        self.checks.iter().any(is)
    }

    /// For `summary.json`.
    pub fn to_json(&self) -> Value {
        let checks = self.checks.iter().map(|check| {
            let mut row = check.to_json();
            row["accepted"] = self.is_accepted(check).into();
            row
        });
        json!({ "grade": self.grade().to_string(), "checks": checks.collect::<Vec<_>>() })
    }

    /// As text under a heading: the grade, then the checks that are not ok, or `all` of them.
    pub fn text(&self, heading: &str, all: bool) -> String {
        let mut text = format!("{heading}  {}\n", self.grade());
        for check in &self.checks {
            let grade = check.grade();
            if grade == Grade::Ok && !all {
                continue;
            }
            let [doubtful, wrong] = check.bars.map(bar);
            let (name, value) = (check.name, number(check.value));
            let _ = write!(text, "  {name:20} {value:>8}  {doubtful:>6} {wrong:>6}  ");
            text += &match self.is_accepted(check) && grade != Grade::Ok {
                true => format!("{grade}, accepted"),
                false => grade.to_string(),
            };
            let _ = writeln!(text, ": {}", check.what);
            if let Some(remedy) = check.remedy.as_ref().filter(|_| grade != Grade::Ok) {
                let _ = writeln!(text, "{:23}{remedy}", "");
            }
        }
        text
    }

    /// The error of a result that should not be used; `summary` is what was written to `folder`.
    pub fn error(&self, folder: &Path, summary: &Value) -> Option<Error> {
        let worst = self.worst_first();
        let check = worst.first()?;
        if check.grade() != Grade::Wrong {
            return None;
        }
        let (name, value, [_, wrong]) = (check.name, number(check.value), check.bars.map(bar));
        let message = format!(
            "the result is not to be trusted: {name} is {value} (bar {wrong}): {}; all files are in {}",
            check.what,
            folder.display()
        );
        let accept = format!("[run] accept = [\"{name}\"] takes it as it is");
        let hint = match &check.remedy {
            Some(remedy) => format!("{remedy}; {accept}"),
            None => accept,
        };
        let details = json!({ "summary": summary });
        let error = Error::new(ErrorKind::Untrusted, message);
        Some(error.hint(hint).details(details))
    }
}

/// A number with two or three digits.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e4).contains(&size) {
        let digits = (2 - size.max(1e-3).log10().floor() as i32).clamp(0, 5);
        format!("{value:.*}", digits as usize)
    } else {
        format!("{value:.1e}")
    }
}

/// A bar; a dash where there is none.
fn bar(bar: f64) -> String {
    match bar.is_finite() {
        true if (1e3 * bar).fract() == 0.0 => bar.to_string(),
        true => number(bar),
        false => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_graded_by_its_bars() {
        let grade = |value: f64| {
            let check = Check {
                name: "walls",
                value,
                bars: [0.01, 0.03],
                what: String::new(),
                remedy: None,
            };
            check.grade()
        };
        let grades = [0.0, 0.01, 0.02, 0.031, f64::INFINITY, f64::NAN].map(grade);
        assert_eq!(
            grades,
            [
                Grade::Ok,
                Grade::Ok,
                Grade::Doubtful,
                Grade::Wrong,
                Grade::Wrong,
                Grade::Wrong
            ]
        );
    }

    fn check(name: &'static str, value: f64, bars: [f64; 2]) -> Check {
        Check {
            name,
            value,
            bars,
            what: format!("what {name} is"),
            remedy: Some(format!("mend {name}")),
        }
    }

    #[test]
    fn where_the_second_bar_is_lower_small_values_are_bad() {
        let grade = |value: f64, bars: [f64; 2]| check("sound", value, bars).grade();
        let grades = [0.3, 0.2, 0.05, f64::NAN].map(|value| grade(value, [0.25, 0.1]));
        let want = [Grade::Ok, Grade::Doubtful, Grade::Wrong, Grade::Wrong];
        assert_eq!(grades, want);
        assert_eq!(grade(0.5, [f64::INFINITY, 1.0]), Grade::Ok, "one bar alone");
        assert_eq!(grade(2.0, [f64::INFINITY, 1.0]), Grade::Wrong);
        assert_eq!(grade(2.0, [1.0, f64::INFINITY]), Grade::Doubtful);
    }

    #[test]
    fn the_verdict_is_the_worst_row_that_is_not_accepted() {
        let rows = || {
            vec![
                check("Mach", 0.1, [0.2, 0.3]),
                check("growth", 1.7, [1.5, f64::INFINITY]),
                check("sound", 0.04, [0.25, 0.1]),
            ]
        };
        let verdict = Verdict::new(rows(), &[]);
        assert_eq!(verdict.grade(), Grade::Wrong);
        let error = verdict
            .error(Path::new("out"), &json!({ "steps": 7 }))
            .expect("it is wrong");
        let text = error.to_string();
        for word in [
            "sound is 0.0400 (bar 0.1)",
            "mend sound",
            "accept = [\"sound\"]",
        ] {
            assert!(text.contains(word), "{word} in {text}");
        }
        let details = error.details.expect("details");
        assert_eq!(details["summary"]["steps"], 7);
        let accepted = Verdict::new(rows(), &["sound".into()]);
        assert_eq!(accepted.grade(), Grade::Doubtful);
        assert_eq!(accepted.error(Path::new("out"), &Value::Null), None);
        assert_eq!(accepted.to_json()["checks"][2]["accepted"], true);
        let (few, all) = (
            accepted.text("verdict", false),
            accepted.text("verdict", true),
        );
        assert!(
            few.contains("wrong, accepted") && few.contains("mend growth"),
            "{few}"
        );
        assert!(!few.contains("Mach") && all.contains("Mach"), "{all}");
        assert!(!all.contains("mend Mach"), "{all}");
        assert_eq!(Verdict::new(Vec::new(), &[]).grade(), Grade::Ok);
    }
}
