//! Pressure and friction forces on walls at the end of a run, compared with the force by momentum exchange.
//!
//! In: sums over the facets of the body ([`WallForce`]) and the forces of the last root step, in lattice units. Out:
//! coefficients. The two methods agree up to their errors; the difference is reported with them.

use crate::{
    fields::WallForce,
    solve::history::{History, NAMES},
};
use cutlink_solver::{ForceSample, PatchCondition};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Pressure and friction on a patch or group.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    name: String,
    /// Pressure force as coefficients.
    pressure: [f64; 6],
    friction: [f64; 6],
    exchange: [f64; 6],
    /// y⁺ of the first cells: the mean, the largest, and the share of the area with 30 to 300.
    y_plus: [f64; 3],
}

/// Pressure and friction of the patches and groups that consist of walls.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parts<const D: usize>(Vec<Part>);

impl<const D: usize> Parts<D> {
    /// From the wall forces and the last forces by momentum exchange, `sample`. Openings, patches without a facet in
    /// the fluid and groups with an opening are skipped.
    pub(crate) fn new(
        history: &History<D>,
        conditions: &[PatchCondition<D>],
        walls: &[WallForce],
        sample: &ForceSample,
    ) -> Self {
        let six = |of: &dyn Fn(usize) -> [f64; 3], patches: &[usize]| {
            let sum = |a: usize| patches.iter().map(|&n| of(n)[a]).sum::<f64>();
            history.coefficients(&[sum(0), sum(1), sum(2), 0.0, 0.0, 0.0])
        };
        let y_plus = |patches: &[usize]| {
            let sum = |of: &dyn Fn(&WallForce) -> f64| -> f64 {
                patches.iter().map(|&n| of(&walls[n])).sum()
            };
            let area = sum(&|wall| wall.area);
            let most = patches.iter().map(|&n| walls[n].y_plus.most);
            [
                sum(&|wall| wall.y_plus.sum) / area,
                most.fold(0.0, f64::max),
                sum(&|wall| wall.y_plus.logarithmic) / area,
            ]
        };
        let part = |(name, patches): (&str, Vec<usize>)| {
            let is_wall = |&n: &usize| matches!(conditions[n], PatchCondition::Wall { .. });
            let has_fluid = patches.iter().any(|&n| walls[n].area > 0.0);
            let exchanged = |n: usize| std::array::from_fn(|a| sample.patches[n][a]);
            (has_fluid && patches.iter().all(is_wall)).then(|| Part {
                name: name.to_owned(),
                pressure: six(&|n| walls[n].pressure, &patches),
                friction: six(&|n| walls[n].friction, &patches),
                exchange: six(&exchanged, &patches),
                y_plus: y_plus(&patches),
            })
        };
        Self(history.patches_by_part().filter_map(part).collect())
    }

    /// For `summary.json`.
    pub(crate) fn summary(&self) -> Value {
        let of = |part: &Part| {
            let one = |c: usize| {
                let (pressure, friction) = (part.pressure[c], part.friction[c]);
                let of = json!({
                    "pressure": pressure,
                    "friction": friction,
                    "exchange": part.exchange[c],
                    "difference": pressure + friction - part.exchange[c],
                });
                (NAMES[c].to_owned(), of)
            };
            let mut all: Map<String, Value> = (0..D).map(one).collect();
            let [mean, most, logarithmic] = part.y_plus;
            let y_plus = json!({ "mean": mean, "max": most, "share_30_300": logarithmic });
            all.insert("y_plus".into(), y_plus);
            (part.name.clone(), Value::Object(all))
        };
        Value::Object(self.0.iter().map(of).collect())
    }

    /// As text, one line per patch or group.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for part in &self.0 {
            let _ = write!(text, "{}:", part.name);
            for c in 0..D {
                let (name, pressure, friction) = (NAMES[c], part.pressure[c], part.friction[c]);
                let _ = write!(text, " {name} {pressure:.5} + {friction:.5}");
            }
            text += " (pressure + friction at the end";
            if let Some(share) = part.difference::<D>() {
                let _ = write!(
                    text,
                    "; their sum differs from momentum exchange by {:.2} % of the force",
                    100.0 * share
                );
            }
            let [mean, most, _] = part.y_plus;
            let _ = write!(text, "; y+ of the first cells {mean:.3}, at most {most:.3}");
            text += ")\n";
        }
        text
    }
}

impl Part {
    /// Relative difference between pressure plus friction and the force by momentum exchange.
    fn difference<const D: usize>(&self) -> Option<f64> {
        let size = |of: &dyn Fn(usize) -> f64| (0..D).map(|c| of(c).powi(2)).sum::<f64>().sqrt();
        let force = size(&|c| self.exchange[c]);
        let off = size(&|c| self.pressure[c] + self.friction[c] - self.exchange[c]);
        (force > 0.0).then(|| off / force)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::YPlus;
    use crate::solve::history::tests::empty;
    use cutlink_solver::WallScheme;

    #[test]
    fn patches_and_groups_of_walls_have_parts_that_add_up() {
        let tables = "[groups]\nboth = [\"a\", \"b\"]\nfirst = [\"a\"]";
        let history = empty(tables);
        // Coefficients are over ρ u² A / 2 = 0.5 * 0.01 * 4.
        let unit = 0.02;
        let wall = |pressure: f64, friction: f64| WallForce {
            pressure: [pressure * unit, 0.0, 0.0],
            friction: [friction * unit, 0.1 * unit, 0.0],
            area: 1.0,
            y_plus: YPlus {
                sum: 100.0 * pressure,
                most: 200.0 * pressure,
                logarithmic: 0.5,
            },
        };
        let walls = [wall(1.0, 0.5), wall(0.25, 0.125)];
        let sample = ForceSample {
            inflow: Vec::new(),
            step: 2,
            patches: vec![[1.6 * unit, 0.1 * unit, 0.0, 0.0, 0.0, 0.0]; 2],
        };
        let still = PatchCondition::wall(WallScheme::Linear);
        let parts = Parts::<2>::new(&history, &[still, still], &walls, &sample);
        let summary = parts.summary();
        let close = |value: &Value, wanted: f64| {
            let off = (value.as_f64().expect("a number") - wanted).abs();
            assert!(off < 1e-12, "{value} is not {wanted}");
        };
        close(&summary["a"]["C_D"]["pressure"], 1.0);
        close(&summary["a"]["C_D"]["difference"], -0.1);
        close(&summary["both"]["C_D"]["friction"], 0.625);
        close(&summary["both"]["C_L"]["friction"], 0.2);
        close(&summary["both"]["C_D"]["exchange"], 3.2);
        close(&summary["both"]["y_plus"]["mean"], 62.5);
        close(&summary["both"]["y_plus"]["max"], 200.0);
        close(&summary["b"]["y_plus"]["share_30_300"], 0.5);
        // 0.1 of √(1.6² + 0.1²).
        let text = parts.text();
        assert!(
            text.contains("a: C_D 1.00000 + 0.50000") && text.contains(" 6.24 %"),
            "{text}"
        );
        // A patch without adjacent fluid, and an opening.
        let none = [walls[0], WallForce::default()];
        let parts = Parts::<2>::new(&history, &[still, still], &none, &sample);
        assert!(parts.summary()["b"].is_null() && !parts.summary()["both"].is_null());
        let open = [still, PatchCondition::Pressure(1.0)];
        let parts = Parts::<2>::new(&history, &open, &walls, &sample);
        let summary = parts.summary();
        assert!(
            summary["b"].is_null() && summary["both"].is_null() && summary["first"].is_object()
        );
    }
}
