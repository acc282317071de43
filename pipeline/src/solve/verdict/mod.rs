//! Whether a result can be trusted: checks with bars, and the verdict, which is the worst of them.
//!
//! A check is one number against two bars. Some are known before the first step (`laws`), the others are measured.

#![allow(dead_code, reason = "rows come with the next commits")]

use serde_json::{Value, json};
use std::fmt;

/// What a check says; the order is that of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grade {
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
pub(crate) struct Check {
    /// The row of the table, such as `walls`.
    pub(crate) name: &'static str,
    /// The number; shares are relative, not per cent.
    pub(crate) value: f64,
    /// The bars of [`Grade::Doubtful`] and [`Grade::Wrong`]; infinite where there is none.
    pub(crate) bars: [f64; 2],
    /// What the number is, as a clause.
    pub(crate) what: String,
    /// What to change in this case; printed unless the check is ok.
    pub(crate) remedy: Option<String>,
}

impl Check {
    /// The grade of its value; a value that is not a number is wrong.
    pub(crate) fn grade(&self) -> Grade {
        let [doubtful, wrong] = self.bars;
        if self.value <= doubtful.min(wrong) {
            Grade::Ok
        } else if self.value <= wrong {
            Grade::Doubtful
        } else {
            Grade::Wrong
        }
    }

    /// For `summary.json` and `--dry-run --json`.
    pub(crate) fn to_json(&self) -> Value {
        let finite = |bar: f64| bar.is_finite().then_some(bar);
        json!({
            "check": self.name,
            "value": self.value,
            "doubtful": finite(self.bars[0]),
            "wrong": finite(self.bars[1]),
            "grade": self.grade().to_string(),
            "what": self.what,
            "remedy": self.remedy,
        })
    }
}

/// A row of a table: the name, the grade, what it is, and unless it is ok what to change.
impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grade = self.grade();
        write!(f, "{:<16} {grade:<8}  {}", self.name, self.what)?;
        match self.remedy.as_ref().filter(|_| grade > Grade::Ok) {
            Some(remedy) => write!(f, ": {remedy}"),
            None => Ok(()),
        }
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
}
