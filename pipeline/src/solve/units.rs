//! Conversion between physical units and those of the root lattice, and the stability bounds of a flow.
//!
//! In: reference length and velocity, viscosity and density in SI (or all dimensionless, where viscosity is `velocity *
//! length / Re`), the root cell in the same unit of length, and the lattice velocity of the reference velocity. Out:
//! factors, and the relaxation time of each level. Lattice: Δx = Δt = 1 on level 0 and density 1; level ℓ has Δx = Δt =
//! 2^-ℓ, so velocities have the same value on each level, and the viscosity of a level in its own units is 2^ℓ times
//! that of the root level (Dupuis & Chopard 2003). τ = 3 ν + 1/2 (Krüger et al. 2017, §3.4).

use cutlink_flow::bulk::MAX_MACH;
use cutlink_solver::Collision;
use std::fmt;

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
    pub const BGK: Self = Self::new(50.0, "collision = \"bgk\"").or(REGULARIZED, 1000.0);
    /// BGK in 2D with an opening: a circle in a stream diverges at 49 within 3,700 root steps.
    pub const BGK_OPEN_2D: Self =
        Self::new(30.0, "collision = \"bgk\" with openings").or(REGULARIZED, 1000.0);
    /// BGK in 3D with an opening: boxes with an inlet, a pressure outlet and slip walls diverge at 20 within 1,600 root steps.
    pub const BGK_OPEN: Self =
        Self::new(10.0, "collision = \"bgk\" in 3D with openings").or(REGULARIZED, 1000.0);
    /// TRT.
    pub const TRT: Self = Self::new(40.0, "collision = \"trt\"").or(REGULARIZED, 1000.0);
    /// Regularized.
    pub const REGULARIZED: Self = Self::new(10_000.0, REGULARIZED);
    /// Regularized, with 19 velocities.
    pub const REGULARIZED_D3Q19: Self =
        Self::new(1000.0, "lattice = \"d3q19\"").or("lattice = \"d3q27\"", 10_000.0);
    /// Cumulants: at 10,000 the force on a body near the edge of its level grows eightfold within 14,000 root steps, at 5,000 it
    /// does not in 50,000.
    pub const CUMULANT: Self =
        Self::new(3000.0, "collision = \"cumulant\"").or(REGULARIZED, 10_000.0);
    /// Cumulants with quadratic walls: at 2,950 the force on a body is ten times too large, at 2,500 it is right.
    pub const CUMULANT_QUADRATIC: Self =
        Self::new(2000.0, "collision = \"cumulant\" with wall = \"quadratic\"")
            .or("wall = \"linear\"", 3000.0);
    /// Entropic multi-relaxation.
    pub const KBC: Self = Self::new(200.0, "collision = \"kbc\"").or(REGULARIZED, 10_000.0);
    /// Regularized, with faces of tangential velocity in a box with an open face; far-field faces in their place are
    /// stable further.
    pub const MOVING: Self =
        Self::new(1000.0, "a face that moves along itself").or("a far-field face", 10_000.0);

    /// A box that fluid passes between faces of given velocities, and nowhere else: nothing holds the pressure, and sound grows between
    /// them. Diverges at 2.5 within 41,000 root steps, at 6 within 400, with every collision and all sides.
    pub const PASSED: Self = Self::new(1.5, "a box between given velocities")
        .or("an outflow in place of one of the velocities", 1000.0);

    /// A velocity inlet that meets a no-slip wall in 3D, with the regularized collision, in front of openings that hold the
    /// pressure, or outflows on D3Q19: ducts are right at 1000, with edges of two walls (decision 045).
    pub const INLET_AT_WALL: Self = Self::new(1000.0, "an inlet that meets a no-slip face");
    /// The same in 3D with another collision, a far field, or D3Q27 and an outflow: cumulants let 1.05 of the flow in at 1000,
    /// and the flow swings at 333 in front of an outflow that is two heights away.
    pub const INLET_AT_WALL_3D: Self =
        Self::new(100.0, "an inlet that meets a no-slip face in 3D").or(REGULAR_DUCT, 1000.0);
    /// The same in 2D: steady at 333, at 1000 the flow behind a uniform inlet is 1 % off after 12,000 steps.
    pub const INLET_AT_WALL_2D: Self = Self::new(333.0, "an inlet that meets a no-slip face");

    const fn new(grid_reynolds: f64, of: &'static str) -> Self {
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

    /// In a closed box, at walls that move along themselves: lids. The cells there count, not those of the root level. Lowest values
    /// of u Δx / ν at which cavities diverged, lattice velocities 0.05 to 0.16, less at least a fifth: decision 046.
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
            ..Self::new(bound, of)
        };
        match bound < regularized {
            true => bounds.or(REGULARIZED, regularized),
            false => bounds,
        }
    }
}

/// The physics of a case; lengths, velocities and times in one system of units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Physics {
    /// Reference length.
    pub length: f64,
    /// Reference velocity.
    pub velocity: f64,
    /// Kinematic viscosity.
    pub viscosity: f64,
    /// Density.
    pub density: f64,
    /// Lattice velocity of the reference velocity.
    pub lattice_velocity: f64,
}

/// Factors from lattice units to the user's units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Units {
    /// A root cell.
    pub length: f64,
    /// A root step.
    pub time: f64,
    /// Lattice density 1.
    pub density: f64,
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

impl Physics {
    /// Factors for a root cell of this size.
    pub fn units(&self, dx: f64) -> Units {
        Units {
            length: dx,
            time: self.lattice_velocity * dx / self.velocity,
            density: self.density,
        }
    }

    /// Reynolds number.
    pub fn reynolds(&self) -> f64 {
        self.velocity * self.length / self.viscosity
    }

    /// Mach number of the reference velocity; the lattice's speed of sound is 1/√3.
    pub fn mach(&self) -> f64 {
        self.lattice_velocity * 3f64.sqrt()
    }

    /// Viscosity on the root lattice.
    pub fn lattice_viscosity(&self, dx: f64) -> f64 {
        self.viscosity * self.lattice_velocity / (self.velocity * dx)
    }

    /// Relaxation time of a level, in its own steps.
    pub fn tau(&self, dx: f64, level: usize) -> f64 {
        3.0 * self.lattice_viscosity(dx) * scale(level) + 0.5
    }

    /// The cell Reynolds number u Δx / ν of a level.
    pub fn grid_reynolds(&self, dx: f64, level: usize) -> f64 {
        self.velocity * dx / scale(level) / self.viscosity
    }

    /// Checks the bounds for the largest prescribed velocity `fastest`.
    ///
    /// # Errors
    /// The first violated bound; NaN violates every bound.
    pub fn check(&self, dx: f64, fastest: f64, bounds: StabilityBounds) -> Result<(), Unstable> {
        let speed = self.lattice_velocity * (fastest / self.velocity).max(1.0);
        let mach = speed * 3f64.sqrt();
        let slow = mach <= MAX_MACH;
        if !slow {
            return Err(Unstable::Mach { mach, speed });
        }
        // The root level has the smallest relaxation time.
        let tau = self.tau(dx, 0);
        let viscous = tau - 0.5 >= MIN_RELAXATION;
        if !viscous {
            return Err(Unstable::Relaxation { level: 0, tau });
        }
        let value = self.grid_reynolds(dx, 0);
        let viscous = value <= bounds.grid_reynolds;
        if !viscous {
            return Err(Unstable::GridReynolds { value, bounds });
        }
        let time = bounds.magic.map_or(0.0, |magic| 0.5 + magic / (tau - 0.5));
        if time > MAX_ODD_RELAXATION {
            return Err(Unstable::Odd { time });
        }
        Ok(())
    }
}

impl Units {
    /// Factor of a velocity.
    pub fn velocity(&self) -> f64 {
        self.length / self.time
    }

    /// Factor of a force; in 2D of a force per unit depth.
    pub fn force(&self, dimensions: i32) -> f64 {
        self.density * self.velocity().powi(2) * self.length.powi(dimensions - 1)
    }

    /// Factor of a torque, likewise.
    pub fn torque(&self, dimensions: i32) -> f64 {
        self.force(dimensions) * self.length
    }

    /// Number of root steps in a time, at least 1.
    pub fn steps(&self, time: f64) -> u64 {
        (time / self.time).round().max(1.0) as u64
    }
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

fn scale(level: usize) -> f64 {
    2f64.powi(level.min(64) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cylinder of 0.1 m in a water-like fluid, Re 100; by hand, ν = 2 * 0.1 / 100 = 2e-3.
    const CYLINDER: Physics = Physics {
        length: 0.1,
        velocity: 2.0,
        viscosity: 2e-3,
        density: 1000.0,
        lattice_velocity: 0.05,
    };
    const DX: f64 = 0.025;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} is not {b}");
    }

    #[test]
    fn conversions_agree_with_hand_calculations() {
        let units = CYLINDER.units(DX);
        near(CYLINDER.reynolds(), 100.0);
        near(units.time, 0.05 * 0.025 / 2.0);
        near(units.velocity(), 40.0);
        // ν Δt / Δx² = 2e-3 * 6.25e-4 / 6.25e-4.
        near(CYLINDER.lattice_viscosity(DX), 2e-3);
        near(CYLINDER.tau(DX, 0), 0.506);
        near(CYLINDER.tau(DX, 3), 0.548);
        near(CYLINDER.grid_reynolds(DX, 0), 25.0);
        near(CYLINDER.grid_reynolds(DX, 2), 6.25);
        // ρ U² Δx² = 1000 * 1600 * 6.25e-4; per unit of depth in 2D.
        near(units.force(3), 1000.0);
        near(units.force(2), 40_000.0);
        near(units.torque(3), 25.0);
        assert_eq!(units.steps(1.0), 1600, "1 s / 6.25e-4 s");
    }

    #[test]
    fn a_flow_is_refused_beyond_each_bound_and_not_before() {
        let check = |p: Physics, fastest| p.check(DX, fastest, StabilityBounds::BGK);
        assert_eq!(check(CYLINDER, 2.0), Ok(()));
        let fast = check(CYLINDER, 8.0).expect_err("0.2 * sqrt 3 is beyond 0.3");
        assert!(matches!(fast, Unstable::Mach { .. }) && fast.to_string().contains("0.346"));
        let thin = Physics {
            viscosity: 5e-4,
            ..CYLINDER
        };
        let coarse = check(thin, 2.0).expect_err("100 is beyond 50");
        assert!(coarse.to_string().contains("2 times finer"), "{coarse}");
        let finer = thin.check(0.5 * DX, 2.0, StabilityBounds::BGK);
        assert_eq!(finer, Ok(()), "the remedy");
        assert_eq!(
            thin.check(DX, 2.0, StabilityBounds::REGULARIZED),
            Ok(()),
            "another"
        );
        // τ - 1/2 is 6e-3 on the root level: 0.5 + 0.1875 / 6e-3 = 31.75, and 5.7 on a root grid six times finer.
        let open = StabilityBounds {
            magic: Some(0.1875),
            ..StabilityBounds::TRT
        };
        let slow = CYLINDER.check(DX, 2.0, open).expect_err("31.75");
        assert!(matches!(slow, Unstable::Odd { time } if (time - 31.75).abs() < 1e-9));
        assert!(slow.to_string().contains("6 times finer"), "{slow}");
        assert_eq!(CYLINDER.check(DX / 6.0, 2.0, open), Ok(()), "the remedy");
        let coarse = thin.check(DX, 2.0, open).expect_err("100 is beyond 40");
        assert!(coarse.to_string().contains("regularized"), "{coarse}");
        let none = Physics {
            viscosity: 1e-6,
            ..CYLINDER
        };
        let none = check(none, 2.0).expect_err("tau - 1/2 is 3e-6");
        assert!(matches!(none, Unstable::Relaxation { .. }), "{none}");
        let nan = Physics {
            viscosity: f64::NAN,
            ..CYLINDER
        };
        assert!(check(nan, 2.0).is_err(), "no number");
    }
}
