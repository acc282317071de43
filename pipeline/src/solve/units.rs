//! Conversion between physical units and those of the root lattice.
//!
//! In: reference length and velocity, viscosity and density in SI (or all dimensionless, where viscosity is `velocity *
//! length / Re`), the root cell in the same unit of length, and the lattice velocity of the reference velocity. Out:
//! factors, and the relaxation time of each level. Lattice: Δx = Δt = 1 on level 0 and density 1; level ℓ has Δx = Δt =
//! 2^-ℓ, so velocities have the same value on each level, and the viscosity of a level in its own units is 2^ℓ times
//! that of the root level (Dupuis & Chopard 2003). τ = 3 ν + 1/2 (Krüger et al. 2017, §3.4).

use cutlink_solver::stability::{StabilityBounds, Unstable};

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
        let fastest = self.lattice_velocity * (fastest / self.velocity).max(1.0);
        bounds.check(self.lattice_velocity, fastest, self.lattice_viscosity(dx))
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
