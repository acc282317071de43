//! Stability bounds: up to which cell Reynolds number, relaxation time and Mach number a lattice, a collision and a kind of box
//! are right. Where they were measured: decisions 024, 045 and 046.
//!
//! Everything is in units of the root lattice: Δx = Δt = 1 on level 0. Level ℓ has the same velocities and 2^ℓ times the viscosity in
//! its own units, so that the root level has the largest cell Reynolds number u Δx / ν.

use crate::{
    Collision, FaceCondition, LatticeKind, Motion, Params, PatchCondition, Plan, WallScheme,
    has_opening, is_driven_by_walls, is_passed,
};
use std::fmt;

/// Largest accepted Mach number: the error of the equilibrium grows with its square.
pub const MAX_MACH: f64 = 0.3;
/// Smallest τ - 1/2 on any level: below it rounding dominates.
pub const MIN_RELAXATION: f64 = 1e-5;
/// Largest relaxation time of odd moments on any level in a box with open faces: beyond, their ghost cells amplify
/// disturbances.
pub const MAX_ODD_RELAXATION: f64 = 6.0;

/// Stability bounds of a collision. The cell Reynolds number u Δx / ν and the relaxation time of odd moments are
/// largest on the root level, so a bound there holds for all levels. Where they were measured: decision 046.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StabilityBounds {
    /// Largest cell Reynolds number u Δx / ν on the root level.
    pub grid_reynolds: f64,
    /// The setting that limits it.
    pub of: &'static str,
    /// A setting that is stable further, and to which cell Reynolds number.
    pub instead: Option<(&'static str, f64)>,
    /// The magic parameter, if [`MAX_ODD_RELAXATION`] applies.
    pub magic: Option<f64>,
    /// Whether the cells at moving walls count, and not those of the root level.
    pub at_walls: bool,
}

const REGULARIZED: &str = "collision = \"regularized\"";
const REGULAR_DUCT: &str =
    "collision = \"regularized\" without far-field faces, on d3q27 without outflows";

impl StabilityBounds {
    /// BGK.
    pub const BGK: Self = Self::up_to(50.0, "collision = \"bgk\"").or(REGULARIZED, 1000.0);
    /// BGK in 2D with an opening: a circle in a stream diverges at 49 within 3,700 root steps.
    pub const BGK_OPEN_2D: Self =
        Self::up_to(30.0, "collision = \"bgk\" with openings").or(REGULARIZED, 1000.0);
    /// BGK in 3D with an opening: boxes with an inlet, a pressure outlet and slip walls diverge at 20 within 1,600 root steps.
    pub const BGK_OPEN: Self =
        Self::up_to(10.0, "collision = \"bgk\" in 3D with openings").or(REGULARIZED, 1000.0);
    /// TRT.
    pub const TRT: Self = Self::up_to(40.0, "collision = \"trt\"").or(REGULARIZED, 1000.0);
    /// Regularized.
    pub const REGULARIZED: Self = Self::up_to(10_000.0, REGULARIZED);
    /// Regularized, with 19 velocities.
    pub const REGULARIZED_D3Q19: Self =
        Self::up_to(1000.0, "lattice = \"d3q19\"").or("lattice = \"d3q27\"", 10_000.0);
    /// Cumulants: the forces on a sphere in refined boxes do not grow within 50,000 root steps.
    pub const CUMULANT: Self = Self::up_to(10_000.0, "collision = \"cumulant\"");
    /// Cumulants with quadratic walls: as stable, but the drag of a sphere of 16 cells is a sixth too small here, and a third at 10,000.
    pub const CUMULANT_QUADRATIC: Self =
        Self::up_to(2000.0, "collision = \"cumulant\" with wall = \"quadratic\"")
            .or("wall = \"linear\"", 10_000.0);
    /// Entropic multi-relaxation.
    pub const KBC: Self = Self::up_to(200.0, "collision = \"kbc\"").or(REGULARIZED, 10_000.0);
    /// Regularized, with faces of tangential velocity in a box with an open face; far-field faces in their place are
    /// stable further.
    pub const MOVING: Self =
        Self::up_to(1000.0, "a face that moves along itself").or("a far-field face", 10_000.0);

    /// A box that fluid passes between faces of given velocities, and nowhere else: nothing holds the pressure, and sound grows between
    /// them. Diverges at 2.5 within 41,000 root steps, at 6 within 400, with every collision and all sides.
    pub const PASSED: Self = Self::up_to(1.5, "a box between given velocities")
        .or("an outflow in place of one of the velocities", 1000.0);

    /// A velocity inlet that meets a no-slip wall in 3D, with the regularized collision, in front of openings that hold the
    /// pressure, or outflows on D3Q19: ducts are right at 1000, with edges of two walls (decision 045).
    pub const INLET_AT_WALL: Self = Self::up_to(1000.0, "an inlet that meets a no-slip face");
    /// The same in 3D with another collision, a far field, or D3Q27 and an outflow: cumulants let 1.05 of the flow in at 1000,
    /// and the flow swings at 333 in front of an outflow that is two heights away.
    pub const INLET_AT_WALL_3D: Self =
        Self::up_to(100.0, "an inlet that meets a no-slip face in 3D").or(REGULAR_DUCT, 1000.0);
    /// The same in 2D: steady at 333, at 1000 the flow behind a uniform inlet is 1 % off after 12,000 steps.
    pub const INLET_AT_WALL_2D: Self = Self::up_to(333.0, "an inlet that meets a no-slip face");

    const fn up_to(grid_reynolds: f64, of: &'static str) -> Self {
        Self {
            grid_reynolds,
            of,
            instead: None,
            magic: None,
            at_walls: false,
        }
    }

    const fn or(self, setting: &'static str, up_to: f64) -> Self {
        Self {
            instead: Some((setting, up_to)),
            ..self
        }
    }

    /// Far from faces.
    fn in_bulk(lattice: LatticeKind, collision: Collision) -> Self {
        match (collision, lattice) {
            (Collision::Bgk, _) => Self::BGK,
            (Collision::Trt { .. }, _) => Self::TRT,
            (Collision::Regularized, LatticeKind::D3Q19) => Self::REGULARIZED_D3Q19,
            (Collision::Regularized, _) => Self::REGULARIZED,
            (Collision::Cumulant { .. }, _) => Self::CUMULANT,
            (Collision::Kbc, _) => Self::KBC,
        }
    }

    /// Those of a lattice and a collision in a kind of box, by its openings and walls.
    #[must_use]
    pub fn new<const D: usize>(
        (lattice, collision): (LatticeKind, Collision),
        faces: &[[FaceCondition<D>; 2]; D],
        patches: &[PatchCondition<D>],
    ) -> Self {
        let mut bounds = Self::in_bulk(lattice, collision);
        let is_open = has_opening(faces, patches);
        if is_passed(faces) && !is_open {
            return Self::PASSED;
        }
        let is_quadratic = |patch: &PatchCondition<D>| {
            matches!(
                patch,
                PatchCondition::Wall {
                    scheme: WallScheme::Quadratic,
                    ..
                }
            )
        };
        match collision {
            Collision::Trt { magic } if is_open => bounds.magic = Some(magic),
            Collision::Bgk if is_open => {
                bounds = match D {
                    2 => Self::BGK_OPEN_2D,
                    _ => Self::BGK_OPEN,
                };
            }
            Collision::Cumulant { .. } if patches.iter().any(is_quadratic) => {
                bounds = Self::CUMULANT_QUADRATIC;
            }
            Collision::Regularized | Collision::Cumulant { .. }
                if is_open && has_moving_face(faces) =>
            {
                bounds = Self::MOVING;
            }
            _ => {}
        }
        if has_inlet_at_wall(faces) {
            // With 27 velocities, an outflow less than two heights behind the inlet has a mode along the edges of ducts.
            let is_full = lattice == LatticeKind::D3Q27;
            let is_less = |face: &FaceCondition<D>| match face {
                FaceCondition::FarField { .. } => true,
                FaceCondition::Outflow => is_full,
                _ => false,
            };
            let is_regular =
                collision == Collision::Regularized && !faces.iter().flatten().any(is_less);
            let at_wall = match D {
                2 => Self::INLET_AT_WALL_2D,
                _ if is_regular => Self::INLET_AT_WALL,
                _ => Self::INLET_AT_WALL_3D,
            };
            if at_wall.grid_reynolds < bounds.grid_reynolds {
                bounds = Self {
                    magic: bounds.magic,
                    ..at_wall
                };
            }
        }
        bounds
    }

    /// Checks a flow of this reference velocity, largest prescribed velocity and viscosity, all of the root lattice. Cost: none.
    ///
    /// # Errors
    /// The first violated bound; NaN violates every bound.
    pub fn check(&self, velocity: f64, fastest: f64, viscosity: f64) -> Result<(), Unstable> {
        let mach = fastest * 3f64.sqrt();
        let slow = mach <= MAX_MACH;
        if !slow {
            return Err(Unstable::Mach {
                mach,
                speed: fastest,
            });
        }
        // The root level has the smallest relaxation time.
        let tau = 3.0 * viscosity + 0.5;
        let viscous = tau - 0.5 >= MIN_RELAXATION;
        if !viscous {
            return Err(Unstable::Relaxation { level: 0, tau });
        }
        let value = velocity / viscosity;
        let viscous = value <= self.grid_reynolds;
        if !viscous {
            return Err(Unstable::GridReynolds {
                value,
                bounds: *self,
            });
        }
        let time = self.magic.map_or(0.0, |magic| 0.5 + magic / (tau - 0.5));
        if time > MAX_ODD_RELAXATION {
            return Err(Unstable::Odd { time });
        }
        Ok(())
    }

    /// Bounds of lids, walls that move along themselves in a closed box. They hold for the cells at the wall, not for those of the
    /// root level. They are the lowest u Δx / ν at which cavities diverged at lattice velocities of 0.05 to 0.16, less at least a
    /// fifth: decision 046.
    #[must_use]
    pub fn of_moving_walls(collision: Collision, dimensions: usize) -> Self {
        const OF: [&str; 5] = [
            "collision = \"bgk\"",
            "collision = \"trt\"",
            REGULARIZED,
            "collision = \"cumulant\"",
            "collision = \"kbc\"",
        ];
        let is_plane = dimensions == 2;
        let regularized = if is_plane { 45.0 } else { 28.0 };
        let (bound, of) = match collision {
            Collision::Bgk => (8.0, OF[0]),
            Collision::Trt { .. } => (20.0, OF[1]),
            Collision::Regularized => (regularized, OF[2]),
            Collision::Cumulant { .. } => (30.0, OF[3]),
            Collision::Kbc => (if is_plane { 40.0 } else { 20.0 }, OF[4]),
        };
        let bounds = Self {
            at_walls: true,
            ..Self::up_to(bound, of)
        };
        match bound < regularized {
            true => bounds.or(REGULARIZED, regularized),
            false => bounds,
        }
    }
}

/// A violated bound of stability or accuracy, with a remedy.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Unstable {
    /// Too fast for the lattice.
    Mach {
        /// The Mach number.
        mach: f64,
        /// The lattice velocity.
        speed: f64,
    },
    /// Too little viscosity for the floating-point precision.
    Relaxation {
        /// The level.
        level: usize,
        /// Its relaxation time.
        tau: f64,
    },
    /// Too little viscosity for the collision.
    GridReynolds {
        /// The cell Reynolds number u Δx / ν on the root level, or at moving walls.
        value: f64,
        /// The bounds.
        bounds: StabilityBounds,
    },
    /// TRT with too large a relaxation time of odd moments, in a box with open faces.
    Odd {
        /// The relaxation time on the root level.
        time: f64,
    },
}

impl fmt::Display for Unstable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mach { mach, speed } => write!(
                f,
                "the Mach number is {mach:.3} (lattice velocity {speed:.4}), the limit is {MAX_MACH}: reduce mach \
                 or lattice_velocity"
            ),
            Self::Relaxation { level, tau } => write!(
                f,
                "the relaxation time of level {level} is 1/2 + {:.2e}, the minimum is 1/2 + {MIN_RELAXATION:e}: use \
                 a finer root grid or a lower Reynolds number",
                tau - 0.5
            ),
            Self::GridReynolds { value, bounds } => write!(
                f,
                "the cell Reynolds number u dx / nu {} is {value:.1}; {} is stable up to {}{}: use {} {:.0} times finer, \
                 a lower Reynolds number{}",
                ["on the root level", "at the moving walls"][usize::from(bounds.at_walls)],
                bounds.of,
                bounds.grid_reynolds,
                ["", " there in a closed box"][usize::from(bounds.at_walls)],
                ["a root grid", "cells there"][usize::from(bounds.at_walls)],
                (value / bounds.grid_reynolds).ceil(),
                match bounds.instead {
                    Some((setting, up_to)) if *value <= up_to => format!(" or {setting}"),
                    _ => String::new(),
                }
            ),
            Self::Odd { time } => write!(
                f,
                "the relaxation time of the odd moments on the root level is {time:.1}; collision = \"trt\" with \
                 open faces is stable up to {MAX_ODD_RELAXATION}: use collision = \"regularized\", or a \
                 root grid {:.0} times finer",
                ((time - 0.5) / (MAX_ODD_RELAXATION - 0.5)).ceil()
            ),
        }
    }
}

/// Whether a face moves along itself.
pub fn has_moving_face<const D: usize>(faces: &[[FaceCondition<D>; 2]; D]) -> bool {
    let along = |(a, face): (usize, &FaceCondition<D>)| match face {
        FaceCondition::Velocity(v) => v[a] == 0.0 && *v != [0.0; D],
        _ => false,
    };
    let mut of_axes = (0..D).flat_map(|a| faces[a].iter().map(move |face| (a, face)));
    of_axes.any(along)
}

/// Whether a face with a velocity through it has a no-slip face beside it.
pub fn has_inlet_at_wall<const D: usize>(faces: &[[FaceCondition<D>; 2]; D]) -> bool {
    let passes = |&a: &usize| {
        let is =
            |face: &FaceCondition<D>| matches!(face, FaceCondition::Velocity(v) if v[a] != 0.0);
        faces[a].iter().any(is)
    };
    let rests = |face: &FaceCondition<D>| *face == FaceCondition::Velocity([0.0; D]);
    let has_wall = |a: usize| (0..D).any(|b| b != a && faces[b].iter().any(rests));
    (0..D).filter(passes).any(has_wall)
}

impl<const D: usize> Params<D> {
    /// The bounds of this flow. Those of moving walls in closed boxes need the mesh: [`Plan::unstable`].
    pub fn stability_bounds(&self) -> StabilityBounds {
        StabilityBounds::new((self.lattice, self.collision), &self.faces, &self.patches)
    }

    /// The largest speed that faces and patches prescribe; patches that rotate are not counted. A plan has no NaN among them.
    fn prescribed_speed(&self) -> f64 {
        let of_face = |face: &FaceCondition<D>| match face {
            FaceCondition::Velocity(velocity) | FaceCondition::FarField { velocity, .. } => {
                norm(velocity)
            }
            _ => 0.0,
        };
        let of_patch = |patch: &PatchCondition<D>| match patch {
            PatchCondition::Wall {
                motion: Motion::Uniform(velocity),
                ..
            } => norm(velocity),
            _ => 0.0,
        };
        let faces = self.faces.iter().flatten().map(of_face);
        faces
            .chain(self.patches.iter().map(of_patch))
            .fold(0.0, f64::max)
    }
}

fn norm<const D: usize>(of: &[f64; D]) -> f64 {
    of.iter().map(|v| v * v).sum::<f64>().sqrt()
}

impl<const D: usize> Plan<'_, D> {
    /// The first bound that the flow violates, by the largest velocity of its faces and patches, if there is one: a flow that an
    /// acceleration drives has a velocity only when it runs. [`start`](Self::start) does not ask.
    pub fn unstable(&self) -> Option<Unstable> {
        let speed = self.params.prescribed_speed().max(self.census.speed);
        let bounds = self.params.stability_bounds();
        let checked = bounds.check(speed, speed, self.params.viscosity);
        checked.err().or_else(|| self.at_moving_walls())
    }

    /// What is violated at the moving walls of a closed box, by the cells there. Bodies that turn are stable further.
    pub fn at_moving_walls(&self) -> Option<Unstable> {
        let (params, census) = (&self.params, &self.census);
        if !is_driven_by_walls(&params.faces, &params.patches) || census.fastest <= census.turning {
            return None;
        }
        // A mesh that follows the flow is finest where walls move.
        let deeper = params
            .adaptation
            .as_ref()
            .map_or(0, |adaptation| adaptation.levels - 1);
        let value = census.fastest / params.viscosity / f64::from(1u32 << deeper.min(31));
        let bounds = StabilityBounds::of_moving_walls(params.collision, D);
        (value > bounds.grid_reynolds).then_some(Unstable::GridReynolds { value, bounds })
    }
}
