//! Heat of two-phase and lattice Boltzmann flows: tables of a case, and what a run tells of it.
//!
//! | file | what |
//! |---|---|
//! | `lattice` | from a case to the heat of a lattice Boltzmann flow |
//! | `coarse` | checks of its cells |

mod coarse;
pub(super) mod lattice;

use crate::solve::value::Value as CaseValue;
use cutlink_flow::{Check, Lines};
use cutlink_vof::HeatAccount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Share of the mean temperature's heat that what has moved is at least, for a check.
const LEAST_MOVED: f64 = 1e-6;

/// Faces and bodies that heat may come through, by number and name.
pub(super) type Patches = Vec<(usize, String)>;

/// Temperature.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HeatTable {
    /// Temperature at the start, K (or °C: differences count); a number or an expression in `x`, `y`, `z`. Required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<CaseValue>,
    /// The temperature at which the fluids have their densities, K. Required where a fluid has `expansion`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<f64>,
}

/// Weight.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GravityTable {
    /// Acceleration along each axis, m/s², such as `[0, -9.81]`. Required.
    pub acceleration: Vec<f64>,
}

/// What a run tells of heat: `heat.csv`, checks, keys of the summary.
pub(super) struct HeatRecord {
    pub(super) table: Lines,
    patches: Patches,
    start: HeatAccount,
    /// What came in, and the time, at the last line.
    last: (Vec<f64>, f64),
    /// What changed between the last two lines, and what came in by each of [`Self::patches`], W: nothing before there are two.
    rates: Rates,
    powers: Vec<f64>,
    /// The time in which conduction evens out the box, s.
    slowest: f64,
    remedy: Option<&'static str>,
}

/// What changes in a second, between two lines.
#[derive(Debug, Clone, Copy)]
struct Rates {
    /// Heat, W; infinite before the second line.
    net: f64,
    /// How unevenly heat is spread, at the last line, J K.
    spread: f64,
    /// The same in a second, J K/s; infinite before the second line.
    evened: f64,
}

impl HeatRecord {
    /// Of a flow whose heat, and how unevenly it is spread, are given at the start, with steps of so many seconds. `slowest` is the
    /// time in which conduction evens out the box, s.
    pub(super) fn new(
        patches: Patches,
        (start, spread): (HeatAccount, f64),
        slowest: f64,
        dt: f64,
    ) -> Self {
        let mut names = vec!["heat".to_owned()];
        names.extend(patches.iter().map(|(_, name)| format!("{name} power")));
        names.extend(["lowest temperature", "highest temperature"].map(str::to_owned));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Self {
            table: Lines::new("heat.csv", &names, dt),
            patches,
            last: (start.through.clone(), 0.0),
            rates: Rates {
                net: f64::INFINITY,
                spread,
                evened: f64::INFINITY,
            },
            powers: Vec::new(),
            slowest,
            start,
            remedy: None,
        }
    }

    /// With what mends a balance that does not close.
    pub(super) fn with_remedy(self, remedy: &'static str) -> Self {
        Self {
            remedy: Some(remedy),
            ..self
        }
    }

    /// Adds a line: heat, and the mean powers since the last line. `spread` is how unevenly heat is spread.
    pub(super) fn add(&mut self, step: u64, (now, spread): (&HeatAccount, f64), time: f64) {
        let (before, then) = &self.last;
        let over = if time > *then {
            1.0 / (time - then)
        } else {
            0.0
        };
        let mut line = vec![now.heat];
        let power = |&(patch, _): &(usize, String)| (now.through[patch] - before[patch]) * over;
        line.extend(self.patches.iter().map(power));
        if over > 0.0 {
            self.powers = line[1..].to_vec();
            self.rates.net = self.powers.iter().sum();
            self.rates.evened = (spread - self.rates.spread) * over;
        }
        self.rates.spread = spread;
        line.extend(now.extremes);
        self.table.add(step, line);
        self.last = (now.through.clone(), time);
    }

    /// What came in by a face or body since the last line, W; none before there are two.
    fn power(&self, number: usize) -> Option<f64> {
        let at = self
            .patches
            .iter()
            .position(|(patch, _)| *patch == number)?;
        self.powers.get(at).copied()
    }

    /// How unevenly heat is spread, J K, and how fast that changes, J K/s, at the last line.
    fn evened(&self) -> [f64; 2] {
        [self.rates.spread, self.rates.evened]
    }

    /// Numbers of a saved state.
    pub(super) fn words(&self) -> usize {
        7 + self.start.through.len()
    }

    pub(super) fn save(&self) -> Vec<f64> {
        let [low, high] = self.start.extremes;
        let Rates {
            net,
            spread,
            evened,
        } = self.rates;
        let mut words = vec![self.start.heat, low, high, self.last.1, net, spread, evened];
        words.extend(&self.last.0);
        words
    }

    pub(super) fn restore(&mut self, words: &[f64]) {
        self.start.heat = words[0];
        self.start.extremes = [words[1], words[2]];
        self.rates = Rates {
            net: words[4],
            spread: words[5],
            evened: words[6],
        };
        self.last = (words[7..].to_vec(), words[3]);
    }

    /// Heat that has moved, at least: what came and went, and what the whole box takes up by its differences of temperature, J.
    fn moved(&self, now: &HeatAccount) -> f64 {
        let came: f64 = now.through.iter().map(|joule| joule.abs()).sum();
        came + self.differences(now)
    }

    /// Whether more than rounding has moved.
    fn is_moved(&self, now: &HeatAccount) -> bool {
        let [low, high] = now.extremes.map(f64::abs);
        self.moved(now) > LEAST_MOVED * now.capacity * low.max(high)
    }

    /// What the whole box takes up by its largest difference of temperature, J.
    fn differences(&self, now: &HeatAccount) -> f64 {
        let range = |of: &HeatAccount| of.extremes[1] - of.extremes[0];
        now.capacity * range(&self.start).max(range(now))
    }

    /// Whether heat, and how unevenly it is spread, change by less than a part in the time in which conduction evens out the box.
    pub(super) fn is_settled(&self, now: &HeatAccount, part: f64) -> bool {
        if !self.is_moved(now) {
            return true;
        }
        let differences = self.differences(now);
        let Rates { net, evened, .. } = self.rates;
        // Of differences of temperature throughout.
        let most = differences * differences / now.capacity;
        net.abs() * self.slowest <= part * differences && evened.abs() * self.slowest <= part * most
    }

    /// Keys of the summary, and lines of text.
    pub(super) fn report(&self, now: &HeatAccount) -> (Value, String) {
        let came: serde_json::Map<String, Value> = (self.patches.iter())
            .map(|(patch, name)| (name.clone(), json!(now.through[*patch])))
            .collect();
        let change = now.heat - self.start.heat;
        let [low, high] = now.extremes;
        let json = json!({
            "heat": now.heat,
            "change": change,
            "through": came,
            "shared_out": now.defect,
            "lowest_temperature": low,
            "highest_temperature": high,
        });
        let text =
            format!("heat has changed by {change:.6e} J; temperatures are {low:.4} to {high:.4}\n");
        (json, text)
    }

    /// Whether heat is balanced; none where hardly any moves.
    pub(super) fn check(&self, now: &HeatAccount) -> Option<Check> {
        let came: f64 = now.through.iter().sum();
        let off = (now.heat - self.start.heat - came).abs() + now.defect.abs();
        self.is_moved(now).then(|| Check {
            name: "heat",
            value: off / self.moved(now),
            bars: [1e-6, 1e-3],
            what: "change of heat that did not come through faces and bodies, with what was shared out, over what moved".into(),
            remedy: self.remedy.map(str::to_owned),
        })
    }
}
