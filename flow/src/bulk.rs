//! Bulk quantities of a flow: mean density, kinetic energy, largest Mach number, density range.

use cutlink_solver::fields::Integrals;
use serde::{Deserialize, Serialize};

/// Bulk quantities of a flow, in lattice units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bulk {
    /// Root steps done.
    pub step: u64,
    /// Volume mean.
    pub density: f64,
    /// Volume mean of ρ u², twice the kinetic energy.
    pub energy: f64,
    /// The largest speed.
    pub fastest: f64,
    /// The smallest and the largest density.
    pub densities: [f64; 2],
}

impl Bulk {
    /// After so many steps.
    pub fn new(step: u64, of: &Integrals) -> Self {
        Self {
            step,
            density: of.density,
            energy: 2.0 * of.kinetic_energy,
            fastest: of.fastest,
            densities: of.densities,
        }
    }

    /// The largest Mach number.
    pub fn mach(&self) -> f64 {
        self.fastest * 3f64.sqrt()
    }

    /// (Largest - smallest pressure) / (ρ c²) with the speed of sound c; 0 for an incompressible flow.
    pub fn compression(&self) -> f64 {
        (self.densities[1] - self.densities[0]) / self.density
    }
}
