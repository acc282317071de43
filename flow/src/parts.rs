//! Pressure and friction forces on walls at the end of a run, compared with the force by momentum exchange.
//!
//! In: sums over the facets of the body ([`WallForce`]) and the forces of the last root step, in lattice units. Out:
//! coefficients. The two methods agree up to their errors; the difference is reported with them.

use crate::fields::WallForce;
use crate::history::{History, NAMES};
use cutlink_solver::{ForceSample, Motion, PatchCondition};
use serde_json::{Map, Value, json};

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

/// Least force of all walls together, as a share of the largest part: below it is what is left of forces that cancel.
const LEAST: f64 = 0.01;

/// Pressure and friction of the patches and groups that consist of walls.
#[derive(Debug, Clone, PartialEq)]
pub struct WallParts<const D: usize> {
    parts: Vec<Part>,
    /// See [`WallParts::difference`].
    difference: Option<f64>,
}

impl<const D: usize> WallParts<D> {
    /// From the wall forces and the last forces by momentum exchange, `sample`. Openings, patches without a facet in
    /// the fluid and groups with an opening are skipped.
    pub fn new(
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
        let turns = |n: usize| {
            matches!(
                conditions[n],
                PatchCondition::Wall {
                    motion: Motion::Rotation { omega, .. },
                    ..
                } if omega != [0.0; 3]
            )
        };
        let single = |n: usize| part(("", vec![n])).map(|part| (n, part));
        let walls: Vec<(usize, Part)> = (0..conditions.len()).filter_map(single).collect();
        let torque = |n: usize| {
            let torques = &history.coefficients(&sample.patches[n])[3..];
            torques.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
        };
        let torques = walls
            .iter()
            .filter(|(n, _)| turns(*n))
            .map(|&(n, _)| torque(n));
        let walls: Vec<&Part> = walls.iter().map(|(_, part)| part).collect();
        Self {
            difference: difference::<D>(&walls, torques.fold(0.0, f64::max)),
            parts: history.patches_by_part().filter_map(part).collect(),
        }
    }

    /// The difference between pressure plus friction and momentum exchange of all walls together, as a share of the force.
    /// None where the force is what is left of larger parts, such as of a body that turns in a fluid at rest.
    pub fn difference(&self) -> Option<f64> {
        self.difference
    }

    /// Pressure and friction of the drag of a patch or group, and the largest y⁺.
    pub fn of(&self, name: &str) -> Option<[f64; 3]> {
        let part = self.parts.iter().find(|part| part.name == name)?;
        Some([part.pressure[0], part.friction[0], part.y_plus[1]])
    }

    /// For `summary.json`.
    pub fn summary(&self) -> Value {
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
        Value::Object(self.parts.iter().map(of).collect())
    }
}

/// The difference of both forces of parts together, as a share of the force; none if that is below [`LEAST`] of the largest
/// part, or of a `torque`.
fn difference<const D: usize>(parts: &[&Part], torque: f64) -> Option<f64> {
    let size = |of: &dyn Fn(usize) -> f64| (0..D).map(|c| of(c).powi(2)).sum::<f64>().sqrt();
    let sum = |of: &dyn Fn(&Part) -> f64| parts.iter().map(|part| of(part)).sum::<f64>();
    let largest = parts.iter().flat_map(|part| {
        [&part.pressure, &part.friction, &part.exchange].map(|of| size(&|c| of[c]))
    });
    let largest = largest.fold(torque, f64::max);
    let force = size(&|c| sum(&|part| part.exchange[c]));
    let off = size(&|c| sum(&|part| part.pressure[c] + part.friction[c] - part.exchange[c]));
    (force > LEAST * largest).then(|| off / force)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::YPlus;
    use crate::history::tests::with_groups;
    use cutlink_solver::WallScheme;

    #[test]
    fn patches_and_groups_of_walls_have_parts_that_add_up() {
        let history = with_groups(&[("all", &[0, 1]), ("both", &[0, 1]), ("first", &[0])]);
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
        let parts = WallParts::<2>::new(&history, &[still, still], &walls, &sample);
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
        assert_eq!(parts.of("a"), Some([1.0, 0.5, 200.0]));
        // Of both patches together: (1.875, 0.2) against (3.2, 0.2).
        let wanted = 1.325 / 3.2f64.hypot(0.2);
        let found = parts.difference().expect("a force");
        assert!((found - wanted).abs() < 1e-12, "{found} is not {wanted}");
        // Forces that cancel have no share.
        let against = [wall(1.0, 0.5), wall(-1.0, -0.5)];
        let mut opposed = sample.clone();
        opposed.patches[1] = [-1.6 * unit, 0.1 * unit, 0.0, 0.0, 0.0, 0.0];
        opposed.patches[0][1] = -0.1 * unit;
        let parts = WallParts::<2>::new(&history, &[still, still], &against, &opposed);
        assert_eq!(parts.difference(), None, "nothing is left");
        // What is left of a body that turns is small beside its torque.
        let omega = [0.0, 0.0, 0.1];
        let turns = PatchCondition::Wall {
            scheme: WallScheme::Linear,
            motion: Motion::Rotation {
                center: [0.0; 2],
                omega,
            },
        };
        let noise = ForceSample {
            patches: vec![[1e-6, 0.0, 0.0, 0.0, 0.0, 1.0]; 2],
            ..sample.clone()
        };
        let rests = [wall(1e-4, 0.0); 2];
        let parts = WallParts::<2>::new(&history, &[turns, turns], &rests, &noise);
        assert_eq!(parts.difference(), None, "a torque alone");
        // A patch without adjacent fluid, and an opening.
        let none = [walls[0], WallForce::default()];
        let parts = WallParts::<2>::new(&history, &[still, still], &none, &sample);
        assert!(parts.summary()["b"].is_null() && !parts.summary()["both"].is_null());
        let open = [still, PatchCondition::Pressure(1.0)];
        let parts = WallParts::<2>::new(&history, &open, &walls, &sample);
        let summary = parts.summary();
        assert!(
            summary["b"].is_null() && summary["both"].is_null() && summary["first"].is_object()
        );
    }
}
