//! Sound between the sides of the box, which locks the lift of a body to its own frequency.
//!
//! Two sides a distance H apart that reflect sound have the modes n c / (2 H); as Strouhal numbers n L / (2 √3 H u), u the
//! lattice velocity. Shedding near the first two, or near half or twice their frequency, has a wrong lift.

use crate::solve::resolve::Resolved;
use cutlink_flow::verdict::Check;
use cutlink_solver::FaceCondition;

/// Reynolds number from which on bodies shed vortices.
const SHEDS: f64 = 40.0;
/// Strouhal numbers of bluff bodies, times a half and twice.
const SHEDDING: [f64; 2] = [0.08, 0.5];

/// The first modes between sides that reflect sound across the axis of the lift: axis and Strouhal number.
pub(crate) fn first_modes<const D: usize>(resolved: &Resolved<D>) -> Vec<(usize, f64)> {
    let (params, lift) = (&resolved.params, resolved.axes[1]);
    let reflects = |axis: usize| {
        let damped = params.sponges.iter().any(|sponge| sponge.axis == axis);
        let hard = |face: &FaceCondition<D>| {
            matches!(face, FaceCondition::FreeSlip | FaceCondition::Velocity(_))
        };
        !damped && params.faces[axis].iter().all(hard)
    };
    let length = resolved.physics.length / resolved.units.length;
    let cells = resolved.initial.frame().root_cells;
    let first = |axis: usize| {
        let sound = 1.0 / 3f64.sqrt();
        sound / (2.0 * f64::from(cells[axis])) * length / resolved.physics.lattice_velocity
    };
    let across = (0..D).filter(|&axis| lift[axis].abs() > 0.7 && reflects(axis));
    across.map(|axis| (axis, first(axis))).collect()
}

/// What to know of them before the flow around a body runs.
pub(crate) fn notes<const D: usize>(resolved: &Resolved<D>) -> Vec<String> {
    if !resolved.params.forces || resolved.physics.reynolds() < SHEDS {
        return Vec::new();
    }
    let is_near = |mode: f64| (SHEDDING[0]..=SHEDDING[1]).contains(&mode);
    let modes = first_modes(resolved).into_iter();
    let near = modes.filter(|&(_, first)| is_near(first) || is_near(2.0 * first));
    let note = |(axis, first): (usize, f64)| {
        let axis = ["x", "y", "z"][axis];
        format!(
            "sound between \"{axis}-\" and \"{axis}+\" has modes at St {first:.3} and {:.3}: vortices that shed near one, \
             near half or twice its frequency, have a wrong lift; type = \"far-field\" lets sound out",
            2.0 * first
        )
    };
    near.map(note).collect()
}

/// A transverse mode of sound beside a line of the lift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mode {
    /// Strouhal number of the mode.
    pub(crate) mode: f64,
    /// That of the line, its half or its double.
    pub(crate) line: f64,
    /// Axis across which it swings.
    pub(crate) axis: usize,
}

impl Mode {
    /// The distance, as a share of the line.
    pub(crate) fn distance(&self) -> f64 {
        (self.mode - self.line).abs() / self.line
    }

    /// The nearest mode n `c` / (2 `height`), n = 1, 2, to a line, its half and its double; `first` are the first modes by
    /// axis.
    pub(crate) fn nearest(line: f64, first: &[(usize, f64)]) -> Option<Self> {
        let lines = [0.5 * line, line, 2.0 * line];
        let of = |&(axis, first): &(usize, f64)| {
            let modes = [first, 2.0 * first].into_iter();
            modes.flat_map(move |mode| lines.map(|line| Self { mode, line, axis }))
        };
        let all = first.iter().flat_map(of);
        all.min_by(|a, b| a.distance().total_cmp(&b.distance()))
    }

    pub(crate) fn check(&self) -> Check {
        let axis = ["x", "y", "z"][self.axis];
        Check {
            name: "sound",
            value: self.distance(),
            bars: [0.25, 0.1],
            what: format!(
                "distance of the lift's line, St {:.4}, from sound between the sides in {axis}, St {:.4}",
                self.line, self.mode
            ),
            remedy: Some(format!(
                "give \"{axis}-\" and \"{axis}+\" type = \"far-field\", or a sponge, or another height or lattice_velocity"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_flow::verdict::Grade;

    /// The first mode across a height of so many diameters, as a Strouhal number, at a lattice velocity.
    fn mode(height: f64, velocity: f64) -> f64 {
        1.0 / (3f64.sqrt() * velocity * 2.0 * height)
    }

    /// Circles at Re 100 between free-slip sides, with the error of the amplitude of the lift against far-field sides.
    #[test]
    fn sound_between_the_sides_is_seen_where_the_lift_is_wrong() {
        let runs = [
            (28.0, 0.05, 0.1667, "right within 3 %", Grade::Doubtful),
            (34.0, 0.05, 0.1667, "-13 %", Grade::Wrong),
            (36.0, 0.05, 0.1667, "+37 %", Grade::Wrong),
            (44.0, 0.05, 0.165, "+9 %", Grade::Doubtful),
            (36.0, 0.1, 0.168, "+17 %", Grade::Wrong),
            (24.0, 0.05, 0.1667, "far from all", Grade::Ok),
        ];
        for (height, velocity, line, error, grade) in runs {
            let found = Mode::nearest(line, &[(1, mode(height, velocity))]).expect("a mode");
            assert_eq!(found.check().grade(), grade, "{height}: {error}, {found:?}");
        }
        assert_eq!(Mode::nearest(0.2, &[]), None, "no sides that reflect");
    }
}
